"""In which cell of a grid places lie: cropped first, by certified patches, else projected.

A projection is smooth, so over a small piece of the map the column and the row of a place are
nearly cubic polynomials of its coordinates, many times faster to compute than the projection. How
far they are off is measured where they are fitted; within a hundred times that of an edge between
cells the projection itself decides. So the cell of every place is the one that pyproj gives,
whatever the polynomials are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from threading import local
from typing import NamedTuple

import numpy as np
import pyproj
from numba import njit
from numpy.typing import NDArray

from explorer.grid.grid import Grid
from explorer.grid.projection import box_in, transformer

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Box = tuple[float, float, float, float]
Crop = tuple[float, float, float, float, float]

EVERYWHERE: Crop = (-np.inf, -np.inf, np.inf, np.inf, 0.0)
#: Patches along each side: for a city, and for a country.
FEW, MANY = 16, 64
# Chebyshev nodes of the fit and even nodes of the check along each side of a patch.
_NODES, _CHECKS = 6, 9
# Not proven, a factor of safety: see `Patches`.
_SAFETY, _LEAST_MARGIN, _MOST_ERROR = 100.0, 1e-6, 1e-3


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
        self.crop, self.patches = EVERYWHERE, Patches()
        self._moves = grid.crs is not None and crs is not None and crs != grid.crs
        if grid.crs is not None and crs is not None and self._moves:
            self.crop = crop_box(grid.bounds, grid.crs, crs)
            # Fitting may cost fewer projections than it saves.
            worth = [n for n in (FEW, MANY) if n**2 * (_NODES**2 + _CHECKS**2) <= places]
            self.patches = _patches(grid, crs, self.crop, len(worth))
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
        _enter(*self.find(x, y), *self.grid.shape, cell, None)
        return cell

    def count(self, x: Floats, y: Floats, counts: Ints) -> None:
        """Add (n,) places to the counts of all cells, flat and row by row."""
        _enter(*self.find(x, y), *self.grid.shape, None, counts)

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


@dataclass(frozen=True, eq=False)
class Patches:
    """Cubic polynomials of column and row over the pieces of a box.

    With s and t from -1 to 1 across a piece, west to east and south to north, and c one of its two
    rows of coefficients, a coordinate in cells is ::

        c0 + t (c2 + t c5) + s (c1 + t c4 + s c3) + t^2 (s c8 + t c9) + s^2 (s c6 + t c7)

    Those who distribute the work ship patches; how a machine rounds is far within the margin.

    Attributes
    ----------
    coefficients : (n, n, 2, 10) float64
        Piece by piece from the south-west, row of pieces first; column of cells, then row. With
        n = 0 there are no patches, and the projection is asked for every place.
    error : float
        Largest deviation from the projection, in cells, on 9 x 9 places of each piece that were
        not fitted; infinite without patches.
    margin : float
        Within so many cells of an edge the projection is asked: 100 times the error, 10^-6 at
        least. The factor is one of safety, not a proof: what is known is that no cell of 118
        million places on maps of 20 to 1,000 km was another one, and a test goes on comparing.
    """

    coefficients: Floats = field(default_factory=lambda: np.empty((0, 0, 2, 10)))
    error: float = np.inf
    margin: float = 0.0


@lru_cache(maxsize=16)
def _patches(grid: Grid, crs: pyproj.CRS, crop: Crop, attempts: int) -> Patches:
    """Patches over a box, as few as are exact enough.

    Sixteen along each side are, where their margin is the least there is, as over a city; else 64
    are, up to a country. There are none where 64 are off by more than 10^-3 cells (over a
    continent, or where PROJ changes its way of projecting inside the box: EPSG:27700 jumps by
    130 m), and over an infinite box.
    """

    def cells(x: Floats, y: Floats) -> tuple[Floats, Floats]:
        u, v = transformer(crs, grid.crs).transform(x, y)
        x0, y0, x1, y1 = grid.bounds
        rows, cols = grid.shape
        return (u - x0) * (cols / (x1 - x0)), (v - y0) * (rows / (y1 - y0))

    patches = Patches()
    for pieces in (FEW, MANY)[: attempts if np.isfinite(crop).all() else 0]:
        if patches.margin != _LEAST_MARGIN:
            patches = _fit(crop[:4], cells, pieces)
    return patches if patches.error <= _MOST_ERROR else Patches()


def _fit(
    box: Box, cells: Callable[[Floats, Floats], tuple[Floats, Floats]], pieces: int
) -> Patches:
    """Least squares on Chebyshev nodes, checked on even ones.

    ``cells`` gives columns and rows of (n,) x and (n,) y; inf where it cannot.
    """
    nodes = np.cos((2 * np.arange(_NODES) + 1) * np.pi / (2 * _NODES))
    checks = np.linspace(-1.0, 1.0, _CHECKS)
    targets, true = (_projected(box, cells, pieces, places) for places in (nodes, checks))
    if not (np.isfinite(targets).all() and np.isfinite(true).all()):
        return Patches()
    coefficients = np.ascontiguousarray(targets @ np.linalg.pinv(_powers(nodes)).T)
    error = float(np.abs(coefficients @ _powers(checks).T - true).max())
    return Patches(coefficients, error, max(_SAFETY * error, _LEAST_MARGIN))


def _projected(
    box: Box, cells: Callable[[Floats, Floats], tuple[Floats, Floats]], pieces: int, nodes: Floats
) -> Floats:
    """Column and row of the same nodes in every piece, (pieces, pieces, 2, nodes^2)."""
    west, south, east, north = box
    share = ((np.arange(pieces)[:, None] + (nodes + 1.0) / 2.0) / pieces).ravel()
    x, y = np.meshgrid(west + share * (east - west), south + share * (north - south))
    projected = np.stack(cells(x.ravel(), y.ravel()))
    k = len(nodes)
    parts = projected.reshape(2, pieces, k, pieces, k).transpose(1, 3, 0, 2, 4)
    return parts.reshape(pieces, pieces, 2, k * k)


def _powers(nodes: Floats) -> Floats:
    """The ten products of powers of s and t up to degree three, (nodes^2, 10), t outermost."""
    t, s = (axis.ravel() for axis in np.meshgrid(nodes, nodes, indexing="ij"))
    one = np.ones_like(s)
    return np.stack(
        [one, s, t, s * s, s * t, t * t, s * s * s, s * s * t, s * t * t, t * t * t], axis=1
    )


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
    return value + t * t * (s * c[8] + t * c[9]) + s * s * (s * c[6] + t * c[7])


@njit(cache=True, nogil=True)
def _in_cells(x, y, x0, y0, x1, y1, rows, cols):  # type: ignore[no-untyped-def]
    """Coordinates of the grid's CRS to column and row, in place; NaN and NaN outside."""
    across, along = cols / (x1 - x0), rows / (y1 - y0)
    for i in range(x.size):
        if x0 <= x[i] <= x1 and y0 <= y[i] <= y1:
            x[i], y[i] = (x[i] - x0) * across, (y[i] - y0) * along
        else:
            x[i] = y[i] = np.nan


@njit(cache=True, nogil=True)
def _enter(column, row, index, rows, cols, cell, counts):  # type: ignore[no-untyped-def]
    """Number or count what was found, see `Found`; what is not wanted is None."""
    for i in range(column.size):
        if not np.isnan(column[i]):
            # The last edge belongs to the last cell.
            which = min(int(row[i]), rows - 1) * cols + min(int(column[i]), cols - 1)
            if cell is not None:
                cell[index[i]] = which
            if counts is not None:
                counts[which] += 1
