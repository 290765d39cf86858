"""What commands and releases say.

Reworded on purpose? `python -m tests.golden.make --texts`, and read the difference.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden import kept, said
from tests.golden.make import ledger_lines


def text(name: str) -> str:
    return (kept.TEXTS / name).read_text("utf8")


@pytest.mark.parametrize("name", said.HELPS)
def test_help(name: str) -> None:
    kept_text = text(f"help-{name}.txt" if name else "help.txt")
    assert said.words(said.help_of(name)) == said.words(kept_text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("printed")
    said.prepare(here)
    said.printed("release", here)  # answers are asked of its map
    (here / "map.parquet").rename(here / "known.parquet")
    return here


@pytest.mark.parametrize("name", said.COMMAND_LINES)
def test_printed(name: str, folder: Path) -> None:
    if name != "release":
        (folder / "map.parquet").write_bytes((folder / "known.parquet").read_bytes())
    printed = said.printed(name, folder)
    (folder / "map.parquet").unlink(missing_ok=True)
    assert said.same(text(f"printed-{name}.txt"), printed), printed


def test_ledgers_and_summaries() -> None:
    before, now = text("ledger.txt").splitlines(), "".join(ledger_lines()).splitlines()
    assert [line for line, old in zip(now, before, strict=True) if not said.same(old, line)] == []
