"""How far cells lie from the mean of their slab, for many slabs of few boxes at once.

A slab is what is between two positions on one axis of a box. One look at the cells of a box
answers for all of its slabs: records and occupied cells are added up along the axis, and where a
slab has a mean of 1 or more, which is rare in four dimensions, its cells are looked at one by one.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from explorer.points.split_costs import LATTICE_BITS
from explorer.trips.index import BLOCK, DEEPEST, Index, Ints
from explorer.trips.routing import grouped


def slab_costs(
    index: Index, lower: Ints, upper: Ints, axis: int, owner: Ints, start: Ints, stop: Ints
) -> Ints:
    """Lattice values of sum |c - mu| over all cells of slabs, empty cells too.

    Parameters
    ----------
    index : the occupied cells
    lower, upper : (n, d) boxes, half open
    axis : the axis that slabs follow each other on
    owner : (m,) the box of each slab, increasing
    start, stop : (p, m) first cell of each slab, and first cell behind it; p lists of m slabs

    Returns
    -------
    (p, m) int64, as `Index.spread` of the slabs' own boxes
    """
    low, high, begin, end = (
        np.array(values, dtype=np.int64, order="C") for values in (lower, upper, start, stop)
    )
    first = np.searchsorted(owner, np.arange(len(low) + 1)).astype(np.int64)
    order, offsets = grouped(index.cells, low, high) or _walked(index, low, high)
    costs = np.empty(begin.shape, dtype=np.int64)
    _slabs(index.cells, index.number, order, offsets, low, high, axis, first, begin, end, costs)
    return costs


def _walked(index: Index, lower: Ints, upper: Ints) -> tuple[Ints, Ints]:
    """As `grouped`, for any boxes: each is walked through."""
    buffer = np.empty(len(index.cells), dtype=np.int64)
    members = []
    for low, high in zip(lower, upper, strict=True):
        members.append(buffer[: _inside(index.cells, index.corners, low, high, buffer)].copy())
    offsets = np.concatenate([[0], np.cumsum([len(positions) for positions in members])]).astype(
        np.int64
    )
    return np.concatenate(members), offsets


@njit(cache=True, nogil=True)
def _slabs(  # type: ignore[no-untyped-def]
    cells, number, order, offsets, lower, upper, axis, first, start, stop, costs
):
    for i in range(len(lower)):
        members = order[offsets[i] : offsets[i + 1]]
        base, side = lower[i, axis], upper[i, axis] - lower[i, axis]
        # Looked up once: cells of a box lie far from each other.
        place, counts = (
            np.empty(len(members), dtype=np.int64),
            np.empty(len(members), dtype=np.int64),
        )
        for h in range(len(members)):
            place[h], counts[h] = cells[members[h], axis] - base, number[members[h]]
        # Records in, and number of, the cells below every position.
        records = np.zeros(side + 1, dtype=np.int64)
        occupied = np.zeros(side + 1, dtype=np.int64)
        for h in range(len(members)):
            records[place[h] + 1] += counts[h]
            occupied[place[h] + 1] += 1
        for k in range(side):
            records[k + 1] += records[k]
            occupied[k + 1] += occupied[k]
        ordered = counts[:0]
        section = np.int64(1)
        for other_axis in range(lower.shape[1]):
            if other_axis != axis:
                section *= upper[i, other_axis] - lower[i, other_axis]
        for j in range(first[i], first[i + 1]):
            for p in range(len(start)):
                low, high = start[p, j] - base, stop[p, j] - base
                n, total = section * (high - low), records[high] - records[low]
                t = total // n
                over, many = total, occupied[high] - occupied[low]
                if t > 0:
                    if len(ordered) == 0:
                        ordered = _along(place, counts, occupied)
                    over, many = np.int64(0), np.int64(0)
                    for c in ordered[occupied[low] : occupied[high]]:
                        if c > t:
                            over += c - t
                            many += 1
                costs[p, j] = _lattice(total, t, over, many, n)


@njit(cache=True, nogil=True)
def _along(place, counts, occupied):  # type: ignore[no-untyped-def]
    """Records of cells in the order of their places; `occupied` of them lie below each."""
    ordered, free = np.empty(len(counts), dtype=np.int64), occupied.copy()
    for h in range(len(counts)):
        ordered[free[place[h]]] = counts[h]
        free[place[h]] += 1
    return ordered


@njit(cache=True, nogil=True)
def _lattice(total, t, over, many, n):  # type: ignore[no-untyped-def]
    """2 P_t - 2 r k / n rounded down, for `many` = k cells above t and `over` = P_t."""
    # As in `Index.spread`: products stay small, what is taken away is rounded up. Bit by bit, since
    # the rest, below n, shifted by all bits at once could pass an int64.
    less = 2 * (total - t * n) * many
    lattice = less // n
    rest = less - lattice * n
    for _ in range(LATTICE_BITS):
        rest *= 2
        bit = rest >= n
        lattice = 2 * lattice + bit
        rest -= n * bit
    return ((2 * over) << LATTICE_BITS) - lattice - (rest > 0)


@njit(cache=True, nogil=True)
def _inside(cells, corners, lower, upper, positions):  # type: ignore[no-untyped-def]
    """Put the positions of the cells of one box into `positions`; returns how many there are."""
    lowest, many = len(corners) // 2, 0
    waiting = np.empty(2 * DEEPEST, dtype=np.int64)
    waiting[0], left = 1, 1
    while left > 0:
        left -= 1
        block = waiting[left]
        touches = True
        for axis in range(len(lower)):
            if corners[block, 1, axis] < lower[axis] or corners[block, 0, axis] >= upper[axis]:
                touches = False
                break
        if not touches:
            continue
        if block < lowest:
            waiting[left], waiting[left + 1] = 2 * block, 2 * block + 1
            left += 2
            continue
        begin = (block - lowest) * BLOCK
        for k in range(begin, min(begin + BLOCK, len(cells))):
            within = True
            for axis in range(len(lower)):
                if cells[k, axis] < lower[axis] or cells[k, axis] >= upper[axis]:
                    within = False
                    break
            if within:
                positions[many] = k
                many += 1
    return many
