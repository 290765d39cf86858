"""Boxes and polygons from one file: CSV, GeoJSON, or any format of polygons."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid import containers, gdal
from explorer.grid.apart import read_apart
from explorer.grid.apart.shapes import plain_shapes, shapes_of
from explorer.grid.geojson import as_collection
from explorer.grid.grid import Grid
from explorer.grid.pieces import Shapes
from explorer.grid.places import TripDomain
from explorer.grid.polygon_files import check_columns, read_frame
from explorer.grid.stated_crs import crs_of_polygons
from explorer.queries.files import (
    MAX_RECTANGLES,
    MOST_COLUMNS,
    USUAL,
    CSVRows,
    as_csv,
    boxes_of,
    clean_name,
    content_of,
    offered,
    read_csv,
    read_trip_boxes,
    usual,
    values_of,
)
from explorer.queries.geojson import EDGES, finite, is_geojson, read_shapes
from explorer.queries.shapes import shape_of_text

Floats = NDArray[np.float64]
#: What a file may end with.
SUFFIXES = (".csv", ".geojson", ".json", ".gpkg", ".zip", ".parquet", ".fgb", ".kml", ".kmz")
#: Bytes of a file of polygons.
MOST_BYTES = 20_000_000
_SHAPEFILE = b"\0\0\x27\x0a"
# What says where a row is, and names nothing; and what a table writes for a number.
_NOTED = (*EDGES, "west", "south", "east", "north", "wkt", "crs")
_NUMBER = re.compile(r"[-+]?[\d.,]+([eE][-+]?\d+)?")


@dataclass(frozen=True, eq=False)
class RangeFile:
    """What a file asks about.

    Attributes
    ----------
    boxes : (n, 4) in the grid's unit; of a polygon around it
    shapes : n valid polygons of shapely in the grid's unit, None for a box
    names : n texts, "" where the file has none
    column : the column that the names are from, "" where there is none
    texts : n names by every column that they may be from instead
    """

    boxes: Floats
    shapes: Sequence[Any]
    names: Sequence[str]
    column: str = ""
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def named(self) -> str:
        """The column that the names are from where it is not called name."""
        return "" if self.column.lower() == "name" else self.column


def read_ranges(
    source: str | Path | bytes, grid: Grid, name: str = "", name_column: str = ""
) -> RangeFile:
    """Read boxes and polygons, whatever of both a file has.

    Parameters
    ----------
    source : path, or the content of a file as bytes
        CSV and GeoJSON as of `read_rectangles`, where shapes of GeoJSON that are no rectangles are
        polygons, and a column wkt of CSV holds polygons in the grid's unit. GeoPackage, GeoParquet,
        FlatGeobuf, KML and a zipped Shapefile hold polygons with a CRS, and a column of names.
    grid : Grid
    name : str
        What to call content that is given as bytes.
    name_column : str
        The column with the names; without one "name", or another that areas are often named in.

    Raises
    ------
    InputError
        For a file that is missing, too large, of another format, has no such column, or holds
        something else.
    """
    content, label, layer = _content(source, name)
    if containers.is_packed(content) or _of_layers(content):
        return _of_polygons(content, grid, label, name_column, layer)
    if is_geojson(content):
        return _of_geojson(content, grid, label, name_column)
    return _of_csv(content, grid, label, name_column)


def _of_layers(content: bytes) -> bool:
    """Whether content has polygons of its own: that of a table or of GeoJSON does not."""
    if content.startswith(_SHAPEFILE):
        raise InputError("A Shapefile is several files; zip all of them together.")
    return content.startswith((gdal.SQLITE, b"PAR1")) or gdal.kind_of(content) is not None


def _content(source: str | Path | bytes, name: str) -> tuple[bytes, str, str]:
    """The bytes, what to call them, and the layer that is meant."""
    layer = ""
    if not isinstance(source, bytes):
        path, layer = containers.split_layer(source)
        if path.suffix.lower() in (".csv", ".geojson", ".json") or not path.is_file():
            return *content_of(source, name), ""
        if path.stat().st_size > MOST_BYTES:
            raise _too_large(path.name)
        source, name = path.read_bytes(), path.name
    if containers.is_packed(source) or _of_layers(source):
        if len(source) > MOST_BYTES:
            raise _too_large(name)
        return source, name[:100] or "the file", layer
    return *content_of(source, name), ""


def _too_large(label: str) -> InputError:
    return InputError(
        f"{label} is larger than the {MOST_BYTES // 10**6} MB that are read; simplify its polygons."
    )


def _of_geojson(content: bytes, grid: Grid, label: str, name_column: str) -> RangeFile:
    if grid.crs is not None and _has_own_crs(content):
        return _of_polygons(content, grid, label, name_column)
    boxes, _, parsed = read_shapes(content, grid, label, MAX_RECTANGLES)
    shapes = [None if entry is None else entry.on(grid)[0] for entry in parsed]
    return _named(_around(boxes, shapes), shapes, _facts(content), name_column, label)


def _facts(content: bytes) -> dict[str, list[Any]]:
    """What is said of the features, by its name; not what we note of their edges ourselves."""
    document = as_collection(content)
    rows = [feature.get("properties") or {} for feature in document.get("features", [document])]
    keys = dict.fromkeys(key for row in rows for key in row if key not in _NOTED)
    columns = {key: [row.get(key) for row in rows] for key in keys}
    return {key: values for key, values in columns.items() if any(v is not None for v in values)}


def _named(
    boxes: Floats,
    shapes: Sequence[Any],
    columns: Mapping[str, Sequence[Any]],
    name_column: str,
    label: str,
) -> RangeFile:
    """Rows with the names of the column that is asked for, else of the one that looks like it."""
    if name_column:
        check_columns([*columns], [name_column], f"rows of {label}")
    column = name_column or usual(columns)
    texts = offered(columns, column)
    return RangeFile(boxes, shapes, texts.get(column, [""] * len(boxes)), column, texts)


def _has_own_crs(content: bytes) -> bool:
    """Whether the document names another CRS than WGS 84, as some programs do."""
    try:
        named = as_collection(content).get("crs")
    except (ValueError, AttributeError, RecursionError):
        # Whatever is wrong with it is said by its reader.
        return False
    return bool(named) and not re.search(r"CRS84|4326", json.dumps(named))


def _of_csv(content: bytes, grid: Grid, label: str, name_column: str) -> RangeFile:
    table = read_csv(content, label)
    if "wkt" not in table.header:
        boxes, _ = boxes_of(table, grid)
        shapes: list[Any] = [None] * len(boxes)
    else:
        shapes = list(_polygons_of(table))
        boxes = np.full((len(shapes), 4), np.nan)
        plain = np.array([shape is None for shape in shapes], dtype=bool)
        if plain.any():
            rows, lines = list(compress(table.rows, plain)), list(compress(table.lines, plain))
            boxes[plain] = boxes_of(replace(table, rows=rows, lines=lines), grid)[0]
        shapes = [
            None if shape is None else Shapes(np.array([shape]), None).on(grid)[0]
            for shape in shapes
        ]
    columns: dict[str, list[str]] = {
        name: table.column(name) for name in table.header if name and name not in _NOTED
    }
    wanted_column = name_column.strip().lower()
    # Here everything is a text: what holds numbers alone is a name only where it is called so.
    columns = {k: v for k, v in columns.items() if k in ("name", wanted_column) or not _numbers(v)}
    return _named(_around(boxes, shapes), shapes, columns, wanted_column, label)


def _numbers(cells: Sequence[str | None]) -> bool:
    """Whether a column holds numbers: one, and no text."""
    texts = [cell for cell in cells if cell and cell.strip()]
    return bool(texts) and all(_NUMBER.fullmatch(text.strip()) for text in texts)


def _polygons_of(table: CSVRows) -> Iterable[Any]:
    for line, text in zip(table.lines, table.column("wkt"), strict=True):
        try:
            yield shape_of_text(text.strip()) if text.strip() else None
        except ValueError as error:
            raise InputError(
                f"Line {line} of {table.label} has a wkt that is no polygon; give "
                "POLYGON ((x y, ...))."
            ) from error


def _of_polygons(
    content: bytes, grid: Grid, label: str, name_column: str, layer: str = ""
) -> RangeFile:
    if grid.crs is None:
        raise InputError(
            "This map is measured in cells and has no longitude and latitude; give boxes as CSV "
            "with the columns name,x0,y0,x1,y1."
        )
    required = [name_column] if name_column else []
    frame = read_frame(content, required, "polygons", USUAL, MOST_COLUMNS, label, layer)
    if not 1 <= len(frame) <= MAX_RECTANGLES:
        raise InputError(f"{label} holds {len(frame):,} polygons; give 1 to {MAX_RECTANGLES:,}.")
    if frame.crs is None:
        raise InputError(f"{label} has no CRS; set one in the file, such as EPSG:4326.")
    geometry = np.asarray(frame.geometry.array, dtype=object)
    shapes = list(Shapes(geometry, frame.crs, frame).on(grid))
    boxes = _around(np.full((len(shapes), 4), np.nan), shapes)
    columns = {
        name: values_of(frame, name) for name in frame.columns if name != frame.geometry.name
    }
    return _named(boxes, shapes, columns, name_column, label)


def _around(boxes: Floats, shapes: Sequence[Any]) -> Floats:
    """The boxes, those of polygons around them."""
    result = np.array(boxes, dtype=np.float64).reshape(-1, 4)
    for row, shape in enumerate(shapes):
        if shape is not None:
            result[row] = shape.bounds
    return result


# Polygons as questions: from their files, and answered.


def read_polygons(
    path: str | Path, name_column: str = "", crs: Any = None
) -> tuple[Any, list[str]]:
    """A GeoSeries of the polygons of a file, and their names.

    Parameters
    ----------
    path : any format of polygons, as of `Areas.read`
        With a CRS.
    name_column : str
        The column with the names; without one "name", if there is such a column.
    crs : int, str or CRS, optional
        Of the polygons, where the file has none or one that their corners contradict.

    Returns
    -------
    shapes : (n,) GeoSeries, to be given to `Release.answer`
    names : n texts, "Q1", "Q2" .. where the file has none

    Raises
    ------
    InputError
        For a file that is none, holds no row or too many, or has no such column or no CRS.
    """
    required = [name_column] if name_column else []
    frame = read_frame(path, required, "polygons", optional=("name",))
    if not len(frame) or len(frame) > MAX_RECTANGLES:
        raise InputError(
            f"{Path(path).name} holds {len(frame):,} polygons; give 1 to {MAX_RECTANGLES:,}."
        )
    stated = crs_of_polygons(
        frame.crs, crs, frame.geometry.to_numpy(), f"polygons in {Path(path).name}"
    )
    frame = frame.set_crs(stated, allow_override=True)
    column = name_column or "name"
    values = values_of(frame, column) if column in frame.columns else [None] * len(frame)
    return frame.geometry, [clean_name(name, number) for number, name in enumerate(values)]


def write_polygons(
    shapes: Any, names: Sequence[str], format: str, columns: Mapping[str, ArrayLike]
) -> str:
    """Answers to polygons as the text of a file.

    Parameters
    ----------
    shapes : (n,) GeoSeries with a CRS
    names : n texts
    format : "geojson", with the polygons in WGS 84, or "csv", without them
    columns : further columns by name, (n,) each
    """
    extra = {label: np.asarray(values).tolist() for label, values in columns.items()}
    rows = list(zip(*extra.values(), strict=True))
    if format == "csv":
        return as_csv([*extra], names, rows)
    degrees = shapes.to_crs(4326).__geo_interface__["features"]
    features = [
        {
            "type": "Feature",
            "properties": {"name": name, **dict(zip(extra, map(finite, row), strict=True))},
            "geometry": shape["geometry"],
        }
        for shape, name, row in zip(degrees, names, rows, strict=True)
    ]
    return json.dumps({"type": "FeatureCollection", "features": features}) + "\n"


def foreign_ranges(content: bytes, grid: Grid, name: str, **how: Any) -> RangeFile:
    """Boxes and polygons of a file that a visitor sent, see `read_ranges` and `read_apart`."""
    plain = read_apart(ranges_as_plain, content, grid, name, **how)
    texts = {str(key): [str(row) for row in rows] for key, rows in plain["texts"].items()}
    names = [str(entry) for entry in plain["names"]]
    return RangeFile(
        np.asarray(plain["boxes"], np.float64).reshape(-1, 4),
        list(shapes_of(plain["shapes"])),
        names,
        str(plain["column"]),
        texts,
    )


def prepare() -> None:
    """Load what readers of polygons need, without a thread: they are forked from here."""
    import geopandas  # noqa: F401
    import pyogrio  # noqa: F401


def ranges_as_plain(content: bytes, grid: Grid | None = None, name: str = "") -> dict[str, Any]:
    """What a reader finds, as plain values."""
    file = read_ranges(content, grid or Grid((0, 0, 1, 1), (1, 1)), name)
    return {
        "boxes": file.boxes,
        "shapes": plain_shapes(file.shapes),
        "names": list(file.names),
        "column": file.column,
        "texts": {key: list(rows) for key, rows in file.texts.items()},
    }


def foreign_trip_boxes(
    content: bytes, domain: TripDomain, name: str, **how: Any
) -> tuple[NDArray[np.float64], list[str]]:
    """Boxes about several maps, see `read_trip_boxes`; the rest is as for `foreign_ranges`."""
    plain = read_apart(trip_boxes_as_plain, content, domain, name, **how)
    return np.asarray(plain["boxes"], np.float64), [str(entry) for entry in plain["names"]]


def trip_boxes_as_plain(content: bytes, domain: TripDomain, name: str) -> dict[str, Any]:
    """What a reader finds, as plain values."""
    boxes, names = read_trip_boxes(content, domain, name)
    return {"boxes": boxes, "names": names}
