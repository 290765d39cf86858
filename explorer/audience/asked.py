"""What visitors ask: areas of a map, checked before anything is computed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import shapely

from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.grid.range_queries import RangeQueries

#: Areas, corners of all of them together, and maps of one question.
MOST_AREAS, MOST_CORNERS, MOST_MAPS = 30, 400, 12
#: Corners of a shape whose lines cross each other, which takes long to untangle.
MOST_CROSSED = 30
#: How often shapes may cover the map, all together.
MOST_COVERED = 4.0
#: How far beyond a map an area may reach, in its own sizes.
_FAR = 10.0
_BAD = "This is no question of this page: draw the area again."


def maps_of(content: bytes) -> tuple[tuple[str, ...], list[Any]]:
    """The keys of the maps that are asked, and the areas as they were sent.

    Raises
    ------
    InputError
        For what is no question.
    """
    try:
        document = json.loads(content)
        maps, areas = document["maps"], document["areas"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise InputError(_BAD) from None
    listed = isinstance(maps, list) and isinstance(areas, list)
    if not listed or not 1 <= len(maps) <= MOST_MAPS or len(areas) > MOST_AREAS:
        raise InputError(
            f"One question may have {MOST_AREAS} areas and {MOST_MAPS} maps: take some away."
        )
    if not all(isinstance(key, str) and len(key) <= 40 for key in maps):
        raise InputError(_BAD)
    return tuple(dict.fromkeys(maps)), areas


def queries_of(areas: Sequence[Any], grid: Grid) -> RangeQueries:
    """Areas in metres of a map.

    Parameters
    ----------
    areas : each {"box": [x0, y0, x1, y1]} or {"shape": [[x, y], ...]}

    Raises
    ------
    InputError
        For anything else, for corners far beyond the map and for too many.
    """
    boxes, corners = np.zeros((len(areas), 4)), 0
    shapes: list[Any] = []
    for row, area in enumerate(areas):
        box = area.get("box") if isinstance(area, dict) else None
        shape = area.get("shape") if isinstance(area, dict) else None
        if box is not None:
            places = _places([box[:2], box[2:]] if _is_list(box, 4) else None, grid)
            shapes.append(None)
        else:
            places = _places(shape, grid)
            corners += len(places)
            if len(places) < 3 or corners > MOST_CORNERS:
                raise InputError(
                    f"A shape has 3 corners or more, and all together {MOST_CORNERS} at most."
                )
            shapes.append(_polygon(places))
        boxes[row] = *places.min(axis=0), *places.max(axis=0)
    drawn = np.array([polygon is not None for polygon in shapes], dtype=bool)
    low, high = boxes[drawn, :2], boxes[drawn, 2:]
    edges = np.array(grid.bounds)
    sides = np.clip(np.minimum(high, edges[2:]) - np.maximum(low, edges[:2]), 0, None)
    if sides.prod(axis=1).sum() > MOST_COVERED * grid.width * grid.height:
        raise InputError("These shapes are too large together: take some away, or draw boxes.")
    if len(areas) and (boxes[:, 2:] - boxes[:, :2] <= 0).any():
        raise InputError("An area has no width or no height: draw it larger.")
    return RangeQueries(boxes, shapes)


def _is_list(value: Any, count: int) -> bool:
    return isinstance(value, list) and len(value) == count


def _places(corners: Any, grid: Grid) -> Any:
    if not isinstance(corners, list) or not 2 <= len(corners) <= MOST_CORNERS:
        raise InputError(_BAD)
    for place in corners:
        numbers = _is_list(place, 2) and all(type(number) in (int, float) for number in place)
        # Nothing of what is no number, or has 400 digits, is below anything.
        if not numbers or not all(abs(number) < 1e12 for number in place):
            raise InputError(_BAD)
    places = np.array(corners, dtype=np.float64)
    x0, y0, x1, y1 = grid.bounds
    size = np.array([x1 - x0, y1 - y0])
    if (np.abs(places - [(x0 + x1) / 2, (y0 + y1) / 2]) > _FAR * size).any():
        raise InputError("An area lies far away from the map: draw it on the map.")
    return places


def _polygon(places: Any) -> Any:
    """A polygon whose lines may have crossed each other."""
    shape = shapely.Polygon(places)
    if not shape.is_valid and len(places) > MOST_CROSSED:
        raise InputError("The lines of this shape cross each other: draw it without.")
    shape = shapely.make_valid(shape)
    parts = [get_part for get_part in shapely.get_parts(shape) if get_part.geom_type == "Polygon"]
    if not parts or shape.area <= 0:
        raise InputError("This shape has no area: put its corners further apart.")
    return parts[0] if len(parts) == 1 else shapely.MultiPolygon(parts)
