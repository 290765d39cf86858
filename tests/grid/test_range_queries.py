"""Boxes and polygons asked together: each as itself, in their order."""

import numpy as np
import pytest
import shapely

from explorer import AG, HTF, UG, exact
from explorer.evaluate.simulation import simulated_sd
from explorer.grid.grid import Grid
from explorer.grid.range_queries import RangeQueries, range_queries, same_questions
from explorer.inspection.errors import error_split
from explorer.points.matrix import FrequencyMatrix

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


def test_questions_are_the_same_only_with_the_same_polygons():
    edges = np.array([TRIANGLE.bounds])
    one = RangeQueries(edges, [TRIANGLE])
    assert same_questions(one, RangeQueries(edges.copy(), [shapely.Polygon(TRIANGLE)]))
    assert not same_questions(one, edges)
    assert not same_questions(edges, one)
    assert not same_questions(one, RangeQueries(edges, [TRIANGLE.convex_hull.buffer(-1)]))
    assert same_questions(np.full((1, 2, 4), np.nan), np.full((1, 2, 4), np.nan))
    assert range_queries(edges, [None]) is edges
    with pytest.raises(ValueError, match="its polygon or None"):
        RangeQueries(edges, [])
