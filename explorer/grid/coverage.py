"""Which part of each cell of a grid lies in a geometry."""

from __future__ import annotations

from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.areas.plane import on_plane
from explorer.grid.grid import Grid
from explorer.grid.projection import as_crs

Floats = NDArray[np.float64]


def pieces(grid: Grid, geometry: Any, crs: Any = None) -> tuple[NDArray[np.int64], Floats]:
    """The cells of a grid that a geometry meets, and the part of each that lies in it.

    A polygon is never taken as its bounding box: cells on its border count by area.

    Parameters
    ----------
    grid : Grid
    geometry : shapely polygon, multipolygon or collection of them
    crs : of the geometry; by default the grid's own (cells, for a grid without one)

    Returns
    -------
    (k, 2) row and column, (k,) above 0 to 1

    Raises
    ------
    InputError
        For what is no polygon, or a CRS for a grid without one.
    """
    shape = in_crs(geometry, crs, grid)
    x0, y0, *_ = grid.bounds
    rows, cols = grid.shape
    if shape.is_empty:
        return np.zeros((0, 2), dtype=np.int64), np.zeros(0)
    west, south, east, north = shape.bounds
    left = int(np.clip(np.floor((west - x0) / grid.cell_width), 0, cols))
    right = int(np.clip(np.ceil((east - x0) / grid.cell_width), 0, cols))
    low = int(np.clip(np.floor((south - y0) / grid.cell_height), 0, rows))
    high = int(np.clip(np.ceil((north - y0) / grid.cell_height), 0, rows))
    if right <= left or high <= low:
        return np.zeros((0, 2), dtype=np.int64), np.zeros(0)
    found: list[NDArray[np.int64]] = []
    parts: list[Floats] = []
    _quarter(grid, shape, (low, left, high, right), found, parts)
    if not found:
        return np.zeros((0, 2), dtype=np.int64), np.zeros(0)
    return np.concatenate(found), np.concatenate(parts)


def in_crs(geometry: Any, crs: Any, grid: Grid) -> Any:
    """A geometry in the CRS of a grid, valid; raises InputError for what is no polygon."""
    if not isinstance(geometry, shapely.Geometry) or geometry.area == 0 < len(
        shapely.get_parts(geometry)
    ):
        raise InputError("Give polygons or multipolygons: this has no area.")
    given = None if crs is None else as_crs(crs)
    there = grid.crs
    if given is not None and there is None:
        raise InputError("This grid has no CRS; give geometries in cells, without one.")
    if given is not None and there is not None and given != there:
        alone = np.empty(1, dtype=object)
        alone[0] = geometry
        return on_plane(alone, given, there)[0]
    if not geometry.is_valid:
        geometry = shapely.make_valid(geometry, method="structure", keep_collapsed=False)
    return geometry


_FEW = 16
"""Cells below which a block is looked at cell by cell."""


def _quarter(
    grid: Grid,
    shape: Any,
    block: tuple[int, int, int, int],
    found: list[NDArray[np.int64]],
    parts: list[Floats],
) -> None:
    """Clip a geometry to a block of cells and, while it covers some of it, to its quarters."""
    low, left, high, right = block
    rows, cols = high - low, right - left
    x0, y0, *_ = grid.bounds
    width, height = grid.cell_width, grid.cell_height
    ends = x0 + left * width, y0 + low * height, x0 + right * width, y0 + high * height
    # Not clip_by_rect: it loses polygons whose edges lie on those of the box.
    clipped = shapely.intersection(shape, shapely.box(*ends))
    area, whole = clipped.area, rows * cols * width * height
    if area <= 1e-12 * whole:
        return
    if area >= (1 - 1e-12) * whole:
        row, col = np.mgrid[low:high, left:right]
        found.append(np.column_stack([row.ravel(), col.ravel()]))
        parts.append(np.ones(rows * cols))
        return
    if rows * cols > _FEW:
        middle, centre = low + (rows + 1) // 2, left + (cols + 1) // 2
        for one, other in ((low, middle), (middle, high)):
            for west, east in ((left, centre), (centre, right)):
                if other > one and east > west:
                    _quarter(grid, clipped, (one, west, other, east), found, parts)
        return
    row, col = (each.ravel() for each in np.mgrid[low:high, left:right])
    west, south = x0 + col * width, y0 + row * height
    boxes = shapely.box(west, south, west + width, south + height)
    inside = shapely.area(shapely.intersection(clipped, boxes)) / (width * height)
    some = inside > 1e-12
    found.append(np.column_stack([row[some], col[some]]))
    parts.append(np.minimum(inside[some], 1.0))
