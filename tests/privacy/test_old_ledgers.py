"""A ledger of format 2 is taken over once, with all that was spent, drawn and published.

`tests/golden/ledger-2` was written by the version before: a ledger with releases drawn beside it,
and a folder that was published from it.
"""

from __future__ import annotations

import json
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
from explorer.grid.grid import Grid
from explorer.mechanisms import Uniform
from explorer.points.matrix import FrequencyMatrix
from explorer.points.points import read_points
from explorer.privacy.drawn import DrawnReleases
from explorer.privacy.ledger import AlreadyBooked, Ledger
from explorer.privacy.once import token_of, unfinished, waiting
from explorer.privacy.receipts import receipt_of_row, statement
from explorer.releases.release import Release
from explorer.releases.units import to_units

OLD = Path(__file__).parents[1] / "golden" / "ledger-2"
KEPT = json.loads((OLD / "statement.json").read_text())
BEFORE = {each["population"]: each for each in KEPT["statement"]}
UNNAMED = FrequencyMatrix.from_array(np.arange(16).reshape(4, 4))
GRID = Grid.around(-122.42, 37.77, "20km", shape=8)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    shutil.copytree(OLD, tmp_path / "old")
    return tmp_path / "old" / "ledger.sqlite3"


def riders() -> FrequencyMatrix:
    return GRID.count(read_points(OLD / "riders.csv"))


def test_sums_and_bookings_are_those_of_before_and_it_is_said_once(path, caplog) -> None:
    with caplog.at_level(logging.WARNING):
        now = statement(Ledger(path))
        assert statement(Ledger(path)) == now
    assert len([each for each in caplog.records if "taken over" in each.message]) == 1
    assert [each["bookings"] for each in now] == [each["bookings"] for each in BEFORE.values()]
    assert [each["spent"] for each in now] == [each["spent"] for each in BEFORE.values()]
    assert now[0]["population"] == "riders"


def test_what_was_spent_counts_against_caps(path) -> None:
    spent = [to_units(each["spent"]) for each in BEFORE.values()]
    assert Ledger(path, population="Riders").spent("another grid") == spent[0]
    assert Ledger(path).spent(riders().key) == spent[0]
    assert Ledger(path).spent(UNNAMED.key) == spent[1]
    assert Ledger(path, population=KEPT["rec"]).spent("another grid") == spent[2]
    for cap, ledger, key in (
        (0.75, {"population": "riders"}, "another grid"),
        (0.6, {}, UNNAMED.key),
        (0.1, {"population": KEPT["rec"]}, "another grid"),
    ):
        with pytest.raises(InputError, match="has spent epsilon"):
            Ledger(path, cap, **ledger).book(key, to_units(0.06), "htf")


def test_draws_that_did_not_come_to_their_end_are_known(path) -> None:
    ledger, matrix = Ledger(path, population="riders"), riders()
    (kept,) = unfinished(ledger, matrix, Uniform(epsilon=0.25))
    assert kept.kept is not None
    assert Release.load(DrawnReleases(path).path(kept.receipt.token)).epsilon == 0.25
    (lost,) = unfinished(ledger, matrix, Uniform(epsilon=0.15))
    assert lost.kept is None
    for token in (kept.receipt.token, lost.receipt.token):
        with pytest.raises(AlreadyBooked):
            Ledger(path, population="riders", token=token).book(matrix.key, 1, "uniform")
    assert kept.receipt.token in {each.token for each in waiting(ledger, matrix)}
    assert [each.title for each in waiting(Ledger(path), UNNAMED)] == ["Uniform with epsilon 0.25"]
    # Both tabs of a page ask for the same draw, which is none of those of before.
    tokens = {token_of(ledger, matrix, Uniform(epsilon=0.15)) for _ in range(2)}
    assert len(tokens) == 1
    assert lost.receipt.token not in tokens


def test_the_row_that_a_published_folder_names_is_found(path) -> None:
    booking = json.loads((OLD / "two" / "manifest.json").read_bytes())["booking"]
    receipt = receipt_of_row(Ledger(path), booking["row"])
    assert receipt is not None
    assert (receipt.time, receipt.units) == (booking["time"], booking["units"])
    assert receipt.spent_before == booking["spent_before"]
    # Published anew it is named by something that is not of the counts.
    assert receipt.row != booking["row"]
    assert receipt_of_row(Ledger(path), receipt.row) == receipt


def test_no_plain_hash_of_counts_is_left_in_the_file(path) -> None:
    hashes = [UNNAMED.key, riders().key, KEPT["rec"].split()[1]]
    assert all(each.encode() in path.read_bytes() for each in hashes)
    Ledger(path).rows()
    assert not any(each.encode() in path.read_bytes() for each in hashes)


_BOOKS = """
import sys
from explorer.privacy.ledger import Ledger
Ledger(sys.argv[1], population="riders").book(sys.argv[2], 1, "htf")
"""


def test_processes_that_open_it_at_once_lose_nothing(path) -> None:
    asked = [[sys.executable, "-c", _BOOKS, str(path), f"grid {n}"] for n in range(4)]
    running = [subprocess.Popen(each, stderr=subprocess.PIPE, text=True) for each in asked]
    said = [each.communicate()[1] for each in running]
    assert [each.returncode for each in running] == [0] * 4, said
    assert sum("taken over" in each for each in said) == 1
    assert Ledger(path, population="riders").spent("") == to_units(BEFORE["riders"]["spent"]) + 4


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE spends SET units = 1 WHERE number = 1",
        "DELETE FROM spends WHERE number = 9",
        "DELETE FROM about WHERE name = 'head'",
        "PRAGMA user_version = 3",
    ],
)
def test_one_that_was_changed_is_refused_and_left_as_it_is(path, statement) -> None:
    with closing(sqlite3.connect(path)) as file, file:
        file.execute(statement)
    before = path.read_bytes()
    with pytest.raises(InputError, match="nothing was drawn"):
        Uniform(epsilon=0.1).release(UNNAMED, ledger=Ledger(path))
    assert path.read_bytes() == before


def test_a_file_from_before_notes_knows_of_no_unfinished_draw(path) -> None:
    """The first versions of format 2 did not note what became of a draw."""
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("DELETE FROM about WHERE name = 'noted'")
    shutil.rmtree(path.with_suffix(".drawn"))
    ledger = Ledger(path, population="riders")
    assert {row["state"] for each in statement(ledger) for row in each["bookings"]} == {"not noted"}
    assert unfinished(ledger, riders(), Uniform(epsilon=0.15)) == []
    ledger.token = token_of(ledger, riders(), Uniform(epsilon=0.15))
    ledger.book(riders().key, to_units(0.15), "uniform")
    assert len(unfinished(ledger, riders(), Uniform(epsilon=0.15))) == 1
