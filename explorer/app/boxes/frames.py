"""Boxes as a frame of GeoPandas: what a cell reads from a page and writes to it."""

from __future__ import annotations

import json
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely
from numpy.typing import NDArray

from explorer.app.boxes.rectangles import Rectangles
from explorer.errors import InputError
from explorer.grid.degrees import refuse_degrees
from explorer.grid.extent import as_rectangles
from explorer.grid.grid import Grid
from explorer.grid.places import TripDomain
from explorer.grid.projection import LONLAT
from explorer.queries.files import read_rectangles
from explorer.queries.geojson import EDGES
from explorer.queries.shapes import box_shapes
from explorer.queries.trip_files import read_place, read_trip_boxes

if TYPE_CHECKING:
    import geopandas

Floats = NDArray[np.float64]

#: By what part of it a box may be larger than the shape that it stands for.
_MOST_TURNED = 0.01


def to_frame(rectangles: Rectangles) -> geopandas.GeoDataFrame:
    """Names and shapes of the boxes, in longitude and latitude where the map has a CRS.

    Of one map there are the edges x0, y0, x1, y1 in its unit (metres or cells) as well; of several
    places a column of shapes for each, without a shape where a row asks about anywhere.
    """
    import geopandas

    boxes, names = rectangles.boxes, list(rectangles.names)
    grids = rectangles.grids
    crs = LONLAT if rectangles.grid.crs is not None else None
    if len(grids) == 1:
        columns = {"name": names, **dict(zip(EDGES, boxes.T, strict=True))}
        return geopandas.GeoDataFrame(columns, geometry=_shapes(boxes, grids[0]), crs=crs)
    shapes = {
        place: geopandas.GeoSeries(_shapes(boxes[:, at], grid), crs=crs)
        for at, (place, grid) in enumerate(zip(rectangles.places, grids, strict=True))
    }
    return geopandas.GeoDataFrame({"name": names, **shapes}, geometry=rectangles.places[0])


def read(given: Any, rectangles: Rectangles) -> tuple[Floats, list[str]]:
    """Boxes and names of what a cell gives to a page.

    Parameters
    ----------
    given : GeoDataFrame, GeoSeries, geometry, path, or numbers
        Shapes are rectangles, in a CRS of their own or in the unit of the map; a file is what
        `read_rectangles` reads; numbers are (n, 4) x0, y0, x1, y1 in the unit of the map, or
        (n, k, 4) of k places, NaN for anywhere. A frame of several places has a column of shapes
        for each, called as the place.
    rectangles : whose maps they are for

    Returns
    -------
    (n, 4), or (n, k, 4) of several places, and n names; empty ones are to be numbered

    Raises
    ------
    InputError
        For shapes that are no rectangles on the map, numbers in degrees, and what cannot be read.
    """
    grids, places = rectangles.grids, rectangles.places
    if isinstance(given, str | PathLike):
        if len(grids) > 1:
            return read_trip_boxes(str(given), TripDomain(grids, places))
        return read_rectangles(str(given), grids[0], note=_refuse)
    if (
        isinstance(given, shapely.Geometry)
        or hasattr(given, "columns")
        or hasattr(given, "geom_type")
    ):
        return _of_frame(given, rectangles)
    if len(grids) > 1:
        boxes = _rows(given, len(grids))
        for place, grid in enumerate(grids):
            _refuse_degrees(grid, boxes[:, place])
    else:
        boxes = as_rectangles(given)
        _refuse_degrees(grids[0], boxes)
    return boxes, [""] * len(boxes)


def _of_frame(given: Any, rectangles: Rectangles) -> tuple[Floats, list[str]]:
    import geopandas

    frame = geopandas.GeoSeries([given]) if isinstance(given, shapely.Geometry) else given
    called = frame["name"] if "name" in getattr(frame, "columns", ()) else [None] * len(frame)
    names: list[str] = ["" if name is None or name != name else str(name) for name in called]
    grids, places = rectangles.grids, rectangles.places
    if len(grids) == 1:
        shapes = getattr(frame, "geometry", None)
        if shapes is None:
            raise InputError("This table has no shapes: give a GeoDataFrame, whose rows have one.")
        return _boxes(shapes, frame, grids[0]), names
    columns = [place for place in places if place in getattr(frame, "columns", ())]
    if not columns:
        raise InputError(
            f"A frame of boxes has a column of shapes for each place here: {', '.join(places)}; "
            "name them so."
        )
    boxes = np.full((len(frame), len(grids), 4), np.nan)
    for place in columns:
        at = places.index(place)
        boxes[:, at] = _boxes(geopandas.GeoSeries(frame[place]), None, grids[at])
    return boxes, names


def _boxes(shapes: Any, frame: Any, grid: Grid) -> Floats:
    """Edges of n shapes, NaN where there is none; (n, 4) in the unit of a grid."""
    if grid.crs is None:
        boxes = shapes.bounds.to_numpy(dtype=np.float64)
        there = ~shapes.isna().to_numpy()
        drawn = shapely.box(*boxes[there].T)
        if not shapely.equals(shapes.array[there], drawn).all():
            _refuse("A shape is not a rectangle on this map.")
        return boxes
    if shapes.crs is None:
        _refuse_degrees(grid, shapes.bounds.to_numpy(dtype=np.float64))
        shapes = shapes.set_crs(grid.crs)
    crs = grid.to_dict()["crs"]
    own = frame is not None and set(EDGES) <= set(getattr(frame, "columns", ()))
    edges = frame[list(EDGES)].to_numpy().tolist() if own else [()] * len(shapes)
    # Edges are believed where the shape still has the corners that they make: see `geojson.read`.
    features = [
        {
            "type": "Feature",
            "properties": {**dict(zip(EDGES, each, strict=bool(each))), "crs": crs},
            "geometry": None if shape is None else shapely.geometry.mapping(shape),
        }
        for shape, each in zip(shapes.to_crs(LONLAT), edges, strict=True)
    ]
    document = {"type": "FeatureCollection", "features": features}
    boxes = read_place(json.dumps(document).encode(), grid, "the frame", _refuse)[0]
    _refuse_turned(shapes.to_crs(grid.crs), boxes)
    return boxes


def _refuse_turned(shapes: Any, boxes: Floats) -> None:
    """Refuse rectangles of another CRS that lie askew here: the box around them holds more."""
    there = ~shapes.isna().to_numpy()
    x0, y0, x1, y1 = boxes[there].T
    area = shapes.area.to_numpy()[there]
    if (area < (1 - _MOST_TURNED) * (x1 - x0) * (y1 - y0)).any():
        _refuse("A rectangle of another CRS lies askew on this map.")


def _rows(given: Any, places: int) -> Floats:
    try:
        boxes = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("Boxes are numbers: x0, y0, x1, y1 for each place of a row.") from error
    if boxes.ndim != 3 or boxes.shape[1:] != (places, 4):
        raise InputError(
            f"Rows of boxes have shape {boxes.shape}; give (n, {places}, 4): x0, y0, x1, y1 for "
            "each place, nan for anywhere."
        )
    return boxes


def _refuse_degrees(grid: Grid, boxes: Floats) -> None:
    refuse_degrees(grid, boxes[np.isfinite(boxes).all(axis=1)])


def _shapes(boxes: Floats, grid: Grid) -> list[Any]:
    there = [bool(np.isfinite(box).all()) for box in boxes]
    if grid.crs is None:
        return [shapely.box(*box) if has else None for box, has in zip(boxes, there, strict=True)]
    drawn = iter(box_shapes(boxes[there], grid))
    found = [next(drawn) if has else None for has in there]
    return [None if each is None else shapely.geometry.shape(each) for each in found]


def _refuse(sentence: str) -> None:
    raise InputError(
        f"{sentence.partition(':')[0].rstrip('.')}, and boxes are rectangles: ask about other "
        "shapes with release.answer(shapes), or give their .envelope."
    )
