"""The heatmap of points: datashader's counts in the unit of the grid, at every zoom."""

import numpy as np
import pytest

from explorer.app.curator import data
from explorer.grid.grid import Grid
from explorer.points.points import Points
from explorer.views import heat, raster
from explorer.views.viewport import Viewport


@pytest.fixture
def made():
    """40,000 points around Paris, some of them outside the grid, and the grid."""
    rng = np.random.default_rng(8)
    grid = Grid.around(2.35, 48.85, 8000, shape=64)
    x, y = rng.normal(0, 2500, (2, 40_000))
    lon, lat = grid.to_lonlat(x, y)
    return Points(lon, lat), grid


def heat_of(points, grid):
    return data.heat_of(points.place_on(grid)[1], grid)


def area(grid):
    return grid.cell_width * grid.cell_height


@pytest.mark.parametrize(("seen_on", "pixels"), [(64, 64), (128, 64), (32, 64)])
def test_one_pixel_a_cell_shows_the_gridded_counts(made, seen_on, pixels) -> None:
    points, grid = made
    # Shown beside other cells of the same extent: halves and doubles agree with them too.
    other = Grid(grid.bounds, (seen_on, seen_on), grid.crs)
    picture = heat_of(points, other).render(Viewport.whole(grid, pixels), area(grid))
    np.testing.assert_array_equal(picture, grid.count(points).counts)


def test_under_a_bound_the_picture_is_of_all_records(made) -> None:
    points, grid = made
    users = Points(points.x, points.y, user=np.arange(len(points)) % 500)
    matrix, placed = users.place_on(grid, 3)
    picture = data.heat_of(placed, grid).render(Viewport.whole(grid, 64), area(grid))
    assert 0 < matrix.total < len(points) / 4
    np.testing.assert_array_equal(picture, matrix.unclipped.counts)


def test_a_zoomed_view_counts_its_own_points_per_cell(made) -> None:
    points, grid = made
    heat = heat_of(points, grid)
    x0, y0 = (grid.bounds[0] + 20 * grid.cell_width, grid.bounds[1] + 24 * grid.cell_height)
    view = Viewport.of((x0, y0, x0 + 8 * grid.cell_width, y0 + 4 * grid.cell_height), 160, 80, grid)
    picture = heat.render(view, area(grid))
    inside = grid.count(points).counts[24:28, 20:28].sum()
    # Mean density times the 32 cells in view is the number of points in view.
    assert picture.mean() * 32 == pytest.approx(inside, rel=0.01)


def test_tiles_change_nothing(made) -> None:
    points, grid = made
    heat = heat_of(points, grid)
    view = Viewport.of((-1234.5, -999.0, 800.0, 1500.0), 90, 110, grid)
    left, bottom, right, top = view.cells(grid)
    everything, kept = (heat.seen(seen) for seen in (Viewport.whole(grid), view))
    assert len(kept[0]) < len(everything[0])
    inside = [
        np.sum((left <= column) & (column <= right) & (bottom <= row) & (row <= top))
        for column, row, _ in (everything, kept)
    ]
    assert inside[0] == inside[1] == heat.render(view, area(grid)).sum() / per_point(view, grid)


def per_point(view, grid):
    """What one point adds to a picture."""
    return view.pixels_per_x * view.pixels_per_y * area(grid)


def test_the_first_picture_has_the_counts_of_datashader(made) -> None:
    _points, grid = made
    rng = np.random.default_rng(9)
    column, row = places = rng.uniform(0, 64, (2, 5000)).astype(np.float32)
    # Points on the edges of pixels and of the map.
    places[:, :200] = rng.integers(0, 65, (2, 200))
    view = Viewport.whole(grid, 48)
    cells = 1 / (view.pixels_per_x * view.pixels_per_y * area(grid))
    heat.load_datashader()
    for records in (None, rng.integers(1, 9, 5000).astype(np.float32)):
        weights = np.zeros(0, np.float32) if records is None else records
        first = raster.points_per_pixel(column, row, weights, *view.cells(grid), 48, 48)
        picture = heat.PointHeat(column, row, records, grid).render(view, area(grid))
        np.testing.assert_allclose(picture * cells, first, rtol=1e-6)
        assert first.sum() == (5000 if records is None else records.sum())


def test_weights_count_as_many_records() -> None:
    grid = Grid.cells((4, 4))
    points = Points(np.array([0.5, 3.5]), np.array([0.5, 2.5]), crs=None, weight=np.array([7, 0]))
    picture = heat_of(points, grid).render(Viewport.whole(grid, 16), 1.0)
    assert picture.sum() / 16 == pytest.approx(7)
