"""Points are cropped, projected and counted as one by one, for every kind of extent."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.grid.grid import Grid
from explorer.grid.projection import LONLAT, as_crs, transform, transformer
from explorer.points import counting as binning
from explorer.points.counting import count_points
from explorer.points.points import Points


def one_by_one(grid: Grid, points: Points) -> np.ndarray:
    """Count with the projection of each point and numpy's own histogram."""
    x, y = points.x, points.y
    if points.crs is not None and grid.crs is not None:
        x, y = transform(points.crs, grid.crs, x, y)
    x0, y0, x1, y1 = grid.bounds
    inside = (x >= x0) & (x <= x1) & (y >= y0) & (y <= y1)
    counted = np.histogram2d(y[inside], x[inside], grid.shape, [[y0, y1], [x0, x1]])[0]
    return counted.astype(np.int64)


def around(grid: Grid, n: int, seed: int = 0) -> Points:
    """Return places all over an extent and a fifth beyond it, some with longitudes above 180."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-0.6, 0.6, n) * grid.width
    y = rng.uniform(-0.6, 0.6, n) * grid.height
    lon, lat = grid.to_lonlat(x, y)
    lon[::3] %= 360.0
    return Points(lon, lat)


@pytest.mark.parametrize(
    ("lon", "lat", "size"),
    [
        (-122.42, 37.77, 20e3),  # a city: by lattice
        (180.0, -16.5, 20e3),  # across the antimeridian
        (-179.99, 65.0, 100e3),
        (20.0, 90.0, 50e3),  # around a pole
        (0.0, -90.0, 2000e3),
        (15.0, 89.95, 50e3),  # a pole near the edge
        (100.0, 70.0, 2000e3),
        (0.0, 0.0, 15_000e3),
    ],
)
def test_counts_are_those_of_each_point_projected(lon: float, lat: float, size: float) -> None:
    grid = Grid.around(lon, lat, size, shape=(50, 70))
    points = around(grid, 60_000)
    counts = count_points(points, grid.bounds, grid.shape, grid.crs)
    # Of points 0.6 of the side from the centre at most, (1 / 1.2)^2 are inside.
    assert abs(counts.sum() / 60_000 - 1 / 1.44) < 5 * np.sqrt(0.7 * 0.3 / 60_000)
    # A point within the lattice's 10^-5 m of an edge may fall on either side of it.
    assert np.abs(counts - one_by_one(grid, points)).sum() <= 2


def test_the_lattice_is_as_exact_as_it_says() -> None:
    grid = Grid.around(-122.42, 37.77, 20e3, shape=2)
    assert grid.crs is not None
    points = around(grid, 20_000)
    crop = binning._crop_box(grid.bounds, grid.crs, LONLAT)
    lattice = binning._lattice(crop, transformer(LONLAT, grid.crs))
    assert lattice.size, "a city is small enough for the lattice"
    x, y, index = np.empty(len(points)), np.empty(len(points)), np.empty(len(points), np.int64)
    n = binning._crop(points.x, points.y, *crop, lattice, x, y, index)
    true_x, true_y = grid.from_lonlat(points.x[index[:n]], points.y[index[:n]])
    assert n > 10_000
    assert np.abs(true_x - x[:n]).max() < 1e-7
    assert np.abs(true_y - y[:n]).max() < 1e-7


def test_large_extents_and_poles_have_no_lattice() -> None:
    for lat, size in ((0.0, 3000e3), (89.9, 50e3), (90.0, 50e3)):
        grid = Grid.around(0.0, lat, size, shape=2)
        assert grid.crs is not None
        crop = binning._crop_box(grid.bounds, grid.crs, LONLAT)
        assert not binning._lattice(crop, transformer(LONLAT, grid.crs)).size


def test_points_in_metres_and_in_another_projection() -> None:
    grid = Grid.from_bounds(400e3, 200e3, 450e3, 260e3, "EPSG:27700", (60, 50))
    rng = np.random.default_rng(1)
    x, y = rng.uniform(390e3, 460e3, 20_000), rng.uniform(190e3, 270e3, 20_000)
    same = Points(x, y, crs=as_crs(27700))
    counts = count_points(same, grid.bounds, grid.shape, grid.crs)
    assert np.array_equal(counts, one_by_one(grid, same))
    lon, lat = grid.to_lonlat(x, y)
    web = Points(*transform(LONLAT, as_crs(3857), lon, lat), crs=as_crs(3857))
    moved = count_points(web, grid.bounds, grid.shape, grid.crs)
    assert np.abs(moved - counts).sum() <= 4


def test_chunks_do_not_change_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = Grid.around(10.0, 50.0, 10e3, shape=16)
    points = around(grid, 5_000)
    rng = np.random.default_rng(2)
    mixed = Points(
        points.x, points.y, user=rng.integers(0, 40, 5_000), weight=rng.integers(0, 4, 5_000)
    )
    whole = count_points(mixed, grid.bounds, grid.shape, grid.crs, 7)
    monkeypatch.setattr(binning, "CHUNK", 512)
    said: list[float] = []
    parts = count_points(mixed, grid.bounds, grid.shape, grid.crs, 7, said.append)
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
def test_a_user_gives_the_first_records_inside(places: list[tuple], bound: int) -> None:
    x, y, user, weight = (
        (np.array(values) for values in zip(*places, strict=True))
        if (places)
        else (np.empty(0), np.empty(0), np.empty(0, int), np.empty(0, int))
    )
    points = Points(x, y, None, user=user, weight=weight)
    expected = np.zeros((5, 4), np.int64)
    kept: dict[int, int] = {}
    for a, b, who, records in zip(x, y, user, weight, strict=True):
        if 0 <= a <= 4 and 0 <= b <= 5:
            records = min(int(records), bound - kept.get(int(who), 0))
            kept[int(who)] = kept.get(int(who), 0) + records
            expected[min(int(b), 4), min(int(a), 3)] += records
    counts = count_points(points, (0.0, 0.0, 4.0, 5.0), (5, 4), None, bound)
    assert np.array_equal(counts, expected)
    assert counts.sum() <= bound * len(kept)


@given(PLACES, st.integers(1, 6), st.integers(0, 3))
def test_leaving_a_user_out_changes_at_most_the_bound(
    places: list[tuple], bound: int, who: int
) -> None:
    def counted(rows: list[tuple]) -> np.ndarray:
        table = np.array(rows, float).reshape(-1, 4)
        points = Points(table[:, 0], table[:, 1], None, user=table[:, 2], weight=table[:, 3])
        return count_points(points, (0.0, 0.0, 4.0, 5.0), (5, 4), None, bound)

    change = counted(places) - counted([row for row in places if row[2] != who])
    assert change.min() >= 0
    assert change.sum() <= bound
