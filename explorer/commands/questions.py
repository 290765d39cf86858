"""Questions as commands take them: rectangles, polygons, areas, boxes of the places of trips."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from explorer.commands import flags
from explorer.commands.drawing import as_typed
from explorer.commands.terminal import note, table
from explorer.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from geopandas import GeoSeries
    from numpy.typing import NDArray

    from explorer.grid.grid import Grid
    from explorer.grid.places import TripDomain
    from explorer.releases.country import CountryRelease

    Floats = NDArray[np.float64]
    Columns = Mapping[str, NDArray[np.generic]]

# What a rectangle may lack of the box around it, by rounding and by chords for arcs: a part of the
# area, and metres along the edges.
_LACKS, _ROUNDED = 0.001, 0.2
#: Flags that name a place of trips by its position.
_WORDS = ("from", "via", "to")
_ANYWHERE = "anywhere"


@dataclass(frozen=True)
class Queries:
    """Questions of one kind.

    Attributes
    ----------
    where : as `Release.answer` and `exact` take them
    names : n texts
    table : from figures, columns (n,) by name, to the lines that people read
    text : from "csv" or "geojson" and figures to the text of a file
    shapes : as a GeoSeries (n,), None where a question is no single shape
    edges : as columns (n,) by name
    """

    where: Any
    names: Sequence[str]
    table: Callable[[Columns], str]
    text: Callable[[str, Columns], str]
    shapes: Callable[[], GeoSeries] | None
    edges: Mapping[str, Any]


def of_boxes(boxes: Floats, names: list[str], grid: Grid) -> Queries:
    """Rectangles (n, 4) in the unit of a grid."""
    from explorer.queries.files import write_rectangles
    from explorer.queries.geojson import EDGES

    # To the metre or the hundredth of a cell.
    digits = 0 if grid.unit == "m" else 2
    edges = [f"{edge} ({grid.unit})" for edge in EDGES]
    cells = [[f"{edge:.{digits}f}" for edge in box] for box in boxes]

    def shapes() -> GeoSeries:
        import geopandas
        import shapely

        return geopandas.GeoSeries(shapely.box(*boxes.T), crs=grid.crs)

    return Queries(
        boxes,
        names,
        lambda columns: _table(names, columns, edges, cells, left=1),
        lambda form, columns: write_rectangles(boxes, names, grid, form, dict(columns)),
        shapes,
        dict(zip(EDGES, boxes.T, strict=True)),
    )


def of_shapes(where: Any, names: list[str], shapes: Callable[[], GeoSeries]) -> Queries:
    """Polygons, or areas with the polygons that they are."""
    from explorer.queries.range_files import write_polygons

    return Queries(
        where,
        names,
        lambda columns: _table(names, columns, (), [()] * len(names), left=1),
        lambda form, columns: write_polygons(shapes(), names, form, dict(columns)),
        shapes,
        {},
    )


def of_trips(boxes: Floats, names: list[str], domain: TripDomain) -> Queries:
    """Boxes (n, k, 4) of the places of trips, NaN for anywhere."""
    import numpy as np

    from explorer.queries.files import write_trip_boxes
    from explorer.queries.geojson import EDGES

    digits = 0 if domain.unit == "m" else 2
    places = [f"{place} ({domain.unit})" for place in domain.names]
    cells = [
        [_ANYWHERE if np.isnan(box).all() else " ".join(f"{edge:.{digits}f}" for edge in box)
         for box in row]
        for row in boxes
    ]  # fmt: skip
    labels = [f"{place}_{edge}" for place in domain.names for edge in EDGES]
    return Queries(
        boxes,
        names,
        lambda columns: _table(names, columns, places, cells, left=1 + len(places)),
        lambda _, columns: write_trip_boxes(boxes, names, domain, dict(columns)),
        None,
        dict(zip(labels, boxes.reshape(len(boxes), -1).T, strict=True)),
    )


def _table(
    names: Sequence[str],
    columns: Columns,
    header: Iterable[str],
    cells: Sequence[Sequence[str]],
    left: int,
) -> str:
    """Aligned lines: names, cells, and figures: whole numbers as they are, others to a tenth."""
    rows = [
        [name, *row, *(f"{v:,}" if v.dtype.kind == "i" else f"{v:,.1f}" for v in values)]
        for name, row, *values in zip(names, cells, *columns.values(), strict=True)
    ]
    return table(["name", *header, *columns], rows, left=left)


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


def add_trip_questions(parser: argparse.ArgumentParser) -> None:
    """Declare questions that only releases of trips answer."""
    group = parser.add_argument_group("releases of trips")
    group.add_argument(
        "--place",
        nargs=2,
        action="append",
        default=[],
        metavar=("NAME", "FILE"),
        help="boxes of one place (o, d, ...), GeoJSON or CSV, row by row beside those of the "
        "others; can be repeated",
    )
    for word, what in zip(_WORDS, ("the first place", "a stop", "the last place"), strict=True):
        again = "; once for each stop, in order" if word == "via" else ""
        group.add_argument(
            f"--{word}",
            dest=f"box {word}",
            nargs=4,
            type=float,
            action="append",
            default=[],
            metavar=("X0", "Y0", "X1", "Y1"),
            help=f"one question: the box on {what}; left out, it is anywhere{again}",
        )


def add_area_questions(parser: argparse.ArgumentParser) -> None:
    """Declare the question that only releases of areas answer."""
    group = parser.add_argument_group("releases of areas")
    group.add_argument(
        "--area",
        action="append",
        default=[],
        metavar="NAME",
        help="an area by its name, or by its path such as England/London; can be repeated",
    )


def any_question(arguments: argparse.Namespace) -> bool:
    """Whether rectangles or polygons are given at all."""
    return bool(arguments.rectangles or arguments.polygons or arguments.rectangle)


def asked_of_one_map(arguments: argparse.Namespace, grid: Grid) -> Queries:
    """The rectangles or polygons that are asked on a grid."""
    if arguments.polygons is not None:
        if arguments.rectangles is not None or arguments.rectangle:
            raise InputError("Polygons are asked alone; leave the other questions out.")
        shapes, names = _polygons(arguments, grid)
        return of_shapes(shapes, names, lambda: shapes)
    refuse_name_column(arguments)
    boxes, names = _rectangles(arguments, grid)
    turned = None if arguments.bounding_boxes else _turned(arguments, boxes, grid)
    if turned is not None:
        note("Rectangles in degrees are no rectangles in metres here: each is asked as it is.")
        return of_shapes(turned, names, lambda: turned)
    x0, y0, x1, y1 = grid.bounds
    inside = (boxes[:, 0] < x1) & (boxes[:, 2] > x0) & (boxes[:, 1] < y1) & (boxes[:, 3] > y0)
    outside = int((~inside).sum())
    if outside:
        lie = "rectangle lies" if outside == 1 else "rectangles lie"
        note(
            f"{outside:,} {lie} outside the map, where nothing was counted: the answer there is 0."
        )
    return of_boxes(boxes, names, grid)


def _rectangles(arguments: argparse.Namespace, grid: Grid) -> tuple[Floats, list[str]]:
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
        notify = note if arguments.bounding_boxes else _refuse_shapes
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


def _refuse_shapes(sentence: str) -> None:
    """Another shape is never answered under the name of the one that was asked."""
    raise InputError(
        f"{sentence.partition(': ')[0]}; ask shapes as they are with --polygons in place of "
        "--rectangles, or the boxes around them with --bounding-boxes."
    )


def _polygons(arguments: argparse.Namespace, grid: Grid) -> tuple[GeoSeries, list[str]]:
    from explorer.grid.degrees import refuse_degrees
    from explorer.queries.range_files import read_polygons

    text = arguments.crs_polygons
    crs = grid.crs if text == "map" else flags.crs(text)
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


def _turned(arguments: argparse.Namespace, boxes: Floats, grid: Grid) -> GeoSeries | None:
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


def asked_of_areas(arguments: argparse.Namespace, release: CountryRelease) -> Queries:
    """Areas by name, polygons or rectangles."""
    if not arguments.area and arguments.polygons is None:
        if asks_trips(arguments):
            raise InputError(
                "This release is of areas; ask it with --area, --polygons, --rectangle."
            )
        return asked_of_one_map(arguments, release.windows.grid)
    if arguments.rectangles is not None or arguments.rectangle or asks_trips(arguments):
        raise InputError("Areas and polygons are asked alone; leave the other questions out.")
    if arguments.polygons is not None:
        if arguments.area:
            raise InputError("Give either --area or --polygons, not both.")
        return asked_of_one_map(arguments, release.windows.grid)
    refuse_name_column(arguments)
    by_text = {"/".join(path): path for path in release.windows.areas.paths if path}
    paths = [by_text.get(name, name) for name in arguments.area]

    def shapes() -> GeoSeries:
        at = [release.windows.find(path) for path in paths]
        return release.areas().geometry.iloc[at].reset_index(drop=True)

    return of_shapes(paths, list(arguments.area), shapes)


def asks_trips(arguments: argparse.Namespace) -> bool:
    """Whether any flag was typed that asks trips alone."""
    return bool(arguments.place) or any(_typed(arguments, word) for word in _WORDS)


def asked_of_trips(arguments: argparse.Namespace, domain: TripDomain) -> Queries:
    """All boxes of places that are asked, (n, k, 4) with NaN for anywhere."""
    import numpy as np

    from explorer.queries.files import read_trip_boxes
    from explorer.queries.shapes import boxes_of_degrees

    k = len(domain.grids)
    if arguments.rectangle:
        raise InputError(
            "--rectangle asks a map of one place; ask trips with --from, --via, --to X0 Y0 X1 Y1."
        )
    boxes, names = np.zeros((0, k, 4)), list[str]()
    if arguments.rectangles is not None:
        boxes, names = read_trip_boxes(arguments.rectangles, domain)
    if arguments.place:
        more, called = _by_place(arguments, domain)
        boxes, names = np.concatenate([boxes, more]), names + called
    typed = {word: _typed(arguments, word) for word in _WORDS}
    if any(typed.values()):
        single = np.full((1, k, 4), np.nan)
        for word, typed_boxes in typed.items():
            places = _places_of(word, len(typed_boxes), domain)
            for place, box in zip(places, typed_boxes, strict=True):
                in_degrees = arguments.lonlat
                single[0, place] = (
                    boxes_of_degrees([box], domain.grids[place])[0] if in_degrees else box
                )
        boxes, names = np.concatenate([boxes, single]), [*names, f"Q{len(names) + 1}"]
    elif arguments.lonlat:
        raise InputError("--lonlat is about --from, --via and --to; a file says itself what it is.")
    if not len(boxes):
        raise InputError(
            "There is nothing to answer; give --from X0 Y0 X1 Y1 --to X0 Y0 X1 Y1, --rectangles "
            f"boxes.csv with columns such as {domain.names[0]}_x0, or --place NAME FILE."
        )
    cells, shape = domain.to_cells(boxes), np.array(domain.shape)
    outside = int(np.any((cells[:, 0] >= shape) | (cells[:, 1] <= 0), axis=1).sum())
    if outside:
        asks = "question asks" if outside == 1 else "questions ask"
        note(f"{outside:,} {asks} for a place outside its grid, where no trip counts: 0 there.")
    return of_trips(boxes, names, domain)


def _by_place(arguments: argparse.Namespace, domain: TripDomain) -> tuple[Floats, list[str]]:
    from explorer.grid.frames import by_place, place_of
    from explorer.queries.files import read_place

    boxes_of, called = {}, list[str]()
    for name, file in arguments.place:
        place = place_of(name, domain.names)
        if place in boxes_of:
            raise InputError(f"--place {name} is given twice; give the place once.")
        boxes_of[place], names = read_place(
            file, domain.grids[place], note=note if arguments.bounding_boxes else _refuse_places
        )
        called = called or names
    boxes = by_place({domain.names[p]: b for p, b in boxes_of.items()}, domain.names, domain.grids)
    return boxes.reshape(len(boxes), -1, 4), called


def _typed(arguments: argparse.Namespace, word: str) -> list[list[float]]:
    boxes: list[list[float]] = getattr(arguments, f"box {word}")
    return boxes


def _places_of(word: str, boxes: int, domain: TripDomain) -> range:
    """The places that a word means by position: as many as there are boxes."""
    k = len(domain.grids)
    places = {"from": range(1), "via": range(1, k - 1), "to": range(max(1, k - 1), k)}[word]
    if boxes and not places:
        raise InputError(
            f"--{word} does not go with the places {', '.join(domain.names)} of this release; "
            "leave it out."
        )
    if boxes not in (0, len(places)):
        raise InputError(
            f"--{word} is given {'once' if boxes == 1 else f'{boxes} times'} for "
            f"{', '.join(domain.names[place] for place in places)}; give it once for each, in "
            "order, or leave it out."
        )
    return places[:boxes]


def _refuse_places(sentence: str) -> None:
    raise InputError(
        f"{sentence.partition(': ')[0]}, and places of trips are boxes; ask the boxes around "
        "shapes with --bounding-boxes."
    )
