"""Progress of a draw: of every mechanism, up to the end, and without a say in what is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from explorer.country.mechanism import Country
from explorer.mechanisms import Mechanism, all_mechanisms, trip_mechanisms
from explorer.points.matrix import FrequencyMatrix
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
