"""Pictures of one screen: true map, private map, difference."""

import numpy as np
import pytest

from explorer.mechanisms import HTF, UG
from explorer.points.matrix import FrequencyMatrix
from explorer.views.partition import Leaves
from explorer.views.pictures import colour, private_map
from explorer.views.scale import ColourScale
from explorer.views.truth import true_map
from explorer.views.viewport import Viewport


@pytest.fixture
def matrix():
    return FrequencyMatrix.from_array(np.random.default_rng(2).poisson(20, (48, 64)))


def test_without_points_the_true_map_shows_the_counts(matrix) -> None:
    truth = true_map(matrix.counts, matrix.grid, Viewport.whole(matrix.grid, 64))
    assert truth.shown is truth.cells
    np.testing.assert_allclose(truth.cells, matrix.counts)


@pytest.mark.parametrize(
    "mechanism", [HTF(epsilon=1.0), UG(epsilon=1.0), UG(epsilon=1.0, inside="interpolated")]
)
def test_the_private_map_is_the_released_density(matrix, mechanism) -> None:
    release = mechanism.release(matrix, rng=4)
    view = Viewport.whole(matrix.grid, 64)
    np.testing.assert_allclose(
        private_map(release, Leaves.of(release), view), release.density(), atol=1e-3
    )


def test_the_difference_is_private_minus_true(matrix) -> None:
    release = HTF(epsilon=1.0).release(matrix, rng=4)
    view = Viewport.whole(matrix.grid, 64)
    truth = true_map(matrix.counts, matrix.grid, view)
    private = private_map(release, Leaves.of(release), view)
    scale = ColourScale("linear", 20.0)
    shown = colour(private, truth, scale, "difference").astype(int) - 128
    wrong = release.density() - matrix.counts
    assert np.all(shown[wrong > 0.5] > 0)
    assert np.all(shown[wrong < -0.5] < 0)
    np.testing.assert_array_equal(colour(private, truth, scale, "private"), scale.encode(private))
