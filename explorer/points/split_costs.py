"""HTF's split objective: how far the cells of two halves lie from their means.

For a box of n cells with count S, mean mu = S / n, t = floor(mu) and P_t = sum max(c - t, 0), the
sum of the cells' distances from their mean is

    sum |c - mu| = 2 [(n - r) P_t + r P_(t+1)] / n,    r = S - t n,

because sum (c - mu) = 0 and the sum is linear in mu between integers. One summed-area table per
threshold t therefore answers it in constant time, with integers only (Eq. 5 of htf-2022); small
boxes are copied and scanned, which is quicker: a half of n cells of S records has
sum |c - mu| = sum |n c - S| / n, the same number.

Costs come out on a lattice: the exact value floored to multiples of 2^-LATTICE_BITS. A record
changes one of the two halves, by at most 2 (Theorem 1, erratum 16), so the floored sum of the
halves still changes by at most 2 lattice widths times 2^LATTICE_BITS; rounding to nearest would
not keep that.

Whole numbers all the way. Quotients are taken in floating point, which is several times faster,
and are exact: the nearest float to a / b of whole a < 2^53 has the right floor, since a / b is
either whole or at least 1 / b away from the next whole number. Where a may be larger the quotient
is put right by one.

Kernels that are in their callers (`inline="always"`) divide as those do, which compile with
`error_model="numpy"`: no divisor is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numba import njit

from explorer.points.cost_tables import BLOCK, INT32_MAX, Ints, Tables

LATTICE_BITS = 10
COPIED = 1024
"""Cells of the largest box that is copied to be scanned several times."""
_ON_LATTICE = 2 ** (53 - LATTICE_BITS)  # numerators below it are whole floats on the lattice, too
_TINY = 256  # of the largest that is copied whatever its mean: tables are far from each other
SENSITIVITY = 2 << LATTICE_BITS
"""Largest change of one lattice cost when one record comes or goes."""


def split_costs(tables: Tables, lower: Ints, upper: Ints, axis: Ints, cut: Ints) -> Ints:
    """Objective o_k of one cut for each of n boxes, in units of 2^-LATTICE_BITS.

    Parameters
    ----------
    tables : of the matrix
    lower, upper : (n, 2) rows and columns, half open
    axis : (n,) 0 cuts rows, 1 cuts columns
    cut : (n,) position of the cut on that axis, strictly inside the box

    Returns
    -------
    (n,) int64
    """
    costs = np.empty(len(lower), dtype=np.int64)
    batch = _wide_cost_batch if tables.is_wide else _cost_batch
    batch(tables, _own(lower), _own(upper), axis, cut, costs)
    return costs


def costs_of_all_cuts(tables: Tables, lower: Ints, upper: Ints, axis: Ints) -> tuple[Ints, Ints]:
    """As `all_split_costs`, from tables; a small box is copied once."""
    if tables.is_wide:
        return all_split_costs(partial(split_costs, tables), lower, upper, axis)
    sides = (upper - lower)[np.arange(len(lower)), axis]
    offsets = np.concatenate([[0], np.cumsum(sides - 1)]).astype(np.int64)
    costs = np.empty(offsets[-1], dtype=np.int64)
    _cost_all(tables, _own(lower), _own(upper), axis, offsets, costs)
    return costs, offsets


def all_split_costs(
    split_costs: Callable[[Ints, Ints, Ints, Ints], Ints], lower: Ints, upper: Ints, axis: Ints
) -> tuple[Ints, Ints]:
    """Objectives of all cuts of n boxes: flat costs, and (n + 1,) offsets of each box in them.

    The cuts of box i are lower[i, axis] + 1 .. upper[i, axis] - 1, in that order; `split_costs`
    gives the objective of one cut of each box.
    """
    owner, position, offsets = every_cut(lower, upper, axis)
    return split_costs(lower[owner], upper[owner], axis[owner], position), offsets


def slab_costs(
    tables: Tables,
    lower: Ints,
    upper: Ints,
    axis: int,
    owner: Ints,
    start: Ints,
    stop: Ints,
) -> Ints:
    """Lattice values of sum |c - mu| over slabs, what is between two positions of a box.

    Parameters
    ----------
    tables : of the matrix
    lower, upper : (n, 2) boxes, rows and columns, half open
    axis : the axis that slabs follow each other on
    owner : (m,) the box of each slab
    start, stop : (p, m) first cell of each slab, and first cell behind it; p lists of m slabs

    Returns
    -------
    (p, m) int64
    """
    low, high = (np.tile(edges[owner], (len(start), 1)) for edges in (lower, upper))
    low[:, axis], high[:, axis] = start.ravel(), stop.ravel()
    costs = np.empty(start.shape, dtype=np.int64)
    batch = _wide_spread_batch if tables.is_wide else _spread_batch
    batch(tables, low, high, costs.reshape(-1))
    return costs


def every_cut(lower: Ints, upper: Ints, axis: Ints) -> tuple[Ints, Ints, Ints]:
    """All cuts of n boxes in a row: whose, where, and the (n + 1,) offsets of each box."""
    rows = np.arange(len(lower))
    cuts = upper[rows, axis] - lower[rows, axis] - 1
    offsets = np.concatenate([[0], np.cumsum(cuts)]).astype(np.int64)
    owner = np.repeat(rows, cuts)
    position = np.arange(offsets[-1]) - offsets[owner] + lower[owner, axis[owner]] + 1
    return owner, position, offsets


def all_imbalances(
    count: Callable[[Ints, Ints], Ints], lower: Ints, upper: Ints, axis: Ints
) -> tuple[Ints, Ints]:
    """|records below - records above| of all cuts of n boxes; one record moves each by at most 1.

    The lowest is the median's. Candidates are all positions of the grid, never only those that
    hold data: which those are is itself private. Returned as by `all_split_costs`; `count` gives
    the exact counts of boxes.
    """
    owner, position, offsets = every_cut(lower, upper, axis)
    last = upper[owner]
    last[np.arange(len(owner)), axis[owner]] = position
    below = count(lower[owner], last)
    return np.abs(count(lower, upper)[owner] - 2 * below), offsets


@njit(cache=True, nogil=True, error_model="numpy")
def lattice(cells, total, t, low, high):  # type: ignore[no-untyped-def]
    """Value of sum |c - mu| on the lattice, from P_t and P_(t+1), see `split_costs`."""
    r = total - t * cells
    numerator = 2 * ((cells - r) * low + r * high)
    if numerator < _ON_LATTICE:
        return np.int64(np.float64(numerator << LATTICE_BITS) / np.float64(cells))
    whole = np.int64(np.float64(numerator) / np.float64(cells))
    rest = numerator - whole * cells
    # The numerator may have more than the 53 bits of a float.
    if rest < 0:
        whole -= 1
        rest += cells
    elif rest >= cells:
        whole += 1
        rest -= cells
    return (whole << LATTICE_BITS) + np.int64(np.float64(rest << LATTICE_BITS) / np.float64(cells))


@njit(cache=True, nogil=True, error_model="numpy")
def _look_up(excess, levels, a, b, c, d, cells):  # type: ignore[no-untyped-def]
    """Lattice value of a box and its total; -1 where its mean is beyond the tables.

    `excess` is flat; a, b, c, d are the positions of the box's corners in it, the first, two in
    either order, the last.
    """
    # P_0 is the total, and is in the same line of the cache as what is looked up next.
    total = np.int64(excess[d]) - excess[b] - excess[c] + excess[a]
    t = np.int64(np.float64(total) / np.float64(cells))
    if t + 1 >= levels:
        return np.int64(-1), total
    at = np.uint64(t)
    low = np.int64(excess[d + at]) - excess[b + at] - excess[c + at] + excess[a + at]
    at = np.uint64(t + 1)
    high = np.int64(excess[d + at]) - excess[b + at] - excess[c + at] + excess[a + at]
    return lattice(cells, total, t, low, high), total


@njit(cache=True, nogil=True)
def _above(cells, begin, number, t):  # type: ignore[no-untyped-def]
    """P_t and P_(t+1) of some cells side by side, int32, whose sum stays within int32.

    No branch inside, and 32 bits: the compiler then adds several cells at a time. Sums of
    max(c, t) may wrap round; what is left without t comes back to what it was.
    """
    small, large = np.int32(t), np.int32(t + 1)
    low, high = np.int32(0), np.int32(0)
    for j in range(number):
        cell = cells[begin + np.uint64(j)]
        low = np.int32(low + np.int32(max(cell, small)))
        high = np.int32(high + np.int32(max(cell, large)))
    return (
        np.int64(np.int32(low - np.int32(number * t))),
        np.int64(np.int32(high - np.int32(number * (t + 1)))),
    )


@njit(cache=True, nogil=True)
def _scan(lines, begin, end, first, last, t):  # type: ignore[no-untyped-def]
    """P_t and P_(t+1) of the cells `first` to `last` of the lines `begin` to `end`."""
    low, high = np.int64(0), np.int64(0)
    cells = lines.reshape(-1)
    for i in range(begin, end):
        one, other = _above(cells, np.uint64(i * lines.shape[1] + first), last - first, t)
        low += one
        high += other
    return low, high


@njit(cache=True, nogil=True)
def _scan_wide(counts, r0, c0, r1, c1, t):  # type: ignore[no-untyped-def]
    """P_t and P_(t+1) of a box, for sums beyond int32."""
    low, high = np.int64(0), np.int64(0)
    for i in range(r0, r1):
        row = counts[i, c0:c1]
        for j in range(len(row)):
            over = row[j] - t
            low += max(over, 0)
            high += max(over - 1, 0)
    return low, high


@njit(cache=True, nogil=True)
def _beyond(tables, r0, c0, r1, c1, t):  # type: ignore[no-untyped-def]
    """P_t and P_(t+1) of a box whose mean is beyond the tables."""
    i0, i1 = (r0 + BLOCK - 1) // BLOCK, r1 // BLOCK
    j0, j1 = (c0 + BLOCK - 1) // BLOCK, c1 // BLOCK
    coarse = tables.coarse
    if t + 1 >= coarse.shape[2] or i0 >= i1 or j0 >= j1:
        if r1 - r0 > c1 - c0:
            return _scan(tables.by_columns, c0, c1, r0, r1, t)
        return _scan(tables.by_rows, r0, r1, c0, c1, t)
    first, second, third, last = coarse[i0, j0], coarse[i0, j1], coarse[i1, j0], coarse[i1, j1]
    low = np.int64(last[t]) - second[t] - third[t] + first[t]
    high = np.int64(last[t + 1]) - second[t + 1] - third[t + 1] + first[t + 1]
    # What the blocks leave of the box: whole rows above and below them, columns next to them.
    south, north = i0 * BLOCK, i1 * BLOCK
    for begin, end in ((r0, south), (north, r1)):
        one, other = _scan(tables.by_rows, begin, end, c0, c1, t)
        low += one
        high += other
    for begin, end in ((c0, j0 * BLOCK), (j1 * BLOCK, c1)):
        one, other = _scan(tables.by_columns, begin, end, south, north, t)
        low += one
        high += other
    return low, high


@njit(cache=True, nogil=True, error_model="numpy")
def _scanned(tables, total, r0, c0, r1, c1):  # type: ignore[no-untyped-def]
    """Lattice value of a box whose mean is beyond the tables."""
    cells = (r1 - r0) * (c1 - c0)
    t = np.int64(np.float64(total) / np.float64(cells))
    low, high = _beyond(tables, r0, c0, r1, c1, t)
    return lattice(cells, total, t, low, high)


@njit(cache=True, nogil=True, error_model="numpy")
def spread(tables, r0, c0, r1, c1):  # type: ignore[no-untyped-def]
    """Lattice value of sum |c - mu| over one box of at least a cell."""
    cells = (r1 - r0) * (c1 - c0)
    excess, levels = tables.excess.reshape(-1), tables.excess.shape[2]
    box = frame(tables, r0, c0, r1, c1, np.int64(0))
    value, total = _look_up(excess, levels, box.a, box.b, box.e, box.f, cells)
    return value if value >= 0 else _scanned(tables, total, r0, c0, r1, c1)


@njit(cache=True, nogil=True, error_model="numpy")
def wide_spread(tables, r0, c0, r1, c1):  # type: ignore[no-untyped-def]
    """As `spread`, for sums beyond int32."""
    cells, sums = (r1 - r0) * (c1 - c0), tables.sums
    total = sums[r1, c1] - sums[r0, c1] - sums[r1, c0] + sums[r0, c0]
    t = np.int64(np.float64(total) / np.float64(cells))
    low, high = _scan_wide(tables.counts, r0, c0, r1, c1, t)
    return lattice(cells, total, t, low, high)


class Frame(NamedTuple):
    """A box, and where its corners are in the flat tables.

    With the axis that is cut pointing upwards: a and b are the corners below, e and f above; the
    cut's are c + cut * step and d + cut * step. `first` to `last` are the cells along that axis,
    `across` the number of cells along the other.
    """

    a: np.uint64
    b: np.uint64
    c: np.uint64
    d: np.uint64
    e: np.uint64
    f: np.uint64
    step: np.uint64
    first: int
    last: int
    across: int


@njit(cache=True, nogil=True)
def frame(tables, r0, c0, r1, c1, axis):  # type: ignore[no-untyped-def]
    """The `Frame` of a box to be cut on an axis."""
    levels = tables.excess.shape[2]
    row = tables.excess.shape[1] * levels
    if axis == 0:
        along, across = row, levels
        first, last, left, right = r0, r1, c0, c1
    else:
        along, across = levels, row
        first, last, left, right = c0, c1, r0, r1
    c, d = left * across, right * across
    below, above = first * along, last * along
    return Frame(
        np.uint64(below + c),
        np.uint64(below + d),
        np.uint64(c),
        np.uint64(d),
        np.uint64(above + c),
        np.uint64(above + d),
        np.uint64(along),
        first,
        last,
        right - left,
    )


@njit(cache=True, nogil=True, inline="always")
def turn(tables, r0, c0, r1, c1, axis, copy, below):  # type: ignore[no-untyped-def]
    """Copy a box so that both halves of every cut on that axis lie in one piece; its total.

    `copy` (COPIED,) takes the cells, line by line across the axis, and `below` (COPIED + 1,) how
    many records the first 0, 1, 2, ... lines hold.
    """
    lines = tables.by_rows if axis == 0 else tables.by_columns
    begin, end, first, last = (r0, r1, c0, c1) if axis == 0 else (c0, c1, r0, r1)
    cells, line = lines.reshape(-1), np.uint64(lines.shape[1])
    k, start, total = np.uint64(0), np.uint64(begin * lines.shape[1] + first), np.int64(0)
    below[0] = 0
    for i in range(end - begin):
        for j in range(last - first):
            cell = cells[start + np.uint64(j)]
            copy[k + np.uint64(j)] = cell
            total += cell
        k += np.uint64(last - first)
        start += line
        below[np.uint64(i + 1)] = total
    return total


@njit(cache=True, nogil=True, inline="always")
def is_copied(tables, excess, box, cells):  # type: ignore[no-untyped-def]
    """Whether scanning a copy of a box is quicker than looking its halves up."""
    levels = tables.excess.shape[2]
    if cells > COPIED:
        return False
    if cells <= _TINY:
        return True
    total = np.int64(excess[box.f]) - excess[box.b] - excess[box.e] + excess[box.a]
    return total >= (levels - 1) * cells


@njit(cache=True, nogil=True, inline="always")
def _distances(copy, begin, number, total):  # type: ignore[no-untyped-def]
    """Sum |n c - total| over n cells of a copy side by side, for sums within int32."""
    times, less, added = np.int32(number), np.int32(total), np.int32(0)
    for j in range(number):
        # Cast at each step, or numba multiplies in 64 bits and half as many fit a vector.
        apart = np.int32(np.int32(copy[begin + np.uint64(j)] * times) - less)
        added = np.int32(added + max(apart, np.int32(-apart)))
    return np.int64(added)


@njit(cache=True, nogil=True, error_model="numpy")
def _half_of_copy(copy, begin, number, total):  # type: ignore[no-untyped-def]
    """Lattice value of n cells of a copy side by side: sum |c - mu| = sum |n c - total| / n."""
    numerator = _distances(copy, np.uint64(begin), number, total)
    return np.int64(np.float64(numerator << LATTICE_BITS) / np.float64(number))


@njit(cache=True, nogil=True, inline="always")
def cost_of_copy(copy, below, across, cells, total, cut):  # type: ignore[no-untyped-def]
    """Objective of a cut after so many lines, from what `turn` has filled in.

    `across` is the length of a line; the box has so many cells, and records in `total`, that
    `is_narrow` holds.
    """
    middle, records = cut * across, below[np.uint64(cut)]
    lower = _half_of_copy(copy, np.int64(0), middle, records)
    return lower + _half_of_copy(copy, middle, cells - middle, total - records)


@njit(cache=True, nogil=True, inline="always")
def is_narrow(cells, total):  # type: ignore[no-untyped-def]
    """Whether sums of `cost_of_copy` stay within int32.

    Of a half of n cells sum |n c - total| <= 2 n total, and the box has no less of either.
    """
    return 2 * cells * total <= INT32_MAX


@njit(cache=True, nogil=True, inline="always")
def cut_cost(tables, excess, box, r0, c0, r1, c1, axis, cut):  # type: ignore[no-untyped-def]
    """Objective of one cut of a box: `excess` are the flat tables, `box` is the box's `Frame`."""
    levels = tables.excess.shape[2]
    at = np.uint64(cut) * box.step
    c, d = box.c + at, box.d + at
    middle, rest = (cut - box.first) * box.across, (box.last - cut) * box.across
    lower, below = _look_up(excess, levels, box.a, box.b, c, d, middle)
    upper, above = _look_up(excess, levels, c, d, box.e, box.f, rest)
    if lower < 0:
        a, b = (cut, c1) if axis == 0 else (r1, cut)
        lower = _scanned(tables, below, r0, c0, a, b)
    if upper < 0:
        a, b = (cut, c0) if axis == 0 else (r0, cut)
        upper = _scanned(tables, above, a, b, r1, c1)
    return lower + upper


@njit(cache=True, nogil=True)
def wide_cut_cost(tables, r0, c0, r1, c1, axis, cut):  # type: ignore[no-untyped-def]
    """As `cut_cost`, for sums beyond int32."""
    if axis == 0:
        return wide_spread(tables, r0, c0, cut, c1) + wide_spread(tables, cut, c0, r1, c1)
    return wide_spread(tables, r0, c0, r1, cut) + wide_spread(tables, r0, cut, r1, c1)


def _own(boxes: Ints) -> Ints:
    """A copy: what can be written to and what cannot would make two kernels."""
    return np.array(boxes, dtype=np.int64)


@njit(cache=True, nogil=True, error_model="numpy")
def _cost_batch(tables, lower, upper, axis, cut, costs):  # type: ignore[no-untyped-def]
    excess = tables.excess.reshape(-1)
    for i in range(len(cut)):
        r0, c0, r1, c1 = lower[i, 0], lower[i, 1], upper[i, 0], upper[i, 1]
        box = frame(tables, r0, c0, r1, c1, axis[i])
        costs[i] = cut_cost(tables, excess, box, r0, c0, r1, c1, axis[i], cut[i])


@njit(cache=True, nogil=True)
def _wide_cost_batch(tables, lower, upper, axis, cut, costs):  # type: ignore[no-untyped-def]
    for i in range(len(cut)):
        r0, c0, r1, c1 = lower[i, 0], lower[i, 1], upper[i, 0], upper[i, 1]
        costs[i] = wide_cut_cost(tables, r0, c0, r1, c1, axis[i], cut[i])


@njit(cache=True, nogil=True, error_model="numpy")
def _cost_all(tables, lower, upper, axis, offsets, costs):  # type: ignore[no-untyped-def]
    copy, below = np.empty(COPIED, dtype=np.int32), np.empty(COPIED + 1, dtype=np.int64)
    excess = tables.excess.reshape(-1)
    for i in range(len(lower)):
        r0, c0, r1, c1 = lower[i, 0], lower[i, 1], upper[i, 0], upper[i, 1]
        box = frame(tables, r0, c0, r1, c1, axis[i])
        cells, total, copied = (r1 - r0) * (c1 - c0), 0, False
        if is_copied(tables, excess, box, cells):
            total = turn(tables, r0, c0, r1, c1, axis[i], copy, below)
            copied = is_narrow(cells, total)
        for k in range(offsets[i], offsets[i + 1]):
            at = k - offsets[i] + 1
            if copied:
                costs[k] = cost_of_copy(copy, below, box.across, cells, total, at)
            else:
                costs[k] = cut_cost(tables, excess, box, r0, c0, r1, c1, axis[i], box.first + at)


@njit(cache=True, nogil=True)
def _spread_batch(tables, lower, upper, costs):  # type: ignore[no-untyped-def]
    for i in range(len(costs)):
        costs[i] = spread(tables, lower[i, 0], lower[i, 1], upper[i, 0], upper[i, 1])


@njit(cache=True, nogil=True)
def _wide_spread_batch(tables, lower, upper, costs):  # type: ignore[no-untyped-def]
    for i in range(len(costs)):
        costs[i] = wide_spread(tables, lower[i, 0], lower[i, 1], upper[i, 0], upper[i, 1])
