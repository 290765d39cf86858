"""Answers and their noise on trees, against dense linear algebra and brute force."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from explorer import AG, HTF, UG, Identity, QuadTree, Uniform
from explorer.releases.file import check_tree, children_tile
from explorer.releases.overlap import cut_leaves, spread_exactly
from explorer.releases.tree import Tree
from tests.helpers import city

MECHANISMS = [
    Identity(epsilon=0.5),
    Uniform(epsilon=0.5),
    UG(epsilon=0.5, grid_size=7),
    AG(epsilon=0.5, first_size=5, c2=1000.0),
    QuadTree(epsilon=0.5),
    QuadTree(epsilon=0.5, height=2, inference="leaves"),
]


def random_boxes(rng, shape, n=40):
    return np.sort(rng.uniform(-3, max(shape) + 3, (n, 2, 2)), axis=1)


def weights(tree, box):
    """Share of every leaf that lies in a box."""
    leaves = tree.leaves
    low = np.maximum(tree.lower[leaves], box[0])
    high = np.minimum(tree.upper[leaves], box[1])
    overlap = np.prod(np.maximum(high - low, 0), axis=1)
    return overlap / np.prod(tree.upper[leaves] - tree.lower[leaves], axis=1)


def random_tree(rng, shape, splits=25):
    """A tree whose nodes are cut in two or four at random, with random counts and precisions."""
    lower, upper, parent = [[0] * len(shape)], [list(shape)], [-1]
    waiting = [0]
    for _ in range(splits):
        if not waiting:
            break
        node = waiting.pop(int(rng.integers(len(waiting))))
        pieces = [(lower[node], upper[node])]
        for axis in rng.permutation(len(shape))[: rng.integers(1, 3)]:
            if upper[node][axis] - lower[node][axis] < 2:
                continue
            at = int(rng.integers(lower[node][axis] + 1, upper[node][axis]))
            halves = []
            for low, high in pieces:
                below, above = list(high), list(low)
                below[axis] = above[axis] = at
                halves += [(low, below), (above, high)]
            pieces = halves
        if len(pieces) > 1:
            waiting += range(len(parent), len(parent) + len(pieces))
            parent += [node] * len(pieces)
            lower += [low for low, _ in pieces]
            upper += [high for _, high in pieces]
    n = len(parent)
    # Nodes are split in any order, so that children do not follow their parents level by level.
    inner = np.bincount(np.array(parent[1:], dtype=int), minlength=n) > 0
    precision = np.where(inner & (rng.random(n) < 0.4), 0.0, rng.uniform(0.1, 2.0, n))
    value = np.zeros(n)
    value[~inner] = rng.normal(10, 30, (~inner).sum())
    for node in range(n - 1, 0, -1):
        value[parent[node]] += value[node]
    return Tree(
        np.array(lower),
        np.array(upper),
        np.array(parent),
        value,
        precision,
        (),
        np.zeros((n, 0), dtype=np.int64),
        np.zeros((n, 0)),
    )


SHAPES = [(40,), (9, 14), (5, 7, 6), (4, 3, 5, 6), (2, 3, 2, 3, 4, 2)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", SHAPES, ids=len)
def test_any_dimension_equals_naive_sums_and_dense_least_squares(shape, seed):
    rng = np.random.default_rng([seed, len(shape)])
    tree = random_tree(rng, shape)
    boxes = np.sort(rng.uniform(-2, np.array(shape) + 2, (30, 2, len(shape))), axis=1)
    boxes[:10] = np.round(boxes[:10])
    boxes[0] = [np.zeros(len(shape)), shape]
    leaves, n = tree.leaves, len(tree)
    below = np.zeros((n, len(leaves)))
    for column, leaf in enumerate(leaves):
        node = leaf
        while node >= 0:
            below[node, column] = 1
            node = tree.parent[node]
    covariance = np.linalg.inv(below.T @ (below * tree.precision[:, None]))
    counts = rng.integers(0, 50, len(leaves))
    exact = np.round(below @ counts).astype(np.int64)
    assert tree.sd**2 == pytest.approx(np.diag(below @ covariance @ below.T), rel=1e-6)
    values, variances, touched = tree.integrate(boxes)
    spread, inside, cut = spread_exactly(tree, exact, boxes)
    for i, box in enumerate(boxes):
        share = weights(tree, box)
        assert values[i] == pytest.approx(share @ tree.value[leaves], abs=1e-6)
        assert variances[i] == pytest.approx(share @ covariance @ share, rel=1e-6, abs=1e-9)
        assert touched[i] == np.count_nonzero(share) == inside[i] + cut[i]
        assert spread[i] == pytest.approx(share @ counts, abs=1e-6)
        found = cut_leaves(tree, box)
        assert (found[0], len(found[1])) == (inside[i], cut[i])
    assert values[0] == tree.value[0]


def test_the_written_out_case_of_two_dimensions_is_the_general_one():
    rng = np.random.default_rng(5)
    flat = random_tree(rng, (33, 21), 60)
    # A third axis of one cell, which every box holds: the loop over axes must find the same.
    zeros, ones = (np.full((len(flat), 1), v) for v in (0, 1))
    lower, upper = np.hstack([flat.lower, zeros]), np.hstack([flat.upper, ones])
    deep = replace(flat, lower=lower, upper=upper)
    boxes = random_boxes(rng, (33, 21), 200)
    more = np.concatenate([boxes, np.tile([[[0.0], [1.0]]], (200, 1, 1))], axis=2)
    for one, other in zip(flat.integrate(boxes), deep.integrate(more), strict=True):
        assert np.array_equal(one, other)


@pytest.mark.statistical
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_claimed_noise_is_the_noise_over_many_draws(mechanism):
    # Only mechanisms whose partition does not depend on the draws; the others in test_htf.
    matrix = city((16, 16), 900)
    boxes = np.array([[0, 0, 16, 16], [2, 3, 9, 11], [1.5, 0, 4.25, 7.5]])
    answers = [mechanism.release(matrix, rng=seed).answer(boxes) for seed in range(400)]
    spread = np.std([a.value for a in answers], axis=0)
    # The sd of 400 draws is known to about 4 % (Laplace tails: 5.5 %); allow 4 of those.
    assert spread == pytest.approx(answers[0].sd, rel=0.22)


def test_tables_are_made_when_asked_for_and_go_along_to_what_is_made_from_a_tree() -> None:
    release = HTF(epsilon=1, height=6).release(city(), rng=3)
    tree = release.tree
    assert not {"spent", "draws"} & vars(tree).keys()
    mean = tree.mean_path_spent
    assert "spent" not in vars(tree)  # the sums need no table
    other = replace(tree, value=tree.value / 2)
    np.testing.assert_array_equal(other.spent, tree.spent)
    np.testing.assert_array_equal(other.draws, tree.draws)
    assert mean.tolist() == other.mean_path_spent.tolist()
    again = pickle.loads(pickle.dumps(tree))
    np.testing.assert_array_equal(again.draws, tree.draws)
    assert again.mean_path_spent.tolist() == mean.tolist()


def test_a_hair_less_than_a_leaf_is_not_the_leaf() -> None:
    tree = Uniform(epsilon=1.0).release(city((4, 4), 100), rng=1).tree
    inside, cut = cut_leaves(tree, np.array([[0, 0], [4, np.nextafter(4, 0)]]))
    assert (inside, cut.tolist()) == (0, [0])
    assert cut_leaves(tree, np.array([[0, 0], [4.0, 4.0]])) == (1, pytest.approx([]))


def test_beside_the_map_nothing_is_touched() -> None:
    tree = HTF(epsilon=1.0).release(city(), rng=1).tree
    inside, cut = cut_leaves(tree, np.array([[-9.0, -9], [-1, 70]]))
    assert inside == len(cut) == 0


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
