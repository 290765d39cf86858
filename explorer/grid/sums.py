"""Sums over rectangles from a summed-area table, cells cut through by area."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def summed(cells: NDArray[Any]) -> NDArray[Any]:
    """Summed-area table, (rows + 1, cols + 1)."""
    table = np.empty((cells.shape[0] + 1, cells.shape[1] + 1), cells.dtype)
    _sum_up(np.ascontiguousarray(cells), np.zeros(cells.shape[1], cells.dtype), table)
    return table


@njit(cache=True, nogil=True)
def _sum_up(cells, columns, table):  # type: ignore[no-untyped-def]
    """Fill in a table; `columns` are zeros at first, and the sums down to each row in turn.

    To the last digit what cumulative sums along both axes are, in a tenth of their time.
    """
    table[0] = 0
    for i in range(cells.shape[0]):
        total = table[0, 0]
        table[i + 1, 0] = total
        for j in range(cells.shape[1]):
            columns[j] += cells[i, j]
            total += columns[j]
            table[i + 1, j + 1] = total


def box_sums(table: NDArray[Any], lower: NDArray[Any], upper: NDArray[Any]) -> NDArray[Any]:
    """Sums of n boxes of whole cells, `lower`, `upper` (n, 2) rows and columns half open."""
    sums = np.empty(len(lower), table.dtype)
    _look_up(table, lower, upper, sums)
    return sums


@njit(cache=True, nogil=True)
def _look_up(table, lower, upper, sums):  # type: ignore[no-untyped-def]
    for i in range(len(sums)):
        r0, c0, r1, c1 = lower[i, 0], lower[i, 1], upper[i, 0], upper[i, 1]
        sums[i] = table[r1, c1] - table[r0, c1] - table[r1, c0] + table[r0, c0]


def rectangle_sums(table: NDArray[Any], boxes: NDArray[Any]) -> Floats:
    """Sums of n boxes (n, 2, 2) in cells, lower and upper, row first, fractions of cells allowed.

    The bilinear look-up is exact for counts that lie evenly inside each cell; what is outside
    the table is 0.
    """
    (row0, col0), (row1, col1) = boxes.transpose(1, 2, 0)
    return (
        _corner(table, row1, col1)
        - _corner(table, row0, col1)
        - _corner(table, row1, col0)
        + _corner(table, row0, col0)
    )


def _corner(table: NDArray[Any], row: NDArray[Any], col: NDArray[Any]) -> Floats:
    rows, cols = table.shape[0] - 1, table.shape[1] - 1
    row, col = np.clip(row, 0, rows), np.clip(col, 0, cols)
    i, j = np.minimum(row.astype(int), rows - 1), np.minimum(col.astype(int), cols - 1)
    up, along = row - i, col - j
    low = table[i, j] * (1 - along) + table[i, j + 1] * along
    high = table[i + 1, j] * (1 - along) + table[i + 1, j + 1] * along
    interpolated: Floats = low * (1 - up) + high * up
    return interpolated
