"""Cells that no one is in: how many there are, and how high noise reaches in them.

Noise on a count is discrete Laplace: P(Z = z) = (1 - q) / (1 + q) q^|z|, q = e^-epsilon, so that
P(Z >= k) = q^k / (1 + q) for k >= 1. Of E empty cells about E q^k / (1 + q) show k or more; the
highest of them has P(max < k) = (1 - q^k / (1 + q))^E, which is about ln(E) / epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.privacy.noise import PreviewNoise
from explorer.releases.units import laplace_variance, to_units
from explorer.teaching.previews import turn
from explorer.trips.matrix import TripMatrix

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Pictures show so many cells to a side at most.
WINDOW = 128


@dataclass(frozen=True, eq=False)
class Occupancy:
    """What of a trip matrix its cells alone say, without where they are.

    Attributes
    ----------
    cells : cells of the domain, a whole number of any size
    numbers : (k,) different numbers of trips that cells hold, increasing, from 1
    many : (k,) cells that hold as many
    """

    cells: int
    numbers: Ints
    many: Ints

    @classmethod
    def of(cls, matrix: TripMatrix) -> Occupancy:
        """Look at the occupied cells once; nothing here depends on epsilon."""
        numbers, many = np.unique(matrix.multiplicities, return_counts=True)
        return cls(math.prod(matrix.shape), numbers, many)

    @property
    def occupied(self) -> int:
        """Cells that hold trips."""
        return int(self.many.sum())

    @property
    def empty(self) -> int:
        """Cells that hold none."""
        return self.cells - self.occupied

    @property
    def trips(self) -> int:
        """Trips in all cells."""
        return int(self.numbers @ self.many)

    @property
    def single(self) -> int:
        """Cells that hold one trip alone."""
        return int(self.many[self.numbers == 1].sum())

    @property
    def largest(self) -> int:
        """Trips in the fullest cell; 0 without trips."""
        return int(self.numbers.max(initial=0))

    def standing_above(self, k: int) -> int:
        """Cells whose true count is more than k."""
        return int(self.many[self.numbers > k].sum())

    def false_from(self, k: ArrayLike, epsilon: float) -> Floats:
        """Empty cells whose noise is expected to show k >= 1 or more, as `k`."""
        return self.empty * reaching(k, epsilon)

    def true_from(self, k: ArrayLike, epsilon: float) -> Floats:
        """Occupied cells whose noisy count is expected to be k >= 1 or more, as `k`."""
        return self._from(k, epsilon, self.many)

    def trips_from(self, k: ArrayLike, epsilon: float) -> Floats:
        """Trips in those occupied cells, expected, as `k`."""
        return self._from(k, epsilon, self.many * self.numbers)

    def _from(self, k: ArrayLike, epsilon: float, weights: Ints) -> Floats:
        short = np.asarray(k)[..., np.newaxis] - self.numbers
        return np.asarray(reaching(short, epsilon) @ weights, dtype=np.float64)

    def highest_false(self, epsilon: float, at: float = 0.5) -> int:
        """What the highest noise of all empty cells stays at or below in the share `at` of draws.

        The smallest k with P(max <= k) >= at; 0 where no cell is empty.
        """
        if self.empty == 0:
            return 0
        # P(Z > k) <= 1 - at^(1/E), kept from rounding to 0 where E is 10^18.
        allowed = -math.expm1(math.log(at) / self.empty) * (1 + math.exp(-epsilon))
        return max(0, math.ceil(-math.log(allowed) / epsilon) - 1)

    def threshold(self, false: float, epsilon: float) -> int:
        """The smallest k >= 1 from which at most so many empty cells are expected to show."""
        limit = max(self.empty, 1) / (1 + math.exp(-epsilon))
        return max(1, math.ceil(math.log(limit / false) / epsilon))


def reaching(k: ArrayLike, epsilon: float) -> Floats:
    """P(Z >= k) of one draw of noise, elementwise.

    >>> reaching([0, 1], 1.0).round(4).tolist()
    [0.7311, 0.2689]
    """
    at, q = np.asarray(k, dtype=np.float64), math.exp(-epsilon)
    # Above 0 as it is, else from the other side: P(Z >= k) = 1 - P(Z >= 1 - k).
    tail = np.exp(-epsilon * np.where(at > 0, at, 1 - at)) / (1 + q)
    return np.where(at > 0, tail, 1 - tail)


def noise_of_one(epsilon: float) -> float:
    """Standard deviation of the noise of one cell."""
    return float(np.sqrt(laplace_variance(np.array([to_units(epsilon)]), 1))[0])


@dataclass(frozen=True, eq=False)
class Growing:
    """Boxes of more and more cells to a side about one trip, whole on every axis at the end.

    Attributes
    ----------
    sides : (b,) cells to a side, powers of two
    cells : (b,) cells in the box
    trips : (b,) trips in it
    """

    sides: Ints
    cells: Floats
    trips: Ints

    def noise(self, epsilon: float) -> Floats:
        """Standard deviation of the noise of all cells of each box, (b,)."""
        return np.sqrt(self.cells) * noise_of_one(epsilon)


def growing(matrix: TripMatrix, cell: Sequence[int]) -> Growing:
    """Count boxes about a cell (d,); where they meet an edge they are moved, not cut."""
    shape = np.array(matrix.shape)
    sides = 2 ** np.arange(int(math.log2(shape.max())) + 1)
    trips = np.empty(len(sides), dtype=np.int64)
    where, number = matrix.cells, matrix.multiplicities
    # The largest first: what is outside of it is outside of all others.
    for i in range(len(sides) - 1, -1, -1):
        lower, upper = box_about(matrix, cell, int(sides[i]))
        for axis in np.flatnonzero((lower > 0) | (upper < shape)):
            inside = (where[:, axis] >= lower[axis]) & (where[:, axis] < upper[axis])
            where, number = where[inside], number[inside]
        trips[i] = number.sum()
    cells = np.prod(np.minimum(sides[:, np.newaxis], shape).astype(np.float64), axis=1)
    return Growing(sides, cells, trips)


def box_about(matrix: TripMatrix, cell: Sequence[int], side: int) -> tuple[Ints, Ints]:
    """Lower and upper corner (d,) of the box of ``side`` cells on every axis about a cell."""
    shape = np.array(matrix.shape)
    wide = np.minimum(side, shape)
    lower = np.clip(np.asarray(cell) - wide // 2, 0, shape - wide)
    return lower, lower + wide


def some_trip(matrix: TripMatrix, number: int) -> tuple[int, ...]:
    """The cell of one trip, another for each number; full cells come up more often.

    Raises
    ------
    InputError
        Without trips.
    """
    if matrix.total == 0:
        raise InputError("There are no trips inside this extent: choose another city.")
    ranks = np.cumsum(matrix.multiplicities)
    at = turn(number, matrix.total)
    cell = matrix.cells[int(np.searchsorted(ranks, at, side="right"))]
    return tuple(int(entry) for entry in cell)


@dataclass(frozen=True, eq=False)
class Slice:
    """Where trips go that agree with one trip in all places but the last.

    Attributes
    ----------
    true : (rows, cols) trips by their last place; a window of the map where it is large
    corner : row and column of the window's first cell
    whole : whether the window is the map
    """

    true: Ints
    corner: tuple[int, int]
    whole: bool

    def noisy(self, epsilon: float, seed: int) -> Ints:
        """The same with noise on every cell, of a preview: larger epsilon, the same noise less."""
        flat = self.true.ravel()
        names = np.arange(flat.size, dtype=np.uint64)
        units = np.full(flat.size, to_units(epsilon), dtype=np.int64)
        return PreviewNoise(seed).laplace(flat, 1, units, names, "slice").reshape(self.true.shape)


def slice_of(matrix: TripMatrix, cell: Sequence[int]) -> Slice:
    """The trips that share every place but the last with a cell (d,)."""
    here = matrix.cells[:, :-2]
    alike = (here == np.asarray(cell[:-2], dtype=np.int64)).all(axis=1)
    rows, cols = matrix.shape[-2:]
    size = min(rows, WINDOW), min(cols, WINDOW)
    row, col = (
        min(max(at - wide // 2, 0), side - wide)
        for at, wide, side in zip(cell[-2:], size, (rows, cols), strict=True)
    )
    where = matrix.cells[alike, -2:] - (row, col)
    inside = ((where >= 0) & (where < size)).all(axis=1)
    true = np.zeros(size, dtype=np.int64)
    true[tuple(where[inside].T)] = matrix.multiplicities[alike][inside]
    return Slice(true, (row, col), size == (rows, cols))
