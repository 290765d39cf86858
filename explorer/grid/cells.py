"""In which cell of a grid places lie: cropped first, by certified patches, else projected."""

from __future__ import annotations

from functools import lru_cache
from threading import local
from typing import NamedTuple

import numpy as np
import pyproj
from numba import njit
from numpy.typing import NDArray

from explorer.grid.grid import Grid
from explorer.grid.patches import QUADRATIC, Box, Patches, worth
from explorer.grid.projection import box_in, transformer
from explorer.grid.sure_cells import enter, enter_sure

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Crop = tuple[float, float, float, float, float]

EVERYWHERE: Crop = (-np.inf, -np.inf, np.inf, np.inf, 0.0)


class Found(NamedTuple):
    """Places that may lie on the grid, in the order they came; until this thread's next call.

    Attributes
    ----------
    column, row : (m,) float64
        In cells, with fractions; both NaN outside. On the last edge it is the number of cells,
        which belongs to the last cell.
    which : (m,) int64
        The number of each of them among the places.
    """

    column: Floats
    row: Floats
    which: Ints


class CellFinder:
    """Finds the cells of a grid, equal to those of pyproj one by one, several times faster.

    The cell of a place depends on the public grid and on the place alone.

    Parameters
    ----------
    grid : Grid
    crs : pyproj.CRS or None
        Of the coordinates; ``None`` for plain cells.
    places : float
        How many are to be found: patches that cost more than they save are not made.
    """

    def __init__(self, grid: Grid, crs: pyproj.CRS | None, places: float = np.inf) -> None:
        self.grid, self.crs = grid, crs
        self.crop, self.patches = EVERYWHERE, Patches.none()
        self._moves = grid.crs is not None and crs is not None and crs != grid.crs
        if grid.crs is not None and crs is not None and self._moves:
            self.crop = crop_box(grid.bounds, grid.crs, crs)
            self.patches = _patches(grid, crs, self.crop, worth(places))
        self._rooms = local()

    def find(self, x: Floats, y: Floats) -> Found:
        """Where (n,) places lie; NaN and inf are outside."""
        column, row, index, doubtful = self._room(x.size)
        shape = self.grid.shape
        fitted = self.patches.coefficients
        n, m = _place(
            x, y, *self.crop, fitted, self.patches.margin, *shape, column, row, index, doubtful
        )
        if not fitted.size:
            if self._moves and n:
                self._project(column[:n], row[:n])
            _in_cells(column[:n], row[:n], *self.grid.bounds, *shape)
        elif m:
            some = doubtful[:m]
            sure_x, sure_y = x[index[some]], y[index[some]]
            self._project(sure_x, sure_y)
            _in_cells(sure_x, sure_y, *self.grid.bounds, *shape)
            column[some], row[some] = sure_x, sure_y
        return Found(column[:n], row[:n], index[:n])

    def number(self, x: Floats, y: Floats) -> Ints:
        """The cell of each of (n,) places, row times columns plus column; -1 outside."""
        cell = np.full(x.size, -1)
        self._enter(x, y, cell, None)
        return cell

    def count(self, x: Floats, y: Floats, counts: Ints) -> None:
        """Add (n,) places to the counts of all cells, flat and row by row.

        Nothing is written down of a place itself: in batches that stay in the caches this takes
        three fifths of the time of `find` and counting what it found.
        """
        self._enter(x, y, None, counts)

    def _enter(self, x: Floats, y: Floats, cell: Ints | None, counts: Ints | None) -> None:
        """Either number places or count them; what is not wanted is None."""
        shape, fitted = self.grid.shape, self.patches.coefficients
        if not fitted.size:
            enter(*self.find(x, y), *shape, cell, counts)
            return
        doubtful = self._room(x.size)[3]
        m = enter_sure(
            x, y, *self.crop, fitted.ravel(), len(fitted), fitted.shape[-1], self.patches.margin,
            *shape, cell, counts, doubtful,
        )  # fmt: skip
        if m:
            some = doubtful[:m]
            column, row = x[some], y[some]
            self._project(column, row)
            _in_cells(column, row, *self.grid.bounds, *shape)
            enter(column, row, some, *shape, cell, counts)

    def _room(self, size: int) -> tuple[Floats, Floats, Ints, Ints]:
        """Arrays to write to, of each thread its own."""
        room: tuple[Floats, Floats, Ints, Ints] | None = getattr(self._rooms, "arrays", None)
        if room is None or room[0].size < size:
            # Pages that nothing is written to take no space.
            floats, ints = np.empty((2, size)), np.empty((2, size), np.int64)
            room = floats[0], floats[1], ints[0], ints[1]
            self._rooms.arrays = room
        return room

    def _project(self, x: Floats, y: Floats) -> None:
        # Kept by each thread: to look it up takes as long as to project a hundred places.
        move = getattr(self._rooms, "move", None)
        if move is None and self.grid.crs is not None and self.crs is not None:
            move = self._rooms.move = transformer(self.crs, self.grid.crs)
        if move is not None:
            move.transform(x, y, inplace=True)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_rooms"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._rooms = local()


def crop_box(bounds: Box, crs: pyproj.CRS, target: pyproj.CRS) -> Crop:
    """Return west, south, east, north and the period of x (360 or 0) that hold the bounds.

    It comes from the public bounds alone. Points beyond it are never projected: projecting is
    where the time of counting goes.
    """
    if target.is_geographic and target.axis_info[0].unit_name != "degree":
        return EVERYWHERE
    box = box_in(bounds, crs, target)
    if box is None:
        return EVERYWHERE
    west, south, east, north = box
    if not target.is_geographic:
        return west, south, east, north, 0.0
    return west, south, east + (360.0 if east < west else 0.0), north, 360.0


@lru_cache(maxsize=16)
def _patches(grid: Grid, crs: pyproj.CRS, crop: Crop, max_pieces: int) -> Patches:
    def cells(x: Floats, y: Floats) -> tuple[Floats, Floats]:
        u, v = transformer(crs, grid.crs).transform(x, y)
        x0, y0, x1, y1 = grid.bounds
        rows, cols = grid.shape
        return (u - x0) * (cols / (x1 - x0)), (v - y0) * (rows / (y1 - y0))

    return Patches.over(crop[:4], cells, max_pieces)


@njit(cache=True, nogil=True)
def _place(  # type: ignore[no-untyped-def]
    x,
    y,
    west,
    south,
    east,
    north,
    period,
    patches,
    margin,
    rows,
    cols,
    column,
    row,
    index,
    doubtful,
):
    """Put the places inside the box first: their cells, or without patches what they were.

    Returns how many, and for how many of them (their numbers in ``doubtful``) an edge is so near
    that the projection decides. ``index`` gets their places in ``x``.
    """
    n = m = 0
    pieces = patches.shape[0]
    across, along = pieces / (east - west), pieces / (north - south)
    for i in range(x.size):
        if not south <= y[i] <= north:
            continue
        east_of = x[i] - west
        if period > 0.0 and not 0.0 <= east_of < period:
            east_of -= np.floor(east_of / period) * period
        if not (east_of <= east - west and (east_of >= 0.0 or (period == 0.0 and x[i] >= west))):
            continue
        if pieces == 0:
            column[n], row[n], index[n] = x[i], y[i], i
            n += 1
            continue
        s, t = east_of * across, (y[i] - south) * along
        k, j = min(int(s), pieces - 1), min(int(t), pieces - 1)
        s, t = 2.0 * (s - k) - 1.0, 2.0 * (t - j) - 1.0
        c = patches[j, k, 0]
        u = _polynomial(c, s, t)
        if not -margin <= u <= cols + margin:
            continue
        v = _polynomial(patches[j, k, 1], s, t)
        if not -margin <= v <= rows + margin:
            continue
        column[n], row[n], index[n] = u, v, i
        u -= np.floor(u)
        v -= np.floor(v)
        if min(u, 1.0 - u, v, 1.0 - v) <= margin:
            doubtful[m] = n
            m += 1
        n += 1
    return n, m


@njit(inline="always")
def _polynomial(c, s, t):  # type: ignore[no-untyped-def]
    """See `Patches`."""
    value = c[0] + t * (c[2] + t * c[5]) + s * (c[1] + t * c[4] + s * c[3])
    if len(c) > QUADRATIC:
        value += t * t * (s * c[8] + t * c[9]) + s * s * (s * c[6] + t * c[7])
    return value


@njit(cache=True, nogil=True)
def _in_cells(x, y, x0, y0, x1, y1, rows, cols):  # type: ignore[no-untyped-def]
    """Coordinates of the grid's CRS to column and row, in place; NaN and NaN outside."""
    across, along = cols / (x1 - x0), rows / (y1 - y0)
    for i in range(x.size):
        if x0 <= x[i] <= x1 and y0 <= y[i] <= y1:
            x[i], y[i] = (x[i] - x0) * across, (y[i] - y0) * along
        else:
            x[i] = y[i] = np.nan
