"""Trips into cells of all their places: crop, project, number, a million trips at a time."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pyproj
from numba import njit
from numpy.typing import NDArray

from explorer.grid.cells import CellFinder
from explorer.grid.grid import Grid, Progress
from explorer.grid.places import TripDomain
from explorer.grid.projection import CHUNK
from explorer.points.weights import weights

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
    contribution_bound: int | None = None,
    progress: Progress | None = None,
    weighted: bool = False,
) -> tuple[Ints, Ints]:
    """Return the row-major number of the cell of each trip that counts, and its weight, (m,) each.

    They stand in the order of the file. Weights are 1, or units of `weights.LATTICE`.

    Parameters
    ----------
    trips : Records
        With as many places as the domain, in any CRS if the domain has one, else in cells.
    domain : TripDomain
        All edges of its grids belong to them. Its at most 2^60 cells have numbers in int64.
    contribution_bound : int, optional
        Keep the first this many trips inside of each code in ``trips.user``, or all by weight.
    progress : callable, optional
        Called with the fraction done after each chunk.
    weighted : bool
        Whether the bound is kept by weights.
    """
    locators = [_Locator(grid, trips.crs, len(trips)) for grid in domain.grids]
    users: Ints | None = None
    if contribution_bound and trips.user is not None:
        users = np.unique(trips.user, return_inverse=True)[1].astype(np.int64)
    taken = np.zeros(0 if users is None else int(users.max(initial=-1)) + 1, np.int64)
    kept, whose = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for start in range(0, len(trips), CHUNK):
        stop = min(start + CHUNK, len(trips))
        rows = np.arange(start, stop)
        flat = np.zeros(len(rows), np.int64)
        for locator, grid, x, y in zip(locators, domain.grids, trips.x, trips.y, strict=True):
            # Who is outside of one place is nowhere, so the next one is not looked at.
            whole = len(rows) == stop - start
            here = slice(start, stop) if whole else rows
            which, cell = locator.inside(x[here], y[here])
            rows = rows[which]
            flat = flat[which] * (grid.shape[0] * grid.shape[1]) + cell
        if users is not None and weighted:
            whose.append(users[rows])
        elif users is not None:
            flat = flat[_first_ones(users[rows], taken, contribution_bound)]
        kept.append(flat)
        if progress is not None:
            progress(stop / len(trips))
    cells = np.concatenate(kept)
    if users is None or not weighted or contribution_bound is None:
        return cells, np.ones(len(cells), dtype=np.int64)
    return cells, weights(np.concatenate(whose), contribution_bound)


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


@njit(cache=True, nogil=True)
def _first_ones(user, taken, bound):  # type: ignore[no-untyped-def]
    """Which trips count when each user has ``taken`` some of at most ``bound`` already."""
    counts = np.empty(user.size, np.bool_)
    for i in range(user.size):
        counts[i] = taken[user[i]] < bound
        taken[user[i]] += counts[i]
    return counts
