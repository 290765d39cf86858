"""Points into cells: crop, project, count, a million points at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyproj
from numba import njit
from numpy.typing import NDArray

from explorer.grid.cells import CellFinder
from explorer.grid.grid import Grid, Progress
from explorer.grid.plans import GridPlan, Plan
from explorer.grid.projection import CHUNK
from explorer.points.clipping import Clipped, PersonCells, starts_of_codes

_NONE = np.empty(0, np.int64)


class Records(Protocol):
    """What counting reads of `Points`; all arrays (n,)."""

    @property
    def x(self) -> NDArray[np.float64]:
        """East, in `crs`."""

    @property
    def y(self) -> NDArray[np.float64]:
        """North, in `crs`."""

    @property
    def crs(self) -> pyproj.CRS | None:
        """None for plain cells."""

    @property
    def user(self) -> NDArray[np.int64] | None:
        """Code of the person, 0 or more."""

    @property
    def user_hash(self) -> NDArray[np.uint64] | None:
        """Keyed hash of what each code represents, see `clipping`; None: of the code."""

    @property
    def weight(self) -> NDArray[np.int64] | None:
        """How many records a row represents."""

    def __len__(self) -> int:
        """How many there are."""


@dataclass(frozen=True, eq=False)
class Placed:
    """Where the records on a grid lie: all of them, whichever count under a contribution bound.

    Parameters
    ----------
    column, row : (n,) float32
        Place in cells of the grid, rounded down: the whole part is the cell of the record.
    records : (n,) float32 or None
        How many records lie there; None means one each.
    """

    column: NDArray[np.float32]
    row: NDArray[np.float32]
    records: NDArray[np.float32] | None


def count_block(
    points: Records,
    grid: Grid,
    contribution_bound: int | None = None,
    progress: Progress | None = None,
) -> NDArray[np.int64]:
    """Return how many records lie in each cell, (rows, columns) int64.

    Counts of blocks of points add up to the counts of all. Under a contribution bound blocks must
    be whole users: a user in two blocks could count up to the bound in each of them.

    Parameters
    ----------
    points : Records
        In any CRS if the grid has one, else in cells.
    grid : Grid
        All four edges belong to it.
    contribution_bound : int, optional
        At most this many records inside the grid of each code in ``points.user``, see `clipping`.
    progress : callable, optional
        Called with the fraction done after each chunk.
    """
    if contribution_bound:
        plan = GridPlan(grid, points.crs, len(points))
        clipped = count_clipped(points, plan, contribution_bound, progress)
        return dense(clipped.atoms, clipped.counts, grid)
    if points.weight is not None:
        return _count(points, grid, progress, keep=False)[0]
    # One record each: all that a point changes is the count of its cell.
    counts = np.zeros(grid.shape, dtype=np.int64)
    finder = CellFinder(grid, points.crs, len(points))
    for start in range(0, len(points), CHUNK):
        part = slice(start, min(start + CHUNK, len(points)))
        finder.count(points.x[part], points.y[part], counts.ravel())
        if progress is not None:
            progress(part.stop / len(points))
    return counts


def dense(atoms: NDArray[np.int64], counts: NDArray[np.int64], grid: Grid) -> NDArray[np.int64]:
    """Counts (m,) of cells (m,) of a grid, row-major, as (rows, columns)."""
    found = np.zeros(grid.shape, np.int64)
    found.ravel()[atoms] = counts
    return found


def count_clipped(
    points: Records, plan: Plan, contribution_bound: int, progress: Progress | None = None
) -> Clipped:
    """Counts of the atoms of a plan under a contribution bound, and without it."""
    people = PersonCells()
    for start in range(0, len(points), CHUNK):
        part = slice(start, min(start + CHUNK, len(points)))
        weight = None if points.weight is None else points.weight[part]
        people.add(_codes(points)[part], plan.atoms(points.x[part], points.y[part]), weight)
        if progress is not None:
            progress(part.stop / len(points))
    return people.clipped(contribution_bound, starts_of_codes(points.user_hash), plan.size)


def count_and_place(
    points: Records, grid: Grid, progress: Progress | None = None
) -> tuple[NDArray[np.int64], Placed]:
    """As `count_block`, and where each record is, from the same projection."""
    return _count(points, grid, progress, keep=True)


def _codes(points: Records) -> NDArray[np.int64]:
    return np.zeros(len(points), np.int64) if points.user is None else points.user


def _count(
    points: Records, grid: Grid, progress: Progress | None, keep: bool
) -> tuple[NDArray[np.int64], Placed]:
    counts = np.zeros(grid.shape, dtype=np.int64)
    finder = CellFinder(grid, points.crs, len(points))
    # Pages of memory that nothing is written to take no space: points outside cost nothing here.
    room = len(points) if keep else 0
    column, row = np.empty(room, np.float32), np.empty(room, np.float32)
    records = np.empty(room if points.weight is not None else 0, np.float32)
    found = 0
    for start in range(0, len(points), CHUNK):
        stop = min(start + CHUNK, len(points))
        u, v, index = finder.find(points.x[start:stop], points.y[start:stop])
        weight = _NONE if points.weight is None else points.weight[index + start]
        found += _add(u, v, weight, counts, column[found:], row[found:], records[found:])
        if progress is not None:
            progress(stop / len(points))
    weights = None if points.weight is None else records[:found]
    return counts, Placed(column[:found], row[:found], weights)


@njit(cache=True, nogil=True)
def _add(us, vs, weight, counts, column, row, records):  # type: ignore[no-untyped-def]
    """Count places; write those that counted to the arrays behind ``counts`` that have space.

    Places are columns and rows, NaN outside. Without ``weight`` each counts once. Returns how many
    were written.
    """
    rows, cols = counts.shape
    n = 0
    for i in range(us.size):
        u, v = us[i], vs[i]
        if np.isnan(u):
            continue
        number = weight[i] if weight.size else 1
        # The last edge belongs to the last cell.
        counts[min(int(v), rows - 1), min(int(u), cols - 1)] += number
        if column.size and number > 0:
            column[n], row[n] = _down(u, cols), _down(v, rows)
            if records.size:
                records[n] = number
            n += 1
    return n


@njit(cache=True, nogil=True)
def _down(value, end):  # type: ignore[no-untyped-def]
    """The largest float32 that is not above ``value`` and below ``end``."""
    single = np.float32(value)
    if single > value or single >= end:
        single = np.nextafter(single, np.float32(0))
    return single
