"""Questions to one map: boxes, some of which represent a polygon inside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.grid.pieces import Shapes

Floats = NDArray[np.float64]


class RangeQueries:
    """n questions to a map in their order, each a box or a polygon.

    Boxes are asked as boxes and polygons as polygons, so that the numbers of a box do not depend
    on what is next to it.

    Parameters
    ----------
    boxes : (n, 4) x0, y0, x1, y1 in the unit of the grid; of a polygon those around it
    shapes : n polygons of shapely in the same unit, None for a box

    Examples
    --------
    >>> from shapely import Polygon
    >>> triangle = Polygon([(0, 0), (2, 0), (0, 2)])
    >>> asked = RangeQueries(np.array([[0, 0, 1, 2], [0, 0, 2, 2.0]]), [None, triangle])
    >>> [len(part) for _, part in asked.parts()], asked == asked[[0, 1]], asked == asked[[1, 0]]
    ([1, 1], True, False)
    """

    def __init__(self, boxes: Floats, shapes: Sequence[Any]) -> None:
        if len(boxes) != len(shapes):
            raise ValueError("every box needs its polygon or None")
        self.boxes = np.asarray(boxes, dtype=np.float64)
        self.shapes = tuple(shapes)

    def __len__(self) -> int:
        return len(self.shapes)

    def __getitem__(self, rows: Any) -> RangeQueries:
        """Some of them, by a sequence of rows."""
        at = np.arange(len(self))[rows]
        return RangeQueries(self.boxes[at], [self.shapes[row] for row in at])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RangeQueries):
            return NotImplemented
        return np.array_equal(self.boxes, other.boxes) and all(
            same_shape(one, another) for one, another in zip(self.shapes, other.shapes, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def parts(self) -> list[tuple[NDArray[np.int64], Any]]:
        """Rows of the boxes and the boxes (m, 4), rows of the polygons and `Shapes`, if any."""
        rows = np.arange(len(self))
        has = np.array([shape is not None for shape in self.shapes], dtype=bool)
        polygons = np.empty(int(has.sum()), dtype=object)
        polygons[:] = [shape for shape in self.shapes if shape is not None]
        parts = [(rows[~has], self.boxes[~has]), (rows[has], Shapes(polygons, None))]
        return [(at, queries) for at, queries in parts if len(at)]

    def each(self, ask: Callable[[Any], Sequence[NDArray[Any]]]) -> tuple[NDArray[Any], ...]:
        """Ask boxes and polygons on their own, and put what is found together again.

        Parameters
        ----------
        ask : from boxes (m, 4) or `Shapes` of m to arrays (m,)
        """
        columns: list[NDArray[Any]] = []
        for at, part in self.parts() or [(np.arange(0), self.boxes)]:
            answers = ask(part)
            if not columns:
                columns = [np.zeros(len(self), dtype=answer.dtype) for answer in answers]
            for column, values in zip(columns, answers, strict=True):
                column[at] = values
        return tuple(columns)


#: What a map is asked: boxes (n, 4), of k places (n, k, 4), or some of them polygons.
Queries = Floats | RangeQueries


def range_queries(boxes: Floats, shapes: Sequence[Any]) -> Queries:
    """The boxes alone where none represents a polygon."""
    return RangeQueries(boxes, shapes) if any(shape is not None for shape in shapes) else boxes


def edges_and_shapes(queries: Queries) -> tuple[Floats, Sequence[Any]]:
    """The boxes of questions, and for each its polygon, None for a box."""
    if isinstance(queries, RangeQueries):
        return queries.boxes, queries.shapes
    return queries, [None] * len(queries)


def same_questions(one: Any, other: Any) -> bool:
    """Whether two sets of questions are the same: boxes, NaN for anywhere, or `RangeQueries`.

    >>> same_questions(np.zeros((1, 4)), np.zeros((1, 4))), same_questions(None, np.zeros((1, 4)))
    (True, False)
    """
    if isinstance(one, RangeQueries) or isinstance(other, RangeQueries):
        return type(one) is type(other) and len(one) == len(other) and bool(one == other)
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other, equal_nan=True)


def same_shape(one: Any, other: Any) -> bool:
    """Whether two polygons have the same corners in the same order; None is like None alone."""
    return one is other or (one is not None and other is not None and bool(one == other))
