"""Words for newcomers: short, plain, and there for every control that asks for them."""

import ast
import re
from pathlib import Path

import pytest

from explorer.app.kit.words import FOLDER, words

#: Parts of a drawer: pairs of a control and its text.
DRAWER = ("data", "grid", "first", "look")
DRAWN = FOLDER.parent / "mappage" / "drawer.py"


def asked_of(page: str, modules: list[Path]) -> set[str]:
    """The headings that modules name: in calls of words(), and among the controls of drawers."""
    found: set[str] = set()
    for module in modules:
        for node in ast.walk(ast.parse(module.read_text())):
            if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
                named = ast.unparse(node.value)
                if named == "text" or named == f"words('{page}')":
                    found.add(node.slice.value)
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "self.fill":
                found |= _alone(node.args)
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("kept", "seen"):
                found |= _alone([node.value])
            elif isinstance(node, ast.keyword) and node.arg in DRAWER:
                pairs = [each.elts for each in ast.walk(node) if isinstance(each, ast.Tuple)]
                found |= {each[1].value for each in pairs if isinstance(each[1], ast.Constant)}
    return found


def _alone(controls: list[ast.expr]) -> set[str]:
    """Texts among controls that are no arguments of a call."""
    texts = [each for control in controls for each in ast.walk(control)]
    calls = {id(arg) for text in texts if isinstance(text, ast.Call) for arg in text.args}
    return {
        each.value
        for each in texts
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in calls
    }


@pytest.mark.parametrize(
    ("page", "frames", "some"),
    [
        ("explore", [DRAWN], {"Boxes", "Epsilon", "Random noise"}),
        ("trips", [DRAWN], {"Boxes", "Places", "Epsilon", "Random noise", "Maps count"}),
        ("compare", [], {"Boxes", "City", "Epsilon", "Random noise"}),
    ],
)
def test_every_text_a_page_asks_for_exists(page, frames, some) -> None:
    asked = asked_of(page, [*(FOLDER.parent / page).glob("*.py"), *frames])
    assert asked <= set(words(page))
    assert some <= asked


def test_texts_are_short_and_hold_no_markup() -> None:
    for page in FOLDER.glob("*.md"):
        for heading, text in words(page.stem).items():
            assert 0 < len(text.split()) <= 60, heading
            assert not re.search(r"[<>*_`\[\]]", text), heading
