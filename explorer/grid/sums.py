"""Sums over rectangles from a summed-area table, cells cut through by area."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def summed(cells: NDArray[Any]) -> NDArray[Any]:
    """Summed-area table, (rows + 1, cols + 1)."""
    table = np.zeros((cells.shape[0] + 1, cells.shape[1] + 1), dtype=cells.dtype)
    np.cumsum(cells, axis=0, out=table[1:, 1:])
    np.cumsum(table[1:, 1:], axis=1, out=table[1:, 1:])
    return table


def box_sums(table: NDArray[Any], lower: NDArray[Any], upper: NDArray[Any]) -> NDArray[Any]:
    """Sums of n boxes of whole cells, `lower`, `upper` (n, 2) rows and columns half open."""
    found = np.empty(len(lower), dtype=table.dtype)
    _look_up(table, lower, upper, found)
    return found


@njit(cache=True, nogil=True)
def _look_up(table, lower, upper, found):  # type: ignore[no-untyped-def]
    for i in range(len(found)):
        r0, c0, r1, c1 = lower[i, 0], lower[i, 1], upper[i, 0], upper[i, 1]
        found[i] = table[r1, c1] - table[r0, c1] - table[r1, c0] + table[r0, c0]


def rectangle_sums(table: NDArray[Any], boxes: Floats) -> Floats:
    """Sums of n boxes (n, 4) column0, row0, column1, row1, fractions of cells allowed.

    The bilinear look-up is exact for counts that lie evenly inside each cell; what lies outside
    the table is 0.
    """
    x0, y0, x1, y1 = boxes.T
    return (
        _corner(table, y1, x1)
        - _corner(table, y0, x1)
        - _corner(table, y1, x0)
        + _corner(table, y0, x0)
    )


def _corner(table: NDArray[Any], y: Floats, x: Floats) -> Floats:
    rows, cols = table.shape[0] - 1, table.shape[1] - 1
    y, x = np.clip(y, 0, rows), np.clip(x, 0, cols)
    i, j = np.minimum(y.astype(int), rows - 1), np.minimum(x.astype(int), cols - 1)
    fy, fx = y - i, x - j
    low = table[i, j] * (1 - fx) + table[i, j + 1] * fx
    high = table[i + 1, j] * (1 - fx) + table[i + 1, j + 1] * fx
    found: Floats = low * (1 - fy) + high * fy
    return found
