"""The wall of a process for others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from explorer.audience.wall import beyond, build
from tests.test_audience import EXACT, PUBLIC, ROOT

BUILT = "from explorer.audience.wall import build; build(); "


@pytest.mark.parametrize("room", EXACT)
def test_every_exact_room_is_beyond_it(room) -> None:
    assert beyond(f"explorer.{room}")


def test_what_serves_is_not() -> None:
    for room in PUBLIC:
        assert beyond(f"explorer.{room}") == room.startswith("app.")
    assert not beyond("explorer")
    assert not beyond("numpy.random")


@pytest.mark.parametrize(
    "line",
    [
        "import explorer.points.truth",
        "from explorer import FrequencyMatrix",
        "import explorer; explorer.exact",
        "import importlib; importlib.import_module('explorer.app.kit.page')",
        "import opendp.prelude",
        "import pyogrio",
        "import panel",
    ],
)
def test_nothing_beyond_it_is_loaded_whoever_asks(line) -> None:
    command = [sys.executable, "-c", BUILT + line]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "a server for others has none" in done.stderr


def test_what_is_there_already_is_an_error() -> None:
    with pytest.raises(RuntimeError, match=r"explorer\.points"):
        build(["numpy", "explorer.points.truth", "explorer.grid"])
    before = len(sys.meta_path)
    with pytest.raises(RuntimeError):
        build()
    assert len(sys.meta_path) == before


def test_a_server_loads_all_it_needs_behind_it() -> None:
    rooms = Path(ROOT / "explorer" / "audience").glob("*.py")
    names = [f"explorer.audience.{each.stem}" for each in rooms if each.stem != "__main__"]
    code = BUILT + f"import importlib\nfor name in {names!r}: importlib.import_module(name)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
