"""What `help` says of a public name: parameters, result, errors, and an example that runs.

A newcomer reads docstrings in a notebook (Shift-Tab) and on the pages that pdoc builds of them. The
rule is here as a function, so that it is seen to refuse what it must refuse.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pytest
from shapely import box

import explorer
from explorer import (
    HTF,
    Areas,
    Country,
    FrequencyMatrix,
    Grid,
    InputError,
    Ledger,
    Mechanism,
    People,
    Points,
    mechanism,
)

ROOT = Path(__file__).resolve().parent.parent

#: What the house's own parts say to each other: nobody calls it with counts or a release in hand.
BETWEEN_PARTS = {
    # What a curator and a plan ask of counts, see `privacy.counts`; what pages ask of trips.
    "AreaCounts": {"all_imbalances", "all_split_costs", "count", "inside", "split_costs"},
    "FrequencyMatrix": {"all_imbalances", "all_split_costs", "count", "slab_costs", "split_costs"},
    "TripMatrix": {
        *("all_imbalances", "all_split_costs", "count", "made_up", "slab_costs", "split_costs"),
        "place_counts",
    },
    # What a grid asks of records, see `grid.countable`.
    "Points": {"count_in", "count_on", "few_inside", "place_on"},
    "PointFiles": {"count_atoms", "count_in", "count_on"},
    "Trips": {"count_on"},
    # How a release and a file describe a domain, see `grid.domain`.
    "Grid": {"from_cells", "from_dict", "to_dict"},
    "TripDomain": {"from_cells", "from_dict", "to_dict"},
    "Release": {"from_estimate", "in_file"},
    # What a mechanism of one's own writes, see CONTRIBUTING, and what the app asks of one.
    "Mechanism": {"decision", "infer", "plan", "relevant", "require_release"},
    "EUG": {"parts", "sides"},
    "EBP": {"parts", "sides"},
    "MKM": {"parts", "sides"},
    "DAFEntropy": {"divide"},
    "DAFHomogeneity": {"divide"},
    "Country": {"parts_of"},
    "Federated": {"options"},
    # What shards and the audit ask of people.
    "People": {"entries", "first", "without"},
}
#: They take what they are given, or have nothing to refuse.
REFUSES_NOTHING = {
    "InputError",
    "Areas.children",
    # Made by the package, whose values they hold.
    *("Answers", "Areas", "CountryRelease", "PointFiles", "Release"),
}


@dataclass(frozen=True)
class Documented:
    """A public name, or a method of one."""

    name: str
    what: Any
    owner: type | None = None

    @property
    def text(self) -> str:
        return inspect.getdoc(self.what) or ""

    @property
    def arguments(self) -> dict[str, inspect.Parameter]:
        if inspect.isclass(self.what) and issubclass(self.what, BaseException):
            return {}
        given = inspect.signature(self.what).parameters
        # Of a mechanism the declared parameters, which its class shows in their place.
        return {n: p for n, p in given.items() if n not in ("self", "cls")}

    @property
    def returns(self) -> bool:
        if inspect.isclass(self.what):
            return False
        return inspect.signature(self.what).return_annotation not in ("None", None)


def methods(kind: type) -> Iterator[tuple[str, Any]]:
    """What a class of ours does, of its own or from a base of ours that is no public name."""
    public = {getattr(explorer, name) for name in explorer.__all__} - {kind}
    for name in dir(kind):
        raw = inspect.getattr_static(kind, name)
        plain = raw.__func__ if isinstance(raw, classmethod | staticmethod) else raw
        if name.startswith("_") or not inspect.isfunction(plain):
            continue
        home = next(base for base in kind.__mro__ if name in base.__dict__)
        if home in public or not home.__module__.startswith("explorer"):
            continue
        yield name, getattr(kind, name)


def everything() -> list[Documented]:
    found = []
    for name in explorer.__all__:
        what = getattr(explorer, name)
        found.append(Documented(name, what))
        if inspect.isclass(what):
            between = BETWEEN_PARTS.get(name, set())
            if issubclass(what, Mechanism):
                # What every mechanism writes anew; to warm up is said at Mechanism itself.
                between = between | BETWEEN_PARTS["Mechanism"]
                between |= set() if what is Mechanism else {"schedule", "warm_up"}
            found += [
                Documented(f"{name}.{method}", function, what)
                for method, function in methods(what)
                if method not in between
            ]
    return found


def sections(text: str) -> dict[str, str]:
    """The parts of a docstring that have a heading of their own, by its name."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}$\n?", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def entries(section: str) -> dict[str, tuple[str, str]]:
    """What a section says of each name: its kind, and the rest."""
    found: dict[str, tuple[str, str]] = {}
    for block in re.split(r"\n(?=\S)", section.strip("\n")):
        head, _, rest = block.partition("\n")
        names, colon, kind = head.partition(" :")
        if head.startswith("**"):
            colon, kind = ":", "any"
        for name in names.split(", ") if colon else ():
            found[name.strip().lstrip("*")] = kind.strip(), textwrap.dedent(rest).strip()
    return found


KINDS = re.compile(
    r"\b(int|float|str|text|bool|bytes|dict|path|file|class|callable|array|sequence|tuple|list|"
    r"iterable|mapping|any|"
    r"frame|DataFrame|GeoDataFrame|GeoSeries|polygons?|Axes|Generator|CRS|Tree|Domain|Windows|"
    r"Mechanism|Points|Trips|PointFiles|Grid|Areas|Ledger|Counts|FrequencyMatrix|TripMatrix|"
    r"AreaCounts|People|Release|DistributedRelease|None)\b|^\(|^\{|^['\"]|as (of|in|for) `"
)
UNITS = re.compile(
    r"\d|metres|degrees|cells|km2|epsilon|records|people|rows|as (of|in|for) `", re.IGNORECASE
)


def lacks(one: Documented) -> list[str]:
    """What the rule misses in a docstring, in words; nothing if it is whole."""
    found, there = [], sections(one.text)
    if not one.text.strip():
        return ["docstring"]
    stated = entries(there.get("Parameters", ""))
    if set(stated) != set(one.arguments):
        missing = sorted(set(one.arguments) - set(stated))
        unknown = sorted(set(stated) - set(one.arguments))
        found.append(f"Parameters (missing {missing}, unknown {unknown})")
    for name, (kind, rest) in stated.items():
        if not KINDS.search(kind):
            found.append(f"type of {name} ({kind!r})")
        number = re.search(r"\b(int|float)\b", kind) and "CRS" not in kind
        if number and not UNITS.search(f"{kind} {rest}"):
            found.append(f"unit or range of {name}")
    if one.returns and "Returns" not in there and "Yields" not in there:
        found.append("Returns")
    raises = "InputError" in there.get("Raises", "")
    if one.arguments and not raises and one.name not in REFUSES_NOTHING:
        found.append("Raises")
    if not runs(one):
        found.append("Examples")
    return found


def runs(one: Documented) -> bool:
    """Whether an example of its own calls it, or one of the class that it is a method of."""
    short = one.name.rpartition(".")[2]
    texts = [one.text] if one.owner is None else [one.text, inspect.getdoc(one.owner) or ""]
    for text in texts:
        for example in doctest.DocTestParser().get_examples(text):
            if doctest.SKIP in example.options:
                continue
            if re.search(rf"\b{short}\b", example.source):
                return True
    return False


EVERYTHING = everything()


@pytest.mark.parametrize("one", EVERYTHING, ids=lambda one: one.name)
def test_help_says_all_of_it(one: Documented) -> None:
    assert lacks(one) == []


REFUSED = {
    "Areas.assign": lambda: small_areas().assign([1.0], [1.0, 2.0]),
    "Areas.count": lambda: small_areas().count({"x": [1]}),
    "Country.paper_as_printed": lambda: Country.paper_as_printed(epsilon=0),
    "FrequencyMatrix.from_array": lambda: FrequencyMatrix.from_array([[-1]]),
    "Grid.around": lambda: Grid.around(0, 100, 1000),
    "Grid.cells": lambda: Grid.cells(0),
    "Grid.count": lambda: Grid.cells(2).count({"x": [1], "y": [1]}, per="nobody"),
    "Grid.from_boundary": lambda: Grid.from_boundary("nowhere.gpkg"),
    "Grid.from_bounds": lambda: Grid.from_bounds(0, 0, 1, 1, crs=4326),
    "Grid.from_lonlat": lambda: Grid.cells(2).from_lonlat([0], [0]),
    "Grid.to_lonlat": lambda: Grid.cells(2).to_lonlat([0], [0]),
    "HTF": lambda: HTF(epsilon=1, stop_rule="never"),
    "Ledger.book": lambda: Ledger(ROOT, cap=1).book("a key", 1, "htf"),
    "Ledger.left": lambda: Ledger(ROOT, cap=1).left("a key"),
    "Ledger.lower": lambda: Ledger(ROOT).lower(1, 1),
    "Ledger.rows": lambda: Ledger(ROOT).rows(),
    "Ledger.spent": lambda: Ledger(ROOT).spent("a key"),
    "Mechanism.with_": lambda: HTF().with_(eps=1),
    "People.proportion": lambda: people().proportion([True, False]),
    "Points": lambda: Points(np.zeros(2), np.zeros(3)),
    "Release.touched": lambda: HTF(1).release([[1, 2]], rng=1).touched([[0, 1]]),
    "mechanism": lambda: mechanism("nothing"),
}


def small_areas() -> Areas:
    frame = geopandas.GeoDataFrame({"name": ["A"]}, geometry=[box(0, 0, 1, 1)], crs=4326)
    return Areas.read(frame, levels=("name",))


def people() -> People:
    return People.of_matrix(FrequencyMatrix.from_array([[1, 0], [1, 1]]))


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_said_to_be_refused_is_refused(name: str) -> None:
    (one,) = (each for each in EVERYTHING if each.name == name)
    assert "InputError" in sections(one.text)["Raises"]
    with pytest.raises(InputError):
        REFUSED[name]()


def test_what_is_between_parts_is_there() -> None:
    # A method that was renamed would be asked for nothing, and nobody would know.
    for name, between in BETWEEN_PARTS.items():
        assert between <= set(dir(getattr(explorer, name))), name
    assert {one.name for one in EVERYTHING} >= REFUSES_NOTHING


WHOLE = """Sum of two lengths.

Parameters
----------
a, b : float
    Metres, 0 or more.

Returns
-------
float

Raises
------
InputError
    For a length below 0.

Examples
--------
>>> add(1.0, 2.0)
3.0
"""


@pytest.mark.parametrize(
    ("old", "new", "lacking"),
    [
        ("", "", None),
        (WHOLE, "", "docstring"),
        ("a, b", "a", "Parameters (missing ['b'], unknown [])"),
        ("a, b", "a, b, c", "Parameters (missing [], unknown ['c'])"),
        ("a, b : float", "a, b : how long", "type of a ('how long')"),
        ("Metres, 0 or more", "A length", "unit or range of a"),
        ("Returns\n-------\nfloat\n\n", "", "Returns"),
        ("InputError", "ValueError", "Raises"),
        (">>> add(1.0, 2.0)\n3.0", "add(1.0, 2.0)", "Examples"),
        (">>> add(1.0, 2.0)", ">>> add(1.0, 2.0)  # doctest: +SKIP", "Examples"),
        (">>> add(1.0, 2.0)", ">>> 1.0 + 2.0", "Examples"),
    ],
)
def test_the_rule_finds_what_is_missing(old: str, new: str, lacking: str | None) -> None:
    def add(a: float, b: float) -> float:
        return a + b

    add.__doc__ = WHOLE.replace(old, new)
    found = lacks(Documented("add", add))
    assert found == [] if lacking is None else lacking in found


def test_a_method_may_be_shown_by_the_example_of_its_class() -> None:
    class Kept:
        """Kept.

        >>> Kept().size()
        3
        """

        def size(self) -> int:
            """How many.

            Returns
            -------
            int
            """
            return 3

        def other(self) -> int:
            """How many others.

            Returns
            -------
            int
            """
            return 4

    assert lacks(Documented("Kept.size", Kept.size, Kept)) == []
    assert lacks(Documented("Kept.other", Kept.other, Kept)) == ["Examples"]


#: `Class.name` or ``Class.name(...)`` in a docstring.
MEMBER = re.compile(r"`([A-Z][A-Za-z]\w*)\.([a-z]\w*)(\([^`]*\))?`")


def members_named() -> set[tuple[str, str, str, str]]:
    """Module, class, member and call of each `Class.name()` in a docstring of the package."""
    package = Path(explorer.__file__).parent
    named = set()
    for path in package.rglob("*.py"):
        module = ".".join(path.relative_to(package.parent).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node) or ""
                named |= {(module, *pair) for pair in MEMBER.findall(text)}
    return named


def classes_named(name: str) -> list[type]:
    """The classes of that name in modules of the package that are loaded."""
    ours = [each for key, each in list(sys.modules.items()) if key.startswith("explorer.")]
    found = [vars(module).get(name) for module in ours]
    return [each for each in found if inspect.isclass(each)]


def test_every_member_that_a_docstring_names_is_there() -> None:
    named, missing = members_named(), []
    assert len(named) > 50
    here = {module: importlib.import_module(module) for module, *_ in named}
    for module, kind, member, call in sorted(named):
        own = vars(here[module]).get(kind)
        kinds = [own] if inspect.isclass(own) else classes_named(kind)
        # Classes of other packages are not looked at.
        there = [
            callable(getattr(each, member, None))
            if call
            else hasattr(each, member)
            or any(member in vars(base).get("__annotations__", ()) for base in each.__mro__)
            for each in kinds
        ]
        if there and not any(there):
            missing.append(f"{module} names {kind}.{member}{call}")
    assert missing == []


@pytest.mark.slow
def test_pdoc_builds_the_pages_that_readme_names(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text("utf8")
    (command,) = re.findall(r"^pdoc (.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    modules = command.replace("\\\n", " ").split()
    build = [sys.executable, "-W", "error::UserWarning:pdoc", "-m", "pdoc", "-o", str(tmp_path)]
    # Elsewhere than in the checkout, where pdoc would ask whether a folder or a module is meant.
    run = subprocess.run(
        [*build, *modules],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout.strip(), run.stderr.strip()) == (0, "", "")
    page = (tmp_path / "explorer.html").read_text("utf8")
    shown = set(re.findall(r'id="([\w.]+)"', page))
    # The names are loaded when they are first used; the page must hold them all the same.
    assert {one.name for one in EVERYTHING} <= shown
    assert all((tmp_path / f"{name.replace('.', '/')}.html").is_file() for name in modules)


def test_the_eight_lines_of_readme_are_those_of_the_notebook() -> None:
    readme = (ROOT / "README.md").read_text("utf8")
    block = next(
        b for b in re.findall(r"```python\n(.*?)```", readme, re.DOTALL) if "compare(" in b
    )
    lines = [ast.unparse(node) for node in ast.parse(block).body if not is_import(node)]
    path = ROOT / "notebooks" / "08_your_data_in_eight_lines.ipynb"
    cells = [c for c in json.loads(path.read_text("utf8"))["cells"] if c["cell_type"] == "code"]
    run = "\n".join(ast.unparse(ast.parse("".join(cell["source"]))) for cell in cells)
    assert len(lines) == 8
    for line in lines:
        # A notebook shows the last line of a cell; in a script it is printed.
        assert line.removeprefix("print(").removesuffix(")") in run, line


def is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)
