"""Pages in a real kernel, without a browser: what their cells leave, and what the kernel sends."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

EXTENSION = "import panel as pn; pn.extension()"
BEGIN = """
import numpy as np
from explorer import FrequencyMatrix
from explorer.app import Explore
matrix = FrequencyMatrix.from_array(np.arange(32 * 32).reshape(32, 32))
"""
PATIENCE = 120


@pytest.fixture
def kernel() -> Iterator[BlockingKernelClient]:
    manager, client = start_new_kernel(kernel_name="python3")
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def run(kernel: BlockingKernelClient, code: str) -> list[dict[str, Any]]:
    """The outputs of a cell, each by its MIME types."""
    found: list[dict[str, Any]] = []

    def note(message: dict[str, Any]) -> None:
        assert message["msg_type"] != "error", message["content"]["traceback"]
        if message["msg_type"] in ("display_data", "execute_result"):
            found.append(message["content"]["data"])

    kernel.execute_interactive(code, output_hook=note, timeout=PATIENCE)
    return found


def ask(kernel: BlockingKernelClient, target: str) -> dict[str, str]:
    """What the kernel sends to whoever opens a comm, as the script of a poster does."""
    opened = {"comm_id": f"asks-{target}", "target_name": target, "data": {}}
    kernel.shell_channel.send(kernel.session.msg("comm_open", opened))
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        message = kernel.get_iopub_msg(timeout=PATIENCE)
        sent = message["content"]
        if message["msg_type"] == "comm_msg" and sent["comm_id"] == opened["comm_id"]:
            return dict(sent["data"])
    raise AssertionError(f"nobody answered {target}")


def names(outputs: list[dict[str, Any]]) -> tuple[str, str]:
    """The comms that a poster asks: for the page, for the scripts."""
    found = re.search(r"const \[id, [^=]*= (\[.*\])", outputs[-1]["text/html"])
    assert found
    _, page, scripts, _ = json.loads(found[1])
    return page, scripts


@pytest.mark.parametrize(
    "cells",
    [(BEGIN,), (EXTENSION, BEGIN), (BEGIN, EXTENSION)],
    ids=["ours alone", "Panel's before", "Panel's after"],
)
def test_cells_are_small_and_the_kernel_sends_scripts_and_each_page(kernel, cells) -> None:
    for cell in cells:
        run(kernel, cell)
    one = run(kernel, "app = Explore(matrix, epsilon=0.2)\napp")
    two = run(kernel, "other = Explore(matrix, mechanism='ug', epsilon=5)\nother")
    again = run(kernel, "app")
    for outputs in (one, two, again):
        said = json.dumps(outputs)
        assert len(said) < 30_000
        assert "docs_json" not in said
    # Each place has a page of its own, all have the same scripts.
    pages, scripts = zip(*map(names, (one, two, again)), strict=True)
    assert len({*pages}) == 3
    assert len({*scripts}) == 1
    script = ask(kernel, scripts[0])["script"]
    assert "load_or_wait" in script
    # Scripts that were asked from the net before may never come: ours do not wait for them.
    at_once = "window._bokeh_is_loading = 0" in script.partition("function")[0]
    assert at_once is (cells[0] == EXTENSION)
    for page in pages:
        sent = ask(kernel, page)["html"]
        assert "docs_json" in sent
        assert [each for each in pages if each.rpartition("-")[2] in sent] == [page]

    # Panel's own objects have no script that asks: theirs is in the output, once.
    plain = "import panel as pn\npn.Row('text')"
    assert [sum("load_or_wait" in json.dumps(o) for o in run(kernel, plain)) for _ in "12"] == [
        1,
        0,
    ]
