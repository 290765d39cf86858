"""Coordinate reference systems: checked once, transformers made once."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

import numpy as np
import pyproj
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError

LONLAT = pyproj.CRS.from_epsg(4326)
# A code such as EPSG:27700, or the beginning of WKT.
_SAFE = re.compile(
    r"([A-Z]{2,8}:{1,2}[\w.]{1,20}|urn:ogc:def:crs:[A-Z]{2,8}:[\d.]*:\w{1,20})\Z|[A-Z_]{5,20}\[",
    re.IGNORECASE,
)
# Points are projected so many at a time: working arrays of 24 MB; larger chunks are not faster.
CHUNK = 2**20


def as_crs(crs: Any) -> pyproj.CRS:
    """Return the CRS that an EPSG code, a WKT or PROJ string, or a CRS object names."""
    try:
        return pyproj.CRS.from_user_input(crs)
    except (pyproj.exceptions.CRSError, TypeError, ValueError) as error:
        raise _unknown(crs) from error


def _unknown(crs: Any) -> InputError:
    return InputError(f"{str(crs)[:60]!r} is not a known CRS; give one such as 'EPSG:4326'.")


def foreign_crs(description: Any) -> pyproj.CRS:
    """The CRS that a file or a visitor describes; one that is a text has to be a code or WKT.

    A number is a code of EPSG.

    Raises
    ------
    InputError
        For anything else: PROJ takes some texts for the names of files.
    """
    if isinstance(description, str) and description.isdecimal():
        description = f"EPSG:{description}"
    if isinstance(description, str) and not _SAFE.match(description):
        raise _unknown(description)
    return as_crs(description)


def text_of_crs(crs: pyproj.CRS | None) -> str | None:
    """A CRS as text, to be sent to another process.

    >>> crs_of_text(text_of_crs(LONLAT)) == LONLAT
    True
    """
    return None if crs is None else crs.to_json()


def crs_of_text(text: Any) -> Any:
    """A CRS from its description in JSON, never from the name of something to look up."""
    if text is None:
        return None
    try:
        return pyproj.CRS.from_json_dict(json.loads(text))
    except (pyproj.exceptions.CRSError, TypeError, ValueError) as error:
        raise InputError("The CRS of this file is damaged; set it again, and save.") from error


def metric_crs(crs: Any) -> pyproj.CRS:
    """Return a CRS to lay a grid in; refuse one that is not projected or not in metres."""
    crs = as_crs(crs)
    if not crs.is_projected:
        raise InputError(
            f"{crs.name} is not measured in metres on a map; use Grid.around(lon, lat, width) or "
            "give a projected CRS such as 'EPSG:27700'."
        )
    axis = crs.axis_info[0]
    if axis.unit_conversion_factor != 1.0:
        raise InputError(f"{crs.name} is measured in {axis.unit_name}; give a CRS in metres.")
    return crs


def equal_area_crs(lon: float, lat: float) -> pyproj.CRS:
    """Return Lambert's azimuthal equal-area projection (WGS 84, metres) centred on a place."""
    lon = (lon + 180.0) % 360.0 - 180.0
    return as_crs(f"+proj=laea +lat_0={lat!r} +lon_0={lon!r} +datum=WGS84 +units=m +no_defs")


def middle_of(lon: NDArray[np.float64], lat: NDArray[np.float64]) -> tuple[float, float]:
    """The middle of the bounding box of places in degrees, also where it crosses the antimeridian.

    >>> middle_of(np.array([178.0, -179.0]), np.array([-19.0, -16.0]))
    (179.5, -17.5)
    """
    # Islands on both sides of 180 degrees have numbers far from each other, but near angles.
    angles = min((lon, lon % 360.0), key=np.ptp)
    middle = (angles.min() + angles.max()) / 2
    return float(middle), float((lat.min() + lat.max()) / 2)


@lru_cache(maxsize=64)
def transformer(source: pyproj.CRS, target: pyproj.CRS) -> pyproj.Transformer:
    """Return the transformer between two CRS, x (or longitude) first; it is made only once."""
    try:
        return pyproj.Transformer.from_crs(source, target, always_xy=True)
    except pyproj.exceptions.ProjError as error:
        raise InputError(
            f"There is no way from {source.name} to {target.name}; give another CRS."
        ) from error


def transform(
    source: pyproj.CRS, target: pyproj.CRS, x: ArrayLike, y: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return coordinates in another CRS as arrays; a place the projection lacks becomes inf."""
    x, y = np.atleast_1d(np.asarray(x, float)), np.atleast_1d(np.asarray(y, float))
    moved: tuple[NDArray[np.float64], NDArray[np.float64]]
    moved = transformer(source, target).transform(x, y)
    return moved


def box_in(
    bounds: tuple[float, float, float, float], source: pyproj.CRS, target: pyproj.CRS
) -> tuple[float, float, float, float] | None:
    """Return a box in ``target`` that holds a box in ``source``, or ``None`` if there is none.

    Edges of a box become curves: 40 places on each edge are projected, and the result is made 1 %
    larger on every side. In degrees, west may be larger than east (antimeridian).
    """
    try:
        west, south, east, north = transformer(source, target).transform_bounds(
            *bounds, densify_pts=40, errcheck=True
        )
    except pyproj.exceptions.ProjError:
        return None
    if not np.all(np.isfinite([west, south, east, north])):
        return None
    if not target.is_geographic:
        dx, dy = (east - west) / 100, (north - south) / 100
        return west - dx, south - dy, east + dx, north + dy
    span = (east - west) % 360.0 if east < west else east - west
    dx, dy = span / 100, (north - south) / 100
    if span + 2 * dx >= 360.0:
        return -180.0, max(south - dy, -90.0), 180.0, min(north + dy, 90.0)
    return (west - dx, max(south - dy, -90.0), east + dx, min(north + dy, 90.0))
