"""How far cells lie from the mean of their slab, for many slabs of few boxes at once.

A slab is what lies between two positions on one axis of a box. Where its mean mu is below 1, as
almost everywhere in four dimensions, sum |c - mu| = 2 (s - s z / n) for s records in z occupied of
n cells: the records and the occupied cells at every position of the axis answer for all slabs of a
box, and one walk through its cells finds them. Denser slabs are asked for one by one.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from explorer.points.split_costs import LATTICE_BITS
from explorer.trips.index import _BLOCK, _DEEPEST, Index, Ints


def slab_costs(
    index: Index, lower: Ints, upper: Ints, axis: int, owner: Ints, start: Ints, stop: Ints
) -> Ints:
    """Lattice values of sum |c - mu| over all cells of slabs, empty cells too.

    Parameters
    ----------
    index : the occupied cells
    lower, upper : (n, d) boxes, half open
    axis : the axis that slabs follow each other on
    owner : (m,) the box of each slab
    start, stop : (p, m) first cell of each slab, and first cell behind it; p lists of m slabs

    Returns
    -------
    (p, m) int64, as `Index.spread` of the slabs' own boxes
    """
    sides = upper - lower
    offsets = np.concatenate([[0], np.cumsum(sides[:, axis] + 1)])
    # Entry k of a box holds what lies below its k-th position.
    below = np.zeros((offsets[-1], 2), dtype=np.int64)
    low, high = (np.array(each, dtype=np.int64, order="C") for each in (lower, upper))
    _profile(index.cells, index.number, index.corners, low, high, axis, offsets, below)
    begin = (offsets[:-1] - lower[:, axis])[owner]
    records, occupied = np.moveaxis(below[begin + stop] - below[begin + start], -1, 0)
    section = np.prod(np.delete(sides, axis, axis=1), axis=1)[owner]
    cells = section * (stop - start)
    # The arithmetic of `Index.spread` for a mean below 1; its bounds on products hold here too.
    less = 2 * records * occupied
    whole = less // cells
    rest = (less - whole * cells) << LATTICE_BITS
    costs = ((2 * records - whole) << LATTICE_BITS) - rest // cells - (rest % cells > 0)
    dense = np.nonzero(records >= cells)
    if len(dense[0]):
        who = owner[dense[1]]
        low, high = lower[who], upper[who]
        low[:, axis], high[:, axis] = start[dense], stop[dense]
        costs[dense] = index.spread(low, high)
    found: Ints = costs
    return found


@njit(cache=True, nogil=True)
def _profile(cells, number, corners, lower, upper, axis, offsets, below):  # type: ignore[no-untyped-def]
    """Records and occupied cells below every position of every box, into zeros `below`."""
    lowest = len(corners) // 2
    waiting = np.empty(2 * _DEEPEST, dtype=np.int64)
    for i in range(len(lower)):
        waiting[0] = 1
        left = 1
        while left > 0:
            left -= 1
            block = waiting[left]
            touches = True
            for each in range(lower.shape[1]):
                first, last = corners[block, 0, each], corners[block, 1, each]
                if last < lower[i, each] or first >= upper[i, each]:
                    touches = False
                    break
            if not touches:
                continue
            if block < lowest:
                waiting[left], waiting[left + 1] = 2 * block, 2 * block + 1
                left += 2
                continue
            begin = (block - lowest) * _BLOCK
            for k in range(begin, min(begin + _BLOCK, len(cells))):
                inside = True
                for each in range(lower.shape[1]):
                    if cells[k, each] < lower[i, each] or cells[k, each] >= upper[i, each]:
                        inside = False
                        break
                if inside:
                    place = offsets[i] + cells[k, axis] - lower[i, axis] + 1
                    below[place, 0] += number[k]
                    below[place, 1] += 1
        for place in range(offsets[i] + 1, offsets[i + 1]):
            below[place, 0] += below[place - 1, 0]
            below[place, 1] += below[place - 1, 1]
