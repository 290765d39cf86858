"""True answers to boxes: exact numbers, for the curator's screen alone."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid.domain import Domain
from explorer.grid.pieces import COVERAGE, Shapes, check_by, flat_pieces, warn_outside
from explorer.grid.range_queries import RangeQueries
from explorer.grid.sums import rectangle_sums
from explorer.points.matrix import FrequencyMatrix
from explorer.points.weights import lattice_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# A box of more has more pieces, up to 3 for each, than there are cells to look at.
_FEW_AXES = 6


class Countable(Protocol):
    """Exact counts that can be asked for boxes of whole cells."""

    @property
    def domain(self) -> Domain:
        """The public space."""

    def count(self, lower: Ints, upper: Ints) -> Ints:
        """Exact counts of n boxes, `lower`, `upper` (n, d) half open, (n,)."""


@runtime_checkable
class Sparse(Protocol):
    """Exact counts that hold the cells with records alone."""

    def count_parts_of_cells(self, boxes: Floats) -> Floats:
        """Counts in boxes (n, 2, d), cells that they cut through by the part inside, (n,)."""


def of_all_records(counts: Any) -> Any:
    """Counts of all records on the map, where a contribution bound left some out; else these."""
    unclipped = getattr(counts, "unclipped", None)
    return counts if unclipped is None else unclipped


def exact(
    counts: Countable,
    where: ArrayLike | Mapping[str, Any] | Shapes | RangeQueries,
    *,
    crs: Any = None,
    by: str = COVERAGE,
    counted: bool = False,
) -> Floats:
    """True counts of boxes; needs the counts, so it exists only where the curator works.

    Under a contribution bound the truth is that of all records on the map, as far as they are
    known (``counts.unclipped``), not of those alone that are counted.

    Parameters
    ----------
    counts : FrequencyMatrix, or counts of any number of dimensions
    where : (n, 4) array, mapping, polygons, frame or path
        As people write boxes of the domain. Of a grid (n, 4) x0, y0, x1, y1 in metres of its CRS,
        or cells without one. Cells cut through count by the part of them that is inside. Of
        several places (n, k, 4), or a mapping from places to frames of boxes, see
        `TripDomain.to_cells`. Polygons of shapely, a GeoSeries, a GeoDataFrame or a file of them
        are asked of a grid as they are.
    crs, by : as of `Release.answer`
    counted : bool
        Whether to leave out, as a release does, what a contribution bound drops.

    Returns
    -------
    (n,) float64; of weighted records the sums of their weights

    Raises
    ------
    InputError
        For boxes of another form, not finite, or inside out; for degrees without a CRS, and for
        shapes that are no polygons.

    Examples
    --------
    >>> from explorer import FrequencyMatrix, Grid
    >>> exact(FrequencyMatrix.from_array([[9, 0], [8, 1]]), [[0, 0, 1, 2], [0, 0, 0.5, 1]]).tolist()
    [17.0, 4.5]

    A person with three records, of which one is counted:

    >>> matrix = FrequencyMatrix([[1]], Grid.cells(1), 1, "user", unclipped=[[3]])
    >>> exact(matrix, [[0, 0, 1, 1]]).tolist(), exact(matrix, [[0, 0, 1, 1]], counted=True).tolist()
    ([3.0], [1.0])
    """
    check_by(by)
    if not counted:
        counts = of_all_records(counts)
    if isinstance(where, RangeQueries):
        return where.each(lambda part: (exact(counts, part, counted=True),))[0]
    shapes = Shapes.of(where, crs)
    if shapes is not None:
        return _of_shapes(counts, shapes)
    cells = counts.domain.to_cells(where)
    if isinstance(counts, FrequencyMatrix):
        answers = rectangle_sums(counts.sums, cells)
    elif cells.shape[2] > _FEW_AXES and isinstance(counts, Sparse):
        answers = counts.count_parts_of_cells(cells) / lattice_of(counts)
    else:
        answers = _by_pieces(counts, cells) / lattice_of(counts)
    # Four corners of large sums cancel but for their last bits: no count is below 0.
    return np.maximum(answers, 0.0)


def _of_shapes(counts: Countable, shapes: Shapes) -> Floats:
    """Counts of polygons, cells on their borders by area."""
    if not isinstance(counts, FrequencyMatrix):
        raise InputError("A polygon is a question to one map; give boxes of the places of trips.")
    answers = np.zeros(len(shapes))
    outside = 0
    for number, shape in enumerate(shapes.on(counts.domain)):
        cells, parts = flat_pieces(counts.domain, shape)
        outside += not len(cells)
        answers[number] = parts @ counts.counts.ravel()[cells]
    warn_outside(outside, 3)
    return answers


def _by_pieces(counts: Countable, boxes: Floats) -> Floats:
    """Counts of boxes (n, 2, d): each is divided where it cuts through cells.

    Along every axis a box is the part of a first cell, whole cells, and the part of a last one, so
    it has at most 3^d pieces, in each of which all cells count alike. Boxes of whole cells are one
    piece.
    """
    n, _, d = boxes.shape
    answers = np.zeros(n)
    sides = counts.domain.shape
    parts = [_parts(boxes[:, 0, axis], boxes[:, 1, axis], sides[axis]) for axis in range(d)]
    for chosen in itertools.product(range(3), repeat=d):
        weight = np.ones(n)
        ends = [parts[axis][part] for axis, part in enumerate(chosen)]
        for _, _, of_axis in ends:
            weight *= of_axis
        there = np.flatnonzero(weight)
        if len(there):
            lower = np.stack([start[there] for start, _, _ in ends], axis=1)
            upper = np.stack([stop[there] for _, stop, _ in ends], axis=1)
            answers[there] += weight[there] * counts.count(lower, upper)
    return answers


def _parts(low: Floats, high: Floats, side: int) -> list[tuple[Ints, Ints, Floats]]:
    """First cell, whole cells and last cell of n intervals: start, stop and weight, (n,) each."""
    low, high = np.clip(low, 0, side), np.clip(high, 0, side)
    first, last = np.ceil(low), np.floor(high)
    # Both ends inside one cell: it is the last, and there is no first.
    narrow = first > last
    start, stop = first.astype(np.int64), last.astype(np.int64)
    return [
        (start - 1, start, np.where(narrow, 0.0, first - low)),
        (start, stop, np.where(stop > start, 1.0, 0.0)),
        (stop, stop + 1, np.where(narrow, high - low, high - last)),
    ]
