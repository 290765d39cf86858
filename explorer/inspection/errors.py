"""Why private answers differ from true ones: noise, and uneven spread inside leaves."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid.kinds import alike
from explorer.points.matrix import FrequencyMatrix
from explorer.points.truth import Countable, exact
from explorer.points.weights import lattice_of
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


def error_split(counts: Countable, release: Release, rectangles: ArrayLike) -> ErrorSplit:
    """Split the error of each rectangle into its two causes; for the curator's screen.

    Parameters
    ----------
    counts : FrequencyMatrix, or counts of any number of dimensions
        The ones that the release was drawn from.
    release : Release
    rectangles : (n, 4) x0, y0, x1, y1, or boxes of another domain as people write them

    Raises
    ------
    InputError
        For bad rectangles, or a release of another domain.
    """
    if not alike(counts.domain, release.domain):
        raise InputError("This release belongs to another grid: open the city it was drawn from.")
    boxes = counts.domain.to_cells(rectangles)
    private, truth = release.answer(rectangles).value, exact(counts, rectangles)
    tree = release.tree
    if release.is_uniform and isinstance(counts, FrequencyMatrix):
        spread = spread_exactly(tree, counts.sums, boxes)[0]
    else:
        of_nodes = counts.count(tree.lower, tree.upper)
        if release.is_uniform:
            spread = spread_exactly(tree, of_nodes, boxes)[0] / lattice_of(counts)
        else:
            counted = replace(release, tree=replace(tree, value=of_nodes / lattice_of(counts)))
            spread = counted.answer(rectangles).value
    return ErrorSplit(private - spread, spread - truth)
