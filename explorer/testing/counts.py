"""Data sets for checks: maps, and for mechanisms that take none the same in other dimensions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.grid.domain import Axes, Domain
from explorer.grid.grid import Grid
from explorer.grid.places import TripDomain
from explorer.mechanisms import Mechanism
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.audit.audit import front_door
from explorer.privacy.audit.replay import Publish
from explorer.privacy.counts import Counts
from explorer.privacy.noise import NoiseSource
from explorer.releases.release import Release
from explorer.testing.sources import crowds
from explorer.trips.matrix import TripMatrix

Ints = NDArray[np.int64]
TWO_PLACES = 4

#: Maps that plans stumble on: one cell, one row, empty, all in one cell, a diagonal.
_ODD_MAPS: tuple[Ints, ...] = (
    np.zeros((1, 1), dtype=np.int64),
    np.zeros((1, 9), dtype=np.int64),
    np.zeros((7, 1), dtype=np.int64),
    np.zeros((5, 5), dtype=np.int64),
    np.array([[10**9]]),
    np.eye(3, dtype=np.int64) * 10**9,
    np.ones((3, 50), dtype=np.int64),
    np.diag([10**6] + [0] * 29),
)


def dimensions_of(kind: type[Mechanism]) -> int:
    """The number of dimensions in which a mechanism is checked: 2, else the smallest it takes."""
    if not kind.dimensions:
        raise AssertionError("it takes counts of no number of dimensions")
    return 2 if 2 in kind.dimensions else min(kind.dimensions)


def counted(array: Ints, contribution_bound: int = 1) -> Counts:
    """The counts of an array as what holds counts of so many dimensions.

    A `FrequencyMatrix` of two, else a `TripMatrix`, over `TripDomain` where axes come in pairs.
    """
    if array.ndim == 2:
        return FrequencyMatrix.from_array(array, contribution_bound=contribution_bound)
    domain: Domain = Axes(array.shape)
    if array.ndim % 2 == 0:
        pairs = zip(array.shape[::2], array.shape[1::2], strict=True)
        domain = TripDomain(tuple(Grid.cells(pair) for pair in pairs))
    unit = "point" if contribution_bound == 1 else "user"
    return TripMatrix(np.argwhere(array), array[array != 0], domain, contribution_bound, unit)


def folded_shape(cells: int, dimensions: int) -> tuple[int, ...]:
    """Sides, about equal, of a box of at least so many cells.

    >>> folded_shape(144, 4), folded_shape(7, 1)
    ((4, 4, 3, 3), (7,))
    """
    sides = []
    for left in range(dimensions, 0, -1):
        side = math.ceil(cells ** (1 / left))
        cells = math.ceil(cells / side)
        sides.append(side)
    return tuple(sides)


def folded(counts: Ints, dimensions: int) -> Ints:
    """Counts of a map in a box of so many dimensions, cell by cell in row-major order.

    What is one cell stays one, so neighbours stay neighbours; cells at the end may be empty.

    Parameters
    ----------
    counts : (rows, cols) whole numbers
    dimensions : int, 1 or more
        Of 2 the map is returned as it is.
    """
    if dimensions == 2:
        return counts
    result = np.zeros(folded_shape(counts.size, dimensions), dtype=np.int64)
    result.reshape(-1)[: counts.size] = counts.reshape(-1)
    return result


def towns_of(dimensions: int, shape: tuple[int, int], people: int) -> Counts:
    """`towns`, or as many people in as many cells of other dimensions."""
    wide = shape if dimensions == 2 else folded_shape(math.prod(shape), dimensions)
    return counted(crowds(wide, people))


def odd_counts(dimensions: int) -> list[Ints]:
    """Arrays that plans stumble on: one cell, one line, empty, all in one cell, a diagonal."""
    if dimensions == 2:
        return list(_ODD_MAPS)
    short, diagonal = (1,) * (dimensions - 1), np.zeros((3,) * dimensions, dtype=np.int64)
    diagonal[(np.arange(3),) * dimensions] = 10**9
    corner = np.zeros((4,) * dimensions, dtype=np.int64)
    corner.flat[0] = 10**6
    return [
        np.zeros((1, *short), dtype=np.int64),
        np.zeros((*short, 9), dtype=np.int64),
        np.zeros((7, *short), dtype=np.int64),
        np.zeros((3,) * dimensions, dtype=np.int64),
        np.full((1, *short), 10**9),
        diagonal,
        np.ones((*short, 50), dtype=np.int64),
        corner,
    ]


def by_kind(mechanism: Any) -> Publish:
    """How an audit runs a mechanism: on maps, or, if it is for trips only, on trips of two places.

    The cells of a map are folded into as many of four axes, one by one, so that neighbours stay
    neighbours.
    """
    if mechanism.for_maps:
        return front_door(mechanism)

    def publish(matrix: FrequencyMatrix, source: NoiseSource) -> Release:
        wide = counted(folded(matrix.counts, TWO_PLACES), matrix.contribution_bound)
        release: Release = mechanism.release(wide, rng=source)
        return release

    return publish
