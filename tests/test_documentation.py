"""What `help` says of a public name: parameters, result, errors, and an example that runs.

A newcomer reads docstrings in a notebook (Shift-Tab) and on the pages that pdoc builds of them.
"""

from __future__ import annotations

import ast
import doctest
import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import explorer
from explorer import Mechanism

ROOT = Path(__file__).resolve().parent.parent

#: What parts of the package call of each other: no user has a reason to.
INTERNAL = {
    # What a curator and a plan ask of counts, see `privacy.counts`; what pages ask of trips.
    "AreaCounts": {"all_imbalances", "all_split_costs", "count", "inside", "split_costs"},
    "FrequencyMatrix": {"all_imbalances", "all_split_costs", "count", "slab_costs", "split_costs"},
    "TripMatrix": {
        *("all_imbalances", "all_split_costs", "count", "made_up", "slab_costs", "split_costs"),
        "place_counts",
    },
    # What a grid asks of records, see `grid.countable`.
    "Points": {"count_in", "count_on", "few_inside", "place_on"},
    "PointFiles": {"count_in", "count_on"},
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
#: They take any argument, or are made by the package alone.
REFUSES_NOTHING = {
    *("InputError", "Areas.children"),
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
    def arguments(self) -> set[str]:
        if inspect.isclass(self.what) and issubclass(self.what, BaseException):
            return set()
        return {*inspect.signature(self.what).parameters} - {"self", "cls"}

    @property
    def returns(self) -> bool:
        if inspect.isclass(self.what):
            return False
        return inspect.signature(self.what).return_annotation not in ("None", None)


def methods(kind: type) -> Iterator[tuple[str, Any]]:
    """Public methods of a class, of its own or of a base that is no public name."""
    public = {getattr(explorer, name) for name in explorer.__all__} - {kind}
    for name in dir(kind):
        raw = inspect.getattr_static(kind, name)
        plain = raw.__func__ if isinstance(raw, classmethod | staticmethod) else raw
        if name.startswith("_") or not inspect.isfunction(plain):
            continue
        base = next(base for base in kind.__mro__ if name in base.__dict__)
        if base not in public and base.__module__.startswith("explorer"):
            yield name, getattr(kind, name)


def documented() -> list[Documented]:
    """Public names and their methods."""
    found = []
    for name in explorer.__all__:
        what = getattr(explorer, name)
        found.append(Documented(name, what))
        if inspect.isclass(what):
            internal = INTERNAL.get(name, set())
            if issubclass(what, Mechanism):
                # What every mechanism overrides; to warm up is explained at Mechanism itself.
                internal = internal | INTERNAL["Mechanism"]
                internal |= set() if what is Mechanism else {"schedule", "warm_up"}
            found += [
                Documented(f"{name}.{method}", function, what)
                for method, function in methods(what)
                if method not in internal
            ]
    return found


def sections(text: str) -> dict[str, str]:
    """The parts of a docstring that have a heading of their own, by its name."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}$\n?", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def described(section: str) -> set[str]:
    """The names that a section of parameters describes."""
    heads = re.findall(r"^([\w, *]+) :|^(\*\*\w+)", section, re.MULTILINE)
    names = ", ".join(typed or starred for typed, starred in heads).split(", ")
    return {name.strip().lstrip("*") for name in names if name}


def runs(one: Documented) -> bool:
    """Whether an example of its own calls it, or one of the class that it is a method of."""
    short = one.name.rpartition(".")[2]
    texts = [one.text] if one.owner is None else [one.text, inspect.getdoc(one.owner) or ""]
    examples = (each for text in texts for each in doctest.DocTestParser().get_examples(text))
    return any(
        doctest.SKIP not in each.options and re.search(rf"\b{short}\b", each.source)
        for each in examples
    )


ALL = documented()


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_help_is_whole(one: Documented) -> None:
    there = sections(one.text)
    assert described(there.get("Parameters", "")) == one.arguments
    assert not one.returns or {"Returns", "Yields"} & {*there}
    raises = "InputError" in there.get("Raises", "")
    assert raises or not one.arguments or one.name in REFUSES_NOTHING
    assert runs(one)


def test_an_internal_method_that_was_renamed_is_noticed() -> None:
    for name, internal in INTERNAL.items():
        assert internal <= set(dir(getattr(explorer, name))), name
    assert {one.name for one in ALL} >= REFUSES_NOTHING


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
    # The names are loaded when they are first used; the page must hold them all the same.
    assert {one.name for one in ALL} <= set(re.findall(r'id="([\w.]+)"', page))
    assert all((tmp_path / f"{name.replace('.', '/')}.html").is_file() for name in modules)


def test_the_python_of_readme_is_that_of_the_notebook_which_runs() -> None:
    readme = (ROOT / "README.md").read_text("utf8")
    block = next(
        b for b in re.findall(r"```python\n(.*?)```", readme, re.DOTALL) if "compare(" in b
    )
    imports = ast.Import | ast.ImportFrom
    lines = [ast.unparse(node) for node in ast.parse(block).body if not isinstance(node, imports)]
    path = ROOT / "notebooks" / "08_your_data_in_eight_lines.ipynb"
    cells = [c for c in json.loads(path.read_text("utf8"))["cells"] if c["cell_type"] == "code"]
    run = "\n".join(ast.unparse(ast.parse("".join(cell["source"]))) for cell in cells)
    assert len(lines) == 8
    for line in lines:
        # A notebook shows the last line of a cell; in a script it is printed.
        assert line.removeprefix("print(").removesuffix(")") in run, line
