"""The ledger: nothing passes the cap, whoever books; nothing in it is a count."""

from __future__ import annotations

import multiprocessing
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from explorer.errors import InputError
from explorer.mechanisms import HTF, Uniform
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.curator import BudgetExceeded, Curator
from explorer.privacy.ledger import Ledger
from explorer.releases.inference import Estimate
from explorer.releases.units import to_units

KEY = "a" * 64


def test_spends_of_a_data_set_add_up_and_stay(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "ledger.sqlite3"
    before = datetime.now(UTC) - timedelta(seconds=1)
    Ledger(path).book(KEY, to_units(0.1), "htf", "first")
    Ledger(path).book(KEY, to_units(0.2), "ug", "second")
    Ledger(path).book("b" * 64, to_units(5), "ug")

    again = Ledger(path)
    assert again.spent(KEY) == to_units(0.3)  # in whole units, no float dust
    assert again.spent("c" * 64) == 0
    rows = again.rows(KEY)
    assert [(row.mechanism, row.units, row.what) for row in rows] == [
        ("htf", to_units(0.1), "first"),
        ("ug", to_units(0.2), "second"),
    ]
    assert len(again.rows()) == 3
    times = [datetime.fromisoformat(row.time) for row in rows]
    assert before <= times[0] <= times[1] <= datetime.now(UTC)


def test_the_cap_is_reached_exactly_and_never_passed(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l", cap=0.3)
    assert ledger.left(KEY) == to_units(0.3)
    ledger.book(KEY, to_units(0.1), "htf")
    with pytest.raises(InputError, match=r"spent epsilon 0\.1 of a cap of 0\.3.*cost 0\.25"):
        ledger.book(KEY, to_units(0.25), "htf")
    assert ledger.left(KEY) == to_units(0.2)
    ledger.book(KEY, to_units(0.2), "htf")
    assert ledger.left(KEY) == 0
    with pytest.raises(InputError, match="EXPLORER_EPSILON_CAP"):
        ledger.book(KEY, 1, "htf")
    assert len(ledger.rows(KEY)) == 2
    # The cap is each data set's own.
    ledger.book("b" * 64, to_units(0.3), "htf")


def test_parallel_threads_share_one_ledger(tmp_path: Path) -> None:
    ledger, most = Ledger(tmp_path / "l", cap=50e-12), 50

    def book(_turn: int) -> int:
        try:
            ledger.book(KEY, 1, "htf")
        except InputError:
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(book, range(2 * most))) == most
    assert ledger.spent(KEY) == most


def test_a_refused_release_is_booked_with_what_it_has_spent(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l", cap=1)
    before, number = ledger.book(KEY, 5, "htf"), ledger.book(KEY, to_units(0.9), "mkm")
    ledger.lower(number, 7)
    assert [row.units for row in ledger.rows(KEY)] == [5, 7]
    # Never more than it was.
    ledger.lower(number, 10**15)
    assert ledger.spent(KEY) == 12
    ledger.lower(before, 0)
    assert [row.mechanism for row in ledger.rows(KEY)] == ["mkm"]


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
def test_a_fork_may_go_on_with_the_ledger(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l")
    ledger.book(KEY, 1, "htf")
    fork = multiprocessing.get_context("fork")
    child = fork.Process(target=lambda: Ledger(ledger.path).book(KEY, 1, "htf"))
    child.start()
    child.join(30)
    assert child.exitcode == 0
    ledger.book(KEY, 1, "htf")
    assert ledger.spent(KEY) == 3


def matrix(seed: int = 0) -> FrequencyMatrix:
    return FrequencyMatrix.from_array(np.random.default_rng(seed).integers(0, 9, (8, 8)))


class Fails(Uniform):
    """Fails on the data, not where it is compiled: after a draw of 5 units, or before any."""

    error: Exception

    def plan(self, curator: Curator) -> Estimate:
        if curator.shape != matrix().shape:
            return super().plan(curator)
        type(self).kept = curator, curator.open()
        if isinstance(self.error, InputError):
            curator.count(self.kept[1], 5, "first")
        raise self.error


def test_a_release_is_booked_before_its_noise_is_drawn(tmp_path: Path) -> None:
    ledger, data = Ledger(tmp_path / "l"), matrix()
    Fails.error = RuntimeError("stopped")
    with pytest.raises(RuntimeError, match="stopped"):
        Fails(epsilon=0.25).release(data, ledger=ledger)
    assert ledger.spent(data.key) == to_units(0.25)


def test_a_refused_plan_cannot_go_on_with_what_is_given_back(tmp_path: Path) -> None:
    ledger, data = Ledger(tmp_path / "l"), matrix()
    Fails.error = InputError("No map of these.")
    with pytest.raises(InputError, match="No map"):
        Fails(epsilon=0.25).release(data, ledger=ledger)
    assert ledger.spent(data.key) == 5
    curator, root = Fails.kept
    for go_on in (lambda: curator.count(root, 1, "rest"), lambda: curator.privtree(root, 1)):
        with pytest.raises(BudgetExceeded, match="closed"):
            go_on()


def test_a_release_over_the_cap_is_refused(tmp_path: Path) -> None:
    ledger, data = Ledger(tmp_path / "l", cap=0.25), matrix()
    release = HTF(epsilon=0.1).release(data, ledger=ledger)
    assert not release.preview
    HTF(epsilon=0.1).release(data, ledger=ledger)
    with pytest.raises(InputError, match=r"lower epsilon to 0\.05"):
        HTF(epsilon=0.1).release(data, ledger=ledger)
    assert ledger.spent(data.key) == to_units(0.2)
    # Another data set has a budget of its own.
    HTF(epsilon=0.1).release(matrix(1), ledger=ledger)


def test_previews_book_nothing(tmp_path: Path) -> None:
    ledger, data = Ledger(tmp_path / "l", cap=0.0), matrix()
    assert HTF(epsilon=1).release(data, rng=3, ledger=ledger).preview
    HTF(epsilon=1).release(data, rng=np.random.default_rng(3), ledger=ledger)
    assert not ledger.path.exists()
    with pytest.raises(InputError, match="use a release drawn before"):
        HTF(epsilon=1).release(data, ledger=ledger)


def test_no_count_is_in_the_file(tmp_path: Path) -> None:
    counts = np.zeros((4, 4), dtype=int)
    counts[1, 2] = 4_711_815
    data = FrequencyMatrix.from_array(counts)
    ledger = Ledger(tmp_path / "l")
    HTF(epsilon=0.1).release(data, ledger=ledger)
    (row,) = ledger.rows()
    assert row.dataset != data.key
    assert data.key.encode() not in ledger.path.read_bytes()
    assert row.what == repr(HTF(epsilon=0.1))
    with sqlite3.connect(ledger.path) as connection:
        dump = "\n".join(connection.iterdump()).replace(data.key, "")
    assert "4711815" not in dump
    assert "100000000000" in dump  # the dump does show what is in the file


def test_a_file_that_is_no_ledger_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but somebody's notes " * 99)
    with pytest.raises(InputError, match=r"notes\.txt cannot be used"):
        Ledger(path).book(KEY, 1, "htf")
    assert path.read_text().startswith("not a database")
    with pytest.raises(InputError, match="EXPLORER_LEDGER"):
        Ledger(tmp_path).spent(KEY)
    with pytest.raises(InputError, match="cannot be used"):
        Ledger(path / "below" / "ledger").spent(KEY)


@pytest.mark.parametrize("cap", ["much", "-1", "nan", "inf", "1e7"])
def test_a_cap_that_is_none_is_refused(cap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", cap)
    with pytest.raises(InputError, match="EXPLORER_EPSILON_CAP"):
        Ledger("unused")
