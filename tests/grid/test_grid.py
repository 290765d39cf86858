"""The grid is declared, kept, converted and counted on; what is no grid is refused."""

import json

import geopandas
import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from shapely.geometry import box

from explorer import AG, HTF, UG, FrequencyMatrix, Grid, InputError, Points, exact
from explorer.evaluate.simulation import simulated_sd
from explorer.grid.range_queries import RangeQueries, range_queries
from explorer.grid.sums import box_sums, summed
from explorer.inspection.errors import error_split
from explorer.points.counting import ExtentWarning
from tests.refusals import refuses

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
        refuses("no CRS", convert, 1.0, 1.0)


@pytest.mark.parametrize("grid", [
    CITY, Grid.cells(4),
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
    refuses("row before column", CITY.from_cells, [[0, 0, 400, 100]])


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


def test_counting_needs_what_belongs_together():
    refuses("needs to know the user", CITY.count, Points([1.0], [1.0]), contribution_bound=2)
    refuses("points have no CRS", CITY.count, Points([1.0], [1.0], None))
    refuses("grid has no CRS", Grid.cells(3).count, Points([1.0], [1.0]))
    assert Grid.cells(3).count(Points([0.5, 3.0], [2.5, 3.0], None)).counts.tolist() == [
        [0, 0, 0],
        [0, 0, 0],
        [1, 0, 1],
    ]


@pytest.mark.parametrize(("arguments", "said"), [
    ((0, 0, 0), "not an area"), ((0, 0, 100, 0), "not an area"),
    ((0, 0, 1e8), "more than half the Earth"), ((0, 0, 1e-4), "smaller than a millimetre"),
    ((np.nan, 0, 100), "not a place on the Earth"), (("west", 0, 100), "Longitude is 'west'"),
    ((0, 0, "wide"), "The width is 'wide'"),
    ((0, 0, 100, None, 16384), "more than the 4,194,304"),
    ((0, 0, 100, None, 0), "whole numbers of 1 or more"),
])  # fmt: skip
def test_what_is_no_grid_is_refused_in_a_sentence(arguments, said):
    with pytest.raises(InputError, match=said) as caught:
        Grid.around(*arguments)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_bounds_need_a_crs_in_metres_that_holds_them():
    for crs, said in [
        ("EPSG:4326", "not measured in metres"),
        (None, "Bounds need a CRS"),
        ("EPSG:2263", "US survey foot"),
    ]:
        refuses(said, Grid.from_bounds, 0, 0, 100, 100, crs)
    refuses("not on the Earth", Grid.from_bounds, 1e9, 1e9, 1e9 + 100, 1e9 + 100, "EPSG:27700")
    refuses("measured in cells", Grid, (0, 0, 10, 10), (5, 5))


@pytest.mark.parametrize("saved", [{}, [], None, "grid", {"bounds": 5, "shape": [1, 1]}])
def test_what_describes_no_grid(saved):
    with pytest.raises(InputError, match="needs 'bounds' and 'shape'"):
        Grid.from_dict(saved)  # type: ignore[arg-type]


# Boxes and polygons asked together: each as itself, in their order.

BOXES = np.array([[-900.5, -1200, 700, 333.25], [0, 0, 40, 55], [-2000, -2000, 2000, 2000.0]])
TRIANGLE = shapely.Polygon([(-1500, -1000), (1200, -700), (100, 1900)])


@pytest.fixture(scope="module")
def matrix():
    grid = Grid.around(2.35, 48.85, 4000, shape=64)
    return FrequencyMatrix.from_array(np.random.default_rng(9).poisson(9, (64, 64)), grid)


@pytest.mark.parametrize("made", [UG(epsilon=1), AG(epsilon=1), HTF(epsilon=1), UG(epsilon=0.1)])
def test_a_rectangle_given_as_a_polygon_has_the_numbers_of_the_box(matrix, made):
    release = made.release(matrix, rng=7)
    asked = RangeQueries(BOXES, [shapely.box(*box) for box in BOXES])
    found, wanted = release.answer(asked), release.answer(BOXES)
    np.testing.assert_allclose(found.value, wanted.value, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.sd, wanted.sd, rtol=1e-9, atol=1e-9)
    assert found.sd_exact == wanted.sd_exact
    np.testing.assert_allclose(exact(matrix, asked), exact(matrix, BOXES), rtol=1e-9, atol=1e-9)
    split, plain = error_split(matrix, release, asked), error_split(matrix, release, BOXES)
    np.testing.assert_allclose(split.noise, plain.noise, rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(split.uniformity, plain.uniformity, rtol=1e-9, atol=1e-8)
    np.testing.assert_array_equal(release.touched(asked), release.touched(BOXES))


def test_boxes_and_polygons_keep_their_order_and_boxes_their_numbers(matrix):
    release = HTF(epsilon=1).release(matrix, rng=7)
    edges = np.vstack([BOXES[0], TRIANGLE.bounds, BOXES[1]])
    asked = range_queries(edges, [None, TRIANGLE, None])
    assert isinstance(asked, RangeQueries)
    found = release.answer(asked).value
    assert (found[[0, 2]] == release.answer(BOXES[:2]).value).all()
    assert found[1] == release.answer(TRIANGLE).value[0]
    assert (exact(matrix, asked)[[0, 2]] == exact(matrix, BOXES[:2])).all()
    assert exact(matrix, asked)[1] == pytest.approx(TRIANGLE.area / 62.5**2 * 9, rel=0.05)
    split = error_split(matrix, release, asked)
    np.testing.assert_allclose(split.noise + split.uniformity, found - exact(matrix, asked))
    assert release.answer(asked[[1, 0]]).value.tolist() == [found[1], found[0]]


def test_a_simulation_asks_polygons_as_themselves(matrix):
    release = UG(epsilon=1, grid_size=8).release(matrix, rng=7)
    edges = np.vstack([TRIANGLE.bounds, TRIANGLE.bounds])
    found = simulated_sd(release, RangeQueries(edges, [None, TRIANGLE]), 20)
    # The noise of a sum of fewer leaves is smaller; 20 runs tell it within a sixth.
    linear = release.answer(TRIANGLE).sd[0]
    assert found.sd[1] < found.sd[0]
    assert 0.4 * linear < found.sd[1] < 2.5 * linear


# A table of sums is that of both cumulative sums, whatever the cells are.

DICE = np.random.default_rng(4)
WHOLE = DICE.integers(-9, 99, (37, 20))


@pytest.mark.parametrize("cells", [
    WHOLE, WHOLE.astype(np.int32), WHOLE.T, WHOLE[::2, ::3],
    DICE.normal(size=(20, 37)) * 10.0 ** DICE.integers(-9, 9, (20, 37)),
    np.zeros((0, 4)), np.zeros((4, 0)), np.ones((1, 1)),
])  # fmt: skip
def test_sums_are_those_of_both_axes_to_the_last_digit(cells):
    table = summed(cells)
    assert table.dtype == cells.dtype
    assert table.shape == (cells.shape[0] + 1, cells.shape[1] + 1)
    expected = np.zeros(table.shape, cells.dtype)
    np.cumsum(cells, axis=0, out=expected[1:, 1:])
    np.cumsum(expected[1:, 1:], axis=1, out=expected[1:, 1:])
    np.testing.assert_array_equal(table, expected)


def test_a_box_is_the_sum_of_its_cells():
    lower, upper = np.array([[2, 3], [0, 0]]), np.array([[9, 4], [37, 20]])
    found = box_sums(summed(WHOLE), lower, upper)
    assert found.tolist() == [WHOLE[2:9, 3:4].sum(), WHOLE.sum()]
