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
from explorer.grid.extent import as_rectangles
from explorer.grid.grid import MAX_SIDE, Grid

Floats = NDArray[np.float64]

# An arc of 2 km leaves its chord by 8 cm, a step of 0.005 degrees by 1 cm, times tan(latitude).
_STEP_METRES, _MOST_PARTS = 2_000.0, 16
_STEP_DEGREES, _MOST_STEPS, _MOST_PLACES = 0.005, 64, 5_000_000
_DECIMALS = 9  # a tenth of a millimetre

# A rectangle w x h is told by its area: what it lacks of its box, or has too much. Others round
# degrees to 6 decimals, 0.1 m along the edges; chords of ours lack less than 0.01 of a box.
_ROUNDED, _LACKS = 0.1, 0.01
# A rectangle in degrees is turned by the meeting of meridians, c = distance x tan(lat) / R: it
# lacks c (w / h + h / w) of its box. For 25 km at 60 degrees, c = 0.007, 0.1 lets pass 14 x 1.
_TURNED = 0.1


def box_shapes(boxes: Floats, grid: Grid) -> list[dict[str, Any] | None]:
    """GeoJSON geometries (WGS 84, counterclockwise) of (n, 4) rectangles in metres.

    A rectangle over the antimeridian is cut there (RFC 7946, section 3.1.9), one over a pole gets
    an edge along it. None represents a rectangle of which a corner has no longitude.
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
    finite = np.isfinite(lon).all(axis=1) & np.isfinite(lat).all(axis=1)
    lon = np.unwrap(np.where(finite[:, None], lon, 0.0), period=360.0, axis=1)
    simple = (lon.min(axis=1) >= -180.0) & (lon.max(axis=1) <= 180.0)
    rings = np.round(np.stack([lon, lat], axis=-1), _DECIMALS)
    shapes: list[dict[str, Any] | None] = []
    for number, ring in enumerate(rings):
        if not finite[number]:
            shapes.append(None)
        elif simple[number] and abs(ring[-1, 0] - ring[0, 0]) < 180.0:
            shapes.append({"type": "Polygon", "coordinates": [ring.tolist()]})
        else:
            shapes.append(_cut(ring))
    return shapes


def shape_of_text(text: str) -> Any:
    """The geometry of well-known text; raises ValueError for any other text."""
    try:
        # Numbers that are none are looked for by anyone who asks about the shape.
        with np.errstate(invalid="ignore"):
            return shapely.from_wkt(text)
    except shapely.errors.ShapelyError as error:
        raise ValueError("not well-known text") from error


def polygon_shape(polygon: Any, grid: Grid) -> dict[str, Any] | None:
    """GeoJSON geometry (WGS 84, counterclockwise) of a polygon in metres, as of `box_shapes`.

    None where a corner has no longitude.
    """
    dense = shapely.segmentize(polygon, _STEP_METRES)
    moved = shapely.transform(dense, lambda places: np.stack(grid.to_lonlat(*places.T), axis=1))
    corners = shapely.get_coordinates(moved)
    if not np.isfinite(corners).all():
        return None
    if np.ptp(corners[:, 0]) > 180.0:
        return _parts_in_world(shapely.transform(moved, _past_180))
    rounded = shapely.transform(moved, lambda places: np.round(places, _DECIMALS))
    shape: dict[str, Any] = shapely.geometry.mapping(shapely.orient_polygons(rounded))
    return shape


def _past_180(places: Floats) -> Floats:
    """Longitudes of the western half as those behind 180 degrees."""
    return places + np.array([360.0, 0.0]) * (places[:, :1] < 0)


def _cut(ring: Floats) -> dict[str, Any]:
    """A ring whose longitudes run on past 180, cut into parts between -180 and 180."""
    if abs(ring[-1, 0] - ring[0, 0]) > 180.0:
        # Once round a pole: close it along the pole.
        pole = np.copysign(90.0, ring[:, 1].mean())
        ring = np.vstack([ring, [ring[-1, 0], pole], [ring[0, 0], pole], ring[0]])
    return _parts_in_world(shapely.Polygon(ring)) or {
        "type": "Polygon",
        "coordinates": [ring.tolist()],
    }


def _parts_in_world(whole: Any) -> dict[str, Any] | None:
    """A polygon whose longitudes run on past 180, cut there; None for one without area."""
    world = shapely.box(-180.0, -90.0, 180.0, 90.0)
    parts = []
    for turn in (-360.0, 0.0, 360.0):
        moved = shapely.transform(whole, partial(np.add, [turn, 0.0]))
        pieces = shapely.get_parts(shapely.intersection(moved, world))
        parts += [part for part in pieces if part.geom_type == "Polygon" and part.area > 0]
    if not parts:
        return None
    coordinates = [
        [np.round(shapely.get_coordinates(ring), _DECIMALS).tolist() for ring in rings]
        for rings in map(shapely.get_rings, shapely.orient_polygons(shapely.normalize(parts)))
    ]
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
    step = _short_way(np.concatenate([np.diff(ring, axis=0) for ring in rings]))
    return _bounds(start, step, owner, grid)


def are_rectangles(
    shapes: Sequence[Sequence[Floats]],
    holes: Sequence[Sequence[Floats]],
    boxes: Floats,
    grid: Grid,
) -> NDArray[np.bool_]:
    """Whether each of n shapes fills its box, (n,): in metres, or in degrees and nearly in metres.

    `shapes`, `holes` are their outer and inner rings, (k, 2) in degrees; `boxes` are those that
    `boxes_of_rings` found, (n, 4).
    """
    n = len(shapes)
    rings = [ring for parts in (*shapes, *holes) for ring in parts]
    counts = np.array([len(parts) for parts in (*shapes, *holes)], dtype=np.int64)
    owner = np.repeat(np.arange(2 * n), counts)
    sign = np.where(owner < n, 1.0, -1.0)
    owner %= max(n, 1)
    length = np.array([len(ring) for ring in rings], dtype=np.int64)
    first = np.cumsum(length) - length
    start = np.concatenate(rings)
    step = _short_way(np.concatenate([np.roll(ring, -1, axis=0) - ring for ring in rings]))
    # Unrolled from the first corner of each ring, which is near the first of its shape.
    ahead = np.cumsum(step, axis=0) - step
    anchor = start[first].copy()
    leader = anchor[np.searchsorted(owner[: counts[:n].sum()], np.arange(n))][owner]
    anchor[:, 0] += 360.0 * np.round((leader[:, 0] - anchor[:, 0]) / 360.0)
    degrees = ahead - np.repeat(ahead[first] - anchor, length, axis=0)
    lon, lat = degrees.T
    around = np.full((n, 4), (np.inf, np.inf, -np.inf, -np.inf))
    for column, values, take in ((0, lon, np.minimum), (1, lat, np.minimum),
                                 (2, lon, np.maximum), (3, lat, np.maximum)):  # fmt: skip
        take.at(around[:, column], owner, take.reduceat(values, first))
    x, y, place = _places(start, step, grid)
    in_degrees = np.bincount(owner, sign * _areas(lon, lat, first), n)
    in_metres = np.bincount(owner, sign * _areas(x, y, place[first]), n)
    width, height = (boxes[:, 2:] - boxes[:, :2]).T
    missing = np.abs(width * height - in_metres) - 2 * _ROUNDED * (width + height)
    lacking = np.abs(np.prod(around[:, 2:] - around[:, :2], axis=1) - in_degrees)
    upright = lacking <= _LACKS * np.prod(around[:, 2:] - around[:, :2], axis=1)
    return missing <= np.where(upright, _TURNED, _LACKS) * width * height


def _short_way(step: Floats) -> Floats:
    """Edges (m, 2) in degrees; one of more than half a turn crosses the antimeridian instead."""
    lon = np.where(np.abs(step[:, 0]) > 180.0, (step[:, 0] + 180.0) % 360.0 - 180.0, step[:, 0])
    return np.stack([lon, step[:, 1]], axis=1)


def _areas(x: Floats, y: Floats, first: NDArray[np.int64]) -> Floats:
    """Areas inside rings of corners x, y (m,), each ring from its first corner to the next's."""
    size = np.diff(first, append=len(x))
    # Relative to a corner of its own: far from the origin, differences of products lose digits.
    x, y = (values - np.repeat(values[first], size) for values in (x, y))
    following = np.arange(1, len(x) + 1)
    following[first + size - 1] = first
    halves: Floats = np.add.reduceat(x * y[following] - x[following] * y, first)
    return np.abs(halves) / 2


def boxes_of_degrees(boxes: ArrayLike, grid: Grid) -> Floats:
    """Bounding boxes in metres, (n, 4), of rectangles west, south, east, north in degrees.

    West may be larger than east where the antimeridian is between them.

    Raises
    ------
    InputError
        For a grid without a CRS, and for rectangles that are not degrees, inside out, or lie where
        the projection has no place.
    """
    degrees = as_rectangles(boxes, ordered=False).copy()
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
    result = _bounds(corners.reshape(-1, 2), step.reshape(-1, 2), owner, grid)[0]
    if not np.isfinite(result).all():
        raise InputError("A rectangle lies where the map's projection has no place; leave it out.")
    return result


def _bounds(start: Floats, step: Floats, owner: NDArray[np.int64], grid: Grid) -> tuple[Any, Any]:
    """Bounding boxes of m edges (start and step in degrees), grouped by owner (m,) in order."""
    if not len(start):
        return np.zeros((0, 4)), np.zeros((0, 4))
    x, y, first = _places(start, step, grid)
    groups = np.flatnonzero(np.diff(owner, prepend=-1))
    boxes = _extremes(x, y, first[groups])
    # Near the antipode of the centre a small shape surrounds the whole map.
    boxes[np.max(boxes[:, 2:] - boxes[:, :2], axis=1) > MAX_SIDE] = np.nan
    return boxes, _extremes(x[first], y[first], groups)


def _places(start: Floats, step: Floats, grid: Grid) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Many places along m edges in metres, (k,) each, and which is the first of each edge (m,)."""
    limit = int(np.clip(_MOST_PLACES // len(start), 1, _MOST_STEPS))
    parts = np.clip(np.ceil(np.abs(step).max(axis=1) / _STEP_DEGREES), 1, limit).astype(np.int64)
    first = np.cumsum(parts) - parts
    edge = np.repeat(np.arange(len(start)), parts)
    along = (np.arange(len(edge)) - first[edge]) / parts[edge]
    x, y = grid.from_lonlat(*(start[edge] + step[edge] * along[:, None]).T)
    return x, y, first


def _extremes(x: Floats, y: Floats, groups: NDArray[np.int64]) -> Floats:
    low = [np.minimum.reduceat(values, groups) for values in (x, y)]
    high = [np.maximum.reduceat(values, groups) for values in (x, y)]
    return np.stack([*low, *high], axis=1)
