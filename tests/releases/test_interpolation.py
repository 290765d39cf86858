"""Inside leaves: masses kept, nothing negative, slopes towards fuller neighbours."""

import numpy as np
import pytest

from explorer import AG, HTF, FrequencyMatrix, Mosaic, Release
from explorer.releases.empty_or_not import shrunk
from explorer.releases.interpolation import interpolate
from explorer.releases.nodes import paint
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
