"""Polygons of a visitor: checked, clipped and rounded as boxes are, moved and taken by corners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.queries.boxes import DECIMALS

Floats = NDArray[np.float64]
Box = tuple[float, float, float, float]

#: Corners of all polygons on a page: what a browser draws and a server asks at once.
MOST_CORNERS = 200_000
#: A polygon of more corners has none that can be dragged: they would overlap.
MOST_HANDLES = 60
_POLYGONS = ("Polygon", "MultiPolygon")


def polygon_of(corners: Any) -> Any:
    """The polygon with these corners, (k, 2) as a browser sent them.

    Raises
    ------
    InputError
        For what are not three pairs of finite numbers.
    """
    try:
        places = np.asarray(corners, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("A corner of a polygon is two numbers, x and y.") from error
    if places.ndim != 2 or places.shape[1] != 2 or not np.isfinite(places).all():
        raise InputError("A corner of a polygon is two numbers, x and y.")
    if not 3 <= len(places) <= MOST_CORNERS:
        raise InputError("A polygon has three corners at least: click three places.")
    return shapely.Polygon(places)


def kept(shape: Any, bounds: Box) -> Any:
    """A polygon as it is kept: valid, within ``bounds``, its corners rounded.

    Sides that cross each other make parts, as where a release is asked.

    Raises
    ------
    InputError
        For what is no polygon, has no area, too many corners, or is outside.
    """
    if getattr(shape, "geom_type", "") not in _POLYGONS or shape.is_empty:
        raise InputError("A question is a polygon: lines and points hold nothing.")
    corners = shapely.get_coordinates(shape)
    if not np.isfinite(corners).all():
        raise InputError("A polygon has a corner that is not a finite number; mend it.")
    if len(corners) > MOST_CORNERS:
        raise InputError(
            f"A polygon has {len(corners):,} corners, more than {MOST_CORNERS:,}: simplify it."
        )
    # Far beyond the map nothing is asked, and differences of such numbers lose all digits.
    shape = _valid(shapely.force_2d(shape))
    if not within(shape, bounds):
        parts = 10**DECIMALS
        x0, y0 = (np.ceil(edge * parts) / parts for edge in bounds[:2])
        x1, y1 = (np.floor(edge * parts) / parts for edge in bounds[2:])
        shape = _flat(shapely.intersection(shape, shapely.box(x0, y0, x1, y1)))
        if shape.is_empty:
            raise InputError("This polygon lies outside the map: draw it within.")
    polygon = _valid(shapely.transform(shape, _rounded))
    if polygon.is_empty or polygon.area <= 0:
        raise InputError("This polygon has no area: draw one whose corners are not on one line.")
    # Of one part it is plain, so that its corners can be dragged.
    parts = shapely.get_parts(polygon)
    return parts[0] if len(parts) == 1 else polygon


def within(shape: Any, bounds: Box) -> bool:
    """Whether no part of a polygon is beyond ``bounds``."""
    x0, y0, x1, y1 = shape.bounds
    return bool(x0 >= bounds[0] and y0 >= bounds[1] and x1 <= bounds[2] and y1 <= bounds[3])


def as_box(shape: Any) -> Box | None:
    """The edges of a polygon that is a rectangle along the axes; None for any other."""
    x0, y0, x1, y1 = shape.bounds
    if shape.geom_type != "Polygon" or len(shape.interiors):
        return None
    corners = shapely.get_coordinates(shape)
    on_edge = np.isin(corners[:, 0], (x0, x1)) & np.isin(corners[:, 1], (y0, y1))
    is_box = bool(on_edge.all()) and shape.area == (x1 - x0) * (y1 - y0)
    return (x0, y0, x1, y1) if is_box or shape.equals(shapely.box(x0, y0, x1, y1)) else None


def moved(shape: Any, right: float, up: float, bounds: Box) -> Any:
    """A polygon elsewhere, whole: it stops at the edges of the map."""
    x0, y0, x1, y1 = shape.bounds
    right = float(np.clip(right, min(bounds[0] - x0, 0), max(bounds[2] - x1, 0)))
    up = float(np.clip(up, min(bounds[1] - y0, 0), max(bounds[3] - y1, 0)))
    return shapely.transform(shape, lambda places: places + np.array([right, up]))


def dragged(before: Any, corners: Any, bounds: Box) -> Any:
    """What a drag has made of a polygon.

    Parameters
    ----------
    before : the polygon at the start of the drag
    corners : of its outline now, as a browser sent them
    bounds : of the map

    Returns
    -------
    The polygon elsewhere where all of it was dragged; else one with these corners, and of one in
    parts or with holes nothing but the polygon itself.
    """
    start, now = outline(before), shapely.get_coordinates(polygon_of(corners))[:-1]
    if len(now) == len(start):
        by = now - start
        # As far as a browser's pixels go, all corners have moved alike.
        if np.ptp(by, axis=0).max() <= 1e-6 * max(bounds[2] - bounds[0], bounds[3] - bounds[1]):
            right, up = by.mean(axis=0).tolist()
            return moved(before, right, up, bounds)
    return polygon_of(corners) if len(handles(before)) else before


def holds(shape: Any, x: float, y: float) -> bool:
    """Whether a place is in a polygon."""
    return bool(shapely.intersects_xy(shape, x, y))


def handles(shape: Any) -> Floats:
    """The corners of a polygon that can be dragged, (k, 2); none of one in parts or with holes."""
    simple = shape.geom_type == "Polygon" and not len(shape.interiors)
    corners: Floats = shapely.get_coordinates(shape)[:-1]
    return corners if simple and len(corners) <= MOST_HANDLES else np.zeros((0, 2))


def outline(shape: Any) -> Floats:
    """The corners of the largest part of a polygon, (k, 2): what a drag of all of it begins in."""
    largest = max(shapely.get_parts(shape), key=lambda part: part.area)
    corners: Floats = shapely.get_coordinates(largest.exterior)[:-1]
    return corners


def corners_of(shapes: Sequence[Any]) -> int:
    """Corners of all polygons together; None has none."""
    return int(sum(shapely.get_num_coordinates(shape) for shape in shapes if shape is not None))


def _rounded(places: Floats) -> Floats:
    return np.round(places, DECIMALS) + 0.0


def _valid(shape: Any) -> Any:
    if shape.is_valid:
        return shape
    return _flat(shapely.make_valid(shape, method="structure", keep_collapsed=False))


def _flat(shape: Any) -> Any:
    """The polygons of what may be a collection."""
    if shape.geom_type in _POLYGONS:
        return shape
    parts = [part for part in shapely.get_parts(shape) if part.geom_type in _POLYGONS]
    return shapely.union_all(parts) if parts else shapely.Polygon()
