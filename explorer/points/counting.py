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
from explorer.grid.projection import CHUNK

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
    def weight(self) -> NDArray[np.int64] | None:
        """How many records a row stands for."""

    def __len__(self) -> int:
        """How many there are."""


@dataclass(frozen=True, eq=False)
class Placed:
    """What counted, where it counted: the picture of exactly the records that a matrix holds.

    Parameters
    ----------
    column, row : (n,) float32
        Place in cells of the grid that they were counted on, rounded down: the whole part is the
        cell that the record was counted in.
    records : (n,) float32 or None
        How many records counted there; None means one each.
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
        Keep the first this many records inside the grid of each code in ``points.user``.
    progress : callable, optional
        Called with the fraction done after each chunk.
    """
    if contribution_bound or points.weight is not None:
        return _count(points, grid, contribution_bound, progress, keep=False)[0]
    # One record each: all that a point changes is the count of its cell.
    counts = np.zeros(grid.shape, dtype=np.int64)
    finder = CellFinder(grid, points.crs, len(points))
    for start in range(0, len(points), CHUNK):
        part = slice(start, min(start + CHUNK, len(points)))
        finder.count(points.x[part], points.y[part], counts.ravel())
        if progress is not None:
            progress(part.stop / len(points))
    return counts


def count_and_place(
    points: Records,
    grid: Grid,
    contribution_bound: int | None = None,
    progress: Progress | None = None,
) -> tuple[NDArray[np.int64], Placed]:
    """As `count_block`, and where each record was counted, from the same projection."""
    return _count(points, grid, contribution_bound, progress, keep=True)


def _count(
    points: Records, grid: Grid, bound: int | None, progress: Progress | None, keep: bool
) -> tuple[NDArray[np.int64], Placed]:
    counts = np.zeros(grid.shape, dtype=np.int64)
    finder = CellFinder(grid, points.crs, len(points))
    user = _dense(points.user) if bound and points.user is not None else None
    taken = np.zeros(1 if user is None else int(user.max(initial=-1)) + 1, np.int64)
    # Pages of memory that nothing is written to take no room: points outside cost nothing here.
    room = len(points) if keep else 0
    column, row = np.empty(room, np.float32), np.empty(room, np.float32)
    records = np.empty(room if points.weight is not None else 0, np.float32)
    found = 0
    for start in range(0, len(points), CHUNK):
        stop = min(start + CHUNK, len(points))
        u, v, index = finder.find(points.x[start:stop], points.y[start:stop])
        rows = index + start if bound or points.weight is not None else _NONE
        weight = _NONE if points.weight is None else points.weight[rows]
        code = _NONE if not bound else np.zeros(len(u), np.int64) if user is None else user[rows]
        kept = column[found:], row[found:], records[found:]
        found += _add(u, v, weight, code, taken, bound or 0, counts, *kept)
        if progress is not None:
            progress(stop / len(points))
    weights = None if points.weight is None else records[:found]
    return counts, Placed(column[:found], row[:found], weights)


def _dense(user: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return codes small enough to count by: ids of twelve digits would take a terabyte."""
    if user.max(initial=0) < 4 * user.size + 1024:
        return user
    codes: NDArray[np.int64] = np.unique(user, return_inverse=True)[1]
    return codes


@njit(cache=True, nogil=True)
def _add(  # type: ignore[no-untyped-def]
    us, vs, weight, user, taken, bound, counts, column, row, records
):
    """Count places; write those that counted to ``column``, ``row``, ``records`` if they have room.

    Places are columns and rows, NaN outside. Without ``weight`` each counts once; with a ``bound``
    above 0 at most so many of each ``user``, who has ``taken`` some already. Returns how many were
    written.
    """
    rows, cols = counts.shape
    n = 0
    for i in range(us.size):
        u, v = us[i], vs[i]
        if np.isnan(u):
            continue
        number = weight[i] if weight.size else 1
        if bound > 0:
            number = min(number, bound - taken[user[i]])
            taken[user[i]] += number
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
