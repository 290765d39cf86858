"""Pictures of counts and leaves against slow, plain readings of the same definition."""

import numpy as np
import pytest

from explorer.views.raster import leaf_edges, leaf_means, mean_per_cell

VIEWS = [
    (0.0, 0.0, 12.0, 8.0, 8, 12),  # one pixel a cell
    (0.0, 0.0, 12.0, 8.0, 3, 5),  # several cells a pixel
    (2.3, 1.7, 5.1, 4.2, 9, 7),  # several pixels a cell
    (-4.0, -2.0, 15.5, 9.0, 6, 11),  # beyond the grid on all sides
]


def plain_mean(density, col0, row0, col1, row1, height, width, fine=60):
    """Average over ``fine`` x ``fine`` samples in each pixel."""
    rows, cols = density.shape
    y = row0 + (np.arange(height * fine) + 0.5) * (row1 - row0) / (height * fine)
    x = col0 + (np.arange(width * fine) + 0.5) * (col1 - col0) / (width * fine)
    inside = ((y >= 0) & (y < rows))[:, None] & ((x >= 0) & (x < cols))[None, :]
    i = np.clip(np.floor(y).astype(int), 0, rows - 1)
    j = np.clip(np.floor(x).astype(int), 0, cols - 1)
    sampled = np.where(inside, density[np.ix_(i, j)], 0.0)
    return sampled.reshape(height, fine, width, fine).mean(axis=(1, 3))


@pytest.fixture
def counts():
    return np.random.default_rng(3).integers(0, 50, (8, 12))


def tiling():
    """Six leaves over 8 x 12 cells, and the density they make."""
    lower = np.array([[0, 0], [0, 5], [3, 5], [5, 0], [3, 9], [6, 5]])
    upper = np.array([[5, 5], [3, 12], [6, 9], [8, 5], [6, 12], [8, 12]])
    density = np.array([4.0, 0.5, 9.0, 2.25, 0.0, 30.0])
    cells = np.zeros((8, 12))
    for (r0, c0), (r1, c1), value in zip(lower, upper, density, strict=True):
        cells[r0:r1, c0:c1] = value
    return lower, upper, density, cells


@pytest.mark.parametrize("view", VIEWS)
def test_mean_per_cell_is_the_average_over_each_pixel(counts, view) -> None:
    got = mean_per_cell(counts, *view)
    # 60 samples a side miss a border by at most half a sample of 50 points.
    np.testing.assert_allclose(got, plain_mean(counts, *view), atol=2 * 50 / 60)


@pytest.mark.parametrize("view", VIEWS)
def test_leaves_painted_directly_equal_their_cells_resampled(view) -> None:
    lower, upper, density, cells = tiling()
    np.testing.assert_allclose(
        leaf_means(lower, upper, density, *view), mean_per_cell(cells, *view), atol=1e-4
    )


def test_row_zero_is_south(counts) -> None:
    got = mean_per_cell(counts, 0.0, 0.0, 12.0, 8.0, 8, 12)
    np.testing.assert_array_equal(got[0], counts[0])


def test_a_view_beside_the_grid_is_empty(counts) -> None:
    assert not mean_per_cell(counts, 40.0, 0.0, 50.0, 8.0, 4, 4).any()
    lower, upper, density, _ = tiling()
    assert not leaf_means(lower, upper, density, 0.0, -20.0, 12.0, -10.0, 4, 4).any()


def test_edges_are_the_borders_of_the_leaves_and_nothing_else() -> None:
    lower, upper, _, _ = tiling()
    scale = 10
    edges = leaf_edges(lower, upper, 0.0, 0.0, 12.0, 8.0, 8 * scale, 12 * scale)
    expected = np.zeros((80, 120), bool)
    for (r0, c0), (r1, c1) in zip(lower * scale, upper * scale, strict=True):
        expected[r0, c0:c1] = True
        expected[r0:r1, c0] = True
    np.testing.assert_array_equal(edges > 0, expected)


def test_small_leaves_get_faint_edges() -> None:
    sides = np.array([2, 6, 30])
    lower = np.stack([np.zeros(3, int), np.array([0, 10, 20])], axis=1)
    upper = lower + sides[:, None]
    edges = leaf_edges(lower, upper, 0.0, 0.0, 60.0, 40.0, 40, 60)
    assert [edges[0, col] for col in (0, 10, 20)] == [1, 2, 3]
