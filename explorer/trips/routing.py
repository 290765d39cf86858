"""Which of many boxes every cell is in, found by looking at each cell once.

Trees that cut one axis at a time make boxes that are in the order of their cuts: first those
before the first cut, then those behind it, and so on inside. Such an order is found again from the
boxes alone, and every cell goes down it by binary search; parts of a grid are the simplest case.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_CELLS_A_BOX = 4096  # with more cells to look at for each box, boxes are sooner found one by one


def count_nested(cells: Ints, number: Ints, lower: Ints, upper: Ints) -> Ints | None:
    """Records in n boxes, (n,), or None for boxes that are few or in no order of cuts.

    Parameters
    ----------
    cells, number : (m, d) occupied cells and (m,) records in them
    lower, upper : (n, d) int64, half open
    """
    if len(lower) * _CELLS_A_BOX < len(cells):
        return None
    owner = owners(cells, lower, upper)
    if owner is None:
        return None
    counts = np.zeros(len(lower), dtype=np.int64)
    _add_up(owner, number, counts)
    return counts


def grouped(cells: Ints, lower: Ints, upper: Ints) -> tuple[Ints, Ints] | None:
    """Positions of cells box by box, and (n + 1,) where those of each box begin; or None.

    Positions behind the last box mean nothing.

    Parameters as of `owners`.
    """
    owner = owners(cells, lower, upper)
    if owner is None:
        return None
    offsets = np.zeros(len(lower) + 1, dtype=np.int64)
    order = np.empty(len(cells), dtype=np.int64)
    _sort(owner, offsets, order)
    return order, offsets


def owners(cells: Ints, lower: Ints, upper: Ints) -> Ints | None:
    """The box that each cell is in, (m,), -1 for none; or None for boxes in no such order.

    Parameters
    ----------
    cells : (m, d) int64
    lower, upper : (n, d) int64, half open
    """
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
