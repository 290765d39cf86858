"""Rectangles of a map as shapes in longitude and latitude, and the way back.

An edge that is straight in one is a curve in the other, so edges are projected at many places.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.extent import as_rectangles
from explorer.grid import MAX_SIDE, Grid

Floats = NDArray[np.float64]

# An arc of 2 km leaves its chord by 8 cm, a step of 0.005 degrees by 1 cm, times tan(latitude).
_STEP_METRES, _MOST_PARTS = 2_000.0, 16
_STEP_DEGREES, _MOST_STEPS, _MOST_PLACES = 0.005, 64, 5_000_000
_DECIMALS = 9  # a tenth of a millimetre


def box_shapes(boxes: Floats, grid: Grid) -> list[dict[str, Any] | None]:
    """GeoJSON geometries (WGS 84, counterclockwise) of (n, 4) rectangles in metres.

    A rectangle over the antimeridian is cut there (RFC 7946, section 3.1.9), one over a pole gets
    an edge along it. None stands for a rectangle of which a corner has no longitude.
    """
    if not len(boxes):
        return []
    longest = float(np.max(boxes[:, 2:] - boxes[:, :2]))
    parts = int(np.clip(np.ceil(longest / _STEP_METRES), 1, _MOST_PARTS))
    along = np.arange(parts) / parts
    x0, y0, x1, y1 = (column[:, None] for column in boxes.T)
    right, up = x0 + (x1 - x0) * along, y0 + (y1 - y0) * along
    left, down = x1 - (x1 - x0) * along, y1 - (y1 - y0) * along
    still = np.zeros(parts)
    x = np.concatenate([right, x1 + still, left, x0 + still, x0], axis=1)
    y = np.concatenate([y0 + still, up, y1 + still, down, y0], axis=1)
    lon, lat = (part.reshape(x.shape) for part in grid.to_lonlat(x.ravel(), y.ravel()))
    known = np.isfinite(lon).all(axis=1) & np.isfinite(lat).all(axis=1)
    lon = np.unwrap(np.where(known[:, None], lon, 0.0), period=360.0, axis=1)
    simple = (lon.min(axis=1) >= -180.0) & (lon.max(axis=1) <= 180.0)
    rings = np.round(np.stack([lon, lat], axis=-1), _DECIMALS)
    shapes: list[dict[str, Any] | None] = []
    for number, ring in enumerate(rings):
        if not known[number]:
            shapes.append(None)
        elif simple[number] and abs(ring[-1, 0] - ring[0, 0]) < 180.0:
            shapes.append({"type": "Polygon", "coordinates": [ring.tolist()]})
        else:
            shapes.append(_cut(ring))
    return shapes


def _cut(ring: Floats) -> dict[str, Any]:
    """A ring whose longitudes run on past 180, cut into parts between -180 and 180."""
    if abs(ring[-1, 0] - ring[0, 0]) > 180.0:
        # Once round a pole: close it along the pole.
        pole = np.copysign(90.0, ring[:, 1].mean())
        ring = np.vstack([ring, [ring[-1, 0], pole], [ring[0, 0], pole], ring[0]])
    whole, world = shapely.Polygon(ring), shapely.box(-180.0, -90.0, 180.0, 90.0)
    parts = []
    for turn in (-360.0, 0.0, 360.0):
        moved = shapely.transform(whole, partial(np.add, [turn, 0.0]))
        found = shapely.get_parts(shapely.intersection(moved, world))
        parts += [part for part in found if part.geom_type == "Polygon" and part.area > 0]
    if not parts:  # a rectangle without area
        return {"type": "Polygon", "coordinates": [ring.tolist()]}
    rings = [shapely.get_coordinates(part.exterior.normalize()) for part in parts]
    rings = [ring if shapely.is_ccw(shapely.LinearRing(ring)) else ring[::-1] for ring in rings]
    coordinates = [[np.round(ring, _DECIMALS).tolist()] for ring in rings]
    if len(coordinates) == 1:
        return {"type": "Polygon", "coordinates": coordinates[0]}
    return {"type": "MultiPolygon", "coordinates": coordinates}


def boxes_of_rings(shapes: Sequence[Sequence[Floats]], grid: Grid) -> tuple[Floats, Floats]:
    """Bounding boxes in metres of n shapes, each of one or more rings (k, 2) in degrees.

    Returns
    -------
    boxes : (n, 4) x0, y0, x1, y1 around all places of the edges, straight in degrees; not finite
        where the projection lacks a place
    corners : (n, 4) the same around the corners alone
    """
    rings = [np.vstack([ring, ring[:1]]) for shape in shapes for ring in shape]
    owner = np.repeat(np.arange(len(shapes)), [sum(map(len, shape)) for shape in shapes])
    start = np.concatenate([ring[:-1] for ring in rings])
    step = np.concatenate([np.diff(ring, axis=0) for ring in rings])
    # An edge of more than half a turn crosses the antimeridian on the short way.
    step[:, 0] = np.where(
        np.abs(step[:, 0]) > 180.0, (step[:, 0] + 180.0) % 360.0 - 180.0, step[:, 0]
    )
    return _bounds(start, step, owner, grid)


def boxes_of_degrees(boxes: ArrayLike, grid: Grid) -> Floats:
    """Bounding boxes in metres, (n, 4), of rectangles west, south, east, north in degrees.

    West may be larger than east where the antimeridian lies between them.

    Raises
    ------
    InputError
        For a grid without a CRS, and for rectangles that are not degrees, inside out, or lie where
        the projection has no place.
    """
    degrees = as_rectangles(boxes).copy()
    if grid.crs is None:
        raise InputError("This map is measured in cells; give rectangles in cells, not degrees.")
    west, south, east, north = degrees.T
    if not np.all(np.abs(degrees) <= (360, 90, 360, 90)):
        raise InputError(
            "A rectangle is not in degrees; give west, south, east, north with longitudes of -180 "
            "to 180 and latitudes of -90 to 90."
        )
    over = (west > east) & (east + 360.0 - west < 180.0)
    east[over] += 360.0
    if np.any(west > east) or np.any(south > north):
        raise InputError("A rectangle is inside out; give west before east and south before north.")
    corners = degrees[:, [[0, 1], [2, 1], [2, 3], [0, 3]]]
    step = np.roll(corners, -1, axis=1) - corners
    owner = np.repeat(np.arange(len(degrees)), 4)
    found = _bounds(corners.reshape(-1, 2), step.reshape(-1, 2), owner, grid)[0]
    if not np.isfinite(found).all():
        raise InputError("A rectangle lies where the map's projection has no place; leave it out.")
    return found


def _bounds(start: Floats, step: Floats, owner: NDArray[np.int64], grid: Grid) -> tuple[Any, Any]:
    """Bounding boxes of m edges (start and step in degrees), grouped by owner (m,) in order."""
    if not len(start):
        return np.zeros((0, 4)), np.zeros((0, 4))
    most = int(np.clip(_MOST_PLACES // len(start), 1, _MOST_STEPS))
    parts = np.clip(np.ceil(np.abs(step).max(axis=1) / _STEP_DEGREES), 1, most).astype(np.int64)
    first = np.cumsum(parts) - parts
    edge = np.repeat(np.arange(len(start)), parts)
    along = (np.arange(len(edge)) - first[edge]) / parts[edge]
    places = start[edge] + step[edge] * along[:, None]
    x, y = grid.from_lonlat(*places.T)
    groups = np.flatnonzero(np.diff(owner, prepend=-1))
    boxes = _extremes(x, y, first[groups])
    # Near the antipode of the centre a small shape surrounds the whole map.
    boxes[np.max(boxes[:, 2:] - boxes[:, :2], axis=1) > MAX_SIDE] = np.nan
    return boxes, _extremes(x[first], y[first], groups)


def _extremes(x: Floats, y: Floats, groups: NDArray[np.int64]) -> Floats:
    low = [np.minimum.reduceat(values, groups) for values in (x, y)]
    high = [np.maximum.reduceat(values, groups) for values in (x, y)]
    return np.stack([*low, *high], axis=1)
