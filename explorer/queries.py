"""Questions to a map: rectangles, and their exact answers for the curator's screen."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.interpolation import interpolate
from explorer.matrix import FrequencyMatrix
from explorer.rectangle_file import read_rectangles, write_rectangles
from explorer.rectangle_sums import rectangle_sums, summed
from explorer.release import Release, check_rectangles
from explorer.touching import spread_exactly

__all__ = [
    "ErrorSplit",
    "error_split",
    "exact",
    "random_rectangles",
    "read_rectangles",
    "write_rectangles",
]

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
    counts = rectangle_sums(matrix.sums, check_rectangles(rectangles, matrix.grid))
    # Four corners of large sums cancel but for their last bits: nobody is less than nobody.
    return np.maximum(counts, 0.0)


@dataclass(frozen=True)
class ErrorSplit:
    """Why private answers differ from true ones; both parts add up to the difference.

    Attributes
    ----------
    noise : (n,) private answer minus the answer of the same partition with exact counts
    uniformity : (n,) that answer minus the truth: people lie unevenly inside leaves cut through
    """

    noise: Floats
    uniformity: Floats


def error_split(matrix: FrequencyMatrix, release: Release, rectangles: ArrayLike) -> ErrorSplit:
    """Split the error of each rectangle into its two causes; for the curator's screen.

    Parameters
    ----------
    matrix : FrequencyMatrix
        The one that the release was drawn from.
    release : Release
    rectangles : (n, 4) x0, y0, x1, y1

    Raises
    ------
    InputError
        For bad rectangles, or a release of another grid.
    """
    ours, theirs = matrix.grid, release.grid
    if (ours.shape, ours.bounds, ours.crs) != (theirs.shape, theirs.bounds, theirs.crs):
        raise InputError("This release belongs to another grid: open the city it was drawn from.")
    boxes = check_rectangles(rectangles, matrix.grid)
    private, truth = release.answer(rectangles).value, exact(matrix, rectangles)
    tree = release.tree
    if release.inside == "uniform":
        spread = spread_exactly(tree, matrix.sums, boxes[:, [1, 0, 3, 2]])[0]
    else:
        counted = replace(tree, value=matrix.count(tree.lower, tree.upper).astype(np.float64))
        even = counted.paint(matrix.shape)
        spread = rectangle_sums(summed(interpolate(even, tree.owners(matrix.shape))), boxes)
    return ErrorSplit(private - spread, spread - truth)


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
