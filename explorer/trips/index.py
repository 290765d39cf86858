"""Occupied cells in a tree of blocks: sums over boxes of many axes without a table of all cells.

Cells are sorted by their keys (see `order`), so that cells which follow one another lie near one
another. A box of repeated halves is a run of them, found by binary search. For others every
`BLOCK` cells are a block, and blocks are put together two by two up to one: a box takes or leaves
a block as a whole where it can, and looks inside where it cuts through.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.points.split_costs import LATTICE_BITS
from explorer.trips.order import Order

Ints = NDArray[np.int64]

BLOCK = 8  # cells that are looked at one by one
DEEPEST = 64  # levels of a binary tree whose cells fit into memory


@dataclass(frozen=True, eq=False)
class Index:
    """m occupied cells and the blocks above them.

    Attributes
    ----------
    order : what cells are sorted by
    keys : (m,) of the cells, in order
    sums : (m + 1,) records in all cells before
    cells : (m, d)
    number : (m,) records in each, 1 or more
    corners : (2 p, 2, d) first and last cell of every block; block i consists of 2 i and 2 i + 1,
        the last p are the lowest, and number 0 is not used
    figures : (2 p, 4) records, cells, fewest and most records of a cell
    """

    order: Order
    keys: Ints
    sums: Ints
    cells: Ints
    number: Ints
    corners: Ints
    figures: Ints

    @classmethod
    def of(cls, cells: Ints, number: Ints, shape: tuple[int, ...]) -> Index:
        """Sort m different cells (m, d) of a domain and put blocks above them."""
        order = Order.of(shape)
        keys = order.keys(cells)
        # Without keys the order that there is stays.
        rank = np.argsort(keys) if order.length else np.arange(len(cells))
        cells, number = np.ascontiguousarray(cells[rank]), number[rank]
        sums = np.concatenate([[0], np.cumsum(number)]).astype(np.int64)
        lowest = 1
        while lowest * BLOCK < len(cells):
            lowest *= 2
        corners = np.empty((2 * lowest, 2, len(shape)), dtype=np.int64)
        figures = np.empty((2 * lowest, 4), dtype=np.int64)
        _fill(cells, number, corners, figures)
        return cls(order, keys[rank], sums, cells, number, corners, figures)

    def count(self, lower: Ints, upper: Ints) -> Ints:
        """Records in n boxes, `lower`, `upper` (n, d) half open, (n,)."""
        counts = np.empty(len(lower), dtype=np.int64)
        _count(self._runs, self._blocks, _copied(lower), _copied(upper), counts)
        return counts

    def run(self, box: Ints) -> tuple[int, int]:
        """First and first behind of the cells of one box (2, d); -1, -1 if they are no run."""
        lower, upper = _copied(box[:1]), _copied(box[1:])
        first, behind = _run(lower, upper, 0, *self._runs[:5])
        return int(first), int(behind)

    def spread(self, lower: Ints, upper: Ints) -> Ints:
        """Lattice values of sum |c - mu| over all cells of n boxes, empty ones too, (n,).

        See `points.split_costs`; no box is empty or reaches beyond the domain.
        """
        spreads = np.empty(len(lower), dtype=np.int64)
        _spread(self._runs, self._blocks, _copied(lower), _copied(upper), spreads)
        return spreads

    @property
    def _runs(self) -> tuple[int, Ints, Ints, Ints, Ints, Ints]:
        order = self.order
        return order.length, order.begin, order.bits, order.ready, self.keys, self.sums

    @property
    def _blocks(self) -> tuple[Ints, Ints, Ints, Ints]:
        return self.cells, self.number, self.corners, self.figures


def _copied(edges: Ints) -> Ints:
    # Writable and in one order always: kernels are compiled once.
    return np.array(edges, dtype=np.int64, order="C")


@njit(cache=True, nogil=True)
def _fill(cells, number, corners, figures):  # type: ignore[no-untyped-def]
    lowest = len(figures) // 2
    unset = np.iinfo(np.int64).max
    # A block without cells touches no box: its first cell is behind its last.
    corners[:, 0, :] = unset
    corners[:, 1, :] = -1
    figures[:, :] = 0
    figures[:, 2] = unset
    for i in range(len(cells)):
        block = lowest + i // BLOCK
        for axis in range(cells.shape[1]):
            corners[block, 0, axis] = min(corners[block, 0, axis], cells[i, axis])
            corners[block, 1, axis] = max(corners[block, 1, axis], cells[i, axis])
        figures[block, 0] += number[i]
        figures[block, 1] += 1
        figures[block, 2] = min(figures[block, 2], number[i])
        figures[block, 3] = max(figures[block, 3], number[i])
    for block in range(lowest - 1, 0, -1):
        one, two = 2 * block, 2 * block + 1
        for axis in range(cells.shape[1]):
            corners[block, 0, axis] = min(corners[one, 0, axis], corners[two, 0, axis])
            corners[block, 1, axis] = max(corners[one, 1, axis], corners[two, 1, axis])
        figures[block, 0] = figures[one, 0] + figures[two, 0]
        figures[block, 1] = figures[one, 1] + figures[two, 1]
        figures[block, 2] = min(figures[one, 2], figures[two, 2])
        figures[block, 3] = max(figures[one, 3], figures[two, 3])


@njit(cache=True, nogil=True)
def _run(lower, upper, i, length, begin, bits, ready, keys):  # type: ignore[no-untyped-def]
    """First and first behind of the cells of box i among sorted ``keys``; -1, -1 if not a run."""
    key, differ, least = np.int64(0), np.int64(0), np.int64(0)
    for axis in range(lower.shape[1]):
        low, high, here = lower[i, axis], upper[i, axis], begin[axis]
        end = begin[axis + 1] if axis + 1 < len(begin) else len(bits)
        if not 0 <= low < high <= end - here:
            return -1, -1
        first = bits[here + low]
        key += first
        differ |= first ^ bits[here + high - 1]
        least = max(least, ready[here + axis + low], ready[here + axis + high])
    # All cuts that part cells of the box come after those that make its edges.
    free = _bit_length(differ)
    if least > length - free:
        return -1, -1
    return _first(keys, key), _first(keys, key + (np.int64(1) << free))


@njit(cache=True, nogil=True)
def _bit_length(value):  # type: ignore[no-untyped-def]
    length = 0
    for step in (32, 16, 8, 4, 2, 1):
        if value >> step > 0:
            value >>= step
            length += step
    return length + (value > 0)


@njit(cache=True, nogil=True)
def _first(keys, key):  # type: ignore[no-untyped-def]
    """How many sorted keys are smaller."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def _beyond(cells, number, corners, figures, lower, upper, i, t, waiting):  # type: ignore[no-untyped-def]
    """Sum of max(c - t, 0) over box i, and the cells of it that hold more than t >= 0."""
    lowest = len(figures) // 2
    over, many = np.int64(0), np.int64(0)
    waiting[0] = 1
    left = 1
    while left > 0:
        left -= 1
        block = waiting[left]
        touches, whole = figures[block, 3] > t, figures[block, 2] > t
        for axis in range(lower.shape[1]):
            first, last = corners[block, 0, axis], corners[block, 1, axis]
            if last < lower[i, axis] or first >= upper[i, axis]:
                touches = False
                break
            if first < lower[i, axis] or last >= upper[i, axis]:
                whole = False
        if not touches:
            continue
        if whole:
            over += figures[block, 0] - t * figures[block, 1]
            many += figures[block, 1]
        elif block < lowest:
            waiting[left], waiting[left + 1] = 2 * block, 2 * block + 1
            left += 2
        else:
            begin = (block - lowest) * BLOCK
            for k in range(begin, min(begin + BLOCK, len(cells))):
                inside = number[k] > t
                for axis in range(lower.shape[1]):
                    if cells[k, axis] < lower[i, axis] or cells[k, axis] >= upper[i, axis]:
                        inside = False
                        break
                if inside:
                    over += number[k] - t
                    many += 1
    return over, many


@njit(cache=True, nogil=True)
def _within(runs, blocks, lower, upper, i, waiting):  # type: ignore[no-untyped-def]
    """Records of box i, and the cells of it that hold any."""
    length, begin, bits, ready, keys, sums = runs
    first, behind = _run(lower, upper, i, length, begin, bits, ready, keys)
    if first >= 0:
        return sums[behind] - sums[first], behind - first
    cells, number, corners, figures = blocks
    return _beyond(cells, number, corners, figures, lower, upper, i, 0, waiting)


@njit(cache=True, nogil=True)
def _count(runs, blocks, lower, upper, counts):  # type: ignore[no-untyped-def]
    waiting = np.empty(2 * DEEPEST, dtype=np.int64)
    for i in range(len(counts)):
        counts[i] = _within(runs, blocks, lower, upper, i, waiting)[0]


@njit(cache=True, nogil=True)
def _spread(runs, blocks, lower, upper, spreads):  # type: ignore[no-untyped-def]
    # With k cells above t, P_(t+1) = P_t - k, so the sum of distances over n cells is
    # 2 P_t - 2 r k / n with r = total - t n < n. No product overflows: n is at most 2^60 (of the
    # domain), total at most 10^11, r k at most 2^61 (`TripMatrix`), t n at most total.
    cells, number, corners, figures = blocks
    waiting = np.empty(2 * DEEPEST, dtype=np.int64)
    for i in range(len(spreads)):
        n = np.int64(1)
        for axis in range(lower.shape[1]):
            n *= upper[i, axis] - lower[i, axis]
        total, many = _within(runs, blocks, lower, upper, i, waiting)
        over, t = total, total // n
        if t > 0:
            over, many = _beyond(cells, number, corners, figures, lower, upper, i, t, waiting)
        less = 2 * (total - t * n) * many
        whole = less // n
        rest = less - whole * n
        # Bit by bit: the rest, below n, shifted by all bits at once would pass an int64.
        lattice = whole
        for _ in range(LATTICE_BITS):
            rest *= 2
            bit = rest >= n
            lattice = 2 * lattice + bit
            rest -= n * bit
        # Taken away rounded up, so that the difference is rounded down.
        spreads[i] = ((2 * over) << LATTICE_BITS) - lattice - (rest > 0)
