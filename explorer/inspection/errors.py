"""Why private answers differ from true ones: noise, and uneven spread inside leaves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid.kinds import alike
from explorer.grid.pieces import Shapes
from explorer.grid.range_queries import RangeQueries
from explorer.points.matrix import FrequencyMatrix
from explorer.points.truth import Countable, exact
from explorer.points.weights import lattice_of
from explorer.releases.asking import leaf_weights
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


def error_split(
    counts: Countable, release: Release, rectangles: ArrayLike | Shapes | RangeQueries
) -> ErrorSplit:
    """Split the error of each rectangle into its two causes; for the curator's screen.

    Parameters
    ----------
    counts : FrequencyMatrix, or counts of any number of dimensions
        The ones that the release was drawn from.
    release : Release
    rectangles : (n, 4) x0, y0, x1, y1, polygons, or boxes of another domain as people write them

    Raises
    ------
    InputError
        For bad rectangles, or a release of another domain.
    """
    if isinstance(rectangles, RangeQueries):
        return ErrorSplit(*rectangles.each(lambda part: _parts_of(counts, release, part)))
    if not alike(counts.domain, release.domain):
        raise InputError("This release belongs to another grid: open the city it was drawn from.")
    shapes = Shapes.of(rectangles)
    asked = rectangles if shapes is None else shapes
    private, truth = release.answer(asked).value, exact(counts, asked)
    tree = release.tree
    if shapes is not None:
        if not release.is_uniform:
            return _of_leaves(counts, release, asked, private, truth)
        spread = spread_in_polygons(counts, release, shapes)[0]
        return ErrorSplit(private - spread, spread - truth)
    boxes = counts.domain.to_cells(rectangles)
    if release.is_uniform and isinstance(counts, FrequencyMatrix):
        spread = spread_exactly(tree, counts.sums, boxes)[0]
    else:
        if not release.is_uniform:
            return _of_leaves(counts, release, asked, private, truth)
        of_nodes = counts.count(tree.lower, tree.upper)
        spread = spread_exactly(tree, of_nodes, boxes)[0] / lattice_of(counts)
    return ErrorSplit(private - spread, spread - truth)


def _parts_of(counts: Countable, release: Release, asked: Any) -> tuple[Floats, Floats]:
    split = error_split(counts, release, asked)
    return split.noise, split.uniformity


def spread_in_polygons(
    counts: Countable, release: Release, shapes: Shapes
) -> tuple[Floats, NDArray[np.int64]]:
    """What a partition would answer to polygons if its counts were exact, spread evenly in leaves.

    Returns
    -------
    (m,) answers, (m,) leaves that each touches
    """
    found, touched = np.zeros(len(shapes)), np.zeros(len(shapes), dtype=np.int64)
    tree = release.tree
    for number, (leaves, parts) in enumerate(leaf_weights(release, shapes)):
        found[number] = parts @ counts.count(tree.lower[leaves], tree.upper[leaves])
        touched[number] = len(leaves)
    return found / lattice_of(counts), touched


def _of_leaves(
    counts: Countable, release: Release, asked: Any, private: Floats, truth: Floats
) -> ErrorSplit:
    """By the same map with exact counts, for the moment, where a closed form is not known."""
    tree = release.tree
    of_nodes = counts.count(tree.lower, tree.upper) / lattice_of(counts)
    spread = replace(release, tree=replace(tree, value=of_nodes)).answer(asked).value
    return ErrorSplit(private - spread, spread - truth)
