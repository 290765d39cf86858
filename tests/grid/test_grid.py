"""The grid is declared, kept, converted and counted on; what is no grid is refused."""

import json

import geopandas
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely.geometry import box

from explorer.errors import InputError
from explorer.grid.domain import Domain
from explorer.grid.grid import MAX_CELLS, Grid
from explorer.points.caught import ExtentWarning
from explorer.points.points import Points

CITY = Grid.around(-122.42, 37.77, 20_000, 10_000, shape=(100, 400), name="here")


def test_a_grid_around_a_place_is_centred_on_it():
    assert CITY.bounds == (-10_000, -5_000, 10_000, 5_000)
    assert (CITY.width, CITY.height, CITY.unit) == (20_000, 10_000, "m")
    assert (CITY.cell_width, CITY.cell_height) == (50, 100)
    x, y = CITY.from_lonlat(-122.42, 37.77)
    assert abs(x[0]) < 1e-6
    assert abs(y[0]) < 1e-6
    # North is up and east is right.
    assert CITY.from_lonlat(-122.42, 37.78)[1][0] > 1000
    assert CITY.from_lonlat(-122.41, 37.77)[0][0] > 800
    assert Grid.around(190.0, 0.0, 1000).crs == Grid.around(-170.0, 0.0, 1000).crs


def test_a_matrix_is_its_own_grid():
    grid = Grid.cells((3, 5))
    assert (grid.bounds, grid.shape, grid.crs, grid.unit) == ((0, 0, 5, 3), (3, 5), None, "cells")
    assert grid.to_cells([1, 2, 3, 4]).tolist() == [[[2, 1], [4, 3]]]
    for convert in (grid.to_lonlat, grid.from_lonlat):
        with pytest.raises(InputError, match="no CRS"):
            convert(1.0, 1.0)


@pytest.mark.parametrize("grid", [
    CITY,
    Grid.cells(4),
    Grid.from_bounds(0, 0, 7e5, 13e5, "EPSG:27700", (13, 7), name="GB"),
    Grid.around(179.3, -89.9, 5e6, shape=(1, 9)),
    Grid.from_boundary(geopandas.GeoDataFrame(geometry=[box(1, 1, 2, 3)], crs=4326), 7),
])  # fmt: skip
def test_a_grid_survives_being_saved(grid):
    again = Grid.from_dict(json.loads(json.dumps(grid.to_dict())))
    assert again == grid
    assert hash(again) == hash(grid)


#: A corner and the sides of a box: smaller ones could be degrees, and are refused.
BOX = st.tuples(*[st.floats(-1e5, 1e5)] * 2, *[st.floats(1, 1e5)] * 2)


@given(st.lists(BOX, max_size=5))
def test_cells_and_metres_are_inverse(rows):
    boxes = np.array(rows).reshape(-1, 2, 2)
    boxes[:, 1] += boxes[:, 0]
    rectangles = boxes.reshape(-1, 4)
    assert np.allclose(CITY.from_cells(CITY.to_cells(rectangles)), rectangles, atol=1e-7)
    assert np.allclose(CITY.to_cells(CITY.from_cells(boxes)), boxes, atol=1e-7)


def test_rectangles_in_cells():
    assert CITY.to_cells([-10_000, -5_000, 10_000, 5_000]).tolist() == [[[0, 0], [100, 400]]]
    assert CITY.to_cells([[-9_975, -4_900, 0, 0]]).tolist() == [[[1, 0.5], [50, 200]]]
    assert CITY.to_cells([]).shape == (0, 2, 2)
    assert CITY.from_cells([]).shape == CITY.from_cells([[]]).shape == (0, 4)
    with pytest.raises(InputError, match="row before column"):
        CITY.from_cells([[0, 0, 400, 100]])


def test_a_grid_is_the_domain_of_two_dimensions():
    domain: Domain = CITY
    assert (domain.kind, domain.shape, domain.unit) == ("grid", (100, 400), "m")
    assert domain.axis_names == ("row", "column")


@given(st.floats(-180, 180), st.floats(-90, 90), st.floats(10, 1e6))
def test_lonlat_and_back_everywhere(lon, lat, size):
    grid = Grid.around(lon, lat, size, shape=1)
    x, y = grid.from_lonlat(*grid.to_lonlat([-size / 2, 0, size / 2], [size / 2, 0, -size / 2]))
    # PROJ inverts this projection by a short series, good to about 2 mm.
    assert np.allclose(x, [-size / 2, 0, size / 2], rtol=0, atol=5e-3)
    assert np.allclose(y, [size / 2, 0, -size / 2], rtol=0, atol=5e-3)


def test_every_edge_belongs_to_the_area():
    corners = Points([-10_000, 10_000, 0, 10_000], [-5_000, 5_000, 5_000, 0], crs=CITY.crs)
    counts = CITY.count(corners).counts
    assert [counts[0, 0], counts[99, 399], counts[99, 200], counts[50, 399]] == [1, 1, 1, 1]
    beyond = Points([-10_000.01, 10_000.01, 0, 0], [0, 0, -5_000.01, 5_000.01], crs=CITY.crs)
    assert CITY.count(beyond).total == 0


def test_row_zero_is_south_and_column_zero_is_west():
    lon, lat = CITY.to_lonlat([-9_999, 9_999], [-4_999, -4_999])
    counts = CITY.count(Points(lon, lat)).counts
    assert (counts[0, 0], counts[0, 399], counts.sum()) == (1, 1, 2)


def test_poles_and_antimeridian_are_places_like_any_other():
    pole = Grid.around(0.0, 90.0, 20_000, shape=3)
    ring = np.arange(0.0, 360.0, 1.0)
    assert pole.count(Points(ring, np.full(360, 90.0))).counts[1, 1] == 360
    assert pole.count(Points(ring, np.full(360, 89.95))).total == 360
    with pytest.warns(ExtentWarning):
        assert pole.count(Points(ring, np.full(360, -89.95))).total == 0
    line = Grid.around(180.0, 0.0, 20_000, shape=(1, 2))
    east_and_west = Points([179.95, -179.95, 180.05, -180.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0])
    assert line.count(east_and_west).counts.tolist() == [[1, 3]]


def test_counting_nothing_one_and_everything_in_one_cell():
    assert CITY.count(Points([], [])).total == 0
    assert CITY.count(Points([], [], user=[]), contribution_bound=2).total == 0
    assert CITY.count(Points([-122.42], [37.77])).counts.max() == 1
    heavy = Points([-122.42], [37.77], weight=[10**9])
    assert CITY.count(heavy).counts.max() == 10**9
    same = Points(np.full(1000, -122.42), np.full(1000, 37.77))
    assert Grid.around(-122.42, 37.77, 5_000, shape=1).count(same).counts.tolist() == [[1000]]


def test_units_of_privacy():
    points = Points([-122.42] * 5, [37.77] * 5, user=[0, 0, 0, 1, 2])
    plain = CITY.count(points, per="record")
    assert (plain.total, plain.unit, plain.contribution_bound) == (5, "point", 1)
    bounded = CITY.count(points, contribution_bound=2)
    assert (bounded.total, bounded.unit, bounded.contribution_bound) == (4, "user", 2)
    single = CITY.count(points, contribution_bound=1)
    assert (single.total, single.unit, single.contribution_bound) == (3, "user", 1)


def test_large_codes_of_users_take_no_memory():
    points = Points([-122.42] * 3, [37.77] * 3, user=[2**60, 5, 2**60])
    assert CITY.count(points, contribution_bound=1).total == 2


@pytest.mark.parametrize("bound", [0, -1, 1.5, True, "2"])
def test_contribution_bounds_are_whole_numbers(bound):
    points = Points([1.0], [1.0], user=[0])
    with pytest.raises(InputError, match="whole number of 1 or more"):
        CITY.count(points, contribution_bound=bound)  # type: ignore[arg-type]


def test_counting_needs_what_belongs_together():
    with pytest.raises(InputError, match="needs to know the user"):
        CITY.count(Points([1.0], [1.0]), contribution_bound=2)
    with pytest.raises(InputError, match="points have no CRS"):
        CITY.count(Points([1.0], [1.0], None))
    with pytest.raises(InputError, match="grid has no CRS"):
        Grid.cells(3).count(Points([1.0], [1.0]))
    assert Grid.cells(3).count(Points([0.5, 3.0], [2.5, 3.0], None)).counts.tolist() == [
        [0, 0, 0],
        [0, 0, 0],
        [1, 0, 1],
    ]


@pytest.mark.parametrize(("arguments", "said"), [
    ((0, 0, 0), "not an area"),
    ((0, 0, -5), "not an area"),
    ((0, 0, np.nan), "not an area"),
    ((0, 0, np.inf), "not an area"),
    ((0, 0, 100, 0), "not an area"),
    ((0, 0, 1e8), "more than half the Earth"),
    ((0, 0, 18e6, 18e6), "more than half the Earth"),
    ((0, 0, 1e-4), "smaller than a millimetre"),
    ((np.nan, 0, 100), "not a place on the Earth"),
    ((0, 90.1, 100), "not a place on the Earth"),
    ((-181, 0, 100), "not a place on the Earth"),
    (("west", 0, 100), "Longitude is 'west'"),
    ((0, 0, "wide"), "The width is 'wide'"),
    ((0, 0, 100, None, 16384), "more than the 4,194,304"),
    ((0, 0, 100, None, 0), "whole numbers of 1 or more"),
])  # fmt: skip
def test_what_is_no_grid_is_refused_in_a_sentence(arguments, said):
    with pytest.raises(InputError, match=said) as caught:
        Grid.around(*arguments)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_the_largest_grids_there_may_be():
    assert np.prod(Grid.around(0, 0, 15e6, 15e6, shape=(1, 1)).shape) == 1
    assert Grid.around(0, 0, 10_000, shape=(1, MAX_CELLS)).shape == (1, MAX_CELLS)


def test_bounds_need_a_crs_in_metres_that_holds_them():
    for crs, said in [
        ("EPSG:4326", "not measured in metres"),
        (None, "Bounds need a CRS"),
        ("EPSG:2263", "US survey foot"),
    ]:
        with pytest.raises(InputError, match=said):
            Grid.from_bounds(0, 0, 100, 100, crs)
    with pytest.raises(InputError, match="not on the Earth"):
        Grid.from_bounds(1e9, 1e9, 1e9 + 100, 1e9 + 100, "EPSG:27700")
    with pytest.raises(InputError, match="measured in cells"):
        Grid((0, 0, 10, 10), (5, 5))


@pytest.mark.parametrize("saved", [{}, [], None, "grid", {"bounds": 5, "shape": [1, 1]}])
def test_what_describes_no_grid(saved):
    with pytest.raises(InputError, match="needs 'bounds' and 'shape'"):
        Grid.from_dict(saved)  # type: ignore[arg-type]


def test_a_repr_of_one_line():
    assert repr(CITY).startswith("Grid('here', 100 x 400, 20,000 x 10,000 m, +proj=laea")
    assert repr(Grid.cells(3)) == "Grid('', 3 x 3, cells)"
