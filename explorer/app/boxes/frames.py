"""Boxes and polygons as a frame of GeoPandas: what a cell reads from a page and writes to it."""

from __future__ import annotations

import json
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely
from numpy.typing import NDArray

from explorer.app.boxes.rectangles import ONE_MAP, Rectangles
from explorer.errors import InputError
from explorer.grid.degrees import refuse_degrees
from explorer.grid.extent import as_rectangles
from explorer.grid.grid import Grid
from explorer.grid.pieces import Shapes
from explorer.grid.places import TripDomain
from explorer.grid.projection import LONLAT
from explorer.queries.files import MAX_RECTANGLES, read_trip_boxes
from explorer.queries.geojson import EDGES, finite, read_shapes
from explorer.queries.range_files import read_ranges
from explorer.queries.shapes import box_shapes, polygon_shape

if TYPE_CHECKING:
    import geopandas

Floats = NDArray[np.float64]

#: By what part of it a box may be larger than the shape that it represents.
_MOST_TURNED = 0.01


def to_frame(rectangles: Rectangles) -> geopandas.GeoDataFrame:
    """Names and shapes of the boxes, in longitude and latitude where the map has a CRS.

    Of one map there are the edges x0, y0, x1, y1 in its unit (metres or cells) as well, which a
    polygon has none of; of several
    places a column of shapes for each, without a shape where a row asks about anywhere.
    """
    import geopandas

    boxes, names = rectangles.boxes, list(rectangles.names)
    grids = rectangles.grids
    crs = LONLAT if rectangles.grid.crs is not None else None
    if len(grids) == 1:
        shapes = _shapes(boxes, grids[0])
        for row, shape in enumerate(rectangles.shapes):
            if shape is not None:
                shapes[row], boxes[row] = _in_degrees(shape, grids[0]), np.nan
        columns = {"name": names, **dict(zip(EDGES, boxes.T, strict=True))}
        return geopandas.GeoDataFrame(columns, geometry=shapes, crs=crs)
    of_places = {
        place: geopandas.GeoSeries(_shapes(boxes[:, at], grid), crs=crs)
        for at, (place, grid) in enumerate(zip(rectangles.places, grids, strict=True))
    }
    return geopandas.GeoDataFrame({"name": names, **of_places}, geometry=rectangles.places[0])


def read(given: Any, rectangles: Rectangles) -> tuple[Floats, list[str], list[Any]]:
    """Boxes, names and polygons of what a cell gives to a page.

    Parameters
    ----------
    given : GeoDataFrame, GeoSeries, geometry, path, or numbers
        Shapes are polygons, in a CRS of their own or in the unit of the map, and those that are
        rectangles there are boxes; a file is what `read_ranges` reads; numbers are (n, 4) x0, y0,
        x1, y1 in the unit of the map, or (n, k, 4) of k places, NaN for anywhere. A frame of
        several places has a column of shapes for each, called as the place.
    rectangles : whose maps they are for

    Returns
    -------
    (n, 4), or (n, k, 4) of several places; n names, of which empty ones are to be numbered; and n
    polygons in the unit of the map, None for boxes

    Raises
    ------
    InputError
        For shapes that are no polygons, for other than rectangles on several maps, for numbers in
        degrees, and what cannot be read.
    """
    grids, places = rectangles.grids, rectangles.places
    if isinstance(given, str | PathLike):
        if len(grids) > 1:
            rows, names = read_trip_boxes(str(given), TripDomain(grids, places))
            return rows, names, [None] * len(names)
        file = read_ranges(str(given), grids[0])
        return file.boxes, list(file.names), list(file.shapes)
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
    return boxes, [""] * len(boxes), [None] * len(boxes)


def _of_frame(source: Any, rectangles: Rectangles) -> tuple[Floats, list[str], list[Any]]:
    import geopandas

    frame = geopandas.GeoSeries([source]) if isinstance(source, shapely.Geometry) else source
    called = frame["name"] if "name" in getattr(frame, "columns", ()) else [None] * len(frame)
    names: list[str] = ["" if name is None or name != name else str(name) for name in called]
    grids, places = rectangles.grids, rectangles.places
    if len(grids) == 1:
        shapes = getattr(frame, "geometry", None)
        if shapes is None:
            raise InputError("This table has no shapes: give a GeoDataFrame, whose rows have one.")
        boxes, polygons = _boxes(shapes, frame, grids[0])
        return boxes, names, polygons
    columns = [place for place in places if place in getattr(frame, "columns", ())]
    if not columns:
        raise InputError(
            f"A frame of boxes has a column of shapes for each place here: {', '.join(places)}; "
            "name them so."
        )
    boxes = np.full((len(frame), len(grids), 4), np.nan)
    for place in columns:
        at = places.index(place)
        boxes[:, at], polygons = _boxes(geopandas.GeoSeries(frame[place]), None, grids[at])
        if any(polygon is not None for polygon in polygons):
            raise InputError(ONE_MAP)
    return boxes, names, [None] * len(names)


def _boxes(shapes: Any, frame: Any, grid: Grid) -> tuple[Floats, list[Any]]:
    """Edges of n shapes in the unit of a grid, NaN where there is none, and those of no box."""
    if grid.crs is None:
        boxes = shapes.bounds.to_numpy(dtype=np.float64)
        there = np.flatnonzero(~shapes.isna().to_numpy())
        is_box = shapely.equals(shapes.array[there], shapely.box(*boxes[there].T))
        return boxes, _polygons(shapes, there[~is_box], None, grid)
    if shapes.crs is None or shapes.crs.is_projected:
        _refuse_degrees(grid, shapes.bounds.to_numpy(dtype=np.float64))
    if shapes.crs is None:
        shapes = shapes.set_crs(grid.crs)
    crs = grid.to_dict()["crs"]
    has_edges = frame is not None and set(EDGES) <= set(getattr(frame, "columns", ()))
    edges = (
        frame[list(EDGES)].to_numpy(dtype=np.float64) if has_edges else np.zeros((len(shapes), 4))
    )
    present = ~shapes.isna().to_numpy()
    at = np.flatnonzero(present)
    # Edges are believed where the shape still has the corners that they make: see `geojson.read`.
    # Anyone who gives none next to others says that this is no box.
    features = [
        {
            "type": "Feature",
            "properties": {**dict(zip(EDGES, map(finite, edge), strict=True)), "crs": crs}
            if has_edges
            else {},
            "geometry": shapely.geometry.mapping(shape),
        }
        for shape, edge in zip(shapes.to_crs(LONLAT).array[at], edges[at].tolist(), strict=True)
    ]
    boxes = np.full((len(shapes), 4), np.nan)
    if not features:
        return boxes, [None] * len(boxes)
    document = json.dumps({"type": "FeatureCollection", "features": features}).encode()
    boxes[at], _, non_boxes = read_shapes(document, grid, "the frame", MAX_RECTANGLES)
    odd = np.array([entry is not None for entry in non_boxes], dtype=bool)
    # A rectangle of another CRS may be turned here: the box around it holds more.
    x0, y0, x1, y1 = boxes[at].T
    area = shapes.iloc[at].to_crs(grid.crs).area.to_numpy()
    odd |= area < (1 - _MOST_TURNED) * (x1 - x0) * (y1 - y0)
    polygons = _polygons(shapes, at[odd], shapes.crs, grid)
    for row in at[odd]:
        boxes[row] = polygons[row].bounds
    return boxes, polygons


def _polygons(shapes: Any, rows: Any, crs: Any, grid: Grid) -> list[Any]:
    """The polygons of some rows in the unit of the grid, None for the others."""
    polygons: list[Any] = [None] * len(shapes)
    if len(rows):
        projected = Shapes(np.asarray(shapes.array, dtype=object)[rows], crs).on(grid)
        for row, shape in zip(rows, projected, strict=True):
            polygons[row] = shape
    return polygons


def _in_degrees(shape: Any, grid: Grid) -> Any:
    """A polygon in longitude and latitude, or as it is where the map has no CRS."""
    if grid.crs is None:
        return shape
    drawn = polygon_shape(shape, grid)
    return None if drawn is None else shapely.geometry.shape(drawn)


def _rows(numbers: Any, places: int) -> Floats:
    try:
        boxes = np.asarray(numbers, dtype=np.float64)
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
    results = [next(drawn) if has else None for has in there]
    return [None if entry is None else shapely.geometry.shape(entry) for entry in results]
