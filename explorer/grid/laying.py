"""A grid laid over a declared extent: its edges in metres, and cells of a size or of a number."""

from __future__ import annotations

import math
from os import PathLike
from typing import Any

import numpy as np
import pyproj
import shapely

from explorer.errors import InputError
from explorer.grid.boundary import boundary_bounds
from explorer.grid.extent import MAX_CELLS, Bounds, as_bounds, as_metres, as_shape
from explorer.grid.projection import LONLAT, as_crs, metric_crs

#: Cells along the longer side where no one says how many.
_USUAL = 1024


def extent_bounds(extent: Any, crs: Any = None) -> tuple[Bounds, pyproj.CRS]:
    """West, south, east and north of an extent in metres, and their CRS; see `Grid.of`."""
    import geopandas

    if hasattr(extent, "count_on"):
        raise InputError(
            "An extent is public, so it must not be that of the points: give west, south, east, "
            "north in degrees, or a public boundary."
        )
    stated_crs = None if crs is None else as_crs(crs)
    if isinstance(extent, str | PathLike) or hasattr(extent, "geometry"):
        return boundary_bounds(extent, None if stated_crs is None else metric_crs(stated_crs))
    if isinstance(extent, shapely.Geometry):
        series = geopandas.GeoSeries([extent], crs=LONLAT if stated_crs is None else stated_crs)
        return boundary_bounds(
            series, metric_crs(stated_crs) if stated_crs and stated_crs.is_projected else None
        )
    if stated_crs is not None and not stated_crs.is_geographic:
        return as_bounds(extent), metric_crs(stated_crs)
    box = _box_in_degrees(extent)
    return boundary_bounds(
        geopandas.GeoSeries([box], crs=LONLAT if stated_crs is None else stated_crs)
    )


def _box_in_degrees(extent: Any) -> shapely.Geometry:
    try:
        west, south, east, north = (float(edge) for edge in extent)
    except (TypeError, ValueError) as error:
        raise InputError(
            "An extent is west, south, east, north in degrees, a file or frame of a public "
            "boundary, or one of its polygons."
        ) from error
    edges = np.array([west, south, east, north])
    if not np.all(np.isfinite(edges)) or np.abs(edges[::2]).max() > 360 or (
        np.abs(edges[1::2]).max() > 90
    ):  # fmt: skip
        raise InputError(
            f"{west:g}, {south:g}, {east:g}, {north:g} are no degrees: say which CRS they are in, "
            "such as crs='EPSG:27700', or give west, south, east, north in degrees."
        )
    # West above east is an extent over the antimeridian.
    west, south, east, north = as_bounds((west, south, east + 360 * (east < west), north))
    if east - west >= 360:
        raise InputError("An extent ends before it has gone around the Earth; give a smaller one.")
    return shapely.box(west, south, east, north)


def cells_over(bounds: Bounds, cell: Any = None, shape: Any = None) -> tuple[Bounds, Any]:
    """Bounds and (rows, columns) of whole cells over bounds in metres.

    Cells of a size are squares; what is missing to a whole number of them is added on all sides
    alike. Cells of a number fill the bounds as they are. With neither, cells are almost squares,
    1,024 along the longer side.

    >>> cells_over((0, 0, 1000, 450), "100m")
    ((0.0, -25.0, 1000.0, 475.0), (5, 10))
    """
    x0, y0, x1, y1 = as_bounds(bounds)
    width, height = x1 - x0, y1 - y0
    if cell is None:
        if shape is None:
            longer = max(width, height)
            shape = (_cells(height, longer / _USUAL), _cells(width, longer / _USUAL))
        return (x0, y0, x1, y1), as_shape(shape)
    if shape is not None:
        raise InputError("Give the size of a cell or the number of cells, not both.")
    side = as_metres(cell, "The size of a cell")
    if not (math.isfinite(side) and side > 0):
        raise InputError(f"Cells of {cell!r} are no squares; give a length such as 50 or '50m'.")
    # Before they are whole numbers: a size near zero would make too many to count.
    if (width / side + 1) * (height / side + 1) > 2 * MAX_CELLS:
        raise InputError(
            f"Cells of {side:g} m on {width:,.0f} x {height:,.0f} m are more than the "
            f"{MAX_CELLS:,} that this program allows; give larger ones."
        )
    rows, columns = as_shape((_cells(height, side), _cells(width, side)))
    dx, dy = (columns * side - width) / 2, (rows * side - height) / 2
    return (x0 - dx, y0 - dy, x1 + dx, y1 + dy), (rows, columns)


def _cells(length: float, side: float) -> int:
    # A billionth of a cell is rounding, no part of another one.
    return max(1, math.ceil(length / side - 1e-9))
