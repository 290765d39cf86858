"""Pages in a real kernel, without a browser: what their cells leave, and what the kernel sends."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

from explorer.app.kit.words import words
from tests.app.test_import_changes_nothing import MEMBERS

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


def run(
    kernel: BlockingKernelClient, code: str, begun: Callable[[], None] | None = None
) -> list[dict[str, Any]]:
    """The outputs of a cell, each by its MIME types; what is printed is text/plain.

    ``begun`` is called once the cell has printed something.
    """
    outputs: list[dict[str, Any]] = []

    def note(message: dict[str, Any]) -> None:
        content = message["content"]
        assert message["msg_type"] != "error", content["traceback"]
        if message["msg_type"] in ("display_data", "execute_result"):
            outputs.append(content["data"])
        elif message["msg_type"] == "stream" and content["name"] == "stdout":
            if begun is not None and not outputs:
                begun()
            outputs.append({"text/plain": content["text"]})

    kernel.execute_interactive(code, output_hook=note, timeout=PATIENCE)
    return outputs


def printed(kernel: BlockingKernelClient, code: str, **how: Any) -> str:
    return "".join(output.get("text/plain", "") for output in run(kernel, code, **how)).strip()


def send(kernel: BlockingKernelClient, kind: str, **content: Any) -> None:
    kernel.shell_channel.send(kernel.session.msg(kind, content))


def ask(kernel: BlockingKernelClient, target: str) -> dict[str, str]:
    """What the kernel sends when a browser opens a comm, as the script of a poster does."""
    name = f"asks-{target}-{time.monotonic()}"
    send(kernel, "comm_open", comm_id=name, target_name=target, data={})
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        message = kernel.get_iopub_msg(timeout=PATIENCE)
        sent = message["content"]
        if message["msg_type"] == "comm_msg" and sent["comm_id"] == name:
            return dict(sent["data"])
    raise AssertionError(f"no answer for {target}")


def names(outputs: list[dict[str, Any]]) -> tuple[str, str]:
    """The comms that a poster asks: for the page, for the scripts."""
    found = re.search(r"const \[id, [^=]*= (\[.*\])", outputs[-1]["text/html"])
    assert found
    _, page, scripts, _ = json.loads(found[1])
    return page, scripts


@pytest.mark.parametrize(
    "cells",
    [(BEGIN,), (EXTENSION, BEGIN)],
    ids=["ours alone", "Panel's before"],
)
def test_cells_are_small_and_the_kernel_sends_scripts_and_each_page(kernel, cells) -> None:
    for cell in cells:
        run(kernel, cell)
    one = run(kernel, "app = Explore(matrix, epsilon=0.2)\napp")
    two = run(kernel, "other = Explore(matrix, mechanism='ug', epsilon=5)\nother")
    again = run(kernel, "app")
    for outputs in (one, two, again):
        text = json.dumps(outputs)
        assert len(text) < 30_000
        assert "docs_json" not in text
    # Each place has a page of its own, all have the same scripts.
    pages, scripts = zip(*map(names, (one, two, again)), strict=True)
    assert len({*pages}) == 3
    assert len({*scripts}) == 1
    assert "load_or_wait" in ask(kernel, scripts[0])["script"]
    for page in pages:
        # Another view, or the browser after it has loaded the notebook anew, asks again.
        for _ in "12":
            sent = ask(kernel, page)["html"]
            assert "docs_json" in sent
            assert [name for name in pages if name.rpartition("-")[2] in sent] == [page]


def test_a_page_is_in_the_output_that_showed_it_last(kernel) -> None:
    run(kernel, BEGIN)
    first, _ = names(run(kernel, "app = Explore(matrix, mechanism='ug', epsilon=0.25)\napp"))
    assert "epsilon 0.25" in ask(kernel, first)["html"]
    second, _ = names(run(kernel, "app"))
    assert "epsilon 0.25" in ask(kernel, second)["html"]
    before = ask(kernel, first)["html"]
    assert "epsilon 0.25" not in before
    assert words("notebook")["Elsewhere"] in before


def test_a_page_asks_the_net_for_no_style_sheet_whatever_has_changed(kernel) -> None:
    run(kernel, BEGIN)
    page, _ = names(run(kernel, "app = Explore(matrix, mechanism='ug', epsilon=0.25)\napp"))
    send(kernel, "comm_open", comm_id="asks", target_name=page, data={})
    while "client_comm_id" not in (message := kernel.get_iopub_msg(timeout=PATIENCE))[
        "content"
    ].get("data", {}).get("html", ""):
        pass
    comm = re.search(r'"client_comm_id":"(\w+)"', message["content"]["data"]["html"])
    assert comm
    send(kernel, "comm_open", comm_id="browser", target_name=comm[1], data={})
    send(kernel, "comm_msg", comm_id="asks", data={})
    kernel.execute("app.state.put(epsilon=0.75)\nprint('put')")
    sent = ""
    while "epsilon 0.75" not in sent:
        message = kernel.get_iopub_msg(timeout=PATIENCE)
        if message["msg_type"] == "comm_msg":
            sent += json.dumps(message["content"]["data"])
    for text in (sent, ask(kernel, page)["html"]):
        assert "https://cdn.holoviz.org" not in text
        assert "data:text/css," in text


SLIDERS = """
import time
import panel as pn
from explorer.app.kit.page import AppPage

class Sliders(AppPage):
    TITLE = "Sliders"

    def __init__(self):
        super().__init__()
        self.heard = []
        self.sliders = [pn.widgets.IntSlider(name=name, start=0, end=99) for name in "abc"]
        self.body = pn.Row(*self.sliders)
        for slider in self.sliders:
            slider.param.watch(self.moved, "value")

    def moved(self, event):
        self.heard.append((event.obj.name, event.new))
        print("a handler prints")

page = Sliders()
page
"""


def moves(html: str, value: int) -> tuple[str, dict[str, Any]]:
    """The comm of a page, and the message of a browser in which all its sliders have moved."""
    models = set(re.findall(r'"name":"[\w.]*IntSlider","id":"([^"]+)"', html))
    models |= set(re.findall(r'"name":"Slider","id":"([^"]+)"', html))
    assert len(models) == 3
    comm = re.search(r'"client_comm_id":"(\w+)"', html)
    assert comm
    events = [
        {"kind": "ModelChanged", "model": {"id": model}, "attr": "value", "new": value}
        for model in sorted(models)
    ]
    return comm[1], {
        "header": {"msgid": "1", "msgtype": "PATCH-DOC"},
        "metadata": {},
        "content": {"events": events},
        "buffers": [],
    }


def test_all_changes_of_a_message_are_heard(kernel) -> None:
    page, _ = names(run(kernel, SLIDERS))
    target, message = moves(ask(kernel, page)["html"], 7)
    send(kernel, "comm_open", comm_id="browser", target_name=target, data={})
    send(kernel, "comm_msg", comm_id="browser", data=message)
    assert printed(kernel, "print(sorted(page.heard))") == "[('a', 7), ('b', 7), ('c', 7)]"


def patches(kernel: BlockingKernelClient, last: str) -> list[str]:
    """What browsers were sent of changes, up to the output ``last`` of a cell."""
    sent: list[str] = []
    while True:
        message = kernel.get_iopub_msg(timeout=PATIENCE)
        content = message["content"]
        if message["msg_type"] == "comm_msg":
            sent.append(json.dumps(content["data"]))
        elif message["msg_type"] == "stream" and content["text"].strip().endswith(last):
            return [text for text in sent if "ModelChanged" in text]


def test_a_browser_is_sent_all_changes_in_order_once_it_has_built_the_page(kernel) -> None:
    page, _ = names(run(kernel, SLIDERS))
    send(kernel, "comm_open", comm_id="asks", target_name=page, data={})
    while "client_comm_id" not in (message := kernel.get_iopub_msg(timeout=PATIENCE))[
        "content"
    ].get("data", {}).get("html", ""):
        pass
    target, _ = moves(message["content"]["data"]["html"], 0)
    # Opened while the browser builds the page, and before it can take a change.
    send(kernel, "comm_open", comm_id="browser", target_name=target, data={})
    for value in (31, 32):
        kernel.execute(f"page.sliders[0].value = {value}\nprint('moved {value}')")
        assert patches(kernel, f"moved {value}") == []
    send(kernel, "comm_msg", comm_id="asks", data={})
    kernel.execute("import asyncio\nawait asyncio.sleep(0.1)\nprint('built')")
    first, second = patches(kernel, "built")
    assert "31" in first
    assert "32" in second
    kernel.execute("page.sliders[0].value = 33\nprint('moved')")
    assert len(patches(kernel, "moved")) == 1


def subshell(kernel: BlockingKernelClient) -> str:
    """A thread of the kernel for messages of its own, as JupyterLab makes one for each page."""
    message = kernel.session.msg("create_subshell_request", {})
    kernel.control_channel.send(message)
    reply = kernel.control_channel.get_msg(timeout=PATIENCE)
    assert reply["content"]["status"] == "ok"
    return str(reply["content"]["subshell_id"])


def test_messages_are_handled_between_cells_and_a_cell_keeps_what_it_prints(kernel) -> None:
    if "kernel subshells" not in kernel.kernel_info(reply=True)["content"].get(
        "supported_features", []
    ):
        pytest.skip("this kernel has one thread for all messages")
    page, _ = names(run(kernel, SLIDERS))
    target, message = moves(ask(kernel, page)["html"], 9)

    def from_browser(kind: str, **content: Any) -> None:
        sent = kernel.session.msg(kind, content)
        sent["header"]["subshell_id"] = thread
        kernel.shell_channel.send(sent)

    thread = subshell(kernel)
    from_browser("comm_open", comm_id="browser", target_name=target, data={})
    cell = "for n in range(20):\n    print(n, len(page.heard))\n    time.sleep(0.05)"
    moved = partial(from_browser, "comm_msg", comm_id="browser", data=message)
    lines = printed(kernel, cell, begun=moved).splitlines()
    assert lines == [f"{n} 0" for n in range(20)]
    assert printed(kernel, "print(len(page.heard))") == "3"


def test_showing_a_page_changes_no_member_of_a_library(kernel) -> None:
    run(kernel, MEMBERS)
    run(kernel, f"{EXTENSION}\npn.Row(pn.widgets.IntSlider(), pn.pane.HTML('text'))")
    run(kernel, BEGIN)
    run(kernel, "before, modules = members(), set(sys.modules)")
    page, _ = names(run(kernel, "app = Explore(matrix)\napp"))
    ask(kernel, page)
    assert printed(kernel, "print(changes(before, modules))") == "[]"
