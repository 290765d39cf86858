"""Whether parts are empty: against least squares, its sums, and what is held back."""

import numpy as np
import pytest

from explorer import HTF, FrequencyMatrix, Mosaic, QuadTree
from explorer.privacy.noise import PreviewNoise
from explorer.releases import inference
from explorer.releases.empty_or_not import infer
from tests.helpers import city, run


def uneven_tree(rng):
    """Parents of a tree whose nodes have 1 to 7 children, siblings side by side."""
    parent = [-1]
    for node in range(40):
        if node < len(parent) and (node == 0 or rng.random() < 0.7):
            parent += [node] * int(rng.integers(1, 8))
    return np.array(parent)


@pytest.mark.parametrize("seed", range(6))
def test_counts_add_up_and_are_never_negative_whatever_the_fan_out(seed):
    rng = np.random.default_rng(seed)
    parent = uneven_tree(rng)
    n, depth = len(parent), np.zeros(len(parent), dtype=np.int64)
    for i in range(1, n):
        depth[i] = depth[parent[i]] + 1
    leaf = ~np.isin(np.arange(n), parent)
    precision = np.where(leaf | (rng.random(n) < 0.4), rng.exponential(1, n), 0.0)
    noisy = np.where(precision > 0, rng.normal(3, 10, n), 0.0)
    value = infer(parent, depth, noisy, precision, noisy[leaf], 1 / precision[leaf])
    assert np.all(value >= 0)
    below = np.zeros(n)
    np.add.at(below, parent[1:], value[1:])
    np.testing.assert_allclose(below[~leaf], value[~leaf], atol=1e-9)


@pytest.mark.parametrize(
    "mechanism", [QuadTree(1.0, height=3), HTF(1.0, height=5)], ids=lambda made: made.key
)
def test_where_nothing_is_in_doubt_it_is_least_squares(mechanism):
    full = np.random.default_rng(1).integers(10**5, 10**6, (32, 32))
    _, curator = run(mechanism, FrequencyMatrix.from_array(full), PreviewNoise(1))
    record = curator.transcript()
    np.testing.assert_allclose(
        inference.empty_or_not(record, axes=()).value, inference.least_squares(record).value
    )


def test_empty_parts_of_a_map_come_out_nearly_empty():
    counts = np.zeros((64, 64), dtype=np.int64)
    counts[8:12, 40:44] = 500
    off = {}
    for how in ("empty or not", "least squares"):
        drawn = [
            Mosaic(epsilon=0.3, inference=how, inside="uniform").release(counts, rng=seed)
            for seed in range(6)
        ]
        off[how] = np.mean(
            [np.abs(release.counts[release.counts < 250]).sum() for release in drawn]
        )
    assert off["empty or not"] < 0.1 * off["least squares"]


def test_a_doubtful_node_weighs_as_much_as_it_would_as_a_leaf():
    """Of a node cut in four, 1/4 of its draw's precision is kept."""
    _, curator = run(QuadTree(1.0, height=1), city((8, 8), 100), PreviewNoise(1))
    record = curator.transcript()
    near = np.zeros(len(record), dtype=bool)
    near[0] = True
    kept, held = (inference.empty_or_not(record, near=each).precision for each in (None, near))
    assert held[0] == pytest.approx(kept[0] / 4)
    np.testing.assert_array_equal(held[1:], kept[1:])
