"""True answers to rectangles: exact numbers, for the curator's screen alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.grid.sums import rectangle_sums
from explorer.points.matrix import FrequencyMatrix

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
    counts = rectangle_sums(matrix.sums, matrix.grid.to_cells(rectangles))
    # Four corners of large sums cancel but for their last bits: nobody is less than nobody.
    return np.maximum(counts, 0.0)
