"""Boxes cut into grids of nearly equal parts: kernels on the columns of a book.

They look at no bounds: callers have checked ids and parts, and made space.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def plan_grids(ids, lower, upper, number, boxes):  # type: ignore[no-untyped-def]
    """Fill `boxes` (n,) with products of the wanted parts, (n, d) or (1, d), cut down to the cells.

    Returns their sum, a float: products of many sides leave the whole numbers of 64 bits.
    """
    total = 0.0
    for i in range(len(boxes)):
        boxes[i], product = 1, 1.0
        for axis in range(lower.shape[1]):
            parts = _parts(number, i, lower, upper, ids[i], axis)
            boxes[i] *= parts
            product *= parts
        total += product
    return total


@njit(cache=True, nogil=True, inline="always")
def _parts(number, i, lower, upper, p, axis):  # type: ignore[no-untyped-def]
    """Into how many parts a side of box p is cut: 1 to its cells."""
    return min(max(number[i if len(number) > 1 else 0, axis], 1), upper[p, axis] - lower[p, axis])


@njit(cache=True, nogil=True, inline="always")
def _edge(k, cells, pieces):  # type: ignore[no-untyped-def]
    """The cell that part k of so many of a side begins at: k * cells // pieces."""
    if k == 0:
        return 0
    if k == pieces:
        return cells
    if pieces == cells:
        return k
    # Divisions take most of the time: the usual ones are done without.
    return cells >> 1 if pieces == 2 else k * cells // pieces


@njit(cache=True, nogil=True, inline="always")
def _quartered(number, i, lower, upper, p):  # type: ignore[no-untyped-def]
    """Whether both sides of box p of a map are cut in two."""
    rows, columns = _parts(number, i, lower, upper, p, 0), _parts(number, i, lower, upper, p, 1)
    return rows == 2 and columns == 2


@njit(cache=True, nogil=True)
def lay_grids(ids, number, row, lower, upper):  # type: ignore[no-untyped-def]
    """Fill in the boxes of the grids of all regions from position `row` on."""
    last = lower.shape[1] - 1
    limit = max(number[:, last].max(), 1) if len(number) else 1
    edges = np.empty(min(limit, upper[0, last]) + 1, dtype=np.int64)
    for i in range(len(ids)):
        p = ids[i]
        if last == 1 and _quartered(number, i, lower, upper, p):
            # The usual cut, in a third of the time.
            for axis, far in ((0, 2), (1, 1)):
                begin, end = lower[p, axis], upper[p, axis]
                middle = begin + _edge(1, end - begin, 2)
                for k in range(4):
                    lower[row + k, axis] = middle if k & far else begin
                    upper[row + k, axis] = end if k & far else middle
            row += 4
            continue
        pieces, cells = _parts(number, i, lower, upper, p, last), upper[p, last] - lower[p, last]
        for k in range(pieces + 1):
            edges[k] = lower[p, last] + _edge(k, cells, pieces)
        if last == 1:
            # The same, written out: maps are by far the most.
            first, extent = lower[p, 0], upper[p, 0] - lower[p, 0]
            low, parts = first, _parts(number, i, lower, upper, p, 0)
            for rank in range(1, parts + 1):
                high = first + _edge(rank, extent, parts)
                for k in range(pieces):
                    lower[row, 0], upper[row, 0] = low, high
                    lower[row, 1], upper[row, 1] = edges[k], edges[k + 1]
                    row += 1
                low = high
            continue
        runs = 1
        for axis in range(last):
            runs *= _parts(number, i, lower, upper, p, axis)
        for rank in range(runs):
            # A run of boxes side by side along the last axis; what is left of its rank says where.
            left = rank
            for axis in range(last - 1, -1, -1):
                parts = _parts(number, i, lower, upper, p, axis)
                extent = upper[p, axis] - lower[p, axis]
                index = left % parts
                left //= parts
                low = lower[p, axis] + _edge(index, extent, parts)
                high = lower[p, axis] + _edge(index + 1, extent, parts)
                for box in range(row, row + pieces):
                    lower[box, axis], upper[box, axis] = low, high
            for k in range(pieces):
                lower[row, last], upper[row, last] = edges[k], edges[k + 1]
                row += 1
