"""A session's releases share one total, whatever else happens."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from explorer import UG, FrequencyMatrix, InputError, PrivTree
from explorer.privacy.ledger import Ledger
from explorer.privacy.session import Session
from explorer.releases.units import to_units

MATRIX = FrequencyMatrix.from_array(np.random.default_rng(1).poisson(3.0, (16, 16)))


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.sqlite3")


def test_releases_share_a_total_and_are_booked(ledger: Ledger) -> None:
    session = Session(MATRIX, epsilon=1, ledger=ledger)
    assert session.left == 1
    first = session.release(UG(epsilon=0.25))
    session.release(PrivTree(epsilon=0.7))
    assert not first.preview
    assert session.left == pytest.approx(0.05)
    assert ledger.spent(MATRIX.key) == to_units(0.25) + to_units(0.7)
    with pytest.raises(InputError, match=r"would cost epsilon 0\.1, and the session has 0\.05"):
        session.release(UG(epsilon=0.1))
    assert ledger.spent(MATRIX.key) == to_units(0.25) + to_units(0.7)
    session.release(UG(epsilon=0.05))
    assert session.left == 0
    assert str(MATRIX.total) not in repr(session)


def test_the_ledgers_own_cap_holds_too(tmp_path: Path) -> None:
    session = Session(MATRIX, 5, ledger=Ledger(tmp_path / "ledger.sqlite3", cap=0.5))
    with pytest.raises(InputError, match=r"cap of 0\.5"):
        session.release(UG(epsilon=1))
    # What the ledger refused was not spent.
    assert session.left == 5
    session.release(UG(epsilon=0.5))


def test_a_plan_that_is_refused_costs_what_it_drew(ledger: Ledger) -> None:
    class Refused(UG):
        def plan(self, curator):
            made = super().plan(curator)
            # Made ready for on another map, before anything is booked.
            if armed:
                raise InputError("Impossible by noisy figures.")
            return made

    class Early(UG):
        def plan(self, curator):
            raise InputError("Impossible before any draw.")

    armed: list[int] = []
    session = Session(MATRIX, 1, ledger=ledger)
    Refused(epsilon=0.4).warm_up(MATRIX)
    armed.append(1)
    with pytest.raises(InputError, match="before any draw"):
        session.release(Early(epsilon=0.4))
    assert session.left == 1
    with pytest.raises(InputError, match="noisy figures"):
        session.release(Refused(epsilon=0.4))
    assert session.left == pytest.approx(0.6, abs=1e-9)
    assert ledger.spent(MATRIX.key) == to_units(1) - to_units(session.left)


def test_threads_cannot_overspend_together(ledger: Ledger) -> None:
    session = Session(MATRIX, 1, ledger=ledger)
    UG(epsilon=0.3).warm_up(MATRIX)
    made, refused = [], []

    def draw() -> None:
        try:
            made.append(session.release(UG(epsilon=0.3)))
        except InputError as error:
            refused.append(error)

    threads = [threading.Thread(target=draw) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(made), len(refused)) == (3, 5)
    assert session.left == pytest.approx(0.1)


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), "1", True, None, 1e9])
def test_totals_that_are_none(epsilon: object) -> None:
    with pytest.raises(InputError, match="budget of a session"):
        Session(MATRIX, epsilon)  # type: ignore[arg-type]


def test_a_session_is_about_counts() -> None:
    with pytest.raises(InputError, match="count the points first"):
        Session(np.ones((4, 4)), 1)
