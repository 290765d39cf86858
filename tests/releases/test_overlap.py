"""Leaves inside and cut, and the partition with exact counts, against brute force."""

import numpy as np
import pytest

from explorer import AG, HTF, Identity, Mosaic, Uniform
from explorer.releases.overlap import cut_leaves, spread_exactly
from tests.helpers import city
from tests.releases.test_tree import random_boxes, weights

MECHANISMS = [Identity(epsilon=0.5), Uniform(epsilon=0.5), AG(epsilon=0.5), HTF(epsilon=0.5)]


@pytest.mark.parametrize("mechanism", [*MECHANISMS, Mosaic(epsilon=0.5)])
def test_leaves_are_sorted_as_by_looking_at_each(mechanism) -> None:
    tree = mechanism.release(city((20, 27), 3000), rng=1).tree
    for box in random_boxes(np.random.default_rng(0), (20, 27)):
        share = weights(tree, box)
        inside, cut = cut_leaves(tree, box)
        assert inside == np.count_nonzero(share == 1)
        assert cut.tolist() == tree.leaves[(share > 0) & (share < 1)].tolist()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_same_partition_with_exact_counts(mechanism) -> None:
    matrix = city((20, 27), 3000)
    tree = mechanism.release(matrix, rng=1).tree
    true = matrix.count(tree.lower[tree.leaves], tree.upper[tree.leaves])
    boxes = random_boxes(np.random.default_rng(0), (20, 27))
    answers, inside, cut = spread_exactly(tree, matrix.sums, boxes)
    for i, box in enumerate(boxes):
        share = weights(tree, box)
        assert answers[i] == pytest.approx(share @ true, abs=1e-6)
        assert inside[i] == np.count_nonzero(share == 1)
        assert inside[i] + cut[i] == np.count_nonzero(share)
    of_nodes = matrix.count(tree.lower, tree.upper)
    assert np.array_equal(spread_exactly(tree, of_nodes, boxes)[0], answers)


def test_a_hair_less_than_a_leaf_is_not_the_leaf() -> None:
    tree = Uniform(epsilon=1.0).release(city((4, 4), 100), rng=1).tree
    inside, cut = cut_leaves(tree, np.array([[0, 0], [4, np.nextafter(4, 0)]]))
    assert (inside, cut.tolist()) == (0, [0])
    assert cut_leaves(tree, np.array([[0, 0], [4.0, 4.0]])) == (1, pytest.approx([]))


def test_beside_the_map_nothing_is_touched() -> None:
    tree = HTF(epsilon=1.0).release(city(), rng=1).tree
    inside, cut = cut_leaves(tree, np.array([[-9.0, -9], [-1, 70]]))
    assert inside == len(cut) == 0
