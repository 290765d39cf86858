"""Points are cropped, projected and counted as one by one, for every kind of extent."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.grid.grid import Grid
from explorer.grid.projection import LONLAT, as_crs, transform
from explorer.points import counting as binning
from explorer.points.counting import count_and_place, count_block
from explorer.points.points import Points
from tests.helpers import around


def one_by_one(grid: Grid, points: Points) -> np.ndarray:
    """Count with the projection of each point and numpy's own histogram."""
    x, y = points.x, points.y
    if points.crs is not None and grid.crs is not None:
        x, y = transform(points.crs, grid.crs, x, y)
    x0, y0, x1, y1 = grid.bounds
    inside = (x >= x0) & (x <= x1) & (y >= y0) & (y <= y1)
    counted = np.histogram2d(y[inside], x[inside], grid.shape, [[y0, y1], [x0, x1]])[0]
    return counted.astype(np.int64)


@pytest.mark.parametrize(("lon", "lat", "size"), [
    (-122.42, 37.77, 20e3),  # a city: by lattice
    (180.0, -16.5, 20e3),  # across the antimeridian
    (-179.99, 65.0, 100e3),
    (20.0, 90.0, 50e3),  # around a pole
    (0.0, -90.0, 2000e3),
    (15.0, 89.95, 50e3),  # a pole near the edge
    (100.0, 70.0, 2000e3),
    (0.0, 0.0, 15_000e3),
])  # fmt: skip
def test_counts_are_those_of_each_point_projected(lon, lat, size):
    grid = Grid.around(lon, lat, size, shape=(50, 70))
    points = around(grid, 60_000)
    counts = count_block(points, grid)
    # Of points 0.6 of the side from the centre at most, (1 / 1.2)^2 are inside.
    assert abs(counts.sum() / 60_000 - 1 / 1.44) < 5 * np.sqrt(0.7 * 0.3 / 60_000)
    # A point within the lattice's 10^-5 m of an edge may fall on either side of it.
    assert np.abs(counts - one_by_one(grid, points)).sum() <= 2


def test_points_in_metres_and_in_another_projection():
    grid = Grid.from_bounds(400e3, 200e3, 450e3, 260e3, "EPSG:27700", (60, 50))
    rng = np.random.default_rng(1)
    x, y = rng.uniform(390e3, 460e3, 20_000), rng.uniform(190e3, 270e3, 20_000)
    same = Points(x, y, crs=as_crs(27700))
    counts = count_block(same, grid)
    assert np.array_equal(counts, one_by_one(grid, same))
    lon, lat = grid.to_lonlat(x, y)
    web = Points(*transform(LONLAT, as_crs(3857), lon, lat), crs=as_crs(3857))
    moved = count_block(web, grid)
    assert np.abs(moved - counts).sum() <= 4


def test_chunks_do_not_change_counts(monkeypatch):
    grid = Grid.around(10.0, 50.0, 10e3, shape=16)
    points = around(grid, 5_000)
    rng = np.random.default_rng(2)
    mixed = Points(
        points.x, points.y, user=rng.integers(0, 40, 5_000), weight=rng.integers(0, 4, 5_000)
    )
    whole = count_block(mixed, grid, 7)
    monkeypatch.setattr(binning, "CHUNK", 512)
    said: list[float] = []
    parts = count_block(mixed, grid, 7, said.append)
    assert np.array_equal(whole, parts)
    assert said == sorted(said)
    assert len(said) == 10
    assert said[-1] == 1.0


PLACES = st.lists(
    st.tuples(
        st.floats(allow_nan=True, allow_infinity=True, width=32) | st.sampled_from([0.0, 3.0, 4.0]),
        st.floats(-1, 6) | st.sampled_from([0.0, 5.0, np.nan]),
        st.integers(0, 3),
        st.integers(0, 5),
    ),
    max_size=30,
)


@given(PLACES, st.integers(1, 6))
def test_records_outside_use_nothing_of_the_bound(places, bound):
    table = np.array(places, float).reshape(-1, 4)
    points = Points(table[:, 0], table[:, 1], None, user=table[:, 2], weight=table[:, 3])
    inside = (table[:, 0] >= 0) & (table[:, 0] <= 4) & (table[:, 1] >= 0) & (table[:, 1] <= 5)
    of_user = np.bincount(table[inside, 2].astype(int), table[inside, 3])
    counts = count_block(points, Grid.cells((5, 4)), bound)
    assert counts.sum() == np.minimum(of_user, bound).sum()
    assert (counts <= count_block(points, Grid.cells((5, 4)))).all()


@given(PLACES, st.integers(1, 6), st.integers(0, 3))
def test_leaving_a_user_out_changes_at_most_the_bound(places, bound, who):
    def counted(rows: list[tuple]) -> np.ndarray:
        table = np.array(rows, float).reshape(-1, 4)
        points = Points(table[:, 0], table[:, 1], None, user=table[:, 2], weight=table[:, 3])
        return count_block(points, Grid.cells((5, 4)), bound)

    change = counted(places) - counted([row for row in places if row[2] != who])
    assert change.min() >= 0
    assert change.sum() <= bound


@pytest.mark.parametrize("weighted", [False, True])
def test_a_record_is_placed_in_the_cell_that_it_was_counted_in(weighted):
    grid = Grid.around(10.0, 50.0, 10e3, shape=(37, 50))
    here = around(grid, 20_000)
    rng = np.random.default_rng(3)
    weight = rng.integers(0, 4, 20_000) if weighted else None
    points = Points(here.x, here.y, weight=weight)
    counts, placed = count_and_place(points, grid)
    assert np.array_equal(counts, count_block(points, grid))
    again = np.zeros_like(counts)
    records = 1 if placed.records is None else placed.records.astype(np.int64)
    np.add.at(again, (placed.row.astype(int), placed.column.astype(int)), records)
    assert np.array_equal(again, counts)


@given(st.lists(st.tuples(st.floats(0, 4), st.floats(0, 5)), min_size=1, max_size=30))
def test_single_precision_moves_no_record_over_an_edge_of_a_cell(places):
    x, y = np.array(places).T
    # Whatever the cells, the corner included: also a value that single precision rounds up.
    x = np.concatenate([x, [4.0, np.nextafter(4.0, 0), np.nextafter(1.0, 0)]])
    y = np.concatenate([y, [5.0, np.nextafter(5.0, 0), np.nextafter(3.0, 0)]])
    counts, placed = count_and_place(Points(x, y, None), Grid.cells((5, 4)))
    again = np.zeros_like(counts)
    np.add.at(again, (placed.row.astype(int), placed.column.astype(int)), 1)
    assert np.array_equal(again, counts)
    assert placed.column.dtype == placed.row.dtype == np.float32


def test_blocks_of_whole_users_add_up_and_others_do_not():
    rng = np.random.default_rng(4)
    grid = Grid.cells((5, 4))
    x, y, user = rng.uniform(0, 4, 600), rng.uniform(0, 5, 600), rng.integers(0, 30, 600)

    def counted(rows: np.ndarray) -> np.ndarray:
        return count_block(Points(x[rows], y[rows], None, user=user[rows]), grid, 3)

    whole = counted(np.arange(600))
    even = user % 2 == 0
    assert np.array_equal(counted(np.flatnonzero(even)) + counted(np.flatnonzero(~even)), whole)
    # In blocks by the order of the file each user may count up to the bound in each of them.
    assert (counted(np.arange(300)) + counted(np.arange(300, 600))).sum() > whole.sum()
