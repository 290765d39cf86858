"""Words for newcomers: short, plain, and there for every control that asks for them."""

import ast
import re
from pathlib import Path

from explorer.app.explore import drawer
from explorer.app.kit.words import FOLDER, words


def test_every_text_a_page_asks_for_exists() -> None:
    asked = set()
    for module in (Path(drawer.__file__), Path(drawer.__file__).with_name("page.py")):
        for node in ast.walk(ast.parse(module.read_text())):
            if (
                isinstance(node, ast.Subscript)
                and ast.unparse(node.value).startswith("words(")
                and isinstance(node.slice, ast.Constant)
            ):
                asked.add(node.slice.value)
    assert asked <= set(words("explore"))
    assert {"Boxes", "Ledger"} <= asked


def test_texts_are_short_and_hold_no_markup() -> None:
    for page in FOLDER.glob("*.md"):
        for heading, text in words(page.stem).items():
            assert 0 < len(text.split()) <= 60, heading
            assert not re.search(r"[<>*_`\[\]]", text), heading
