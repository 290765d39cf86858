"""The made-up city is the same for everybody and has what real cities have."""

from pathlib import Path

import numpy as np
import pytest

from explorer.cities import madeup, madeup_plan
from tests.cities.raster import made


@pytest.fixture(scope="module")
def points():
    return madeup.points()


@pytest.fixture(scope="module")
def places(points):
    """Return kilometres east and north of the centre."""
    x, y = madeup.grid(1).from_lonlat(points.x, points.y)
    return x / 1000, y / 1000


def test_there_are_a_million_points_by_default():
    assert len(madeup.points()) == 1_000_000


def test_the_same_seed_gives_the_same_people(points):
    again = madeup.points()
    assert np.array_equal(points.x, again.x)
    assert np.array_equal(points.y, again.y)
    other = madeup.points(seed=1)
    assert not np.any(points.x[:1000] == other.x[:1000])


def test_the_plan_is_the_same_for_every_seed(points):
    # Counts of two samples of 10^6 on 8 x 8 cells differ by their own chance alone: the sum of
    # (a - b)^2 / (a + b) over 64 cells is about chi-squared with 63 degrees of freedom.
    first = madeup.grid(8).count(points).counts
    second = madeup.grid(8).count(madeup.points(seed=2)).counts
    used = first + second > 0
    chi2 = np.sum((first - second)[used] ** 2 / (first + second)[used])
    assert chi2 < 63 + 6 * np.sqrt(2 * 63)


@pytest.mark.parametrize("n", [0, 1, 10, 12_345])
def test_as_many_as_asked_for(n):
    assert len(madeup.points(n)) == n


def test_it_lies_in_the_open_atlantic(points):
    assert points.crs == "EPSG:4326"
    assert np.all(np.abs(points.x + 30.0) < 0.2)
    assert np.all(np.abs(points.y - 40.0) < 0.2)
    assert "made up" in points.notes[0]


def test_nobody_is_in_the_sea_and_the_river_is_crossed_on_bridges(places):
    x, y = places
    assert not madeup_plan.in_sea(x, y).any()
    wet = madeup_plan.in_river(x, y)
    # All of them on main roads.
    assert 0 < wet.sum() < 0.01 * x.size
    corners = np.vstack(madeup_plan.roads())
    wet_x, wet_y = x[wet][:300], y[wet][:300]
    away = np.hypot(wet_x[:, None] - corners[:, 0], wet_y[:, None] - corners[:, 1]).min(axis=1)
    assert away.max() < 0.1


def test_parks_are_empty_but_for_roads(places):
    x, y = places
    rng = np.random.default_rng(0)
    u, v = rng.uniform(-10, 10, (2, 200_000))
    share_of_area = madeup_plan.in_park(u, v).mean()
    assert share_of_area > 0.02
    assert madeup_plan.in_park(x, y).mean() < share_of_area / 4


def test_dense_centre_and_empty_country(points):
    counts = madeup.grid(200).count(points).counts
    # 100 m cells: the sea and the country are empty, half of the people live on little land.
    assert 0.2 < (counts == 0).mean() < 0.7
    largest = np.sort(counts.ravel())[::-1]
    half = np.searchsorted(np.cumsum(largest), counts.sum() / 2)
    assert half < 0.06 * counts.size
    middle = counts[90:110, 90:110].mean()
    assert middle > 5 * counts.mean()
    assert counts.sum() > 0.97 * len(points), "nearly all of it lies on the public grid"


def test_people_keep_to_streets(points):
    # On cells of 10 m in a district without main roads, street cells hold most of the people.
    fine = madeup.Grid.from_bounds(-2200, 2900, -1200, 3900, madeup.grid(1).crs, 100)
    counts = np.sort(fine.count(points).counts.ravel())[::-1]
    assert counts.sum() > 2_000
    assert counts[:2500].sum() > 0.55 * counts.sum()


def test_the_terminal_stands_out(places):
    x, y = places
    away = np.hypot(x - madeup_plan.TERMINAL[0], y - madeup_plan.TERMINAL[1])
    near, around = np.mean(away < 0.2), np.mean((away > 0.4) & (away < 1.0))
    assert near > 5 * around


def test_the_kept_raster_is_that_of_the_plan():
    with np.load(Path(madeup.__file__).with_suffix(".npz")) as kept:
        for name, values in made().items():
            # A last bit of exp differs between machines.
            np.testing.assert_allclose(kept[name], values, 1e-9, float(name == "people"))
