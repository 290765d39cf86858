"""Occupied cells in a tree of blocks: sums over boxes of many axes without a table of all cells.

Cells are sorted by their keys (see `order`), so that cells which follow one another lie near one
another. A box of repeated halves is a run of them, found by binary search. For others every
`BLOCK` cells are a block, and blocks are put together two by two up to one: a box takes or leaves
a block as a whole where it can, and looks inside where it cuts through.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.points.split_costs import LATTICE_BITS

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
        spreads[i] = _lattice(total, t, over, many, n)


# Cells of many axes in one order, in which every box of repeated halves is one run.
#
# Places take turns; each in its turn halves its longer side (rows first), as trees over trips do,
# and one of a single row every second time, so that all axes of square places get on alike. A
# cell's key is its path in these cuts, 0 for the lower half and 1 for the upper. Boxes that such
# cuts make are prefixes of keys, so their cells follow one another once cells are sorted.


#: Bits of a key, so that the end of a run is an int64, too. Cuts beyond are not in the order.
KEY_BITS = 62
#: Rows and columns of all axes that there is space for; a `Grid` has far fewer.
_MOST_EDGES = 2**24


@dataclass(frozen=True, eq=False)
class Order:
    """The keys of all cells of a domain, axis by axis: a cell's key is the sum of its axes' bits.

    Attributes
    ----------
    length : bits of a key
    begin : (d,) where an axis begins in ``bits``; in ``ready`` it begins ``axis`` later
    bits : (sum of sides,) what a row or column adds to a key
    ready : (sum of sides + d,) cuts, in order, after which an axis is cut below a row or column;
        0 at both ends, ``length`` + 1 where it never is
    """

    length: int
    begin: Ints
    bits: Ints
    ready: Ints

    @classmethod
    def of(cls, shape: tuple[int, ...]) -> Order:
        """The order of a domain; axes belong together in pairs if their number is even.

        A domain of more than 2^24 rows and columns gets none: its keys are 0, and no box is a run.
        """
        if sum(shape) > _MOST_EDGES:
            nothing = np.empty(0, dtype=np.int64)
            return cls(0, np.zeros(len(shape), dtype=np.int64), nothing, nothing)
        return _order(tuple(map(int, shape)))

    def keys(self, cells: Ints) -> Ints:
        """Keys of m cells (m, d), (m,) int64."""
        keys = np.zeros(len(cells), dtype=np.int64)
        if len(self.bits):
            for axis, begin in enumerate(self.begin):
                keys += self.bits[begin + cells[:, axis]]
        return keys


@lru_cache(maxsize=8)
def _order(shape: tuple[int, ...]) -> Order:
    turns = _turns(shape)[:KEY_BITS]
    length = len(turns)
    begin = np.concatenate([[0], np.cumsum(shape)[:-1]]).astype(np.int64)
    bits, ready = [], []
    for axis, side in enumerate(shape):
        path, depth = _path(side)
        axis_bits = [length - 1 - turn for turn, of in enumerate(turns) if of == axis]
        of_axis = np.zeros(side, dtype=np.int64)
        for level, bit in enumerate(axis_bits):
            of_axis |= ((path >> (depth - 1 - level)) & 1) << bit
        differ = of_axis[1:] ^ of_axis[:-1]
        # The highest bit in which neighbours differ is the cut between them.
        cut = np.full(len(differ), length + 1, dtype=np.int64)
        for bit in reversed(axis_bits):
            cut[differ >> bit > 0] = length - bit
        bits.append(of_axis)
        ready.append(np.concatenate([[0], cut, [0]]))
    parts = np.concatenate(bits), np.concatenate(ready).astype(np.int64)
    return Order(length, begin, *parts)


def _turns(shape: tuple[int, ...]) -> list[int]:
    """The axis of every cut in order; the places take turns, each cuts its longer side."""
    together = 2 if len(shape) % 2 == 0 else 1
    sides, turns, rounds = list(shape), list[int](), 0
    while max(sides) > 1:
        for first in range(0, len(shape), together):
            place_axes = range(first, first + together)
            axis = max(place_axes, key=sides.__getitem__)
            # A place of one row is cut every second time: as often as either axis of others.
            waits = (
                rounds % 2 == 1 and together == 2 and min(shape[axis] for axis in place_axes) == 1
            )
            if sides[axis] > 1 and not waits:
                sides[axis] = -(-sides[axis] // 2)
                turns.append(axis)
        rounds += 1
    return turns


def _path(side: int) -> tuple[Ints, int]:
    """Paths of the cells of one axis, cut at floor(length / 2) each, and how long they are."""
    depth = (side - 1).bit_length()
    where, length = np.arange(side), np.full(side, side)
    path = np.zeros(side, dtype=np.int64)
    for _ in range(depth):
        half = length // 2
        is_upper = (where >= half) & (length > 1)
        path = path << 1 | is_upper
        where = where - half * is_upper
        length = np.where(is_upper | (length == 1), length - half, half)
    return path, depth


# Which of many boxes every cell is in, found by looking at each cell once.
#
# Trees that cut one axis at a time make boxes that are in the order of their cuts: first those
# before the first cut, then those behind it, and so on inside. Such an order is found again from
# the boxes alone, and every cell goes down it by binary search; parts of a grid are the simplest
# case.


_CELLS_A_BOX = 4096  # with more cells to look at for each box, boxes are sooner found one by one


def count_nested(cells: Ints, number: Ints, lower: Ints, upper: Ints) -> Ints | None:
    """Records in n boxes, (n,), or None for boxes that are few or in no order of cuts."""
    if len(lower) * _CELLS_A_BOX < len(cells):
        return None
    owner = owners(cells, lower, upper)
    if owner is None:
        return None
    counts = np.zeros(len(lower), dtype=np.int64)
    _add_up(owner, number, counts)
    return counts


def grouped(cells: Ints, lower: Ints, upper: Ints) -> tuple[Ints, Ints] | None:
    """Positions of cells box by box, and (n + 1,) where those of each box begin; None as `owners`.

    Positions behind the last box mean nothing.
    """
    owner = owners(cells, lower, upper)
    if owner is None:
        return None
    offsets = np.zeros(len(lower) + 1, dtype=np.int64)
    order = np.empty(len(cells), dtype=np.int64)
    _sort(owner, offsets, order)
    return order, offsets


def owners(cells: Ints, lower: Ints, upper: Ints) -> Ints | None:
    """The box of each cell, (m,), -1 for none; None for boxes (n, d) in no order of cuts."""
    # Copies, in one order always: kernels are compiled once.
    lower, upper = (np.array(edges, dtype=np.int64, order="C") for edges in (lower, upper))
    if np.any(lower >= upper):
        return None  # an empty box has no place in an order
    n = len(lower)
    # A node of the tree of cuts is a run of boxes; inner ones have two children or more.
    nodes = np.zeros((max(2 * n, 1), 4), dtype=np.int64)
    sides = np.zeros((max(2 * n, 1), 2), dtype=np.int64)
    if not _grow(lower, upper, nodes, sides):
        return None
    owner = np.empty(len(cells), dtype=np.int64)
    _descend(cells, lower, upper, nodes, sides, owner)
    return owner


@njit(cache=True, nogil=True)
def _grow(lower, upper, nodes, sides):  # type: ignore[no-untyped-def]
    """Find the cuts: a node's axis (-1: a single box), first child, children, first box."""
    n, d = lower.shape
    waiting, last = np.empty(len(nodes), dtype=np.int64), np.empty(len(nodes), dtype=np.int64)
    starts = np.empty(n, dtype=np.int64)
    waiting[0], last[0], free = 0, n, 1
    left = 1 if n > 0 else 0
    while left > 0:
        left -= 1
        node = waiting[left]
        first, behind = nodes[node, 3], last[node]
        nodes[node, 0] = -1
        if behind - first == 1:
            continue
        runs = 0
        for axis in range(d):
            runs = _runs(lower, upper, axis, first, behind, starts)
            if runs > 1:
                nodes[node, 0], nodes[node, 1], nodes[node, 2] = axis, free, runs
                break
        if runs < 2:
            return False
        for run in range(runs):
            child, box = free + run, starts[run]
            nodes[child, 3] = box
            last[child] = starts[run + 1] if run + 1 < runs else behind
            sides[child, 0] = lower[box, nodes[node, 0]]
            sides[child, 1] = upper[box, nodes[node, 0]]
            waiting[left] = child
            left += 1
        free += runs
    return True


@njit(cache=True, nogil=True)
def _runs(lower, upper, axis, first, behind, starts):  # type: ignore[no-untyped-def]
    """Put the first boxes of runs that share a side into `starts`; returns how many there are.

    Each side must begin where the one before ends or later; 0 if they are in another order.
    """
    runs = 1
    starts[0] = first
    for box in range(first + 1, behind):
        low, before = lower[box, axis], upper[box - 1, axis]
        if low == lower[box - 1, axis] and upper[box, axis] == before:
            continue
        if low < before:
            return 0
        starts[runs] = box
        runs += 1
    return runs


@njit(cache=True, nogil=True)
def _descend(cells, lower, upper, nodes, sides, owner):  # type: ignore[no-untyped-def]
    if len(lower) == 0:
        owner[:] = -1
        return
    for k in range(len(cells)):
        node = 0
        while node >= 0 and nodes[node, 0] >= 0:
            value, low = cells[k, nodes[node, 0]], nodes[node, 1]
            child, high = low - 1, low + nodes[node, 2]
            # The last child that begins at the cell or before it.
            while low < high:
                middle = (low + high) >> 1
                if sides[middle, 0] <= value:
                    child, low = middle, middle + 1
                else:
                    high = middle
            inside = child >= nodes[node, 1] and value < sides[child, 1]
            node = child if inside else -1
        box = nodes[node, 3] if node >= 0 else -1
        if box >= 0:
            # Sides that all boxes of a run share have not been looked at.
            for axis in range(cells.shape[1]):
                if cells[k, axis] < lower[box, axis] or cells[k, axis] >= upper[box, axis]:
                    box = -1
                    break
        owner[k] = box


@njit(cache=True, nogil=True)
def _sort(owner, offsets, order):  # type: ignore[no-untyped-def]
    """Fill in where each owner's cells begin, and the cells of one owner after the other."""
    for box in owner:
        if box >= 0:
            offsets[box + 1] += 1
    for box in range(1, len(offsets)):
        offsets[box] += offsets[box - 1]
    free = offsets.copy()
    for k in range(len(owner)):
        if owner[k] >= 0:
            order[free[owner[k]]] = k
            free[owner[k]] += 1


@njit(cache=True, nogil=True)
def _add_up(owner, number, counts):  # type: ignore[no-untyped-def]
    for k in range(len(owner)):
        if owner[k] >= 0:
            counts[owner[k]] += number[k]


# How far cells lie from the mean of their slab, for many slabs of few boxes at once.
#
# A slab is what is between two positions on one axis of a box. One look at the cells of a box
# answers for all of its slabs: records and occupied cells are added up along the axis, and where a
# slab has a mean of 1 or more, which is rare in four dimensions, its cells are looked at one by
# one.


def slab_costs(
    index: Index, lower: Ints, upper: Ints, axis: int, owner: Ints, start: Ints, stop: Ints
) -> Ints:
    """Lattice values of sum |c - mu| over all cells of slabs, empty cells too: (p, m) int64.

    Parameters
    ----------
    lower, upper : (n, d) boxes, half open
    axis : the axis that slabs follow each other on
    owner : (m,) the box of each slab, increasing
    start, stop : (p, m) first cell of each slab, and first cell behind it; p lists of m slabs
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
    """Sum of |c - mu| over n cells, rounded down: 2 P_t - 2 r k / n, r = total - t n < n.

    P_t is `over`, the sum of what k = `many` cells hold above t; P_(t+1) = P_t - k. No product
    overflows: n is at most 2^60 (of the domain), total at most 10^11, r k at most 2^61
    (`TripMatrix`), t n at most total.
    """
    # What is taken away is rounded up. Bit by bit, since the rest, below n, shifted by all bits at
    # once could pass an int64.
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
