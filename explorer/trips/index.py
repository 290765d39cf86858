"""Occupied cells in a tree of blocks: sums over boxes of many axes without a table of all cells.

Cells are sorted by their interleaved bits, so that cells which follow one another lie near one
another; every `_BLOCK` of them are a block, and blocks are put together two by two up to one. A
box takes or leaves a block as a whole where it can, and looks inside where it cuts through.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.points.split_costs import LATTICE_BITS

Ints = NDArray[np.int64]

_BLOCK = 8  # cells that are looked at one by one
_KEY_BITS = 63  # of an order; further ones would cost speed alone
_DEEPEST = 64  # levels of a binary tree whose cells fit into memory


@dataclass(frozen=True, eq=False)
class Index:
    """m occupied cells and the blocks above them.

    Attributes
    ----------
    cells : (m, d) sorted by interleaved bits
    number : (m,) records in each, 1 or more
    corners : (2 p, 2, d) first and last cell of every block; block i consists of 2 i and 2 i + 1,
        the last p are the lowest, and number 0 is not used
    figures : (2 p, 4) records, cells, fewest and most records of a cell
    """

    cells: Ints
    number: Ints
    corners: Ints
    figures: Ints

    @classmethod
    def of(cls, cells: Ints, number: Ints, shape: tuple[int, ...]) -> Index:
        """Sort m different cells (m, d) of a domain and put blocks above them."""
        order = np.argsort(_interleaved(cells, shape), kind="stable")
        cells, number = np.ascontiguousarray(cells[order]), number[order]
        lowest = 1
        while lowest * _BLOCK < len(cells):
            lowest *= 2
        corners = np.empty((2 * lowest, 2, len(shape)), dtype=np.int64)
        figures = np.empty((2 * lowest, 4), dtype=np.int64)
        _fill(cells, number, corners, figures)
        return cls(cells, number, corners, figures)

    def count(self, lower: Ints, upper: Ints) -> Ints:
        """Records in n boxes, `lower`, `upper` (n, d) half open, (n,)."""
        found = np.empty(len(lower), dtype=np.int64)
        _count(*self._parts, _copied(lower), _copied(upper), found)
        return found

    def spread(self, lower: Ints, upper: Ints) -> Ints:
        """Lattice values of sum |c - mu| over all cells of n boxes, empty ones too, (n,).

        See `points.split_costs`; no box is empty.
        """
        found = np.empty(len(lower), dtype=np.int64)
        _spread(*self._parts, _copied(lower), _copied(upper), found)
        return found

    @property
    def _parts(self) -> tuple[Ints, Ints, Ints, Ints]:
        return self.cells, self.number, self.corners, self.figures


def _copied(edges: Ints) -> Ints:
    # Writable and in one order always: kernels are compiled once.
    return np.array(edges, dtype=np.int64, order="C")


def _interleaved(cells: Ints, shape: tuple[int, ...]) -> Ints:
    """Keys whose order halves every axis in turn, (m,): the highest bits of all axes first."""
    bits = [int(side - 1).bit_length() for side in shape]
    key, used = np.zeros(len(cells), dtype=np.int64), 0
    for level in range(max(bits)):
        for axis, own in enumerate(bits):
            if level < own and used < _KEY_BITS:
                key = key << 1 | (cells[:, axis] >> (own - 1 - level)) & 1
                used += 1
    return key


@njit(cache=True, nogil=True)
def _fill(cells, number, corners, figures):  # type: ignore[no-untyped-def]
    lowest = len(figures) // 2
    most = np.iinfo(np.int64).max
    # A block without cells touches no box: its first cell lies behind its last.
    corners[:, 0, :] = most
    corners[:, 1, :] = -1
    figures[:, :] = 0
    figures[:, 2] = most
    for i in range(len(cells)):
        block = lowest + i // _BLOCK
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
            begin = (block - lowest) * _BLOCK
            for k in range(begin, min(begin + _BLOCK, len(cells))):
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
def _count(cells, number, corners, figures, lower, upper, found):  # type: ignore[no-untyped-def]
    waiting = np.empty(2 * _DEEPEST, dtype=np.int64)
    for i in range(len(found)):
        found[i] = _beyond(cells, number, corners, figures, lower, upper, i, 0, waiting)[0]


@njit(cache=True, nogil=True)
def _spread(cells, number, corners, figures, lower, upper, found):  # type: ignore[no-untyped-def]
    # With k cells above t, P_(t+1) = P_t - k, so the sum of distances over n cells is
    # 2 P_t - 2 r k / n: its products stay small where a domain has 2^53 cells.
    waiting = np.empty(2 * _DEEPEST, dtype=np.int64)
    for i in range(len(found)):
        n = np.int64(1)
        for axis in range(lower.shape[1]):
            n *= upper[i, axis] - lower[i, axis]
        total = _beyond(cells, number, corners, figures, lower, upper, i, 0, waiting)[0]
        t = total // n
        over, many = _beyond(cells, number, corners, figures, lower, upper, i, t, waiting)
        less = 2 * (total - t * n) * many
        whole = less // n
        rest = (less - whole * n) << LATTICE_BITS
        # Taken away rounded up, so that the difference is rounded down.
        lattice = (whole << LATTICE_BITS) + rest // n + (rest % n > 0)
        found[i] = ((2 * over) << LATTICE_BITS) - lattice
