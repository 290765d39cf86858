"""Inside leaves: masses kept, nothing negative, slopes towards fuller neighbours."""

import numpy as np
import pytest

from explorer import AG, HTF, FrequencyMatrix, Mosaic, Release
from explorer.releases.interpolation import interpolate
from explorer.releases.painting import paint
from explorer.releases.surroundings import _look_round, _paint, shrunk
from tests.helpers import city


def test_a_leaf_leans_towards_its_fuller_neighbour():
    leaf = np.zeros((8, 8), dtype=np.int32)
    leaf[:, 4:] = 1
    even = np.where(leaf == 1, 10.0, 2.0)
    smooth = interpolate(even, leaf)
    assert smooth[:, :4].sum() == pytest.approx(even[:, :4].sum())
    assert smooth[:, 4:].sum() == pytest.approx(even[:, 4:].sum())
    assert np.all(np.diff(smooth[0]) >= 0)
    assert smooth[0, 3] > 2 > smooth[0, 0]


@pytest.mark.parametrize("kind", [HTF, AG, Mosaic])
@pytest.mark.parametrize("shape", [(64, 64), (50, 37)])
def test_every_leaf_keeps_its_count_and_cells_stay_non_negative(kind, shape):
    settings = {"epsilon": 0.3, "inference": "split"}
    even = kind(**settings, inside="uniform").release(city(shape), rng=2)
    smooth = kind(**settings, inside="interpolated").release(city(shape), rng=2)
    owners = smooth.tree.owners(shape)
    kept = np.bincount(owners.ravel(), smooth.density().ravel())
    assert kept == pytest.approx(even.counts, abs=1e-6)
    assert smooth.density().min() >= -1e-12  # rounding of sums
    assert not np.allclose(smooth.density(), even.density())


def test_answers_follow_the_interpolated_density(tmp_path):
    release = Mosaic(epsilon=0.5).release(city(), rng=1)
    box = [[3.5, 2, 20, 31.25]]
    x = np.clip(np.minimum(20, np.arange(64) + 1) - np.maximum(3.5, np.arange(64)), 0, 1)
    y = np.clip(np.minimum(31.25, np.arange(64) + 1) - np.maximum(2, np.arange(64)), 0, 1)
    assert release.answer(box).value[0] == pytest.approx(y @ release.density() @ x)
    release.save(tmp_path / "m.parquet")
    again = Release.load(tmp_path / "m.parquet")
    assert again.answer(box).value[0] == release.answer(box).value[0]
    assert again.inside == "interpolated"


def test_an_empty_map_stays_empty():
    assert interpolate(np.zeros((5, 9)), np.zeros((5, 9), dtype=np.int32)).sum() == 0
    assert Mosaic().release(FrequencyMatrix.from_array([[0]]), rng=1).n_leaves == 1


def test_nothing_is_painted_beside_a_map_that_is_smaller_than_its_boxes():
    tree = HTF(epsilon=1).release(city((8, 8)), rng=1).tree
    lower, upper = tree.leaf_edges
    values = np.arange(1.0, len(lower) + 1)
    whole = np.zeros((8, 8))
    paint(lower, upper, values, whole)
    assert whole.all()
    for rows, cols in ((8, 5), (3, 8), (2, 2)):
        # A part of a larger array: what lies around it must stay.
        around = np.zeros((8, 8))
        paint(lower, upper, values, around[:rows, :cols])
        np.testing.assert_array_equal(around[:rows, :cols], whole[:rows, :cols])
        assert np.count_nonzero(around) == rows * cols


EVERY = np.arange(64 * 64)


def quarters(side):
    """Every cell of a square as a leaf."""
    low = np.stack(np.indices((side, side)), axis=-1).reshape(-1, 2)
    return low, low + 1


def test_rings_are_means_between_windows_cut_off_at_the_map():
    release = Mosaic(epsilon=0.5, inside="uniform").release(city((48, 40), 3000), rng=1)
    lower, upper, counts = release.lower, release.upper, release.counts
    variance = np.full(len(counts), 8.0)
    sums, rings = np.zeros((49, 41)), np.empty((len(counts), 3))
    group = np.empty(len(counts), dtype=np.int64)
    leaves = np.arange(len(counts))
    _paint(lower, upper, leaves, counts, sums)
    _look_round(lower, upper, leaves, variance, sums, group, rings)
    image = release.density()
    for leaf in range(0, len(counts), 7):
        (r0, c0), (r1, c1) = lower[leaf], upper[leaf]
        within, size, before = image[r0:r1, c0:c1].sum(), (r1 - r0) * (c1 - c0), None
        own = size
        assert group[leaf] == round(np.log2(size))
        for x, away in enumerate((1, 3, 7)):
            up, left = max(r0 - away * (r1 - r0), 0), max(c0 - away * (c1 - c0), 0)
            part = image[up : r1 + away * (r1 - r0), left : c1 + away * (c1 - c0)]
            ring = part.size - size
            if ring:
                before = (part.sum() - within) / ring * own * np.sqrt(2 / 8.0)
            assert rings[leaf, x] == pytest.approx(before, abs=1e-9)
            within, size = part.sum(), part.size


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (3, 4), (4, 3), (5, 7), (8, 1), (11, 6)])
def test_counts_spread_over_cells_are_added_up_from_the_corner(shape):
    rng = np.random.default_rng(6)
    cells = rng.integers(-50, 50, shape)
    # One leaf for the left half of all rows, or none, and every other cell by itself.
    half = shape[1] // 2
    single = np.array([(r, c) for r in range(shape[0]) for c in range(half, shape[1])])
    lower, upper, draws = single, single + 1, cells[:, half:].ravel().astype(float)
    if half:
        cells[:, :half] = 3
        lower = np.append(lower, [[0, 0]], axis=0)
        upper = np.append(upper, [[shape[0], half]], axis=0)
        draws = np.append(draws, 3.0 * shape[0] * half)
    # In another order, and in memory that holds something else.
    leaves, sums = rng.permutation(len(lower)), np.full((shape[0] + 1, shape[1] + 1), np.nan)
    _paint(lower, upper, leaves, draws[leaves], sums)
    # Whole numbers, which floats add up exactly in any order.
    assert np.array_equal(sums[1:, 1:], cells.cumsum(axis=0).cumsum(axis=1))
    assert not sums[0].any()
    assert not sums[:, 0].any()


def test_on_an_even_map_neighbours_take_most_of_the_noise_away():
    rng = np.random.default_rng(2)
    lower, upper = quarters(64)
    draws = rng.poisson(6, 64 * 64) + rng.laplace(0, 4, 64 * 64)
    estimate, variance = shrunk(lower, upper, EVERY, draws, np.full(64 * 64, 32.0), (64, 64))
    before, after = np.mean((draws - 6) ** 2), np.mean((estimate - 6) ** 2)
    assert after < 0.35 * before
    assert variance.mean() < 16


def test_one_row_and_leaves_of_all_sizes_are_seen():
    lower = np.array([[0, 0], [0, 8], [0, 12], [0, 14], [0, 15]])
    upper = np.array([[1, 8], [1, 12], [1, 14], [1, 15], [1, 16]])
    draws, variance = np.array([5.0, -3.0, 40.0, 2.0, 0.0]), np.array([2.0, 2, 2, 2, 8])
    estimate, believed = shrunk(lower, upper, np.arange(5), draws, variance, (1, 16))
    assert np.isfinite(estimate).all()
    assert np.all((believed > 0) & (believed <= variance))
