"""The table of a large grid answers what a walk through its tree does."""

from __future__ import annotations

import numpy as np
import pytest

from explorer import EUG, Gravity, Identity
from explorer.releases import tree as trees
from explorer.releases.grid_table import GridTable
from explorer.releases.tree import Tree
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
    monkeypatch.setattr("explorer.releases.grid_table.FEWEST", 1)
    columns = grid.lower, grid.upper, grid.value, grid.precision
    table = GridTable.of(*(column[leaves] for column in columns))
    assert table is not None
    values, variances, touched = table.integrate(boxes)
    np.testing.assert_allclose(values, walked[0], rtol=1e-9, atol=1e-7)
    np.testing.assert_allclose(variances, walked[1], rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(touched, walked[2])
    assert touched[6] == len(leaves)


def test_other_leaves_have_none(grid: Tree, monkeypatch) -> None:
    monkeypatch.setattr("explorer.releases.grid_table.FEWEST", 1)
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
    assert release.n_leaves >= trees.FEWEST
