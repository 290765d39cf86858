"""Words for newcomers: short, plain, and there for every control that asks for them."""

import ast
import re
from pathlib import Path

import pytest

from explorer.app.kit.words import FOLDER, words


def asked_of(page: str, folder: Path) -> set[str]:
    """The headings that the modules of a page name: in calls of words(), and in a drawer's list."""
    found: set[str] = set()
    for module in folder.glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text())):
            if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
                named = ast.unparse(node.value)
                if named == "text" or named == f"words('{page}')":
                    found.add(node.slice.value)
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "self.fill":
                texts = [each for arg in node.args for each in ast.walk(arg)]
                calls = {id(a) for t in texts if isinstance(t, ast.Call) for a in t.args}
                found |= {
                    each.value
                    for each in texts
                    if isinstance(each, ast.Constant)
                    and isinstance(each.value, str)
                    and id(each) not in calls
                }
    return found


@pytest.mark.parametrize("page", ["explore", "compare"])
def test_every_text_a_page_asks_for_exists(page) -> None:
    asked = asked_of(page, FOLDER.parent / page)
    assert asked <= set(words(page))
    assert {"Boxes", "City", "Epsilon", "Random noise"} <= asked


def test_texts_are_short_and_hold_no_markup() -> None:
    for page in FOLDER.glob("*.md"):
        for heading, text in words(page.stem).items():
            assert 0 < len(text.split()) <= 60, heading
            assert not re.search(r"[<>*_`\[\]]", text), heading
