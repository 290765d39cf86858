"""Points into cells: crop, project, count, a million points at a time."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pyproj
from numba import njit
from numpy.typing import NDArray

from explorer.grid.grid import Grid, Progress
from explorer.grid.projection import CHUNK, box_in, transformer

Box = tuple[float, float, float, float]
Crop = tuple[float, float, float, float, float]

EVERYWHERE: Crop = (-np.inf, -np.inf, np.inf, np.inf, 0.0)
_NO_LATTICE = np.empty((0, 0, 2))


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


def count_points(
    points: Records,
    bounds: Box,
    shape: tuple[int, int],
    crs: pyproj.CRS | None,
    contribution_bound: int | None = None,
    progress: Progress | None = None,
) -> NDArray[np.int64]:
    """Return how many records lie in each cell, (rows, columns) int64.

    Parameters
    ----------
    points : Records
        In any CRS if ``crs`` is one, else in cells.
    bounds : (x0, y0, x1, y1)
        In ``crs``. All four edges belong to the area.
    shape : (rows, columns)
    contribution_bound : int, optional
        Keep the first this many records inside the area of each code in ``points.user``.
    progress : callable, optional
        Called with the fraction done after each chunk.
    """
    counts = np.zeros(shape[0] * shape[1], dtype=np.int64)
    size = min(CHUNK, len(points))
    x, y, index = np.empty(size), np.empty(size), np.empty(size, dtype=np.int64)
    project, crop, lattice = None, EVERYWHERE, _NO_LATTICE
    if crs is not None and points.crs is not None and points.crs != crs:
        project = transformer(points.crs, crs)
        crop = _crop_box(bounds, crs, points.crs)
        lattice = _lattice(crop, project)
    bound = contribution_bound or 0
    user = _dense(points.user) if bound and points.user is not None else None
    kept = np.zeros(1 if user is None else int(user.max(initial=-1)) + 1, np.int64)
    for start in range(0, len(points), CHUNK):
        stop = min(start + CHUNK, len(points))
        n = _crop(points.x[start:stop], points.y[start:stop], *crop, lattice, x, y, index)
        if project is not None and not lattice.size and n:
            project.transform(x[:n], y[:n], inplace=True)
        area = (x[:n], y[:n], *bounds, *shape)
        if not bound and points.weight is None:
            _add(*area, counts)
        else:
            rows = index[:n] + start
            weight = np.ones(n, np.int64) if points.weight is None else points.weight[rows]
            code = np.zeros(n, np.int64) if user is None else user[rows]
            _add_records(*area, weight, code, kept, bound, counts)
        if progress is not None:
            progress(stop / len(points))
    return counts.reshape(shape)


def points_inside(
    points: Records, grid: Grid
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32] | None]:
    """Coordinates in the grid's CRS (float32: a centimetre over a city) of the points inside."""
    x0, y0, x1, y1 = grid.bounds
    xs, ys, ws = [], [], []
    project = None
    if grid.crs is not None and points.crs is not None and points.crs != grid.crs:
        project = transformer(points.crs, grid.crs)
    for start in range(0, max(len(points), 1), CHUNK):
        piece = slice(start, start + CHUNK)
        x, y = points.x[piece], points.y[piece]
        if project is not None:
            x, y = project.transform(x, y)
        # A rounded coordinate on the eastern or northern edge must not leave the grid.
        keep = (x >= x0) & (x <= x1) & (y >= y0) & (y <= y1)
        xs.append(x[keep].astype(np.float32))
        ys.append(y[keep].astype(np.float32))
        if points.weight is not None:
            ws.append(points.weight[piece][keep].astype(np.float32))
    return np.concatenate(xs), np.concatenate(ys), np.concatenate(ws) if ws else None


def _dense(user: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return codes small enough to count by: ids of twelve digits would take a terabyte."""
    if user.max(initial=0) < 4 * user.size + 1024:
        return user
    codes: NDArray[np.int64] = np.unique(user, return_inverse=True)[1]
    return codes


def _crop_box(bounds: Box, crs: pyproj.CRS, target: pyproj.CRS) -> Crop:
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


def _lattice(
    crop: Crop, project: pyproj.Transformer, steps: int = 128, tolerance: float = 1e-5
) -> NDArray[np.float64]:
    """Return projected places on a lattice over the crop box, (steps + 1, steps + 1, 2), or none.

    Between them x and y are interpolated by quadratics through 3 x 3 places, ten times faster than
    projecting each point and within 10^-7 m over a city. The error of a quadratic is at most its
    third difference / (9 sqrt 3) in each direction. Where that passes the tolerance (metres; large
    extents, poles) there is no lattice and each point is projected. Whether there is one depends
    on the public extent alone, so the cell of a point never depends on other points.
    """
    west, south, east, north, _ = crop
    if not np.isfinite(crop).all():
        return _NO_LATTICE
    lon, lat = np.meshgrid(np.linspace(west, east, steps + 1), np.linspace(south, north, steps + 1))
    places: NDArray[np.float64] = np.stack(project.transform(lon, lat), axis=-1)
    if not np.isfinite(places).all():
        return _NO_LATTICE
    third = [np.abs(np.diff(places, 3, axis)).max() for axis in (0, 1)]
    # Interpolating along one axis enlarges the error along the other by at most 5/4.
    return places if 1.25 * sum(third) / (9 * 3**0.5) <= tolerance else _NO_LATTICE


@njit(cache=True, nogil=True)
def _crop(  # type: ignore[no-untyped-def]
    x, y, west, south, east, north, period, lattice, out_x, out_y, index
):
    """Put the points inside the box first in ``out_x``, ``out_y``, projected if by lattice.

    Returns how many; ``index`` gets their places in ``x``. NaN and inf are outside.
    """
    n = 0
    steps = lattice.shape[0] - 1
    for i in range(x.size):
        if not south <= y[i] <= north:
            continue
        east_of = x[i] - west
        if period > 0.0 and not 0.0 <= east_of < period:
            east_of -= np.floor(east_of / period) * period
        if not (east_of <= east - west and (east_of >= 0.0 or (period == 0.0 and x[i] >= west))):
            continue
        out_x[n], out_y[n], index[n] = x[i], y[i], i
        if steps > 0:
            u = east_of * (steps / (east - west))
            v = (y[i] - south) * (steps / (north - south))
            col, row = min(int(u) // 2 * 2, steps - 2), min(int(v) // 2 * 2, steps - 2)
            u, v = u - col, v - row
            across = ((u - 1) * (u - 2) / 2, u * (2 - u), u * (u - 1) / 2)
            along = ((v - 1) * (v - 2) / 2, v * (2 - v), v * (v - 1) / 2)
            out_x[n] = out_y[n] = 0.0
            for j in range(3):
                for k in range(3):
                    part = along[j] * across[k]
                    out_x[n] += part * lattice[row + j, col + k, 0]
                    out_y[n] += part * lattice[row + j, col + k, 1]
        n += 1
    return n


@njit(cache=True, nogil=True)
def _cell(x, y, x0, y0, x1, y1, rows, cols):  # type: ignore[no-untyped-def]
    """Return the number of the cell row by row, or -1 outside (NaN and inf are outside)."""
    if not (x0 <= x <= x1 and y0 <= y <= y1):
        return -1
    col = int((x - x0) * (cols / (x1 - x0)))
    row = int((y - y0) * (rows / (y1 - y0)))
    # The last edge belongs to the last cell.
    return min(row, rows - 1) * cols + min(col, cols - 1)


@njit(cache=True, nogil=True)
def _add(x, y, x0, y0, x1, y1, rows, cols, counts):  # type: ignore[no-untyped-def]
    for i in range(x.size):
        cell = _cell(x[i], y[i], x0, y0, x1, y1, rows, cols)
        if cell >= 0:
            counts[cell] += 1


@njit(cache=True, nogil=True)
def _add_records(  # type: ignore[no-untyped-def]
    x, y, x0, y0, x1, y1, rows, cols, weight, user, kept, bound, counts
):
    """As `_add` with weights; of each user at most ``bound`` records, ``kept`` so far (0: all)."""
    for i in range(x.size):
        cell = _cell(x[i], y[i], x0, y0, x1, y1, rows, cols)
        if cell < 0:
            continue
        records = weight[i]
        if bound > 0:
            records = min(records, bound - kept[user[i]])
            kept[user[i]] += records
        counts[cell] += records
