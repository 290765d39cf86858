"""Questions to one map: rectangles and polygons, as the commands that ask them take them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from explorer.commands import flags
from explorer.commands.drawing import as_typed
from explorer.commands.terminal import note, table
from explorer.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from geopandas import GeoSeries

    from explorer.grid.grid import Grid

# What a rectangle may lack of the box around it, by rounding and by chords for arcs: a part of the
# area, and metres along the edges.
_LACKS, _ROUNDED = 0.001, 0.2


def add_questions(parser: argparse._ActionsContainer) -> None:
    """Declare files of rectangles and of polygons, and rectangles as typed."""
    parser.add_argument(
        "--rectangles",
        metavar="FILE",
        help="GeoJSON in longitude and latitude, or CSV with name,x0,y0,x1,y1 in the map's unit; "
        "of trips CSV with columns for each place such as o_x0",
    )
    parser.add_argument(
        "--rectangle",
        nargs=4,
        action="append",
        default=[],
        type=float,
        metavar=("X0", "Y0", "X1", "Y1"),
        help="west, south, east, north edge in metres of the map (or cells); can be repeated",
    )
    parser.add_argument(
        "--polygons",
        metavar="FILE",
        help="GeoPackage, GeoJSON, GeoParquet, Shapefile (also zipped), FlatGeobuf or KML of "
        "polygons, each asked as it is and not as its bounding box",
    )
    parser.add_argument(
        "--crs-polygons",
        metavar="CRS",
        help="of --polygons where the file has none or a wrong one, such as EPSG:27700; map is the "
        "map's own",
    )
    parser.add_argument(
        "--name-column",
        metavar="COLUMN",
        help="what names the polygons, instead of a column called name",
    )
    parser.add_argument(
        "--bounding-boxes",
        action="store_true",
        help="ask the boxes around shapes that are no rectangles, in place of refusing them",
    )
    parser.add_argument(
        "--lonlat", action="store_true", help="--rectangle is in degrees of longitude and latitude"
    )


def rectangles(arguments: argparse.Namespace, grid: Grid) -> tuple[np.ndarray, list[str]]:
    """The rectangles that are asked, (n, 4) in the grid's unit, and their names."""
    import numpy as np

    from explorer.grid.degrees import refuse_degrees
    from explorer.queries.files import read_rectangles
    from explorer.queries.shapes import boxes_of_degrees

    if arguments.rectangles is None and not arguments.rectangle:
        raise InputError(
            "There is no rectangle to answer; give --rectangles boxes.geojson or --rectangle X0 Y0 "
            "X1 Y1, or --polygons shapes.gpkg."
        )
    if arguments.lonlat and not arguments.rectangle:
        raise InputError(
            "--lonlat is about --rectangle X0 Y0 X1 Y1; a file says itself what it is."
        )
    typed = np.array(arguments.rectangle, dtype=float).reshape(-1, 4)
    if arguments.lonlat:
        typed = boxes_of_degrees(typed, grid)
    boxes, names = np.zeros((0, 4)), list[str]()
    if arguments.rectangles is not None:
        notify = note if arguments.bounding_boxes else refuse_shapes
        boxes, names = read_rectangles(arguments.rectangles, grid, note=notify)
    boxes = np.concatenate([boxes, typed])
    try:
        refuse_degrees(grid, boxes)
    except InputError as error:
        raise InputError(
            "These rectangles look like degrees, and are read as metres of the map: add --lonlat "
            "to --rectangle, or give a file of GeoJSON."
        ) from error
    return boxes, [*names, *(f"Q{number + 1}" for number in range(len(names), len(boxes)))]


def refuse_shapes(sentence: str) -> None:
    """Another shape is never answered under the name of the one that was asked."""
    raise InputError(
        f"{sentence.partition(': ')[0]}; ask shapes as they are with --polygons in place of "
        "--rectangles, or the boxes around them with --bounding-boxes."
    )


def note_outside(boxes: np.ndarray, grid: Grid) -> None:
    """Say how many rectangles lie where nothing was counted."""
    x0, y0, x1, y1 = grid.bounds
    inside = (boxes[:, 0] < x1) & (boxes[:, 2] > x0) & (boxes[:, 1] < y1) & (boxes[:, 3] > y0)
    outside = int((~inside).sum())
    if outside:
        lie = "rectangle lies" if outside == 1 else "rectangles lie"
        note(
            f"{outside:,} {lie} outside the map, where nothing was counted: the answer there is 0."
        )


def lines_of_boxes(
    boxes: np.ndarray, names: list[str], columns: dict[str, np.ndarray], unit: str
) -> str:
    """Aligned lines; places to the metre or the hundredth of a cell, counts to a tenth."""
    digits = 0 if unit == "m" else 2
    header = ["name", *(f"{edge} ({unit})" for edge in ("x0", "y0", "x1", "y1")), *columns]
    listed = [
        [name, *(f"{edge:.{digits}f}" for edge in box), *figures]
        for box, (name, *figures) in zip(boxes, rows(names, columns), strict=True)
    ]
    return table(header, listed)


def rows(names: list[str], columns: dict[str, np.ndarray]) -> list[list[str]]:
    """Cells of a table: a name, whole numbers as they are, all others to a tenth."""
    return [
        [name, *(f"{value:,}" if value.dtype.kind == "i" else f"{value:,.1f}" for value in values)]
        for name, *values in zip(names, *columns.values(), strict=True)
    ]


def asked_of_one_map(arguments: argparse.Namespace, grid: Grid) -> tuple[Any, list[str], bool]:
    """What is asked, as `exact` and `Release.answer` take it, names, and whether of rectangles."""
    if arguments.polygons is not None:
        if arguments.rectangles is not None or arguments.rectangle:
            raise InputError("Polygons are asked alone; leave the other questions out.")
        return *polygons(arguments, grid), False
    refuse_name_column(arguments)
    boxes, names = rectangles(arguments, grid)
    shapes = None if arguments.bounding_boxes else _turned(arguments, boxes, grid)
    if shapes is None:
        note_outside(boxes, grid)
        return boxes, names, True
    note("Rectangles in degrees are no rectangles in metres here: each is asked as it is.")
    return shapes, names, False


def polygons(arguments: argparse.Namespace, grid: Grid) -> tuple[GeoSeries, list[str]]:
    """The polygons that are asked and their names, of the column and CRS that were given."""
    from explorer.grid.degrees import refuse_degrees
    from explorer.queries.polygons import read_polygons

    text = arguments.crs_polygons
    crs = grid.crs if text == "map" else None if text is None else flags.crs(text)
    with as_typed(lambda sentence: flags.with_crs_flag(sentence, "crs", "--crs-polygons")):
        shapes, names = read_polygons(arguments.polygons, arguments.name_column or "", crs)
        if shapes.crs.is_projected:
            refuse_degrees(grid, shapes.bounds.to_numpy())
    return shapes, names


def refuse_name_column(arguments: argparse.Namespace) -> None:
    """Refuse a column of names, or a CRS, where there are no polygons."""
    if arguments.name_column is not None and arguments.polygons is None:
        raise InputError("--name-column is about --polygons FILE; rectangles have their own names.")
    if arguments.crs_polygons is not None and arguments.polygons is None:
        raise InputError("--crs-polygons is about --polygons FILE; leave it out.")


def _turned(arguments: argparse.Namespace, boxes: np.ndarray, grid: Grid) -> GeoSeries | None:
    """Rectangles in degrees as they lie on the map, where boxes around them hold more; else None.

    Meridians meet, so that the box around a long one, far from the middle, can be a tenth larger.
    """
    import geopandas
    import numpy as np
    import shapely

    from explorer.grid.pieces import Shapes
    from explorer.grid.projection import LONLAT
    from explorer.queries.files import content_of
    from explorer.queries.geojson import is_geojson, shapes_of

    of_file = len(boxes) - len(arguments.rectangle)
    content = content_of(arguments.rectangles)[0] if of_file else b""
    if not (is_geojson(content) or arguments.lonlat):
        return None
    shapes = shapely.box(*boxes.T)
    if is_geojson(content):
        shapes[:of_file] = Shapes(shapes_of(content), LONLAT).on(grid)
    if arguments.lonlat:
        shapes[of_file:] = Shapes(shapely.box(*np.transpose(arguments.rectangle)), LONLAT).on(grid)
    width, height = (boxes[:, 2:] - boxes[:, :2]).T
    # Of boxes that this program wrote, chords lack less.
    lacking = width * height - shapely.area(shapes)
    if (lacking <= _LACKS * width * height + _ROUNDED * (width + height)).all():
        return None
    return geopandas.GeoSeries(shapes, crs=grid.crs)


def any_question(arguments: argparse.Namespace) -> bool:
    """Whether rectangles or polygons are given at all."""
    return bool(arguments.rectangles or arguments.polygons or arguments.rectangle)
