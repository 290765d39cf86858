"""Why private answers differ from true ones: noise, and uneven spread inside leaves."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid.sums import rectangle_sums, summed
from explorer.points.matrix import FrequencyMatrix
from explorer.points.truth import exact
from explorer.releases.interpolation import interpolate
from explorer.releases.overlap import spread_exactly
from explorer.releases.release import Release

Floats = NDArray[np.float64]


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
    boxes = matrix.grid.to_cells(rectangles)
    private, truth = release.answer(rectangles).value, exact(matrix, rectangles)
    tree = release.tree
    if release.inside == "uniform":
        spread = spread_exactly(tree, matrix.sums, boxes)[0]
    else:
        counted = replace(tree, value=matrix.count(tree.lower, tree.upper).astype(np.float64))
        even = counted.paint(matrix.shape)
        spread = rectangle_sums(summed(interpolate(even, tree.owners(matrix.shape))), boxes)
    return ErrorSplit(private - spread, spread - truth)
