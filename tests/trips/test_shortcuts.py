"""Every way of counting gives what a mask over all cells gives, to the bit."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from explorer import FrequencyMatrix, Grid, TripDomain, TripMatrix
from explorer.trips.index import KEY_BITS, Index, Order, count_nested
from tests.refusals import refuses

SIDES = st.tuples(st.integers(1, 9), st.integers(1, 9))
SPACES = st.lists(SIDES, min_size=1, max_size=3)


def drawn(places, seed):
    """Some trips, many of them alike, between places of any shape."""
    rng = np.random.default_rng(seed)
    shape = [side for place in places for side in place]
    where = rng.integers(0, shape, (60, len(shape)))
    where[20:] = where[rng.integers(0, 20, 40)]
    domain = TripDomain([Grid.cells(place) for place in places])
    return TripMatrix(where, rng.integers(0, 4, 60), domain), rng


def masked(matrix, lower, upper):
    """Counts by looking at every occupied cell."""
    return [
        int(matrix.multiplicities[np.all((matrix.cells >= a) & (matrix.cells < b), axis=1)].sum())
        for a, b in zip(lower, upper, strict=True)
    ]


def halved(shape, rng, cuts):
    """One box (2, d) of cuts in the middle of the longer side, one place after another."""
    box = np.array([np.zeros(len(shape), dtype=np.int64), shape])
    for turn in range(cuts):
        pair = 2 * (turn % (len(shape) // 2))
        axis = pair + int(np.argmax((box[1] - box[0])[pair : pair + 2]))
        length = box[1, axis] - box[0, axis]
        if length > 1:
            box[rng.integers(0, 2), axis] = box[0, axis] + length // 2
    return box


@given(SPACES, st.integers(0, 2**32))
def test_keys_labels_tables_index_and_masks_agree(places, seed):
    matrix, rng = drawn(places, seed)
    shape = np.array(matrix.shape)
    any_boxes = np.sort(rng.integers(-1, shape + 2, (2, 60, len(shape))), axis=0)
    lower, upper = any_boxes
    for row in range(60):
        if row % 3 == 1:
            # Whole but on one place, for which there is a table.
            others = np.arange(len(shape)) // 2 != row % len(places)
            lower[row, others], upper[row, others] = 0, shape[others]
        elif row % 3 == 2:
            lower[row], upper[row] = halved(matrix.shape, rng, int(rng.integers(0, 12)))
    wanted = masked(matrix, lower, upper)
    assert matrix.count(lower, upper).tolist() == wanted
    assert matrix.index.count(lower, upper).tolist() == wanted


@given(SPACES, st.integers(0, 2**32))
def test_parts_of_a_grid_are_labels(places, seed):
    matrix, rng = drawn(places, seed)
    edges = []
    for side in matrix.shape:
        low = np.sort(rng.permutation(side + 2)[: rng.integers(1, side + 2)])
        high = np.append(low[1:], side + 3)
        high[0] -= rng.integers(0, 2)  # perhaps a gap
        edges.append((low, high))
    lower, upper = (
        np.stack(np.meshgrid(*[pair[end] for pair in edges], indexing="ij"), -1)
        .reshape(-1, len(edges))
        .astype(np.int64)
        for end in (0, 1)
    )
    wanted = matrix.index.count(lower, upper)
    found = count_nested(matrix.cells, matrix.multiplicities, lower, upper)
    assert (found is None) == bool((lower >= upper).any())
    assert found is None or found.tolist() == wanted.tolist()
    swapped = np.roll(lower, 1, axis=0), np.roll(upper, 1, axis=0)
    assert matrix.count(*swapped).tolist() == np.roll(wanted, 1).tolist()
    wider = upper.copy()
    wider[-1, -1] += 1
    assert matrix.count(lower, wider).tolist() == matrix.index.count(lower, wider).tolist()


def test_keys_beyond_an_int64_still_count():
    sides = (3, 5, 9, 17, 33, 65, 3, 5, 9, 17, 33, 65, 3, 17, 17)
    order = Order.of(sides)
    assert order.length == KEY_BITS < sum((side - 1).bit_length() for side in sides)
    rng = np.random.default_rng(3)
    cells = np.unique(rng.integers(0, sides, (500, len(sides))), axis=0)
    index = Index.of(cells, np.ones(len(cells), dtype=np.int64), sides)
    assert index.count(cells, cells + 1).tolist() == [1] * len(cells)


def test_three_places_of_1024_cells_a_side():
    """2^60 cells: no sum, key or cost overflows."""
    side, rng = 1024, np.random.default_rng(4)
    where = rng.integers(0, side, (300, 6))
    where[:100] = side - 1
    matrix = TripMatrix.from_coordinates(where, [side] * 3)
    lower, upper = np.zeros((1, 6), dtype=np.int64), np.full((1, 6), side)
    assert matrix.count(lower, upper).tolist() == [300]
    boxes = np.sort(rng.integers(0, side + 1, (2, 500, 6)), axis=0)
    boxes[:, ::2, :4] = [[[0]], [[side]]]
    assert matrix.count(*boxes).tolist() == masked(matrix, *boxes)
    n = side**6
    assert math.prod(matrix.shape) == n == 2**60
    # Half of the cells each: sum |c - S/n| = 2 (S - z S/n), floored to the lattice.
    cost = matrix.split_costs(lower, upper, np.array([0]), np.array([side // 2]))
    below = matrix.cells[:, 0] < side // 2
    wanted = 0
    for half in (below, ~below):
        s, z = int(matrix.multiplicities[half].sum()), int(half.sum())
        wanted += 1024 * 2 * (s * (n // 2) - z * s) // (n // 2)
    assert cost.tolist() == [wanted]


def test_a_marginal_is_the_map_of_one_place():
    matrix, _ = drawn([(5, 4), (3, 7)], 5)
    dense = np.zeros(matrix.shape, dtype=np.int64)
    dense[tuple(matrix.cells.T)] = matrix.multiplicities
    one, two = matrix.marginal(0), matrix.marginal(1)
    assert isinstance(one, FrequencyMatrix)
    assert np.array_equal(one.counts, dense.sum(axis=(2, 3)))
    assert np.array_equal(two.counts, dense.sum(axis=(0, 1)))
    assert (two.grid, two.unit) == (matrix.domain.grids[1], "point")
    refuses("no place 2", matrix.marginal, 2)
    assert matrix.prepare() is matrix
