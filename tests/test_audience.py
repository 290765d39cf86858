"""A process for an audience holds no exact number: it loads no room that could have one.

Each test runs a process of its own. The first imports every module of the public rooms and of the
parts of the app that an audience page uses, and looks at what came with them. The second forbids
the exact rooms and then does what such a page does: it loads release files, answers boxes, draws
maps, and builds their table.
"""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted((ROOT / "tests" / "golden" / "files").glob("format-*/*.parquet"))

# Written out here and not read from the test of the order: each wall stands by itself.
PUBLIC = (
    *("grid", "releases", "queries", "views", "publish", "serving", "audience"),
    *("app.kit", "app.work", "app.boxes"),
)
EXACT = (
    "points",
    "cities",
    "privacy",
    "mechanisms",
    "inspection",
    "evaluate",
    "scenario",
    "trips",
    "country",
    "federated",
    "teaching",
    "testing",
    "commands",
    "cli",
    "app.state",
    "app.curator",
    "app.explore",
    "app.compare",
    "app.learn",
    "app.trips",
    "app.country",
    "app.federated",
    "app.classroom",
    "app.publish",
    "app.main",
)
#: Modules that serve both: what they need of the exact rooms they import when a curator asks.
SHARED = ("app.compat", "app.pages", "app.server")

IS_EXACT = f"""
def is_exact(name):
    library, _, rest = name.partition(".")
    inside = any((rest + ".").startswith(room + ".") for room in {EXACT!r})
    return library == "opendp" or library == "explorer" and inside
"""

EVERYTHING = f"""
import importlib, pkgutil, sys
for room in {PUBLIC!r}:
    try:
        package = importlib.import_module("explorer." + room)
    except ModuleNotFoundError as error:
        if error.name != "explorer." + room:
            raise
        continue
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(found.name)
for module in {SHARED!r}:
    importlib.import_module("explorer." + module)
print(sum(name.startswith("explorer.") for name in sys.modules))
print(sorted(filter(is_exact, sys.modules)))
"""

FORBID = """
import sys

class Wall:
    def find_spec(self, name, path=None, target=None):
        if is_exact(name):
            raise AssertionError(f"{name} was asked for")
        return None

sys.meta_path.insert(0, Wall())
"""

VISIT = """
import sys
import numpy as np
import explorer
from explorer.app.boxes.answers import private_answers
from explorer.app.boxes.exchange import BoxExchange
from explorer.app.boxes.rectangles import Rectangles
from explorer.app.boxes.table import BoxTable
from explorer.app.kit.map_parts import MapSpec
from explorer.app.kit.maps import Maps
from explorer.queries.files import read_rectangles, write_rectangles
from explorer.views.markup import count_bar, ledger_bar
from explorer.views.palette import PALETTES
from explorer.views.partition import Leaves, partition
from explorer.views.pictures import private_map
from explorer.views.scale import ColourScale, top_value_of_leaves
from explorer.views.viewport import Viewport

drawn = 0
for path in sys.argv[1:]:
    release = explorer.Release.load(path)
    if release.kind != "grid":
        # More axes than a map: answered, and summed onto two of them.
        assert len(release.answer(release.boxes()).value) == release.n_leaves
        drawn += bool(release.marginal((0, 1)).any())
        continue
    grid = release.grid
    rectangles = Rectangles(grid)
    rectangles.reset(grid)
    ending = "csv" if grid.crs is None else "geojson"
    text = write_rectangles(rectangles.boxes, rectangles.names, grid, ending)
    boxes, names = read_rectangles(text.encode(), grid, f"boxes.{ending}")
    rectangles.add_many(boxes, names)
    answers = private_answers(release, rectangles.boxes)
    low, high = answers.interval
    assert (low <= answers.private).all() and (answers.private <= high).all()
    view, leaves = Viewport.whole(grid, 64), Leaves.of(release)
    top = top_value_of_leaves(leaves.density, leaves.cells, "log")
    scale = ColourScale("log", top, "release")
    picture = scale.encode(private_map(release, leaves, view))
    assert picture.shape == (view.height, view.width)
    maps = Maps([MapSpec(grid, "Private map")], lambda: None, lambda place, box: None)
    maps.views[0].show_image(picture, view)
    maps.show_partition(0, partition(leaves, view, grid), view)
    maps.explain(0, count_bar("Points per cell", scale, PALETTES["cividis"]))
    maps.highlight(rectangles.boxes, rectangles.names, [])
    table = BoxTable(rectangles, lambda: None, lambda: None, print)
    table.show(answers)
    assert len(table.widget.value) == 4
    BoxExchange(rectangles, lambda: None, lambda: None, print)
    assert ledger_bar(release.stages()) and repr(release) and release.summary()
    drawn += bool(picture.any())
print(drawn)
"""


def run(code: str, *arguments: Path) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own, in which Python finds this checkout."""
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_public_rooms_load_no_exact_one() -> None:
    done = run(IS_EXACT + EVERYTHING)
    assert done.returncode == 0, done.stderr
    modules, exact = done.stdout.splitlines()
    assert int(modules) > 60, "the rooms were not walked"
    assert exact == "[]"


@pytest.mark.parametrize("room", EXACT)
def test_the_wall_knows_every_exact_room(room: str) -> None:
    known: dict[str, Any] = {}
    exec(IS_EXACT, known)
    assert known["is_exact"](f"explorer.{room}")
    assert known["is_exact"](f"explorer.{room}.anything")
    assert not known["is_exact"](f"explorer.{room}_of_another_name")
    assert not any(known["is_exact"](f"explorer.{each}") for each in (*PUBLIC, *SHARED))


def test_the_walls_are_those_of_the_architecture() -> None:
    """Whatever room there is stands on one side or the other, as the table of the rooms has it."""
    table = (ROOT / "notebooks" / "design" / "architecture.md").read_text("utf8")
    marked = re.findall(r"^\| (`[^|]*) \| (public|exact) \|", table, re.MULTILINE)
    assert len(marked) > 10, "the table was not read"
    for rooms, trust in marked:
        for room in re.findall(r"`(\w+)/?`", rooms):
            side = EXACT if trust == "exact" else (*PUBLIC, "errors", "version", "compiled_code")
            assert room in side, f"{room} is {trust}"
    package = ROOT / "explorer"
    names = {path.stem for path in package.iterdir() if path.suffix in ("", ".py")}
    names |= {f"app.{path.stem}" for path in (package / "app").iterdir()}
    neither = {"__init__", "__main__", "__pycache__", "app", "errors", "version", "compiled_code"}
    neither |= {"_compat", "app.__init__", "app.__pycache__", "app.words"}
    assert names - neither - {*PUBLIC, *EXACT, *SHARED} == set()


@pytest.mark.parametrize(
    "line",
    [
        "import explorer.points.truth",
        "import opendp.prelude",
        "import explorer.trips.matrix",
        "import explorer.scenario",
        "from explorer.app.curator import maps",
        "import explorer.app; explorer.app.Explore",
    ],
)
def test_the_wall_stops_every_attempt(line: str) -> None:
    done = run(IS_EXACT + FORBID + line)
    assert done.returncode != 0
    assert "was asked for" in done.stderr


def test_the_wall_stops_names_of_the_root() -> None:
    lazily = run(IS_EXACT + FORBID + "import explorer; explorer.exact")
    assert "explorer.points was asked for" in lazily.stderr


def test_a_release_file_is_loaded_answered_and_drawn_behind_the_wall() -> None:
    assert FILES
    done = run(IS_EXACT + FORBID + VISIT, *FILES)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == len(FILES)
