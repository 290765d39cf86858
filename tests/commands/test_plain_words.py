"""No command, refusal or parameter speaks in idioms: the package's own texts are read."""

import ast
from pathlib import Path

import explorer
from tests.golden import kept
from tests.plain_words import UNWANTED

PACKAGE = Path(explorer.__file__).parent
#: Arguments that end up on a screen: of argparse, and of declared parameters.
SHOWN = {"help", "description", "epilog", "usage", "doc", "label"}


def shown(tree, command):
    """Refusals, help and labels of a module; every text of a command but its docstrings."""
    docstrings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if command and isinstance(node, ast.Constant) and node not in docstrings:
            yield node
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            parts = node.args if name == "InputError" else []
            parts = [*parts, *(word.value for word in node.keywords if word.arg in SHOWN)]
            yield from (each for part in parts for each in ast.walk(part))


def test_no_refusal_help_or_label_speaks_in_idioms():
    read = 0
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in shown(ast.parse(path.read_text("utf8")), path.parent.name == "commands"):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                read += 1
                assert not UNWANTED.search(node.value), f"{path.name}: {node.value!r}"
    assert read > 500, "the package was not read"
    for path in kept.TEXTS.glob("*.txt"):
        assert not UNWANTED.search(path.read_text("utf8")), path.name
