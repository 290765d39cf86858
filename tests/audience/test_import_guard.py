"""A process for others holds no exact number: it cannot load a package that could have one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from explorer.audience.import_guard import PACKAGES, forbidden, install
from tests.test_architecture import ORDER, PUBLIC

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "tests" / "golden" / "files").glob("format-*/*.parquet"))
BUILT = "from explorer.audience.import_guard import install; install()\n"


def run(code: str, *arguments: Path) -> subprocess.CompletedProcess[str]:
    """Run code behind the wall in a process of its own, in which Python finds this checkout."""
    command = [sys.executable, "-c", BUILT + code, *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_every_package_is_on_one_side_as_the_architecture_has_it() -> None:
    assert {*PACKAGES, "_compat"} == {*PUBLIC}
    for package in ORDER:
        name = f"explorer.{package}"
        assert forbidden(name) == forbidden(f"{name}.anything") == (package not in PACKAGES)
    for name in ("explorer", "numpy.random", "explorer.grid_of_another_name"):
        assert forbidden(name) == name.endswith("another_name")


@pytest.mark.parametrize(
    "line",
    [
        "import explorer.points.truth",
        "import explorer; explorer.exact",
        "import importlib; importlib.import_module('explorer.app.kit.page')",
        "import opendp.prelude",
        "import pyogrio",
        "import panel",
    ],
)
def test_nothing_beyond_it_is_loaded_whatever_asks(line) -> None:
    done = run(line)
    assert done.returncode == 1
    assert "a server for others has none" in done.stderr


def test_what_is_there_already_is_an_error() -> None:
    with pytest.raises(RuntimeError, match=r"explorer\.points"):
        install(["numpy", "explorer.points.truth", "explorer.grid"])
    before = len(sys.meta_path)
    with pytest.raises(RuntimeError):
        install()
    assert len(sys.meta_path) == before


#: Loads every module of the server, and answers and draws each release file of the arguments.
VISIT = """
import importlib, pkgutil, sys
import explorer
for room in ("grid", "releases", "queries", "views", "publish", "serving", "audience"):
    package = importlib.import_module("explorer." + room)
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.endswith("__main__") and module.name not in LATER:
            importlib.import_module(module.name)
from explorer.views.partition import Leaves
from explorer.views.pictures import private_map
from explorer.views.viewport import Viewport
for path in sys.argv[1:]:
    release = explorer.Release.load(path)
    if release.kind != "grid":
        assert release.marginal((0, 1)).any()
        continue
    low, high = release.answer(release.boxes()).interval()
    assert (low <= high).all()
    assert private_map(release, Leaves.of(release), Viewport.whole(release.grid, 64)).any()
print(len(sys.argv) - 1)
"""


def test_a_server_loads_all_it_needs_and_answers_and_draws_release_files_behind_it() -> None:
    assert FILES
    # What reads or draws with a library that a server for others has none of.
    later = ("explorer.views.notebook",)
    done = run(f"LATER = {later!r}\n" + VISIT, *FILES)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == len(FILES)
