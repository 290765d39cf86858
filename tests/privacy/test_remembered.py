"""A ledger that was exchanged between two starts draws nothing, until it is accepted."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from explorer.privacy.ledger import Ledger
from tests.privacy.test_ledger_file import EXCHANGES, forget, gone

#: One process: prints what was spent then, or why nothing was booked.
BOOK = """
import sys
from explorer.errors import InputError
from explorer.privacy.ledger import Ledger
ledger = Ledger(population="riders", cap=1)
try:
    ledger.book(sys.argv[1], int(float(sys.argv[2]) * 10**12), "htf")
    print("spent", ledger.spent("") / 10**12)
except InputError as error:
    print(error)
"""


@pytest.fixture(autouse=True)
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "private" / "ledger.sqlite3"))
    monkeypatch.setenv("EXPLORER_STATE", str(tmp_path / "state"))
    (tmp_path / "private").mkdir()
    return tmp_path / "private" / "ledger.sqlite3"


def started(*command: str) -> str:
    """What a process of its own prints on both streams."""
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, check=False, timeout=120
    )
    return done.stdout + done.stderr


def book(epsilon: float, key: str = "k") -> str:
    return started("-c", BOOK, key, str(epsilon)).strip()


@pytest.mark.parametrize(("exchange", "why"), EXCHANGES)
def test_what_was_exchanged_between_two_starts_draws_nothing_until_it_is_accepted(
    path: Path, exchange: Callable[[Path], None], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert book(0.1) == "spent 0.1"
    shutil.copyfile(path, path.with_name("older"))
    assert book(0.8) == "spent 0.9"
    exchange(path)
    before = path.read_bytes() if path.exists() else None
    for _ in range(2):
        said = book(0.8)
        assert why in said
        assert "--accept" in said
        assert "nothing was drawn" in said
        assert "\n" not in said
    assert (path.read_bytes() if path.exists() else None) == before
    # What is advised works: another ledger, the right file, or going on with this one.
    monkeypatch.setenv("EXPLORER_LEDGER", str(path.with_name("new")))
    assert book(0.8) == "spent 0.8"
    monkeypatch.setenv("EXPLORER_LEDGER", str(path))
    said = started("-m", "explorer", "ledger", "--accept")
    assert "3 were known of" in said or "2 were known of" in said
    assert book(0.8).startswith("spent")


def test_the_right_file_that_comes_back_goes_on(path: Path) -> None:
    assert book(0.5) == "spent 0.5"
    kept = path.read_bytes()
    gone(path)
    assert "is gone" in book(0.1)
    path.write_bytes(kept)
    assert book(0.1) == "spent 0.6"


def test_a_damaged_file_is_not_accepted_and_that_is_not_advised(path: Path) -> None:
    book(0.5)
    path.write_bytes(path.read_bytes()[:5000])
    assert "--accept" not in book(0.1)
    assert "cannot be used" in started("-m", "explorer", "ledger", "--accept")
    assert "cannot be used" in book(0.1)


def test_an_empty_ledger_may_go(path: Path) -> None:
    assert Ledger().rows() == []
    path.unlink()
    forget(Ledger())
    assert Ledger().rows() == []


@pytest.mark.parametrize("kind", ["a file", "not to be written"])
def test_a_state_folder_that_cannot_be_used_is_one_warning(
    path: Path, tmp_path: Path, kind: str
) -> None:
    if kind == "a file":
        (tmp_path / "state").write_text("")
    else:
        if os.geteuid() == 0:
            pytest.skip("root may write everywhere")
        (tmp_path / "state").mkdir(mode=0o500)
    said = book(0.1)
    assert "spent 0.1" in said
    assert said.count("EXPLORER_STATE") == 1
    assert path.exists()
