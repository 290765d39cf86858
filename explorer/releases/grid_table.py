"""Answers of even grids of many parts, from one cumulative table.

A grid of m parts along each of d axes has m^d leaves, and walking past those that a box cuts takes
seconds for thousands of boxes. With T the sums of all parts before a corner, a box is the signed
sum of T over its 2^d corners, each interpolated between 2^d neighbours: at most 4^d look-ups. Where
counts are whole numbers, sums of them are exact.

All parts have one noise variance v, so that of an answer is v times the product over axes of the
sum of squared shares, and the parts touched are a product, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEWEST = 2**16
"""Leaves of a grid that gets a table: below, a walk is as fast."""

MANY_BOXES = 100
"""Boxes asked at once for which a table is made: fewer are walked to sooner."""


@dataclass(frozen=True, eq=False)
class GridTable:
    """A grid of parts.

    Attributes
    ----------
    edges : d arrays of cells, each from 0 to the end of its axis
    sums : (m_1 + 1, .., m_d + 1) counts of all parts before a corner
    variance : of the noise of each part
    """

    edges: tuple[Ints, ...]
    sums: Floats
    variance: float

    @classmethod
    def of(cls, lower: Ints, upper: Ints, value: Floats, precision: Floats) -> GridTable | None:
        """The table of n leaves (n, d), or None if they are no large grid of equal noise."""
        n, d = lower.shape
        # A look-up has up to 4^d terms, a walk no more than all leaves.
        if d < 3 or n < max(FEWEST, 4**d) or precision.min() != precision.max():
            return None
        ends = upper.max(axis=0)
        first = np.cumsum([0, *ends]).astype(np.int64)  # where the cells of an axis begin in marks
        marks = np.zeros(int(ends.sum()), dtype=np.bool_)
        _mark(lower, first, marks)
        edges = tuple(
            np.append(np.flatnonzero(marks[first[axis] : first[axis + 1]]), ends[axis])
            for axis in range(d)
        )
        shape = tuple(len(edge) - 1 for edge in edges)
        if math.prod(shape) != n:
            return None
        counts = np.full(n, np.nan)
        rank = np.cumsum(marks) - 1  # parts that begin before a cell, on all axes so far
        behind = np.concatenate([axis_edges[1:] for axis_edges in edges])
        if not _put(lower, upper, first, rank, behind, np.array(shape), value, counts):
            return None
        sums = np.zeros([side + 1 for side in shape])
        sums[(slice(1, None),) * d] = counts.reshape(shape)
        for axis in range(d):
            np.cumsum(sums, axis=axis, out=sums)
        return cls(edges, sums, 1.0 / float(precision[0]))

    def integrate(self, boxes: Floats) -> tuple[Floats, Floats, Ints]:
        """As `Tree.integrate`, for boxes (m, 2, d) in cells."""
        d = len(self.edges)
        begin = np.cumsum([0, *map(len, self.edges)]).astype(np.int64)
        strides = np.array(self.sums.strides, dtype=np.int64) // self.sums.itemsize
        values, variances = np.zeros((2, len(boxes)))
        touched = np.zeros(len(boxes), dtype=np.int64)
        _integrate(
            np.array(boxes, dtype=np.float64, order="C"),
            np.concatenate(self.edges),
            begin,
            strides,
            self.sums.reshape(-1),
            np.zeros((2, d, 2)),
            np.zeros((2, d), dtype=np.int64),
            values,
            variances,
            touched,
        )
        return values, self.variance * variances, touched


@njit(cache=True, nogil=True)
def _mark(lower, first, marks):  # type: ignore[no-untyped-def]
    """Say on which cells of every axis boxes begin."""
    for i in range(len(lower)):
        for axis in range(lower.shape[1]):
            marks[first[axis] + lower[i, axis]] = True


@njit(cache=True, nogil=True)
def _put(lower, upper, first, rank, behind, shape, value, counts):  # type: ignore[no-untyped-def]
    """Put values into `counts`, NaN at first, in row-major order of parts; whether they are."""
    for i in range(len(lower)):
        place, before = 0, 0
        for axis in range(lower.shape[1]):
            part = rank[first[axis] + lower[i, axis]]
            if behind[part] != upper[i, axis]:
                return False
            place = place * shape[axis] + part - before
            before += shape[axis]
        # As many boxes as parts, and none twice: then each is one.
        if not np.isnan(counts[place]):
            return False
        counts[place] = value[i]
    return True


@njit(cache=True, nogil=True)
def _integrate(  # type: ignore[no-untyped-def]
    boxes, edges, begin, strides, sums, weights, parts, values, variances, touched
):
    d = boxes.shape[2]
    for m in range(len(boxes)):
        squares, number = 1.0, 1
        for axis in range(d):
            axis_edges = edges[begin[axis] : begin[axis + 1]]
            low = min(max(boxes[m, 0, axis], float(axis_edges[0])), float(axis_edges[-1]))
            high = min(max(boxes[m, 1, axis], low), float(axis_edges[-1]))
            if high <= low:
                number = 0
                break
            for side, at in ((0, low), (1, high)):
                part = min(np.searchsorted(axis_edges, at, side="right") - 1, len(axis_edges) - 2)
                share = (at - axis_edges[part]) / (axis_edges[part + 1] - axis_edges[part])
                parts[side, axis] = part
                weights[side, axis, 0], weights[side, axis, 1] = 1.0 - share, share
            first, last = parts[0, axis], parts[1, axis]
            if weights[1, axis, 1] == 0.0:
                last -= 1  # it ends where a part begins
            inside = 0.0
            for part in (first, last):
                length = float(axis_edges[part + 1] - axis_edges[part])
                share = (
                    min(high, float(axis_edges[part + 1])) - max(low, float(axis_edges[part]))
                ) / length
                inside += share * share
                if first == last:
                    break
            squares *= inside + max(last - first - 1, 0)
            number *= last - first + 1
        touched[m] = number
        if number == 0:
            continue
        variances[m] = squares
        # Every corner of the box, and every neighbour of the corner, by the bits of two numbers.
        answer = 0.0
        for corner in range(1 << d):
            sign, base = 1.0, 0
            for axis in range(d):
                side = (corner >> axis) & 1
                sign = sign if side else -sign
                base += parts[side, axis] * strides[axis]
            for near in range(1 << d):
                weight, place = sign, base
                for axis in range(d):
                    step = (near >> axis) & 1
                    weight *= weights[(corner >> axis) & 1, axis, step]
                    if weight == 0.0:
                        break
                    place += step * strides[axis]
                if weight != 0.0:
                    answer += weight * sums[place]
        values[m] = answer
