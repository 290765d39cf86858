"""Boxes of several places given by place: frames of polygons, or numbers, rows side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.extent import as_rectangles
from explorer.grid.grid import Grid
from explorer.grid.projection import as_crs

Floats = NDArray[np.float64]

_FIRST = frozenset({"o", "orig", "origin", "from", "pickup", "start"})
_LAST = frozenset({"d", "dest", "destination", "to", "dropoff", "end"})
_MIDDLE = frozenset({"s", "via", "stop"})

# A box in degrees is turned a little in metres, and its edges bend: at 60 degrees one of 25 km
# lacks a hundredth of its box. An edge gets a corner every 1/32 of its length before projection.
_LACKS, _PARTS = 0.1, 32
# Of a box in its own CRS nothing may lack but what rounding takes away.
_ROUNDED = 1e-4


def place_of(name: Any, names: Sequence[str]) -> int:
    """Which place a name means: its own, or a word for the first, the last or the middle of three.

    Raises
    ------
    InputError
        For any other.

    Examples
    --------
    >>> place_of("to", ["o", "s2", "d"]), place_of("s2", ["o", "s2", "d"])
    (2, 1)
    """
    if name in names:
        return list(names).index(name)
    word = str(name).strip().lower()
    same = [number for number, candidate in enumerate(names) if candidate.lower() == word]
    if len(same) == 1:
        return same[0]
    if len(names) > 1 and word in _FIRST | _LAST:
        return 0 if word in _FIRST else len(names) - 1
    if len(names) == 3 and word in _MIDDLE:
        return 1
    raise InputError(f"There is no place {name!r} here; the places are {', '.join(names)}.")


def by_place(
    boxes_by_place: Mapping[Any, Any], names: Sequence[str], grids: Sequence[Grid]
) -> Floats:
    """Boxes (n, 4k) of a mapping from places to their boxes, rows matched by position.

    Parameters
    ----------
    boxes_by_place : mapping of places to one of
        GeoDataFrame or GeoSeries of n boxes, in any CRS or, without one, in the grid's unit; a row
        without a shape is anywhere
        (n, 4) x0, y0, x1, y1 in the grid's unit; four NaN are anywhere
        None: anywhere in every row, as for a place that is not named
    names, grids : of the k places

    Returns
    -------
    (n, 4k) float64
        x0, y0, x1, y1 of every place in turn; NaN for anywhere.

    Raises
    ------
    InputError
        For a place that is not there or named twice, numbers of rows that differ, and shapes that
        are no boxes.
    """
    place_boxes: dict[int, Floats] = {}
    for name, boxes in boxes_by_place.items():
        number = place_of(name, names)
        if number in place_boxes:
            raise InputError(f"The place {names[number]!r} is named twice; name it once.")
        if boxes is not None:
            place_boxes[number] = _boxes(boxes, grids[number], names[number])
    if not place_boxes:
        raise InputError(f"No place has boxes; give some for one of {', '.join(names)}.")
    rows = {len(boxes) for boxes in place_boxes.values()}
    if len(rows) > 1:
        row_counts = ", ".join(
            f"{len(boxes):,} of {names[number]}" for number, boxes in place_boxes.items()
        )
        raise InputError(
            f"Rows belong together by position, and there are {row_counts}; give as many."
        )
    anywhere = np.full((rows.pop(), 4), np.nan)
    return np.hstack([place_boxes.get(number, anywhere) for number in range(len(names))])


def _boxes(boxes: Any, grid: Grid, name: str) -> Floats:
    shapes = getattr(boxes, "geometry", None)
    if shapes is not None:
        return _of_shapes(shapes, grid, name)
    try:
        array = np.array(boxes, dtype=np.float64, ndmin=2)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"The boxes of {name} are neither polygons nor numbers; give a GeoDataFrame, or x0, "
            "y0, x1, y1 in each row."
        ) from error
    array = array if array.size else np.zeros((0, 4))
    anywhere = array.shape[1:] == (4,) and np.isnan(array).all(axis=1)
    if np.ndim(anywhere) == 0:
        return as_rectangles(array)  # refuses its form
    array[~anywhere] = as_rectangles(array[~anywhere])
    return array


def _of_shapes(shapes: Any, grid: Grid, name: str) -> Floats:
    """Bounding boxes in the grid's unit of shapes that fill them."""
    import shapely

    geometry = np.asarray(shapes.values if hasattr(shapes, "values") else shapes, dtype=object)
    missing = shapely.is_missing(geometry) | shapely.is_empty(geometry)
    bounds = np.full((len(geometry), 4), np.nan)
    here = geometry[~missing]
    kinds = shapely.get_type_id(here)
    if not np.isin(kinds, (3, 6)).all():
        odd = int(np.flatnonzero(~missing)[~np.isin(kinds, (3, 6))][0])
        raise InputError(f"Row {odd + 1} of {name} is no polygon; give boxes, or leave it empty.")
    crs = None if shapes.crs is None else as_crs(shapes.crs)
    if crs is not None and grid.crs is None:
        raise InputError(f"The grid of {name} is measured in cells; give boxes without a CRS.")
    is_box = _filled(here) >= 1 - _ROUNDED
    if crs is not None and crs != grid.crs:
        longest = np.max(np.ptp(shapely.bounds(here).reshape(-1, 2, 2), axis=1), axis=1, initial=0)
        bent = shapely.segmentize(here, np.maximum(longest / _PARTS, 1e-9))
        here = np.asarray(type(shapes)(bent, crs=crs).to_crs(grid.crs).values, dtype=object)
        is_box &= _filled(here) >= 1 - _LACKS
        is_box |= _filled(here) >= 1 - _ROUNDED
    if not is_box.all():
        odd = int(np.flatnonzero(~missing)[~is_box][0])
        raise InputError(
            f"Row {odd + 1} of {name} is not a box on this grid; give its bounding box, or divide "
            "it into boxes and add up their answers."
        )
    bounds[~missing] = shapely.bounds(here)
    if not np.isfinite(bounds[~missing]).all():
        raise InputError(f"A box of {name} lies where the grid's projection has no place.")
    return bounds


def _filled(geometry: NDArray[Any]) -> Floats:
    """Which part of its bounding box each shape fills; 1 where that has no area."""
    import shapely

    x0, y0, x1, y1 = shapely.bounds(geometry).T
    with np.errstate(invalid="ignore", over="ignore"):
        whole = (x1 - x0) * (y1 - y0)
        part: Floats = np.where(
            whole > 0, shapely.area(geometry) / np.where(whole > 0, whole, 1), 1
        )
    return part
