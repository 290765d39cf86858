"""No command, refusal or parameter speaks in the idioms of this house: the code's own are read."""

import ast
from collections.abc import Iterator
from pathlib import Path

import explorer
from tests.golden import kept
from tests.plain_words import UNWANTED

PACKAGE = Path(explorer.__file__).parent
#: Arguments that end up on a screen: of argparse, and of declared parameters.
SHOWN = {"help", "description", "epilog", "usage", "doc", "label"}


def literals(node: ast.AST) -> Iterator[str]:
    """All text in an expression, the parts between the braces of an f-string one by one."""
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


def said(source: str) -> Iterator[str]:
    """What a module says to people: refusals, help, labels."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name == "InputError":
            for part in node.args:
                yield from literals(part)
        for keyword in node.keywords:
            if keyword.arg in SHOWN:
                yield from literals(keyword.value)


def printed(source: str) -> Iterator[str]:
    """Every text of a module but its docstrings: a command prints most of what it holds."""
    tree = ast.parse(source)
    apart = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in apart:
            yield node.value


def test_no_refusal_help_or_label_speaks_in_idioms():
    found, read = [], 0
    for path in sorted(PACKAGE.rglob("*.py")):
        is_command = path.parent.name == "commands"
        for text in (printed if is_command else said)(path.read_text("utf8")):
            read += 1
            if UNWANTED.search(text):
                found.append(f"{path.relative_to(PACKAGE)}: {text!r}")
    assert not found, "\n".join(found)
    assert read > 500, "the package was not read"


def test_no_kept_text_speaks_in_idioms():
    files = sorted(kept.TEXTS.glob("*.txt"))
    assert files
    assert [path.name for path in files if UNWANTED.search(path.read_text("utf8"))] == []
