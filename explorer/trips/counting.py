"""Trips into cells of all their places: crop, project, number, a million trips at a time."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
import pyproj
from numba import njit
from numpy.typing import NDArray

from explorer.grid.cells import CellFinder
from explorer.grid.grid import Grid, Progress
from explorer.grid.places import TripDomain
from explorer.grid.projection import CHUNK
from explorer.points.clipping import Clipped, PersonCells, starts_of_codes

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Records(Protocol):
    """What counting reads of `Trips`."""

    @property
    def x(self) -> tuple[Floats, ...]:
        """East of each place, (n,) each, in `crs`."""

    @property
    def y(self) -> tuple[Floats, ...]:
        """North of each place."""

    @property
    def crs(self) -> pyproj.CRS | None:
        """None for plain cells."""

    @property
    def user(self) -> Ints | None:
        """Code of the person, (n,), 0 or more."""

    @property
    def weight(self) -> Ints | None:
        """How many trips a row represents, (n,), 0 or more; None means one each."""

    @property
    def user_hash(self) -> NDArray[np.uint64] | None:
        """Keyed hash of what each code represents, see `points.clipping`; None: of the code."""

    def __len__(self) -> int:
        """How many there are."""


class _Locator:
    """Finds the cells of one grid in which places lie, exactly as `Grid.count` does."""

    def __init__(self, grid: Grid, crs: pyproj.CRS | None, places: int) -> None:
        self._shape = grid.shape
        self._finder = CellFinder(grid, crs, places)
        self._cell = np.empty(min(CHUNK, places), np.int64)

    def inside(self, x: Floats, y: Floats) -> tuple[Ints, Ints]:
        """Which of the places lie inside, and in which cell, row-major; until the next call."""
        column, row, index = self._finder.find(x, y)
        n = _number(column, row, *self._shape, index, self._cell)
        return index[:n], self._cell[:n]


def count_trips(
    trips: Records,
    domain: TripDomain,
    contribution_bound: int,
    progress: Progress | None = None,
    lattice: int = 1,
) -> Clipped:
    """Counts of cells under a contribution bound, by their row-major numbers.

    Parameters
    ----------
    trips : Records
        With users.
    domain : TripDomain
    contribution_bound : int
        At most this many trips inside of each code in ``trips.user`` count, or all by weight.
    progress : callable, optional
    lattice : int
        Units of a trip; with more than 1 the bound is kept by weights, see `points.clipping`.
    """
    cells, rows = trip_cells(trips, domain, progress)
    people = PersonCells()
    person = np.zeros_like(rows) if trips.user is None else trips.user[rows]
    people.add(person, cells, None if trips.weight is None else trips.weight[rows])
    size = math.prod(domain.shape)
    return people.clipped(contribution_bound, starts_of_codes(trips.user_hash), size, lattice)


def trip_cells(
    trips: Records, domain: TripDomain, progress: Progress | None = None
) -> tuple[Ints, Ints]:
    """The row-major number of the cell of each trip inside and the trip's, (m,) each.

    They are in the order of the file.

    Parameters
    ----------
    trips : Records
        With as many places as the domain, in any CRS if the domain has one, else in cells.
    domain : TripDomain
        All edges of its grids belong to them. Its at most 2^60 cells have numbers in int64.
    progress : callable, optional
        Called with the fraction done after each chunk.
    """
    locators = [_Locator(grid, trips.crs, len(trips)) for grid in domain.grids]
    cells, which = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for start in range(0, len(trips), CHUNK):
        stop = min(start + CHUNK, len(trips))
        rows = np.arange(start, stop)
        flat = np.zeros(len(rows), np.int64)
        for locator, grid, x, y in zip(locators, domain.grids, trips.x, trips.y, strict=True):
            # Who is outside of one place is nowhere, so the next one is not looked at.
            whole = len(rows) == stop - start
            here = slice(start, stop) if whole else rows
            inside, cell = locator.inside(x[here], y[here])
            rows = rows[inside]
            flat = flat[inside] * (grid.shape[0] * grid.shape[1]) + cell
        cells.append(flat)
        which.append(rows)
        if progress is not None:
            progress(stop / len(trips))
    return np.concatenate(cells), np.concatenate(which)


@njit(cache=True, nogil=True)
def _number(column, row, rows, cols, index, cell):  # type: ignore[no-untyped-def]
    """Put those inside first in ``index`` and their cells in ``cell``; return how many."""
    n = 0
    for i in range(column.size):
        if np.isnan(column[i]):
            continue
        index[n] = index[i]
        # The last edge belongs to the last cell.
        cell[n] = min(int(row[i]), rows - 1) * cols + min(int(column[i]), cols - 1)
        n += 1
    return n
