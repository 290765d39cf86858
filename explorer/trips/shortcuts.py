"""Boxes that need no walk: the parts of a regular grid, and boxes on one place alone.

Each way gives what the index gives, bit for bit: counts are whole numbers, added in any order.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]

#: Boxes; looking for fewer one by one is as fast.
FEWEST_PARTS = 1024


def count_parts(cells: Ints, number: Ints, lower: Ints, upper: Ints) -> Ints | None:
    """Records in n boxes if these are the parts of one grid in row-major order, else None.

    Every axis is cut into intervals that do not overlap (a gap between them belongs to no part);
    the boxes are all combinations, the last axis fastest. Every cell is then looked at once,
    however many boxes there are.

    Parameters
    ----------
    cells, number : (m, d) occupied cells and (m,) records in them
    lower, upper : (n, d) int64, half open
    """
    n, d = lower.shape
    if n < FEWEST_PARTS:
        return None
    starts, stops = [], []
    stride = 1
    for axis in reversed(range(d)):
        along = slice(None, None, stride)
        low, high = lower[along, axis], upper[along, axis]
        # As long as intervals follow one another.
        turns = np.flatnonzero((low[1:] < high[:-1]) | (low[:-1] > high[:-1]))
        parts = int(turns[0]) + 1 if len(turns) else len(low)
        starts.append(np.ascontiguousarray(low[:parts]))
        stops.append(np.ascontiguousarray(high[:parts]))
        stride *= parts
        if n % stride:
            return None
    parts_of = np.array([len(axis_starts) for axis_starts in reversed(starts)], dtype=np.int64)
    first, behind = np.concatenate(starts[::-1]), np.concatenate(stops[::-1])
    if stride != n or not _is_grid(lower, upper, parts_of, first, behind):
        return None
    counts = np.zeros(n, dtype=np.int64)
    _count_parts(cells, number, parts_of, first, behind, counts)
    return counts


def only_place(lower: Ints, upper: Ints, shape: tuple[int, ...]) -> Ints:
    """The place (two axes each) on which a box is not whole, (n,); -1 for several.

    Boxes that are whole everywhere belong to the first place.
    """
    place_of = np.empty(len(lower), dtype=np.int64)
    _only_place(lower, upper, np.array(shape, dtype=np.int64), place_of)
    return place_of


@njit(cache=True, nogil=True)
def _is_grid(lower, upper, parts, first, behind):  # type: ignore[no-untyped-def]
    """Whether box i is the i-th combination of intervals, and no two intervals overlap."""
    begin = 0
    for axis in range(len(parts)):
        for part in range(begin, begin + parts[axis]):
            if first[part] > behind[part]:
                return False
            if part > begin and first[part] < behind[part - 1]:
                return False
        begin += parts[axis]
    for i in range(len(lower)):
        left, begin = i, len(first)
        for axis in range(len(parts) - 1, -1, -1):
            begin -= parts[axis]
            part = begin + left % parts[axis]
            left //= parts[axis]
            if lower[i, axis] != first[part] or upper[i, axis] != behind[part]:
                return False
    return True


@njit(cache=True, nogil=True)
def _count_parts(cells, number, parts, first, behind, counts):  # type: ignore[no-untyped-def]
    for k in range(len(cells)):
        box, begin = 0, 0
        for axis in range(len(parts)):
            # The last interval that begins at the cell or before it.
            low, high = begin, begin + parts[axis]
            while low < high:
                middle = (low + high) >> 1
                if first[middle] <= cells[k, axis]:
                    low = middle + 1
                else:
                    high = middle
            part = low - 1
            if part < begin or cells[k, axis] >= behind[part]:
                box = -1
                break
            box = box * parts[axis] + part - begin
            begin += parts[axis]
        if box >= 0:
            counts[box] += number[k]


@njit(cache=True, nogil=True)
def _only_place(lower, upper, shape, place_of):  # type: ignore[no-untyped-def]
    for i in range(len(lower)):
        place_of[i] = 0
        others = 0
        for place in range(len(shape) // 2):
            for axis in (2 * place, 2 * place + 1):
                if lower[i, axis] > 0 or upper[i, axis] < shape[axis]:
                    place_of[i] = place
                    others += 1
                    break
        if others > 1:
            place_of[i] = -1
