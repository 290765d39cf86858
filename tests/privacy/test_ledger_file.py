"""A ledger proves to be one: what was changed, cut, emptied or exchanged is a sentence, no draw."""

from __future__ import annotations

import logging
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from explorer.errors import InputError
from explorer.mechanisms import Uniform
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy import ledger_file
from explorer.privacy.ledger import AlreadyBooked, Ledger, default_path
from explorer.releases.units import to_units

KEY = "a" * 64
MATRIX = FrequencyMatrix.from_array(np.random.default_rng(3).integers(0, 9, (8, 8)))


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """Three bookings of which one was lowered, forgotten by this process."""
    made = Ledger(tmp_path / "ledger.sqlite3", cap=1)
    for units in (10, 20, 30):
        number = made.book(KEY, units, "htf")
    made.lower(number, 25)
    forget(made)
    return made


def forget(ledger: Ledger) -> None:
    """As another process would find the file."""
    ledger_file._SEEN.pop(ledger.path, None)


def run(ledger: Ledger, *statements: str) -> None:
    with closing(sqlite3.connect(ledger.path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def refused(ledger: Ledger, why: str) -> None:
    """Nothing is booked, drawn or written, and one sentence says why."""
    before = ledger.path.read_bytes() if ledger.path.is_file() else None
    with pytest.raises(InputError, match=why) as caught:
        Uniform(epsilon=0.1).release(MATRIX, ledger=ledger)
    assert "nothing was drawn" in str(caught.value)
    assert "EXPLORER_LEDGER" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert (ledger.path.read_bytes() if ledger.path.is_file() else None) == before


@pytest.mark.parametrize("name", [":memory:", "", "file::memory:", "file:x?mode=memory"])
def test_names_by_which_nothing_is_kept_are_refused(name, monkeypatch) -> None:
    with pytest.raises(InputError, match="keeps nothing"):
        Ledger(name)
    if name:
        monkeypatch.setenv("EXPLORER_LEDGER", name)
        with pytest.raises(InputError, match="keeps nothing"):
            Ledger()


def test_a_relative_name_is_one_file_or_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    here = Ledger("spends", cap=1)
    here.book(KEY, to_units(0.9), "htf")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    with pytest.raises(InputError, match="cap of 1"):
        here.book(KEY, to_units(0.9), "htf")
    monkeypatch.setenv("EXPLORER_LEDGER", "spends")
    with pytest.raises(InputError, match="another ledger in every folder"):
        default_path()


def test_an_emptied_file_is_no_fresh_ledger(ledger) -> None:
    ledger.path.write_bytes(b"")
    refused(ledger, "it was emptied")


def test_a_cut_file_is_refused_wherever_it_is_cut(ledger) -> None:
    whole = ledger.path.read_bytes()
    for length in (1, 99, 4096, len(whole) - 4096, len(whole) - 1):
        ledger.path.write_bytes(whole[:length])
        refused(ledger, "cannot be used")
    ledger.path.write_bytes(whole)
    assert ledger.spent(KEY) == 55


@pytest.mark.parametrize(
    "statement",
    ["CREATE TABLE notes (a)", "CREATE TABLE spends (id, units)", "PRAGMA application_id = 1"],
)
def test_another_database_is_no_ledger(tmp_path, statement) -> None:
    other = Ledger(tmp_path / "other")
    run(other, "PRAGMA user_version = 3", statement)
    refused(other, "no ledger")


FORGERIES: list[tuple[str, ...]] = [
    ("UPDATE spends SET units = 1 WHERE number = 1",),
    ("UPDATE spends SET population = 'x' WHERE number = 2",),
    ("UPDATE spends SET time = '2020' WHERE number = 3",),
    ("DELETE FROM spends WHERE number = 2",),
    ("DELETE FROM spends WHERE number = 4",),
    ("DELETE FROM spends",),
    ("DELETE FROM spends WHERE number = 2", "UPDATE spends SET number = number - 1 "
     "WHERE number > 2"),
    ("UPDATE spends SET number = 9 WHERE number = 1", "UPDATE spends SET number = 1 "
     "WHERE number = 2", "UPDATE spends SET number = 2 WHERE number = 9"),
    ("UPDATE spends SET lowers = 1 WHERE number = 4",),
    ("DELETE FROM about WHERE name = 'head'",),
    ("DROP TABLE spends",),
    ("PRAGMA user_version = 2",),
    ("PRAGMA user_version = 9",),
    ("UPDATE spends SET random = 'ab' WHERE number = 1",),
    ("UPDATE spends SET former = 'ab' WHERE number = 1",),
    ("UPDATE about SET value = '00' WHERE name = 'secret'",),
]  # fmt: skip


@pytest.mark.parametrize("statements", FORGERIES)
def test_rows_that_were_changed_removed_or_moved_are_noticed(ledger, statements) -> None:
    assert ledger.spent(KEY) == 55
    forget(ledger)
    run(ledger, *statements)
    refused(ledger, "cannot be used")


def gone(path: Path) -> None:
    path.unlink()
    for beside in path.parent.glob(f"{path.name}?*"):
        beside.unlink()


def older(path: Path) -> None:
    shutil.copyfile(path.with_name("older"), path)


def another(path: Path) -> None:
    other = Ledger(path.with_name("another"))
    for _ in range(9):
        other.book("b" * 64, 1, "htf")
    other.path.replace(path)


#: How a file is exchanged, and what is said of it; "older" is a copy beside it.
EXCHANGES = [(gone, "is gone"), (older, "an older copy"), (another, "another ledger")]


@pytest.mark.parametrize(("exchange", "why"), EXCHANGES)
def test_a_file_that_is_exchanged_under_a_running_program(ledger, exchange, why: str) -> None:
    shutil.copyfile(ledger.path, ledger.path.with_name("older"))
    ledger.book(KEY, 5, "htf")
    exchange(ledger.path)
    refused(ledger, why)


def test_a_locked_file_is_a_sentence(ledger, monkeypatch) -> None:
    monkeypatch.setattr(ledger_file, "WAIT_SECONDS", 0.2)
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        refused(ledger, "kept it locked for 0.2 seconds")
        other.execute("ROLLBACK")
    assert ledger.spent(KEY) == 55


_NO_ROOM = """
import resource, sys
from explorer.errors import InputError
from explorer.privacy.ledger import Ledger
ledger = Ledger(sys.argv[1])
for turn in range(20):
    ledger.book("k", 1, "htf", "x" * 100)
size = ledger.path.stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
booked = 20
while True:
    try:
        ledger.book("k", 1, "htf", "x" * 500)
    except InputError as error:
        assert "nothing was drawn" in str(error) and "rollback" not in str(error), error
        break
    booked += 1
    assert booked < 1000, "there was room all the time"
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
assert ledger.spent("k") == booked == len(ledger.rows())
print("held")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process")
def test_without_room_nothing_is_booked_and_the_rows_before_stay(tmp_path) -> None:
    asked = [sys.executable, "-c", _NO_ROOM, str(tmp_path / "l")]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "held\n", done.stderr


def test_a_clock_that_goes_back_a_day_books_in_order_and_says_so(
    ledger, monkeypatch, caplog
) -> None:
    from explorer.privacy import ledger as module

    monkeypatch.setattr(module, "now", lambda: "2999-01-02T00:00:00.000+00:00")
    ledger.book(KEY, 1, "htf")
    monkeypatch.setattr(module, "now", lambda: "2999-01-01T00:00:00.000+00:00")
    with caplog.at_level(logging.WARNING):
        ledger.book(KEY, 2, "htf")
        forget(ledger)
        assert ledger.spent(KEY) == 58
    assert [row.time[:10] for row in ledger.rows(KEY)[-2:]] == ["2999-01-02"] * 2
    assert len(caplog.records) == 1
    assert "set the clock" in caplog.text


def test_an_older_ledger_is_taken_over_once_and_said(tmp_path, caplog) -> None:
    path = tmp_path / "old"
    ledger = Ledger(path, cap=20e-12)
    rows = [(1, KEY, 7), (4, "b" * 64, 8), (5, KEY, 9)]
    run(
        ledger,
        "CREATE TABLE spends (id INTEGER PRIMARY KEY, dataset TEXT NOT NULL, time TEXT NOT NULL, "
        "mechanism TEXT NOT NULL, units INTEGER NOT NULL CHECK (units > 0), what TEXT NOT NULL)",
        *(f"INSERT INTO spends VALUES ({number}, '{key}', '2026-01-01T00:00:00.000+00:00', 'htf', "
          f"{units}, 'w')" for number, key, units in rows),
    )  # fmt: skip
    with caplog.at_level(logging.WARNING):
        assert ledger.spent(KEY) == 16
        assert ledger.spent("b" * 64) == 8
    assert len([each for each in caplog.records if "taken over" in each.message]) == 1
    with pytest.raises(InputError, match="cap"):
        ledger.book(KEY, 5, "htf")
    # One name for data that were booked without one: what they have spent goes along.
    with pytest.raises(InputError, match="cap"):
        Ledger(path, cap=20e-12, population="Riders").book(KEY, 5, "htf")
    run(ledger, "UPDATE spends SET units = 1 WHERE number = 1")
    refused(ledger, "row 1 was changed")


def test_a_population_has_one_cap_over_all_that_is_counted_of_it(tmp_path) -> None:
    def riders(name: str = "Riders") -> Ledger:
        return Ledger(tmp_path / "l", cap=1, population=name)

    riders().book("one grid", to_units(0.5), "htf")
    riders(" RIDERS ").book("another bound", to_units(0.4), "htf")
    for ledger, key in ((riders(), "a third extent"), (Ledger(tmp_path / "l", cap=1), "one grid")):
        with pytest.raises(InputError, match=r"This population has spent epsilon 0\.9 of a cap"):
            ledger.book(key, to_units(0.2), "htf")
    assert riders().left("whatever") == to_units(0.1)
    riders("walkers").book("other people", to_units(1), "htf")


@pytest.mark.parametrize("name", ["", "  ", "x" * 201])
def test_names_that_are_none(name, tmp_path) -> None:
    with pytest.raises(InputError, match="population has a name"):
        Ledger(tmp_path / "l", population=name)


def test_a_token_is_booked_once_also_by_another_process_and_after_it_was_lowered(tmp_path) -> None:
    ledger = Ledger(tmp_path / "l", token="t1")
    number = ledger.book(KEY, 5, "htf")
    with pytest.raises(AlreadyBooked):
        Ledger(tmp_path / "l", token="t1").book("other", 5, "htf")
    ledger.lower(number, 0)
    with pytest.raises(AlreadyBooked):
        ledger.book(KEY, 5, "htf")
    assert ledger.rows() == []
    before = ledger.newest(KEY)
    Ledger(tmp_path / "l", token="t2").book(KEY, 5, "htf")
    assert ledger.newest(KEY) > before


_TRIES = """
import sys
from explorer.errors import InputError
from explorer.privacy.ledger import Ledger
path, who, tries = sys.argv[1:]
booked = 0
for turn in range(int(tries)):
    # Another grid at every try.
    try:
        Ledger(path, cap=50e-12, population="riders").book(f"{who} {turn}", 1, "htf")
    except InputError as error:
        assert "of a cap of" in str(error), error
    else:
        booked += 1
print(booked)
"""


@pytest.mark.parametrize("tries", [250, pytest.param(5000, marks=pytest.mark.slow)])
def test_two_processes_never_pass_the_cap_of_a_population(tmp_path, tries) -> None:
    path = tmp_path / "l"
    rivals = [
        subprocess.Popen(
            [sys.executable, "-c", _TRIES, str(path), who, str(tries)], stdout=subprocess.PIPE
        )
        for who in "ab"
    ]
    ends = [rival.communicate(timeout=300)[0] for rival in rivals]
    assert [rival.returncode for rival in rivals] == [0, 0]
    assert sum(map(int, ends)) == 50
    ledger = Ledger(path, population="riders")
    assert ledger.spent("any") == 50
    assert len({row.dataset for row in ledger.rows()}) == 50
