"""The national lattice: it holds every place of every area, and shares of cells are exact."""

import geopandas
import numpy as np
import pytest
import shapely
from shapely.geometry import MultiPolygon, Polygon, box

from explorer import Areas, Grid, InputError
from explorer.grid.areas import lattice as module
from explorer.grid.areas.windows import Windows
from explorer.grid.pieces import add_polygon
from explorer.grid.plane import on_plane
from tests.refusals import refuses

LAKE = [(10.1, 50.1), (10.2, 50.1), (10.2, 50.2)]
SHAPES = [
    Polygon([(10, 50), (10.4, 50.1), (10.3, 50.4), (10.05, 50.3)], [LAKE]),
    MultiPolygon([box(10.5, 50, 10.7, 50.2), box(10.8, 50.3, 10.81, 50.31)]),
    box(10.41, 50.25, 10.412, 50.252),
]
FRAME = geopandas.GeoDataFrame({"n": ["a", "b", "c"]}, geometry=SHAPES, crs=4326)


def boxes_of(grid):
    row, col = (each.ravel() for each in np.mgrid[0 : grid.shape[0], 0 : grid.shape[1]])
    low = np.stack([row, col], axis=1)
    return shapely.box(*grid.from_cells(np.stack([low, low + 1], axis=1)).T)


def window_of(areas, lattice, area):
    windows = Windows(areas, lattice)
    return windows.grid_of(windows.of([area]))


def check_shares(areas, lattice, chosen):
    plane = on_plane(areas.geometry, areas.crs, lattice.grid.crs)
    for area in chosen:
        window = window_of(areas, lattice, area)
        cut = shapely.area(shapely.intersection(plane[area], boxes_of(window)))
        expected = cut.reshape(window.shape) / (window.cell_width * window.cell_height)
        assert lattice.shares(area) == pytest.approx(expected, abs=2e-9)
        whole = lattice.shares(area).sum() * window.cell_width * window.cell_height
        assert whole == pytest.approx(shapely.area(plane[area]), rel=1e-6)


@pytest.mark.parametrize("cell", [200.0, 777.0, 60_000.0])
def test_shares_are_exact(cell):
    areas = Areas.read(FRAME, "n")
    lattice = areas.lattice(cell)
    assert lattice.grid.cell_width == pytest.approx(cell)
    assert lattice.grid.cell_height == pytest.approx(cell)
    check_shares(areas, lattice, range(3))
    assert areas.lattice(cell) is lattice


def test_what_is_beyond_the_cells_is_cut_off():
    shape = Polygon([(-2.5, -1), (1.5, 0.5), (6, 4), (-3, 2.5)])
    shares = np.zeros((3, 4))
    add_polygon(shape, np.zeros(2), np.ones(2), shares)
    cols, rows = np.meshgrid(np.arange(4), np.arange(3))
    exact = shapely.area(shapely.intersection(shape, shapely.box(cols, rows, cols + 1, rows + 1)))
    np.testing.assert_allclose(shares, exact, atol=1e-12)


def test_every_place_of_an_area_lies_in_its_window():
    areas = Areas.read(FRAME, "n", nearest=2_000.0)
    lattice = areas.lattice(300.0)
    x, y = np.random.default_rng(2).uniform([9.9, 49.9], [10.9, 50.5], (40_000, 2)).T
    found = areas.assign(x, y)
    assert (np.bincount(found + 1, minlength=4) > 100).all()
    for area in range(3):
        window = window_of(areas, lattice, area)
        across, along = window.from_lonlat(x[found == area], y[found == area])
        x0, y0, x1, y1 = window.bounds
        assert across.min() > x0
        assert across.max() < x1
        assert along.min() > y0
        assert along.max() < y1


def test_windows_lie_on_the_grid_and_large_areas_have_larger_cells(monkeypatch):
    monkeypatch.setattr(module, "MOST_SIDE", 64)
    areas = Areas.read(FRAME, "n")
    lattice = areas.lattice(200.0)
    assert lattice.scale.tolist() == [4, 4, 1]
    rows, cols = lattice.grid.shape
    row, col, high, wide = lattice.windows.T
    assert (np.maximum(high, wide) <= 65).all()
    assert (row >= 0).all()
    assert (col >= 0).all()
    assert ((row + high) * lattice.scale <= rows).all()
    assert ((col + wide) * lattice.scale <= cols).all()
    check_shares(areas, lattice, range(3))


def test_another_grid_can_be_taken_if_it_holds_all_areas():
    areas = Areas.read(FRAME, "n")
    grid = Grid.from_bounds(570_000, 5_530_000, 640_000, 5_600_000, crs=25832, shape=(70, 140))
    lattice = areas.lattice(grid=grid)
    assert lattice.grid == grid
    check_shares(areas, lattice, range(3))
    smaller = Grid.from_bounds(570_000, 5_530_000, 620_000, 5_600_000, crs=25832, shape=50)
    refuses("does not hold the area 'b', so that records", areas.lattice, grid=smaller)
    refuses("no CRS", areas.lattice, grid=Grid.cells(10))


def test_cells_that_are_too_small_name_what_would_do():
    areas = Areas.read(FRAME, "n")
    with pytest.raises(InputError, match="more than 4,194,304; give cells of about") as error:
        areas.lattice(10.0)
    said = str(error.value).split("about ")[1].split(" m")[0]
    assert areas.lattice(float(said)).grid.shape[0] > 1_000


@pytest.mark.parametrize("cell", [0.5, -3, float("nan"), 1e6, "wide", None])
def test_a_cell_is_metres(cell):
    refuses("cells' side is", Areas.read(FRAME, "n").lattice, cell)


def test_great_britain(great_britain):
    areas = great_britain
    lattice = areas.lattice()
    assert lattice.grid.shape == (2448, 1328)
    assert np.bincount(lattice.scale).tolist() == [0, 379, 1]
    check_shares(areas, lattice, range(0, 380, 40))
    area = lattice.grid.cell_width**2 * lattice.scale**2 / 1e6
    sizes = [lattice.shares(number).sum() * area[number] for number in range(len(areas))]
    assert sizes == pytest.approx(areas.sizes, rel=1e-6)
