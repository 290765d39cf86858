"""Trees that divide a domain, and trees that only look so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explorer.releases.checks import check_tree, children_tile
from explorer.releases.tree import Tree
from tests.releases.test_tree import SHAPES, random_tree


@pytest.mark.parametrize("shape", SHAPES, ids=len)
def test_divided_domains_of_any_dimension_are_taken(shape: tuple[int, ...]) -> None:
    for seed in range(5):
        tree = random_tree(np.random.default_rng(seed), shape)
        # Random trees are split in any order; files have siblings side by side, as these do.
        check_tree(tree, shape)


def four(boxes: list[list[list[int]]]) -> tuple[np.ndarray, ...]:
    """A square of 4 x 4 cells and its children."""
    every = np.array([[[0, 0], [4, 4]], *boxes])
    return every[:, 0], every[:, 1], np.array([-1] + [0] * len(boxes))


def test_volumes_that_add_up_do_not_suffice() -> None:
    tiles = [[[0, 0], [2, 4]], [[2, 0], [4, 2]], [[2, 2], [4, 4]]]
    assert children_tile(*four(tiles))
    # 8 + 4 + 4 cells as well: one box lies on another, and a corner is left out.
    assert not children_tile(*four([tiles[0], tiles[1], tiles[1]]))
    assert not children_tile(*four([[[0, 0], [2, 4]], [[1, 0], [3, 4]]]))
    # A pinwheel without its middle, and with it.
    pinwheel = [[[0, 0], [1, 3]], [[0, 3], [3, 4]], [[3, 1], [4, 4]], [[1, 0], [4, 1]]]
    assert not children_tile(*four(pinwheel))
    assert children_tile(*four([*pinwheel, [[1, 1], [3, 3]]]))
    # Beyond the parent on one side, short of it on the other.
    assert not children_tile(*four([[[1, 0], [5, 4]]]))
    assert children_tile(*four([[[0, 0], [4, 4]]]))


@pytest.mark.parametrize("shape", [(9, 14), (5, 7, 6), (4, 3, 5, 6)], ids=len)
def test_every_moved_edge_is_noticed(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    tree = random_tree(rng, shape)
    for node in range(1, len(tree)):
        for edges in ("lower", "upper"):
            for axis in range(len(shape)):
                moved = getattr(tree, edges).copy()
                moved[node, axis] += 1 if edges == "lower" else -1
                changed = replace(tree, **{edges: moved})
                assert not children_tile(changed.lower, changed.upper, tree.parent)


def test_what_is_no_tree_says_why() -> None:
    shape = (5, 7, 6)
    tree = random_tree(np.random.default_rng(1), shape)

    def changed(name: str, at: object, value: object) -> Tree:
        array = getattr(tree, name).copy()
        array[at] = value
        return replace(tree, **{name: array})

    for odd, said in [
        (changed("parent", 0, 0), "no root"),
        (changed("parent", 1, 5), "before their parents"),
        (changed("parent", len(tree) - 1, 0), "side by side"),
        (changed("lower", (0, 0), 1), "root is not the whole"),
        (changed("upper", (1, 0), 99), "leaves the domain"),
        (changed("precision", tree.leaves[0], 0.0), "never measured"),
        (changed("value", 0, np.nan), "not a number"),
        (replace(tree, lower=tree.lower[:, :2]), "not of this domain"),
    ]:
        with pytest.raises(ValueError, match=said):
            check_tree(odd, shape)
