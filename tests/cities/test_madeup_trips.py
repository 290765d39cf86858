"""The made-up trips are the same for everybody and have what real trips have."""

import numpy as np
import pytest

from explorer import InputError, TripDomain
from explorer.cities import madeup, madeup_plan
from explorer.cities import madeup_trips as made_up
from explorer.cities.madeup_trips import made_up_trips


@pytest.fixture(scope="module")
def trips():
    return made_up_trips()


@pytest.fixture(scope="module")
def km(trips):
    """East and north of the centre in kilometres, (3 places, 2, n)."""
    metres = [madeup.grid(1).from_lonlat(x, y) for x, y in zip(trips.x, trips.y, strict=True)]
    return np.array(metres) / 1000


def test_they_are_the_same_for_the_same_seed(trips):
    assert len(trips) == 100_000
    assert trips.places == ("o", "s1", "d")
    domain = TripDomain([madeup.grid(64)] * 3)
    made_up._made.cache_clear()
    first = domain.count(trips, per="record").key
    assert domain.count(made_up_trips(), per="record").key == first
    assert domain.count(made_up_trips(seed=1), per="record").key != first
    assert trips.user is not None
    assert len(np.unique(trips.user)) > 10_000


@pytest.mark.parametrize("n", [0, 1, 10, 12_345])
def test_as_many_as_asked_for(n):
    assert len(made_up_trips(n)) == n


def test_any_places_in_any_order(trips):
    ends = made_up_trips(places="d, o")
    assert ends.places == ("d", "o")
    assert np.array_equal(ends.x[1], trips.x[0])
    assert np.array_equal(ends.y[0], trips.y[2])
    for wrong in ("o,s2", ("o", "o"), ()):
        with pytest.raises(InputError, match="give some of o, s1 and d"):
            made_up_trips(places=wrong)
    with pytest.raises(InputError, match="0 or more"):
        made_up_trips(-1)


def test_nearly_all_lie_on_the_public_grid_and_nobody_in_water_or_parks(trips, km):
    for x, y in km:
        assert np.abs(km).max() < madeup_plan.HALF + 0.001
        # A centimetre of room: the places have been to degrees and back.
        assert (madeup_plan.in_water(x, y) | madeup_plan.in_park(x, y)).mean() < 1e-3
    inside = TripDomain([madeup.grid(64)] * 3).count(trips, per="record").total
    assert 0.95 * len(trips) < inside < len(trips)


def test_short_trips_outnumber_long_ones_and_some_end_where_they_began(km):
    far = np.hypot(*(km[2] - km[0]))
    assert 0.04 < (far == 0).mean() < 0.1
    by_km = np.histogram(far, [0, 2, 4, 8, 16])[0]
    assert (np.diff(by_km) < 0).all()
    assert by_km[-1] > 0.005 * far.size
    # No stop is out of all proportion: its detour is below 10 km for nine in ten.
    detour = np.hypot(*(km[1] - km[0])) + np.hypot(*(km[2] - km[1])) - far
    assert np.quantile(detour, 0.9) < 10


def test_people_commute(trips, km):
    """The same person goes the same way more than once, and back: places of work lie central."""
    way = np.concatenate([km[0], km[2], trips.user[np.newaxis]]).T
    _, times = np.unique(way, axis=0, return_counts=True)
    assert times[times > 1].sum() > 0.25 * len(trips)
    often = TripDomain([madeup.grid(64)] * 2).count(made_up_trips(places="o,d"), per="record")
    assert often.multiplicities.max() > 30
    # More of them end where they would by chance alone than if the two were unrelated.
    assert len(often.cells) < 0.6 * often.total
