"""The table of a large grid answers what a walk through its tree does."""

from __future__ import annotations

import numpy as np
import pytest

from explorer import EUG, Gravity, Identity, TripDomain
from explorer.grid.grid import Grid
from explorer.releases import tree as trees
from explorer.releases.tree import Fans, GridTable, Tree, fans
from explorer.trips.matrix import TripMatrix


@pytest.fixture(scope="module", params=[(2, 9), (3, 6)])
def grid(request) -> Tree:
    places, side = request.param
    where = np.random.default_rng(1).integers(0, side, (4000, 2 * places))
    sides = [(side, side - 2)] * places
    where[:, 1::2] %= side - 2
    data = TripMatrix.from_coordinates(where, sides)
    return EUG(epsilon=3, border_term="corrected").release(data, rng=1).tree


def boxes_of(tree: Tree, number: int = 200) -> np.ndarray:
    """Boxes of whole cells, of parts of cells, inside one cell, without extent, and beyond."""
    rng = np.random.default_rng(2)
    ends = np.sort(rng.uniform(-1, 1 + tree.upper[0], (2, number, tree.lower.shape[1])), axis=0)
    ends[:, ::3] = np.rint(ends[:, ::3])
    ends[1, ::7] = ends[0, ::7] + 0.3
    ends[1, 5] = ends[0, 5]
    ends[:, 6] = np.array([np.zeros_like(tree.upper[0]), tree.upper[0]])
    return np.moveaxis(ends, 0, 1)


def test_it_is_the_walk(grid: Tree, monkeypatch) -> None:
    boxes = boxes_of(grid)
    leaves = grid.leaves
    walked = grid.integrate(boxes)
    monkeypatch.setattr("explorer.releases.tree.FEWEST_LEAVES", 1)
    columns = grid.lower, grid.upper, grid.value, grid.precision
    table = GridTable.of(*(column[leaves] for column in columns))
    assert table is not None
    values, variances, touched = table.integrate(boxes)
    np.testing.assert_allclose(values, walked[0], rtol=1e-9, atol=1e-7)
    np.testing.assert_allclose(variances, walked[1], rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(touched, walked[2])
    assert touched[6] == len(leaves)


def test_other_leaves_have_none(grid: Tree, monkeypatch) -> None:
    monkeypatch.setattr("explorer.releases.tree.FEWEST_LEAVES", 1)
    leaves = grid.leaves
    lower, upper = grid.lower[leaves], grid.upper[leaves]
    value, precision = grid.value[leaves], grid.precision[leaves]
    uneven = precision.copy()
    uneven[0] *= 2
    assert GridTable.of(lower, upper, value, uneven) is None
    assert GridTable.of(lower[:-1], upper[:-1], value[:-1], precision[:-1]) is None
    trips = TripMatrix.from_coordinates([[0, 0, 1, 1], [5, 5, 2, 2]] * 400, [8, 8])
    tree = Gravity(epsilon=3, maps_share=0).release(trips, rng=1).tree
    some = tree.leaves
    even = np.ones(len(some))
    assert GridTable.of(tree.lower[some], tree.upper[some], tree.value[some], even) is None


def test_a_large_grid_answers_by_its_table() -> None:
    release = Identity(epsilon=1).release(
        TripMatrix.from_coordinates([[0, 0, 1, 1]], [16, 16]), rng=1
    )
    boxes = boxes_of(release.tree, 100)
    by_table = release.tree.integrate(boxes)
    assert vars(release.tree)["_grid_table"] is not None
    vars(release.tree)["_grid_table"] = None
    for one, other in zip(by_table, release.tree.integrate(boxes), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-6)
    assert release.n_leaves >= trees.FEWEST_LEAVES


RNG = np.random.default_rng(8)
DOMAIN = TripDomain([Grid.cells(24, 30), Grid.cells(17, 16)])
CELLS = np.stack([RNG.integers(0, side, 3000) for side in DOMAIN.shape], axis=1)
MATRIX = TripMatrix(CELLS, np.ones(len(CELLS), int), DOMAIN)


def random_boxes(number: int) -> np.ndarray:
    """Boxes in cells: fractions, whole cells, beyond the domain, empty, and anywhere."""
    ends = RNG.uniform(-3, np.array(DOMAIN.shape) + 3, (2, number, len(DOMAIN.shape)))
    boxes = np.sort(ends, axis=0).transpose(1, 0, 2)
    boxes[::3] = np.round(boxes[::3])
    boxes[::5, 1] = boxes[::5, 0]
    boxes[1::4, :, 2:] = [[0, 0], DOMAIN.shape[2:]]
    return boxes


@pytest.mark.parametrize("spread", ["maps", "uniform"])
def test_answers_are_those_of_a_look_at_every_child(spread, monkeypatch) -> None:
    release = Gravity(epsilon=1.0, zones=5).release(MATRIX, rng=3).spread(spread)
    tree, boxes = release.tree, random_boxes(400)
    assert tree.fan_out[0] == 5**4
    assert len(tree._fans.of) == len(tree), "the first jump is a full_grid of zones"
    plain = Tree(
        tree.lower, tree.upper, tree.parent, tree.value, tree.precision,
        tree.stages, tree.spent, tree.draws, tree.tested,
    )  # fmt: skip
    monkeypatch.setattr(trees, "FEWEST_CHILDREN", 10**9)
    assert plain._fans is None
    inside = release.maps_inside
    maps = None if inside is None else inside.over(tree.lower, tree.upper)
    for quick, slow in zip(tree.integrate(boxes, maps), plain.integrate(boxes, maps), strict=True):
        np.testing.assert_array_equal(quick, slow)


def full_grid(*edges: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """All boxes between edges, row-major."""
    low = np.stack(np.meshgrid(*[e[:-1] for e in edges], indexing="ij"), -1).reshape(-1, len(edges))
    high = np.stack(np.meshgrid(*[e[1:] for e in edges], indexing="ij"), -1).reshape(-1, len(edges))
    return low.astype(np.int64), high.astype(np.int64)


def under_a_root(lower: np.ndarray, upper: np.ndarray) -> Fans | None:
    """What is found where these are all children of one node."""
    n = len(lower)
    lower, upper = np.vstack([lower.min(0), lower]), np.vstack([upper.max(0), upper])
    first, number = np.zeros((2, n + 1), dtype=np.int64)
    first[0], number[0] = 1, n
    return fans(lower, upper, first, number)


def test_only_a_full_grid_in_order_is_one() -> None:
    lower, upper = full_grid([0, 1, 4, 5, 9, 10, 11, 12, 20], [0, 2, 3, 4, 5, 6, 7, 8, 9])
    found = under_a_root(lower, upper)
    assert found.of.tolist() == [0, *[-1] * 64]
    assert found.edges.tolist() == [0, 1, 4, 5, 9, 10, 11, 12, 20, 0, 2, 3, 4, 5, 6, 7, 8, 9]
    other = RNG.permutation(64)
    assert under_a_root(lower[other], upper[other]) is None
    moved = upper.copy()
    moved[0, 1] -= 1
    assert under_a_root(lower, moved) is None
    assert under_a_root(lower[:-1], upper[:-1]) is None, "63 are looked at one by one"
    assert under_a_root(*[np.repeat(each, 2, axis=0) for each in (lower, upper)]) is None
