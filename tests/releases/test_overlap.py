"""Leaves inside and cut, and the partition with exact counts, against brute force."""

import numpy as np
import pytest

from explorer import HTF, Uniform
from explorer.releases.overlap import cut_leaves
from tests.helpers import city


def test_a_hair_less_than_a_leaf_is_not_the_leaf() -> None:
    tree = Uniform(epsilon=1.0).release(city((4, 4), 100), rng=1).tree
    inside, cut = cut_leaves(tree, np.array([[0, 0], [4, np.nextafter(4, 0)]]))
    assert (inside, cut.tolist()) == (0, [0])
    assert cut_leaves(tree, np.array([[0, 0], [4.0, 4.0]])) == (1, pytest.approx([]))


def test_beside_the_map_nothing_is_touched() -> None:
    tree = HTF(epsilon=1.0).release(city(), rng=1).tree
    inside, cut = cut_leaves(tree, np.array([[-9.0, -9], [-1, 70]]))
    assert inside == len(cut) == 0
