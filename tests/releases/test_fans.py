"""Grids of many children: the same answers as looking at each child, and only at those touched."""

import numpy as np
import pytest

from explorer import Gravity, TripDomain, TripMatrix
from explorer.grid.grid import Grid
from explorer.releases import fans as fan_module
from explorer.releases.fans import fans
from explorer.releases.tree import Tree

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
    assert len(tree._fans.of) == len(tree), "the first jump is a grid of zones"
    plain = Tree(
        tree.lower, tree.upper, tree.parent, tree.value, tree.precision,
        tree.stages, tree.spent, tree.draws, tree.tested,
    )  # fmt: skip
    monkeypatch.setattr(fan_module, "FEWEST", 10**9)
    assert plain._fans is None
    inside = release.maps_inside
    maps = None if inside is None else inside.over(tree.lower, tree.upper)
    for quick, slow in zip(tree.integrate(boxes, maps), plain.integrate(boxes, maps), strict=True):
        np.testing.assert_array_equal(quick, slow)


def grid(*edges: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """All boxes between edges, row-major."""
    low = np.stack(np.meshgrid(*[e[:-1] for e in edges], indexing="ij"), -1).reshape(-1, len(edges))
    high = np.stack(np.meshgrid(*[e[1:] for e in edges], indexing="ij"), -1).reshape(-1, len(edges))
    return low.astype(np.int64), high.astype(np.int64)


def under_a_root(lower: np.ndarray, upper: np.ndarray) -> fan_module.Fans | None:
    """What is found where these are all children of one node."""
    n = len(lower)
    lower, upper = np.vstack([lower.min(0), lower]), np.vstack([upper.max(0), upper])
    first, number = np.zeros((2, n + 1), dtype=np.int64)
    first[0], number[0] = 1, n
    return fans(lower, upper, first, number)


def test_only_a_full_grid_in_order_is_one() -> None:
    lower, upper = grid([0, 1, 4, 5, 9, 10, 11, 12, 20], [0, 2, 3, 4, 5, 6, 7, 8, 9])
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
