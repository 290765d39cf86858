"""Questions to a map: rectangles, and their exact answers for the curator's screen."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.matrix import FrequencyMatrix
from explorer.release import check_rectangles

Floats = NDArray[np.float64]


def exact(matrix: FrequencyMatrix, rectangles: ArrayLike) -> Floats:
    """True counts of rectangles; needs the matrix, so it exists only where the curator works.

    Parameters
    ----------
    matrix : FrequencyMatrix
    rectangles : (n, 4) x0, y0, x1, y1
        In metres of the grid's CRS, or cells without one. Cells cut through count by area.

    Returns
    -------
    (n,) float64

    Raises
    ------
    InputError
        For rectangles that are not (n, 4), not finite, or inside out.
    """
    x0, y0, x1, y1 = check_rectangles(rectangles, matrix.grid).T
    corner = _corner_sums(matrix.sums)
    return corner(y1, x1) - corner(y0, x1) - corner(y1, x0) + corner(y0, x0)


def random_rectangles(
    shape: tuple[int, int], n: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The HTF workload: centre cell uniform, height and width uniform, clipped to the grid.

    Returns
    -------
    (n, 4) int64 column0, row0, column1, row1, half open, in cells
    """
    boxes = np.empty((n, 4), dtype=np.int64)
    for axis, cells in enumerate(shape):
        centre = rng.integers(0, cells, n)
        extent = rng.integers(1, cells + 1, n)
        start = centre - extent // 2
        boxes[:, 1 - axis] = np.clip(start, 0, cells)
        boxes[:, 3 - axis] = np.clip(start + extent, 0, cells)
    return boxes


def _corner_sums(table: NDArray[np.int64]):  # type: ignore[no-untyped-def]
    """Bilinear look-up in a summed-area table: exact for counts spread evenly inside cells."""
    rows, cols = table.shape[0] - 1, table.shape[1] - 1

    def look_up(y: Floats, x: Floats) -> Floats:
        y, x = np.clip(y, 0, rows), np.clip(x, 0, cols)
        i, j = np.minimum(y.astype(int), rows - 1), np.minimum(x.astype(int), cols - 1)
        fy, fx = y - i, x - j
        low = table[i, j] * (1 - fx) + table[i, j + 1] * fx
        high = table[i + 1, j] * (1 - fx) + table[i + 1, j + 1] * fx
        return low * (1 - fy) + high * fy

    return look_up
