"""A public boundary, such as a city's limits, as the extent of a grid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyproj

from explorer.errors import InputError
from explorer.grid.polygon_files import read_frame
from explorer.grid.projection import LONLAT, equal_area_crs, middle_of
from explorer.grid.stated_crs import crs_of_polygons

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
