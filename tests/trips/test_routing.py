"""Cells sent down a tree of cuts: the same as box by box, or no answer at all."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.privacy.regions import Boxes
from explorer.testing.counts import counted
from explorer.trips import profile
from explorer.trips.routing import count_nested, grouped, owners


def cut_at_random(shape, rng):
    """Boxes of a tree that cuts one axis a level, some slabs of them left out."""
    nodes = Boxes(tuple(shape), 0, 1).root()
    for axis in rng.permutation(len(shape)):
        sides = nodes.shape[:, axis]
        parts = rng.integers(1, sides + 1)
        cuts = [
            low + 1 + np.sort(rng.choice(side - 1, part - 1, replace=False))
            for low, side, part in zip(nodes.lower[:, axis], sides, parts, strict=True)
        ]
        nodes = nodes.slice(int(axis), parts, np.concatenate(cuts).astype(np.int64))
    kept = nodes.select(rng.random(len(nodes)) < rng.choice([0.5, 1.0]))
    return kept.lower, kept.upper


@settings(max_examples=40)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(0, 2**32))
def test_every_cell_goes_to_its_box(shape, seed):
    rng = np.random.default_rng(seed)
    lower, upper = cut_at_random(shape, rng)
    cells = rng.integers(0, shape, (60, len(shape)))
    found = owners(cells, lower, upper)
    assert found is not None
    for cell, box in zip(cells, found, strict=True):
        inside = np.flatnonzero(np.all((lower <= cell) & (cell < upper), axis=1))
        assert inside.tolist() == ([box] if box >= 0 else [])
    order, offsets = grouped(cells, lower, upper)
    for box in range(len(lower)):
        own = order[offsets[box] : offsets[box + 1]]
        assert sorted(own.tolist()) == np.flatnonzero(found == box).tolist()


def test_boxes_in_no_order_get_no_answer():
    cells, number = np.array([[1, 1], [3, 3]]), np.array([5, 7])
    whole = np.array([[0, 0]]), np.array([[4, 4]])
    for lower, upper in (
        ([[2, 0], [0, 0]], [[4, 4], [2, 4]]),  # backwards
        ([[0, 0], [1, 1]], [[3, 3], [4, 4]]),  # over each other
        ([[0, 0], [0, 0]], [[4, 4], [4, 4]]),  # twice the same
        ([[0, 0], [2, 0]], [[0, 4], [4, 4]]),  # one is empty
        # A pinwheel: no cut goes through.
        ([[0, 0], [0, 3], [1, 0], [2, 1], [1, 1]], [[1, 3], [3, 4], [4, 1], [4, 4], [2, 3]]),
    ):
        boxes = np.array(lower), np.array(upper)
        assert count_nested(cells, number, *boxes) is None
        assert grouped(cells, *boxes) is None
    assert count_nested(cells, number, *whole).tolist() == [12]


def test_few_boxes_are_left_to_the_index():
    cells = np.zeros((10_000, 2), dtype=np.int64)
    whole = np.array([[0, 0]]), np.array([[4, 4]])
    assert count_nested(cells, np.ones(10_000, dtype=np.int64), *whole) is None


@settings(max_examples=30)
@given(st.integers(0, 2**32))
def test_counts_and_costs_are_those_of_the_index(seed):
    rng = np.random.default_rng(seed)
    shape = (6, 5, 4, 3)
    counts = counted(rng.poisson(rng.choice([0.1, 4.0]), shape))
    lower, upper = cut_at_random(shape, rng)
    if len(lower) == 0:
        return
    found = count_nested(counts.index.cells, counts.index.number, lower, upper)
    np.testing.assert_array_equal(found, counts.index.count(lower, upper))
    np.testing.assert_array_equal(counts.count(lower, upper), found)
    whole, axis = np.arange(len(lower)), int(rng.integers(4))
    start, stop = lower[np.newaxis, :, axis], upper[np.newaxis, :, axis]
    costs = profile.slab_costs(counts.index, lower, upper, axis, whole, start, stop)
    np.testing.assert_array_equal(costs[0], counts.index.spread(lower, upper))
    # The same boxes in another order, which has to walk.
    other = rng.permutation(len(lower))
    again = profile.slab_costs(
        counts.index, lower[other], upper[other], axis, whole, start[:, other], stop[:, other]
    )
    np.testing.assert_array_equal(again[0], costs[0, other])
