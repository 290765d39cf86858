"""Questions to a map: rectangles, and their exact answers for the curator's screen."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.matrix import FrequencyMatrix
from explorer.rectangle_file import read_rectangles, write_rectangles
from explorer.rectangle_sums import rectangle_sums
from explorer.release import check_rectangles

__all__ = ["exact", "random_rectangles", "read_rectangles", "write_rectangles"]

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
    return rectangle_sums(matrix.sums, check_rectangles(rectangles, matrix.grid))


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
