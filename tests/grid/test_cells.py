"""The cell of every place is pyproj's; patches are as exact as they say; CRS are checked."""

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer import Grid
from explorer.grid.cells import FEW, MANY, CellFinder
from explorer.grid.projection import LONLAT, as_crs, box_in, equal_area_crs, metric_crs, transform
from tests.helpers import around
from tests.refusals import refuses

STEP = 2**20


def found(finder, x, y):
    """Row-major cell of each place, -1 outside."""
    rows, cols = finder.grid.shape
    cell = np.full(x.size, -1)
    u, v, index = finder.find(x, y)
    on = ~np.isnan(u)
    row = np.minimum(v[on].astype(int), rows - 1)
    cell[index[on]] = row * cols + np.minimum(u[on].astype(int), cols - 1)
    # In one pass each, without anything written down of a place.
    assert np.array_equal(finder.number(x, y), cell)
    counts = np.zeros(rows * cols, np.int64)
    finder.count(x, y, counts)
    assert np.array_equal(counts, np.bincount(cell[cell >= 0], minlength=rows * cols))
    return cell


def projected(grid, crs, x, y):
    """The same by pyproj and plain arithmetic."""
    assert grid.crs is not None
    x, y = transform(crs, grid.crs, x, y)
    (x0, y0, x1, y1), (rows, cols) = grid.bounds, grid.shape
    inside = (x >= x0) & (x <= x1) & (y >= y0) & (y <= y1)
    cell = np.full(x.size, -1)
    row = ((y[inside] - y0) * (rows / (y1 - y0))).astype(int)
    col = ((x[inside] - x0) * (cols / (x1 - x0))).astype(int)
    cell[inside] = np.minimum(row, rows - 1) * cols + np.minimum(col, cols - 1)
    return cell


def assert_equal(grid, pieces, x, y):
    finder = CellFinder(grid, LONLAT)
    assert finder.patches.coefficients.shape[0] == pieces
    for start in range(0, x.size, STEP):
        part = slice(start, start + STEP)
        mine, true = found(finder, x[part], y[part]), projected(grid, LONLAT, x[part], y[part])
        assert np.array_equal(mine, true)


def on_edges(grid, n):
    """Degrees of places on edges of cells, as far as rounding lets them be there."""
    rng = np.random.default_rng(6)
    rows, cols = grid.shape
    x = grid.bounds[0] + rng.integers(0, cols + 1, n) * grid.cell_width
    y = grid.bounds[1] + rng.integers(0, rows + 1, n) * grid.cell_height
    free = rng.uniform(0, 1, n)
    x[: n // 3] = grid.bounds[0] + free[: n // 3] * grid.width
    y[-n // 3 :] = grid.bounds[1] + free[-n // 3 :] * grid.height
    return grid.to_lonlat(x, y)


@pytest.mark.parametrize(("lon", "lat", "size", "pieces"), [
    (-122.42, 37.77, 20e3, FEW),
    (180.0, -16.5, 20e3, FEW),  # across the antimeridian
    (-179.99, 65.0, 100e3, FEW),
    (10.0, 50.0, 900e3, MANY),
    (20.0, 90.0, 50e3, 0),  # around a pole
    (15.0, 89.95, 50e3, MANY),
    (0.0, 0.0, 15_000e3, MANY),
])  # fmt: skip
def test_cells_are_those_of_each_place_projected(lon, lat, size, pieces):
    grid = Grid.around(lon, lat, size, shape=(200, 256))
    points = around(grid, 60_000)
    assert_equal(grid, pieces, points.x, points.y)
    assert_equal(grid, pieces, *on_edges(grid, 6_000))


def test_the_central_meridian_is_an_edge_that_pyproj_decides():
    grid = Grid.around(-2.5, 54.5, 700e3, 1200e3, shape=1024)
    lat = np.random.default_rng(7).uniform(49.5, 60, 200_000)
    lon = np.full(lat.size, -2.5)
    for side in (lon, np.nextafter(lon, 0), np.nextafter(lon, -5)):
        assert_equal(grid, MANY, side, lat)


def test_a_projection_that_switches_inside_the_box_has_no_patches():
    grid = Grid.from_bounds(0, 0, 700e3, 1300e3, "EPSG:27700", 1024)
    rng = np.random.default_rng(8)
    assert_equal(grid, 0, rng.uniform(-8, 2, 5_000), rng.uniform(49.7, 61, 5_000))


def test_nothing_that_is_no_number_is_found():
    grid = Grid.around(10.0, 50.0, 20e3, shape=16)
    bad = [np.nan, np.inf, -np.inf]
    x, y = np.array([10.0, *bad, *[10.0] * 3]), np.array([50.0, *[50.0] * 3, *bad])
    for crs in (LONLAT, grid.crs):
        cells = found(
            CellFinder(grid, crs), x if crs is LONLAT else x - 10, y - 50 * (crs != LONLAT)
        )
        assert (cells >= 0).tolist() == [True, *[False] * 6]


def test_metres_cells_and_few_places_are_not_fitted():
    grid = Grid.around(10.0, 50.0, 20e3, shape=16)
    assert not CellFinder(grid, grid.crs).patches.coefficients.size
    assert not CellFinder(Grid.cells(5), None).patches.coefficients.size
    assert not CellFinder(grid, LONLAT, 1000).patches.coefficients.size
    assert CellFinder(grid, LONLAT, 1e6).patches.coefficients.size
    # From one projection to another there is no period.
    x, y = transform(
        LONLAT,
        as_crs(3857),
        *grid.to_lonlat(*np.random.default_rng(9).uniform(-11e3, 11e3, (2, 50_000))),
    )
    finder = CellFinder(grid, as_crs(3857))
    assert finder.patches.coefficients.size
    assert np.array_equal(found(finder, x, y), projected(grid, as_crs(3857), x, y))


def test_every_point_of_san_francisco(real_data):
    table = pq.read_table(real_data("sf_cabspotting_points.parquet"), columns=["lon", "lat"])
    lon, lat = (table[name].to_numpy().astype(float) for name in ("lon", "lat"))
    assert_equal(Grid.around(-122.42, 37.77, 16e3, shape=1024), FEW, lon, lat)


def test_ten_million_places_of_great_britain():
    rng = np.random.default_rng(10)
    lon, lat = rng.uniform(-8.7, 2.1, 10_000_000), rng.uniform(49.8, 60.9, 10_000_000)
    lon[::1000] = -2.5
    assert_equal(Grid.around(-2.5, 55.2, 720e3, 1240e3, shape=1024), MANY, lon, lat)


# CRS are checked with a sentence, and a box is held by its box in another CRS.


def test_a_grid_needs_a_projected_crs_in_metres():
    assert metric_crs(27700).to_epsg() == 27700
    for crs, said in [
        ("EPSG:4326", "not measured in metres"),
        ("EPSG:2263", "US survey foot"),
        ("nonsense", "not a known CRS"),
        (object(), "not a known CRS"),
    ]:
        refuses(said, metric_crs, crs)


def test_a_crs_without_a_way_to_degrees_is_refused():
    local = as_crs(
        'ENGCRS["site",EDATUM["site"],CS[Cartesian,2],AXIS["x",east],AXIS["y",north],'
        'LENGTHUNIT["metre",1]]'
    )
    refuses("no way from", transform, local, LONLAT, 0.0, 0.0)


@given(
    lon=st.floats(-180, 180),
    lat=st.floats(-89, 89),
    size=st.floats(100, 3e6),
    u=st.floats(0, 1),
    v=st.floats(0, 1),
)
def test_a_box_in_degrees_holds_every_place_of_the_extent(lon, lat, size, u, v):
    crs = equal_area_crs(lon, lat)
    box = box_in((-size / 2, -size / 2, size / 2, size / 2), crs, LONLAT)
    x, y = transform(crs, LONLAT, (u - 0.5) * size, (v - 0.5) * size)
    if box is None:
        return  # around a pole there may be none: then nothing is cropped
    west, south, east, north = box
    assert south <= y[0] <= north
    assert (x[0] - west) % 360.0 <= (east - west) % 360.0 or east - west >= 360.0
