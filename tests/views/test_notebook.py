"""A release as a HoloViews object."""

import holoviews as hv
import numpy as np
import pytest

from explorer.grid.grid import Grid
from explorer.mechanisms import HTF
from explorer.points.matrix import FrequencyMatrix
from explorer.views.notebook import to_holoviews


@pytest.fixture
def release():
    counts = np.random.default_rng(0).poisson(8, (24, 48))
    grid = Grid.from_bounds(0, 0, 4800, 2400, "EPSG:3035", (24, 48))
    return HTF(epsilon=1.0).release(FrequencyMatrix.from_array(counts, grid), rng=2)


def test_image_and_leaves_carry_the_released_numbers(release) -> None:
    shown = to_holoviews(release)
    image, leaves = shown.values()
    assert isinstance(leaves, hv.Rectangles)
    assert len(leaves) == release.n_leaves
    np.testing.assert_allclose(leaves.dimension_values("count"), release.counts)
    # HoloViews keeps rows from south to north in its coordinates.
    got = image.dimension_values("level", flat=False)
    np.testing.assert_allclose(got, np.log1p(np.maximum(release.density(), 0)))
    assert image.bounds.lbrt() == (0, 0, 4800, 2400)
