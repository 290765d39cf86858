"""Trips as they come: what counts, what is refused in a sentence, what every mechanism survives."""

import numpy as np
import pytest

from explorer import (
    Gravity,
    Grid,
    Identity,
    InputError,
    Mosaic,
    QuadTree,
    TripDomain,
    TripMatrix,
    exact,
    read_trips,
)
from explorer.mechanisms import trip_mechanisms

GRID = Grid.around(2.35, 48.86, 10_000, shape=16)
TWO, THREE = TripDomain([GRID, GRID]), TripDomain([GRID, GRID, GRID])
N = 400


def table():
    """Return N trips with a stop, all inside."""
    rng = np.random.default_rng(5)
    found = {}
    for place in ("o", "s1", "d"):
        lon, lat = GRID.to_lonlat(*rng.uniform(-4000, 4000, (2, N)))
        found |= {f"{place}_lon": lon, f"{place}_lat": lat}
    return found


def test_one_place_is_its_map():
    matrix = TripDomain([GRID]).count(read_trips(table(), "o"))
    box = [[-1000, -500, 1200, 900.5]]
    release = Gravity(epsilon=1).release(matrix, rng=2)
    alone = Mosaic(epsilon=1).release(matrix.marginal(0), rng=2)
    assert release.grid == GRID
    assert np.array_equal(release.answer(box).value, alone.answer(box).value)
    assert np.array_equal(release.density(), alone.density())
    assert release.spread("uniform").is_uniform
    assert exact(matrix, {"place": box}) == pytest.approx(exact(matrix.marginal(0), box))


def everywhere(release):
    shape = release.domain.shape
    box = np.array([[[0.0] * len(shape), list(shape)]])
    return float(release.answer(release.domain.from_cells(box)).value[0])


ODD = {
    "empty": ((4, 4, 4, 4), 0),
    "one cell": ((1, 1, 1, 1), 50),
    "rows": ((1, 30, 1, 7), 200),
    "no powers of two": ((7, 13, 5, 11), 500),
    "different grids": ((3, 9, 1, 1, 8, 2), 500),
}


@pytest.mark.parametrize("key", trip_mechanisms())
@pytest.mark.parametrize("name", ODD)
def test_every_mechanism_takes_odd_trips(name, key):
    shape, number = ODD[name]
    cells = np.random.default_rng(1).integers(0, shape, (number, len(shape)))
    shapes = list(zip(shape[::2], shape[1::2], strict=True))
    matrix = TripMatrix.from_coordinates(cells, shapes)
    for epsilon in (1e-4, 1, 10):
        release = trip_mechanisms()[key](epsilon=epsilon).release(matrix, rng=3)
        # Children add up only where inference makes them; answers are sums of leaves anyway.
        assert everywhere(release) == pytest.approx(release.counts.sum(), rel=1e-9, abs=1e-6)
        assert "epsilon" in release.summary()


@pytest.mark.parametrize("kind", [Identity, QuadTree])
def test_too_many_parts_are_refused_before_anything_is_drawn(kind):
    wide = TripMatrix.from_coordinates([[0, 0, 0, 0]], [1024, 1024])
    with pytest.raises(InputError, match=r"1,099,511,627,776 numbers .* 16,777,216 are possible"):
        kind(epsilon=1).release(wide, rng=1)
    # A release, whose noise takes a hundred times as long, has fewer.
    middling = TripMatrix.from_coordinates([[0, 0, 0, 0]], [64, 40])
    with pytest.raises(InputError, match=r"6,553,600 numbers .* 4,194,304 are possible in a rel"):
        kind(epsilon=1).release(middling)


def test_zones_finer_than_the_grid_are_its_cells():
    cells = np.random.default_rng(1).integers(0, 4, (300, 4))
    matrix = TripMatrix.from_coordinates(cells, [4, 4])
    assert Gravity(epsilon=1, zones=64).release(matrix, rng=1).n_leaves == 4**4
    fine = TripMatrix.from_coordinates(cells, [64, 64])
    with pytest.raises(InputError, match="16,777,216 flows between them"):
        Gravity(epsilon=1, zones=64).release(fine, rng=1)
