"""Cells of a lattice of two levels that the edges of areas touch, and the labels of the others."""

from __future__ import annotations

import numpy as np
from numba import njit

#: Fine cells along a side of a coarse one.
SUB = 8
#: Places are widened by this many fine cells: the float error of an index is below 1e-11.
WIDER = 1e-6
#: Labels: no area, a border, not yet known; FIRST_ASKED - k represents the answer to question k.
NONE, BORDER, UNKNOWN, FIRST_ASKED = -1, -2, -3, -10
#: A coarse label of BLOCKS or more is the number of a block of fine ones; below are areas.
BLOCKS = 1 << 24


@njit(cache=True, nogil=True)
def _span(a, b, row):  # type: ignore[no-untyped-def]
    """Columns of one row that an edge touches, as floats, before they are widened."""
    (xa, ya), (xb, yb) = a, b
    rise = yb - ya
    if abs(rise) <= WIDER:
        return min(xa, xb), max(xa, xb)
    # Where the edge enters and leaves the row, made a little higher on both sides.
    first = min(max((row - WIDER - ya) / rise, 0.0), 1.0)
    last = min(max((row + 1.0 + WIDER - ya) / rise, 0.0), 1.0)
    one, other = xa + first * (xb - xa), xa + last * (xb - xa)
    return min(one, other), max(one, other)


@njit(cache=True, nogil=True)
def mark_coarse(edges, owner, border, codes):  # type: ignore[no-untyped-def]
    """Mark coarse cells that edges touch; write (cell, area) pairs while there is space.

    Parameters
    ----------
    edges : (k, 4) x, y, x, y in fine cells, those of one area together
    owner : (k,) area of each edge
    border : (rows, cols) bool, coarse; set to True
    codes : (capacity,) cell * areas + area, in any order

    Returns
    -------
    number of pairs
    """
    rows, cols = border.shape
    last = np.full(rows * cols, -1, np.int32)
    areas = owner[-1] + 1
    pairs = 0
    for k in range(len(edges)):
        a, b = (edges[k, 0], edges[k, 1]), (edges[k, 2], edges[k, 3])
        low, high = min(a[1], b[1]) - WIDER, max(a[1], b[1]) + WIDER
        for row in range(max(int(low), 0), min(int(high), rows * SUB - 1) + 1):
            west, east = _span(a, b, row)
            first, stop = int(west - WIDER) // SUB, int(east + WIDER) // SUB
            for col in range(max(first, 0), min(stop, cols - 1) + 1):
                cell = row // SUB * cols + col
                if last[cell] != owner[k]:
                    last[cell] = owner[k]
                    border[row // SUB, col] = True
                    if pairs < len(codes):
                        codes[pairs] = np.int64(cell) * areas + owner[k]
                    pairs += 1
    return pairs


@njit(cache=True, nogil=True)
def mark_fine(edges, coarse, blocks):  # type: ignore[no-untyped-def]
    """Set BORDER in the blocks of border cells, those of BLOCKS or more in `coarse`."""
    rows, cols = coarse.shape
    for k in range(len(edges)):
        a, b = (edges[k, 0], edges[k, 1]), (edges[k, 2], edges[k, 3])
        low, high = min(a[1], b[1]) - WIDER, max(a[1], b[1]) + WIDER
        for row in range(max(int(low), 0), min(int(high), rows * SUB - 1) + 1):
            west, east = _span(a, b, row)
            for col in range(max(int(west - WIDER), 0), min(int(east + WIDER), cols * SUB - 1) + 1):
                block = coarse[row // SUB, col // SUB] - BLOCKS
                blocks[block, row % SUB, col % SUB] = BORDER


@njit(cache=True, nogil=True)
def label(coarse, blocks):  # type: ignore[no-untyped-def]
    """Label cells without an edge from a neighbour, there being no edge between; else ask.

    Parameters
    ----------
    coarse : (rows, cols) int32, UNKNOWN or BLOCKS + block; the former become labels
    blocks : (n, SUB, SUB) int32, UNKNOWN or BORDER; the former become labels

    Returns
    -------
    (questions, 2) x, y in fine cells
        Label FIRST_ASKED - k is the area at place k.
    """
    rows, cols = coarse.shape
    places, questions = np.empty((1024, 2)), 0
    for i in range(rows):
        for j in range(cols):
            # Beyond the lattice there is no area, and its outermost cells hold no edge.
            west = coarse[i, j - 1] if j > 0 else NONE
            south = coarse[i - 1, j] if i > 0 else NONE
            is_block = coarse[i, j] >= BLOCKS
            block = blocks[coarse[i, j] - BLOCKS if is_block else 0]
            for n in range(SUB if is_block else 1):
                for m in range(SUB if is_block else 1):
                    if is_block and block[n, m] == BORDER:
                        continue
                    left, below = BORDER, BORDER
                    if is_block:
                        left = block[n, m - 1] if m > 0 else _edge(blocks, west, n, SUB - 1)
                        below = block[n - 1, m] if n > 0 else _edge(blocks, south, SUB - 1, m)
                    else:
                        for k in range(SUB):
                            if left == BORDER:
                                left = _edge(blocks, west, k, SUB - 1)
                            if below == BORDER:
                                below = _edge(blocks, south, SUB - 1, k)
                    cell_label = left if left != BORDER else below
                    if cell_label == BORDER:
                        if questions == len(places):
                            places = np.concatenate((places, np.empty((questions, 2))))
                        half = 0.5 if is_block else 0.5 * SUB
                        places[questions] = j * SUB + m + half, i * SUB + n + half
                        cell_label = FIRST_ASKED - questions
                        questions += 1
                    if is_block:
                        block[n, m] = cell_label
                    else:
                        coarse[i, j] = cell_label
    return places[:questions]


@njit(cache=True, nogil=True)
def _edge(blocks, label, n, m):  # type: ignore[no-untyped-def]
    """The label at a place of a coarse cell, that of the whole cell if it is no border."""
    return blocks[label - BLOCKS, n, m] if label >= BLOCKS else label
