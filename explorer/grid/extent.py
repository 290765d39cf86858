"""Declared extents: boxes and public boundaries, what a person types for them, and their cells."""

from __future__ import annotations

import math
import re
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import shapely

from explorer.errors import InputError
from explorer.grid.polygon_files import read_frame
from explorer.grid.projection import LONLAT, as_crs, equal_area_crs, metric_crs, middle_of
from explorer.grid.stated_crs import crs_of_polygons

MAX_CELLS = 2**22
_LENGTH = re.compile(r"([0-9.,]+(?:e[+-]?[0-9]+)?)\s*(km|m)", re.IGNORECASE)

Bounds = tuple[float, float, float, float]


def as_shape(shape: Any) -> tuple[int, int]:
    """Return (rows, columns) of a number (a square) or a pair; refuse shapes out of range."""
    pair = (shape, shape) if np.ndim(shape) == 0 else tuple(shape)
    whole = [isinstance(n, int | np.integer) and not isinstance(n, bool) for n in pair]
    if len(pair) != 2 or not all(whole) or min(pair) < 1:
        raise InputError(
            f"A grid of shape {shape!r} cannot be made; give rows and columns as whole numbers "
            "of 1 or more."
        )
    rows, cols = int(pair[0]), int(pair[1])
    if rows * cols > MAX_CELLS:
        raise InputError(
            f"A grid of {rows:,} x {cols:,} has {rows * cols:,} cells, more than the "
            f"{MAX_CELLS:,} that this program allows; give fewer rows and columns."
        )
    return rows, cols


def as_bounds(bounds: Any) -> Bounds:
    """Return (x0, y0, x1, y1) as floats; refuse bounds that enclose no area."""
    try:
        x0, y0, x1, y1 = (float(v) for v in bounds)
    except (TypeError, ValueError) as error:
        raise InputError("Bounds are four numbers: west, south, east, north.") from error
    if not np.all(np.isfinite([x0, y0, x1, y1])) or x0 >= x1 or y0 >= y1:
        raise InputError(
            f"The bounds {x0:g}, {y0:g}, {x1:g}, {y1:g} enclose no area; give west, south, east, "
            "north with west below east and south below north."
        )
    return x0, y0, x1, y1


def as_number(value: Any, what: str) -> float:
    """Return a float (also inf or nan); ``what`` begins the sentence that refuses the rest."""
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} is {value!r}; give a number.") from error


def as_metres(value: Any, what: str) -> float:
    """A length in metres: a number, or as people type it.

    >>> [as_metres(text, "The width") for text in (250, "20km", "1.5 km", "500m")]
    [250.0, 20000.0, 1500.0, 500.0]
    """
    if not isinstance(value, str):
        return as_number(value, what)
    match = _LENGTH.fullmatch(value.strip())
    try:
        if match is None:
            raise ValueError(value)
        number = float(match[1])
    except ValueError:
        raise InputError(
            f"{what} is {value!r}, which is not a length; give one such as 20km or 500m."
        ) from None
    return number * (1000.0 if match[2].lower() == "km" else 1.0)


def as_rectangles(rectangles: Any, ordered: bool = True) -> np.ndarray:
    """Return (n, 4) float64 of n rectangles x0, y0, x1, y1, or of a single one.

    Parameters
    ----------
    rectangles : (n, 4) or (4,)
    ordered : bool
        Whether x0 above x1 or y0 above y1 is refused.

    Raises
    ------
    InputError
        For rectangles that are not (n, 4), not finite, or inside out.
    """
    try:
        array = np.asarray(rectangles, float)
    except (TypeError, ValueError) as error:
        raise InputError("Rectangles are numbers: x0, y0, x1, y1 in each row.") from error
    if array.size == 0:
        return np.zeros((0, 4))
    if array.ndim == 1:
        array = array[None]
    if array.ndim != 2 or array.shape[1] != 4:
        raise InputError(
            f"Rectangles have shape {array.shape}; give x0, y0, x1, y1 in each row, (n, 4)."
        )
    if not np.isfinite(array).all():
        raise InputError("A rectangle has a coordinate that is not a finite number; mend it.")
    if ordered and np.any(array[:, :2] > array[:, 2:]):
        raise InputError("A rectangle is inside out; give west before east and south before north.")
    return array


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


_POLYGONS = ["Polygon", "MultiPolygon"]


def boundary_bounds(
    boundary: Any, crs: pyproj.CRS | None = None, boundary_crs: Any = None
) -> tuple[tuple[float, float, float, float], pyproj.CRS]:
    """Return the bounding box (x0, y0, x1, y1) of polygons, and its projected CRS.

    Parameters
    ----------
    boundary : path, GeoDataFrame or GeoSeries
        GeoJSON, GeoPackage, Shapefile, GeoParquet, or a frame; polygons with a CRS.
    crs : pyproj.CRS, optional
        The CRS of the box; by default Lambert's azimuthal equal-area projection on the centre.
    boundary_crs : int, str or CRS, optional
        The CRS of the boundary, where it has none or one that its corners contradict.

    Raises
    ------
    InputError
        For a file that cannot be read, has no polygons or no CRS.
    """
    import geopandas

    frames = geopandas.GeoDataFrame | geopandas.GeoSeries
    frame = boundary if isinstance(boundary, frames) else _read(boundary)
    if not isinstance(frame, frames):
        raise InputError("A boundary is made of polygons; this file has none. Give such a file.")
    shapes = frame.geometry
    shapes = shapes[~(shapes.isna() | shapes.is_empty)]
    areas = shapes.geom_type.isin([*_POLYGONS, "GeometryCollection"]).all()
    # Some files wrap polygons in collections, with stray lines left by a simplification.
    shapes = shapes.explode()
    shapes = shapes[shapes.geom_type.isin(_POLYGONS)]
    if not areas or shapes.empty:
        raise InputError("A boundary is made of polygons; give a file that holds nothing else.")
    what, option = "polygons of the boundary", "boundary_crs"
    shapes_crs = crs_of_polygons(shapes.crs, boundary_crs, shapes.to_numpy(), what, option)
    shapes = shapes.set_crs(shapes_crs, allow_override=True)
    degrees = shapes.to_crs(LONLAT)
    # A straight edge in degrees is a curve in metres: more corners keep its bulge.
    west, south, east, north = degrees.total_bounds
    step = max(east - west, north - south) / 200
    if not np.isfinite(step):
        raise InputError("This boundary has corners that are not on the Earth; check its CRS.")
    if shapes.crs.is_geographic and step > 0:
        shapes = shapes.segmentize(step)
    if crs is None:
        corners = degrees.get_coordinates()
        crs = equal_area_crs(*middle_of(corners["x"].to_numpy(), corners["y"].to_numpy()))
    x0, y0, x1, y1 = (float(v) for v in shapes.to_crs(crs).total_bounds)
    if not np.all(np.isfinite([x0, y0, x1, y1])):
        raise InputError(f"This boundary does not fit in {crs.name}; give another CRS, or none.")
    return (x0, y0, x1, y1), crs


def _read(path: str | Path) -> Any:
    if not isinstance(path, str | Path):
        raise InputError("A boundary is the path of a file of polygons, or a GeoDataFrame.")
    return read_frame(path, (), "polygons")
