"""The list of findings names tests that exist, and what is not promised is said."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "notebooks/design/2026-11-25-findings-and-tests.md"
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(test_\w+))?`", LIST.read_text("utf8"))))


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_a_named_test_exists(file: str, name: str) -> None:
    text = (ROOT / file).read_text("utf8")
    assert re.search(rf"^(async )?def {name or 'test_'}", text, re.MULTILINE)


def test_every_row_of_the_list_names_a_test() -> None:
    rows = re.findall(r"^\| (?!finding|---).*$", LIST.read_text("utf8"), re.MULTILINE)
    assert len(rows) > 20
    assert [row for row in rows if "`tests/" not in row.rsplit("|", 2)[1]] == []


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("README.md", "Drawing again until the exact error on the screen pleases"),
        ("explorer/app/words/drawing.md", "until the exact error on this screen pleases"),
        ("README.md", "a row of weight 50 has 50 times epsilon"),
        ("explorer/commands/drawing.py", "a row of weight 50 has 50 times epsilon"),
        ("README.md", "carry a short hash of them: they are the curator's"),
        ("explorer/app/words/compare.md", "carries a short hash of them: it is the curator's own"),
        ("explorer/evaluate/results.py", "such a table is the curator's"),
    ],
)
def test_what_is_not_promised_is_said(file: str, said: str) -> None:
    assert said in " ".join((ROOT / file).read_text("utf8").replace('"\n', "").split())
