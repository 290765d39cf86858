"""Names that others write down: those of the package, of README, its pages and the notebooks."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from importlib import import_module

import pytest

import explorer
from tests.golden import kept

ROOT = kept.HERE.parents[1]
NAMES = (kept.TEXTS / "names.txt").read_text().split()


def sources() -> Iterator[tuple[str, str]]:
    """Python that readers copy: in README and its pages, also in a line; cells of notebooks."""
    for page in [ROOT / "README.md", *sorted((ROOT / "notebooks").glob("*.md"))]:
        text = page.read_text("utf8")
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            yield page.name, block
        for line in re.findall(r"`((?:from|import) explorer[^`]*)`", text):
            yield page.name, line
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in json.loads(path.read_text("utf8"))["cells"]:
            if cell["cell_type"] == "code":
                lines = "".join(cell["source"]).splitlines()
                yield path.name, "\n".join(li for li in lines if not li.startswith(("%", "!")))


def imported() -> list[tuple[str, str, str]]:
    """(where, module, name) of all that is imported from the package."""
    found = {}
    for where, source in sources():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("explorer"):
                found |= {(where, node.module, alias.name): None for alias in node.names}
            elif isinstance(node, ast.Import):
                names = [a.name for a in node.names if a.name.partition(".")[0] == "explorer"]
                found |= {(where, name, ""): None for name in names}
    return list(found)


def test_public_names_are_there() -> None:
    assert sorted(explorer.__all__) == NAMES
    assert [name for name in NAMES if not hasattr(explorer, name)] == []


@pytest.mark.parametrize(
    ("module", "name"), sorted({(module, name) for _, module, name in imported()})
)
def test_what_readers_import_is_there(module: str, name: str) -> None:
    there = import_module(module)
    if name and not hasattr(there, name):
        import_module(f"{module}.{name}")
