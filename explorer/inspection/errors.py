"""Why private answers differ from true ones: clipping, noise, and uneven spread in leaves."""

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
from explorer.points.truth import Countable, exact, of_all_records
from explorer.points.weights import lattice_of
from explorer.releases.asking import leaf_weights
from explorer.releases.overlap import spread_exactly
from explorer.releases.release import Release

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ErrorSplit:
    """Why private answers differ from true ones; the parts add up to private minus true.

    Attributes
    ----------
    noise : (n,) private answer minus the answer of the same partition with exact counts
    uniformity : (n,) that answer minus the exact count of the records that are counted, which lie
        unevenly inside leaves cut through
    clipping : (n,) that count minus that of all records on the map, 0 or less: what the
        contribution bound leaves out; 0 without a bound, and where all records are not known
    """

    noise: Floats
    uniformity: Floats
    clipping: Floats


def error_split(
    counts: Countable, release: Release, rectangles: ArrayLike | Shapes | RangeQueries
) -> ErrorSplit:
    """Split the error of each rectangle into its causes; for the curator's screen.

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
    questions = rectangles if shapes is None else shapes
    private, counted = release.answer(questions).value, exact(counts, questions, counted=True)
    bounded = of_all_records(counts) is not counts
    clipping = counted - exact(counts, questions) if bounded else np.zeros(len(counted))
    spread = _spread(counts, release, questions, shapes)
    return ErrorSplit(private - spread, spread - counted, clipping)


def _spread(counts: Countable, release: Release, questions: Any, shapes: Shapes | None) -> Floats:
    """What the partition would answer if its counts were exact."""
    tree = release.tree
    if not release.is_uniform:
        # By the same map with exact counts, for the moment: a closed form is not known.
        of_nodes = counts.count(tree.lower, tree.upper) / lattice_of(counts)
        return replace(release, tree=replace(tree, value=of_nodes)).answer(questions).value
    if shapes is not None:
        return spread_in_polygons(counts, release, shapes)[0]
    boxes = counts.domain.to_cells(questions)
    if isinstance(counts, FrequencyMatrix):
        return spread_exactly(tree, counts.sums, boxes)[0]
    return spread_exactly(tree, counts.count(tree.lower, tree.upper), boxes)[0] / lattice_of(counts)


def _parts_of(counts: Countable, release: Release, questions: Any) -> tuple[Floats, Floats, Floats]:
    split = error_split(counts, release, questions)
    return split.noise, split.uniformity, split.clipping


def spread_in_polygons(
    counts: Countable, release: Release, shapes: Shapes
) -> tuple[Floats, NDArray[np.int64]]:
    """What a partition would answer to polygons if its counts were exact, spread evenly in leaves.

    Returns
    -------
    (m,) answers, (m,) leaves that each touches
    """
    answers, touched = np.zeros(len(shapes)), np.zeros(len(shapes), dtype=np.int64)
    tree = release.tree
    for number, (leaves, parts) in enumerate(leaf_weights(release, shapes)):
        answers[number] = parts @ counts.count(tree.lower[leaves], tree.upper[leaves])
        touched[number] = len(leaves)
    return answers / lattice_of(counts), touched
