"""A national lattice over all areas: each area's window of cells, and its share of each of them.

Shares are exact, see `grid.pieces`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyproj
import shapely
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid import values
from explorer.grid.areas.reading import AreaPath, spoken
from explorer.grid.extent import MAX_CELLS
from explorer.grid.grid import Grid
from explorer.grid.kept import kept
from explorer.grid.pieces import add_polygon

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Cells along a side of a window, at most: above, they are taken twice as long, again and again.
MOST_SIDE = 512
#: Sides of cells in metres.
SMALLEST, LARGEST = 1.0, 100_000.0


@dataclass(frozen=True, eq=False)
class Lattice:
    """One grid for all areas, and a window of it for each.

    Attributes
    ----------
    grid : Grid
        Holds every place that an area may be given.
    windows : (m, 4) first row, first column, rows, columns of each area, in its own cells
    scale : (m,) sides of an area's own cells over those of the grid, powers of two
    starts, flat : shares of area a, row by row, at starts[a] to starts[a + 1] of `flat`
    """

    grid: Grid
    windows: Ints
    scale: Ints
    starts: Ints
    flat: Floats

    def shares(self, area: int) -> Floats:
        """Which part of each cell of a window is in its area, (rows, columns), 0 to 1."""
        rows, cols = self.windows[area, 2:]
        return self.flat[self.starts[area] : self.starts[area + 1]].reshape(rows, cols)


def lattice_over(
    flat_on: Callable[[pyproj.CRS], NDArray[Any]],
    plane: pyproj.CRS,
    paths: Sequence[AreaPath],
    cell: float,
    grid: Grid | None,
    reach: float,
    worth: int,
    key: str,
) -> Lattice:
    """The lattice over areas, see `Areas.lattice`.

    Parameters
    ----------
    flat_on : gives the (m,) polygons in a projected CRS
    plane : the CRS of the grid, unless there is one
    paths : (m,) what the areas are called
    cell : metres
    grid : a grid to take as it is, or None
    reach : metres beyond its border within which an area has places
    worth : corners of the polygons, see `kept`
    key : SHA-256 of them
    """
    if grid is None:
        number = values.as_number(cell, SMALLEST, LARGEST)
        if number is None:
            raise InputError(
                f"The cells' side is {values.shown(cell)}: give metres, {SMALLEST:g} to "
                f"{LARGEST:g}."
            )
        cell = number
    elif grid.crs is None:
        raise InputError("This grid has no CRS, so that no area has a place on it; give one.")
    where = plane if grid is None or grid.crs is None else grid.crs
    name = hashlib.sha256(f"{key} {cell} {reach} {grid and grid.to_dict()}".encode()).hexdigest()

    def build() -> dict[str, NDArray[Any]]:
        shapes = flat_on(where)
        lattice_grid = grid or _grid_over(shapes, where, cell, reach)
        _check_held(lattice_grid, shapes, paths, reach)
        about = np.array([*lattice_grid.bounds, *lattice_grid.shape], dtype=np.float64)
        return {"grid": about, **_windows(shapes, lattice_grid, reach)}

    names = ("grid", "windows", "scale", "starts", "flat")
    arrays = kept("lattice1", name, names, build, worth)
    about = arrays.pop("grid").tolist()
    west, south, east, north, rows, cols = about
    return Lattice(Grid((west, south, east, north), (int(rows), int(cols)), where), **arrays)


def _grid_over(shapes: NDArray[Any], plane: pyproj.CRS, cell: float, reach: float) -> Grid:
    """The grid of square cells over all areas; its corners are multiples of a cell."""
    west, south, east, north = shapely.total_bounds(shapes)
    margin = reach + max(cell, 1.0)
    first = np.floor((np.array([west, south]) - margin) / cell)
    number = np.ceil((np.array([east, north]) + margin) / cell) - first
    # Whole cells of every window: larger ones are some of these.
    block = 2 ** max(int(np.ceil(np.log2(number.max() / MOST_SIDE))), 0)
    cols, rows = (np.ceil(number / block) * block).astype(np.int64)
    if rows * cols > MAX_CELLS:
        needed = cell * np.sqrt(rows * cols / MAX_CELLS)
        least = float(np.ceil(needed / 10 ** np.floor(np.log10(needed)) * 10)) * 10 ** (
            np.floor(np.log10(needed)) - 1
        )
        raise InputError(
            f"Cells of {cell:g} m make {rows * cols:,} cells over these areas, more than "
            f"{MAX_CELLS:,}; give cells of about {least:g} m or more."
        )
    x0, y0 = first * cell
    bounds = (float(x0), float(y0), float(x0 + cols * cell), float(y0 + rows * cell))
    return Grid(bounds, (int(rows), int(cols)), plane)


def _check_held(grid: Grid, shapes: NDArray[Any], paths: Sequence[AreaPath], reach: float) -> None:
    """Refuse a grid beyond which an area goes on: its records there would vanish."""
    x0, y0, x1, y1 = grid.bounds
    west, south, east, north = shapely.bounds(shapes).T
    out = (west - reach < x0) | (south - reach < y0) | (east + reach > x1) | (north + reach > y1)
    if out.any():
        first = spoken(paths[np.flatnonzero(out)[0]])
        more = int(out.sum()) - 1
        others = f" and {more:,} more" if more else ""
        raise InputError(
            f"This grid does not hold the area {first}{others}, so that records would be lost; "
            "take the lattice of the areas, or a larger grid."
        )


def _windows(shapes: NDArray[Any], grid: Grid, reach: float) -> dict[str, NDArray[Any]]:
    x0, y0, *_ = grid.bounds
    steps = np.array([grid.cell_width, grid.cell_height])
    bounds = (shapely.bounds(shapes).reshape(-1, 2, 2) - (x0, y0)) / steps
    # Rounding and bent edges move a place by less than this.
    margin = reach / steps + np.maximum(1.0, 1.0 / steps)
    highest = np.array([grid.shape[1], grid.shape[0]])
    first = np.maximum(np.floor(bounds[:, 0] - margin), 0)
    behind = np.minimum(np.ceil(bounds[:, 1] + margin), highest)
    sides = (behind - first).max(axis=1)
    scale = 2 ** np.maximum(np.ceil(np.log2(sides / MOST_SIDE)), 0).astype(np.int64)
    first = first.astype(np.int64) // scale[:, None]
    behind = -(-behind.astype(np.int64) // scale[:, None])
    windows = np.stack([first[:, ::-1], (behind - first)[:, ::-1]], axis=1).reshape(-1, 4)
    starts = np.concatenate([[0], np.cumsum(windows[:, 2] * windows[:, 3])])
    flat = np.zeros(starts[-1])
    for area, shape in enumerate(shapes):
        rows, cols = windows[area, 2:]
        cells = flat[starts[area] : starts[area + 1]].reshape(rows, cols)
        origin = np.array([x0, y0]) + first[area] * scale[area] * steps
        add_polygon(shape, origin, steps * scale[area], cells)
    return {"windows": windows, "scale": scale, "starts": starts, "flat": flat}
