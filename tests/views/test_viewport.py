"""Viewports: whatever a browser sends becomes something that can be drawn."""

import math

import pytest

from explorer.grid.grid import Grid
from explorer.views.viewport import MAX_PIXELS, MIN_PIXELS, Viewport


@pytest.fixture
def grid():
    return Grid.from_bounds(1000, 2000, 5000, 4000, "EPSG:3035", (20, 40))


def test_the_whole_grid_keeps_its_proportions(grid) -> None:
    view = Viewport.whole(grid, 500)
    assert (view.width, view.height) == (500, 250)
    assert view.cells(grid) == (0, 0, 40, 20)


def test_cells_and_pixels_follow_the_view(grid) -> None:
    view = Viewport.of((2000, 2500, 3000, 3000), 400, 200, grid)
    assert view.cells(grid) == (10, 5, 20, 10)
    assert view.pixels_per_x == pytest.approx(0.4)
    assert view.pixels_per_y == pytest.approx(0.4)


@pytest.mark.parametrize(
    "bounds",
    [
        (math.nan, 2000, 3000, 3000),
        (2000, 2500, math.inf, 3000),
        (3000, 2500, 2000, 3000),
        (2000, 2500, 2000, 3000),
        (9000, 2500, 9500, 3000),
        (-1e9, -1e9, 1e9, 1e9),
    ],
)
def test_an_unusable_range_shows_the_grid(grid, bounds) -> None:
    assert Viewport.of(bounds, 300, 300, grid).cells(grid) == (0, 0, 40, 20)


@pytest.mark.parametrize(
    ("sent", "used"),
    [(0, MIN_PIXELS), (-5, MIN_PIXELS), (1e9, MAX_PIXELS), (math.nan, 560), (math.inf, 560)],
)
def test_a_picture_is_neither_empty_nor_enormous(grid, sent, used) -> None:
    assert Viewport.of(grid.bounds, sent, 100, grid).width == used
