"""Progress of a draw: of every mechanism, up to the end, and without a say in what is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from explorer.country.mechanism import Country
from explorer.mechanisms import HTF, Identity, Mechanism, all_mechanisms, trip_mechanisms
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy import bars
from explorer.privacy.ledger import Ledger
from explorer.trips.matrix import TripMatrix
from tests.country.nation import nation, people

MATRIX = FrequencyMatrix.from_array(np.random.default_rng(2).poisson(4.0, (64, 64)))
PLACES = np.random.default_rng(2).integers(0, 12, (2000, 4))
TRIPS = TripMatrix.from_coordinates(PLACES, [12, 12])
MADE = [(MATRIX, each) for each in all_mechanisms().values()] + [
    (TRIPS, each) for each in trip_mechanisms().values()
]


@pytest.mark.parametrize(
    ("counts", "kind"), MADE, ids=[f"{kind.key}-{len(c.domain.shape)}" for c, kind in MADE]
)
def test_a_release_tells_how_far_it_is_and_is_the_same(counts: Any, kind: type[Mechanism]) -> None:
    made, told = kind(epsilon=1.0), list[float]()
    plain, shown = made.release(counts, 7), made.release(counts, 7, progress=told.append)
    assert np.array_equal(plain.counts, shown.counts)
    assert np.array_equal(plain.tree.lower, shown.tree.lower)
    assert told == sorted(told)
    assert told[0] > 0
    assert told[-1] == pytest.approx(1.0)
    # The dearest path ends early: nobody may be told that all is done while others are drawn.
    assert sum(each > 1 - 1e-9 for each in told) == 1


def test_a_country_tells_how_far_it_is() -> None:
    counts = nation().count(people(), cell=500.0)
    country, told = Country(epsilon=1.0), list[float]()
    plain, shown = country.release(counts, 7), country.release(counts, 7, progress=told.append)
    assert plain.areas()["count"].equals(shown.areas()["count"])
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1.0)
    assert sum(each > 1 - 1e-9 for each in told) == 1


@pytest.fixture
def seen(monkeypatch) -> list[float]:
    """What a bar was told, in place of one in a terminal."""
    told: list[float] = []

    class Told:
        def __init__(self, label: str) -> None:
            assert label

        def __call__(self, done: float) -> None:
            told.append(done)

        def close(self) -> None:
            told.append(2.0)

    monkeypatch.setattr(bars, "Bar", Told)
    return told


@pytest.fixture
def matrix() -> FrequencyMatrix:
    return FrequencyMatrix.from_array(np.random.default_rng(2).poisson(4, (32, 32)))


def test_true_is_a_bar_and_changes_no_draw(matrix, seen) -> None:
    with_bar = HTF(1.0).release(matrix, 3, progress=True)
    assert seen[-2:] == [1.0, 2.0], "all is told, and the bar is taken away"
    told = [each for each in seen if each <= 1.0]
    assert told == sorted(told)
    np.testing.assert_array_equal(with_bar.counts, HTF(1.0).release(matrix, 3).counts)


def test_what_is_told_cannot_take_a_booked_release_away(matrix, tmp_path) -> None:
    told = []

    def broken(part: float) -> None:
        told.append(part)
        raise ZeroDivisionError

    ledger = Ledger(tmp_path / "ledger.sqlite3")
    with pytest.warns(UserWarning, match="drawn to its end"):
        release = Identity(0.5).release(matrix, progress=broken, ledger=ledger)
    assert not release.preview
    assert len(told) == 1, "it is not told any more"
    # A preview costs nothing: whoever does not want it stops it.
    with pytest.raises(ZeroDivisionError):
        Identity(0.5).release(matrix, 3, progress=broken)
