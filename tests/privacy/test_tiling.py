"""Tilings are recognised exactly, in any number of dimensions."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from explorer.privacy.regions import tile


def covers(lower: np.ndarray, upper: np.ndarray, shape: list[int]) -> bool:
    """Whether every cell lies in exactly one box and no box is empty: by looking at the cells."""
    if np.any(lower >= upper) or np.any(lower < 0) or np.any(upper > shape):
        return False
    image = np.zeros(shape, dtype=int)
    for low, high in zip(lower, upper, strict=True):
        image[tuple(slice(a, b) for a, b in zip(low, high, strict=True))] += 1
    return bool(np.all(image == 1))


def cut_up(shape: list[int], rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A domain cut at random places again and again."""
    boxes = [(np.zeros(len(shape), dtype=int), np.array(shape))]
    for _ in range(rng.integers(0, 12)):
        low, high = boxes.pop(rng.integers(len(boxes)))
        axis = rng.integers(len(shape))
        if high[axis] - low[axis] < 2:
            boxes.append((low, high))
            continue
        below, above = high.copy(), low.copy()
        below[axis] = above[axis] = rng.integers(low[axis] + 1, high[axis])
        boxes += [(low, below), (above, high)]
    lower, upper = (np.array(edges) for edges in zip(*boxes, strict=True))
    return lower, upper


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(0, 2**32))
def test_what_tiles_is_taken_and_what_does_not_is_refused(shape: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    lower, upper = cut_up(shape, rng)
    edges = np.zeros((1, len(shape)), dtype=int), np.array([shape])
    owner = np.zeros(len(lower), dtype=int)
    assert tile(lower, upper, owner, *edges)
    assert not tile(lower[1:], upper[1:], owner[1:], *edges)
    assert not tile(*(np.concatenate([each, each[:1]]) for each in (lower, upper, owner)), *edges)
    # Some edge moves by a cell or two, anywhere.
    moved = (lower if rng.integers(2) else upper)[rng.integers(len(lower))]
    moved[rng.integers(len(shape))] += rng.choice([-2, -1, 1, 2])
    assert tile(lower, upper, owner, *edges) == covers(lower, upper, shape)


def test_every_set_of_boxes_of_a_small_map_is_judged_rightly() -> None:
    """All pairs and triples of boxes of 2 x 3 cells."""
    sides = [[(a, b) for a in range(n) for b in range(a + 1, n + 1)] for n in (2, 3)]
    boxes = np.array([list(zip(*box, strict=True)) for box in itertools.product(*sides)])
    edges = np.array([[0, 0]]), np.array([[2, 3]])
    tilings = 0
    for number in (2, 3):
        for chosen in itertools.product(range(len(boxes)), repeat=number):
            lower, upper = boxes[list(chosen)].transpose(1, 0, 2)
            found = tile(lower, upper, np.zeros(number, dtype=int), *edges)
            assert found == covers(lower, upper, [2, 3])
            tilings += found
    # In two: 1 + 2 ways. In three: columns, a row cut (2 + 2), a column or a pair of them cut (4).
    assert tilings == 3 * 2 + (1 + 4 + 4) * 6


def test_every_parent_has_its_own_tiling() -> None:
    parents = np.array([[0], [4]]), np.array([[4], [6]])
    lower, upper = np.array([[0], [2], [4]]), np.array([[2], [4], [6]])
    assert tile(lower, upper, np.array([0, 0, 1]), *parents)
    assert not tile(lower, upper, np.array([0, 1, 1]), *parents)
    assert not tile(lower[:2], upper[:2], np.array([0, 0]), *parents)
