"""Rectangles as files: GeoJSON in longitude and latitude, and CSV in the unit of the grid."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid.delimited import Delimited
from explorer.grid.extent import as_rectangles
from explorer.grid.frames import place_of
from explorer.grid.grid import Grid
from explorer.grid.places import TripDomain
from explorer.grid.table_values import NotANumber, number
from explorer.queries import geojson as rectangle_geojson
from explorer.queries.boxes import DECIMALS
from explorer.queries.geojson import EDGES, finite

Floats = NDArray[np.float64]
MAX_BYTES = 10_000_000
MAX_RECTANGLES = 100_000
FORMATS = ("geojson", "csv")
# The second is what screens call them; the unit is the grid's as well.
_HEADERS = (EDGES, ("west", "south", "east", "north"))
# What a spreadsheet would run as a formula, behind any number of apostrophes; tabs and returns,
# which would hide it, have become spaces by then.
_FORMULA = re.compile(r"'*[=+\-@]")
_NAME_LENGTH = 100


def read_rectangles(
    source: str | Path | bytes,
    grid: Grid,
    name: str = "",
    note: Callable[[str], None] | None = None,
) -> tuple[Floats, list[str]]:
    """Read rectangles from GeoJSON or CSV; the content says which.

    Parameters
    ----------
    source : path, or the content of a file as bytes
        GeoJSON: Features in WGS 84 longitude and latitude, Polygon or MultiPolygon; the rectangle
        is the bounding box of the shape in the grid's CRS, its edges projected at many places. A
        Feature written by `write_rectangles` for the same CRS comes back with its exact edges.
        CSV: columns x0, y0, x1, y1 (or west, south, east, north) in the grid's unit, and a name
        if there is one.
    grid : Grid
    name : str
        What to call content that is given as bytes.
    note : callable, optional
        Told in one sentence how many shapes are no rectangles, so that their boxes hold more.

    Returns
    -------
    rectangles : (n, 4) float64 x0, y0, x1, y1 in the grid's unit; n is 1 to `MAX_RECTANGLES`
    names : n texts, "Q1", "Q2" ... where the file has none

    Raises
    ------
    InputError
        For a file that is missing, larger than `MAX_BYTES`, of another format, or holds something
        else than rectangles; for GeoJSON when the grid has no CRS.
    """
    content, label = content_of(source, name)
    if rectangle_geojson.is_geojson(content):
        boxes, names = rectangle_geojson.read(content, grid, label, MAX_RECTANGLES, note)
        return boxes, _checked_names(boxes, names, label)
    return boxes_of(read_csv(content, label), grid)


def _checked_names(boxes: Floats, names: Sequence[Any], label: str) -> list[str]:
    """A name for each box; boxes that are inside out are refused by it."""
    cleaned = [clean_name(name, number) for number, name in enumerate(names)]
    for box, called in zip(boxes, cleaned, strict=True):
        if box[0] > box[2] or box[1] > box[3]:
            raise InputError(
                f"The rectangle {called!r} in {label} is inside out; give west before east and "
                "south before north."
            )
    return cleaned


def write_rectangles(
    rectangles: ArrayLike,
    names: Sequence[str],
    grid: Grid,
    format: str,
    columns: Mapping[str, ArrayLike] | None = None,
    polygons: Sequence[Any] = (),
) -> str:
    """Return rectangles as the text of a file that `read_rectangles` reads back.

    Parameters
    ----------
    rectangles : (n, 4) x0, y0, x1, y1 in the grid's unit
    names : n texts; one that a spreadsheet would run as a formula gets an apostrophe in CSV
    grid : Grid
    format : "geojson" or "csv"
    columns : further columns by name, (n,) each, such as private counts; NaN is left empty
    polygons : n polygons that some of them represent, None for a rectangle; CSV has them as text
        in a column wkt

    Raises
    ------
    InputError
        For another format, columns of another length, or GeoJSON of a grid without a CRS.
    """
    boxes = as_rectangles(rectangles, ordered=False)
    extra = _columns_of(columns, len(boxes), names)
    cells = list(zip(*extra.values(), strict=True)) if extra else [()] * len(boxes)
    if format == "geojson":
        return rectangle_geojson.write(boxes, names, grid, tuple(extra), cells, polygons)
    if format == "csv":
        labels = [*EDGES, *extra]
        if any(polygon is not None for polygon in polygons):
            labels.append("wkt")
            cells = [(*row, _wkt(polygon)) for row, polygon in zip(cells, polygons, strict=True)]
        rows = ((*box, *row) for box, row in zip(boxes.tolist(), cells, strict=True))
        return as_csv(labels, names, rows)
    raise InputError(f"{format!r} is not a format of rectangles; choose {' or '.join(FORMATS)}.")


def _columns_of(
    columns: Mapping[str, ArrayLike] | None, n: int, names: Sequence[str]
) -> dict[str, list[Any]]:
    """Further columns of n named rows as lists."""
    extra = {str(label): np.asarray(values) for label, values in (columns or {}).items()}
    if any(values.shape != (n,) for values in extra.values()) or len(names) != n:
        raise InputError("Names and columns need one value for each row.")
    return {label: values.tolist() for label, values in extra.items()}


def _wkt(polygon: Any) -> str | None:
    return None if polygon is None else shapely.to_wkt(polygon, rounding_precision=DECIMALS)


def content_of(source: str | Path | bytes, name: str = "") -> tuple[bytes, str]:
    """What a file of rectangles holds, and what to call it; see `read_rectangles`."""
    if isinstance(source, bytes | bytearray | memoryview):
        content, label = bytes(source), name[:_NAME_LENGTH] or "the file"
    else:
        path, label = Path(source).expanduser(), Path(source).name
        if not path.is_file():
            raise InputError(f"There is no file of rectangles {source}; check its name.")
        try:
            with path.open("rb") as opened:
                content = opened.read(MAX_BYTES + 1)
        except OSError as error:
            raise InputError(f"{label} cannot be opened ({error.strerror}).") from error
    if len(content) > MAX_BYTES:
        raise InputError(
            f"{label} is larger than the {MAX_BYTES // 10**6} MB that are read; give fewer "
            "rectangles."
        )
    if not content.strip():
        raise InputError(f"{label} is empty; give rectangles as GeoJSON or CSV.")
    return content, label


@dataclass(frozen=True)
class CSVRows:
    """The rows of a CSV file of boxes.

    Attributes
    ----------
    label : what to call the file
    header : names of the columns in small letters
    rows : values of each row, one for each column
    lines : the line of the file in which each row begins
    delimiter : between values
    """

    label: str
    header: list[str]
    rows: list[list[str]]
    lines: list[int]
    delimiter: str

    def column(self, name: str) -> list[str]:
        """The values of a column."""
        at = self.header.index(name)
        return [row[at] for row in self.rows]

    def numbers(self, row: int, columns: Sequence[str], advice: str) -> list[float]:
        """Finite numbers of one row; ``advice`` ends the sentence that refuses anything else."""
        begin = f"Line {self.lines[row]} of {self.label}"
        values = []
        for name in columns:
            try:
                value = number(self.rows[row][self.header.index(name)], self.delimiter)
            except NotANumber as kind:
                raise InputError(f"{begin} has {kind} and no number in {name}; {advice}.") from None
            if not np.isfinite(value):
                raise InputError(f"{begin} lacks a number in {name}; {advice}.")
            values.append(value)
        return values


def read_csv(content: bytes, label: str) -> CSVRows:
    """Names of columns and the rows below them; none of either for what is no CSV.

    Raises
    ------
    InputError
        For a row with more values than there are columns, and for quotes that are not closed.
    """
    try:
        table = Delimited(content)
    except InputError:
        return CSVRows(label, [], [], [], ",")
    header = [name.strip().lower() for name in table.names]
    records = table.records()
    # Spreadsheets leave out empty cells at the end of a row.
    rows = [[*row, *[""] * (len(header) - len(row))] for _, row in records]
    return CSVRows(label, header, rows, [line for line, _ in records], table.delimiter)


def boxes_of(table: CSVRows, grid: Grid) -> tuple[Floats, list[str]]:
    """Boxes (n, 4) and names of a table with columns of edges; see `read_rectangles`."""
    places = next((edges for edges in _HEADERS if set(edges) <= set(table.header)), None)
    if places is None:
        raise InputError(
            f"{table.label} is neither GeoJSON nor CSV with the columns name,x0,y0,x1,y1; give one "
            "of them."
        )
    check_number(table.rows, table.label)
    rows = range(len(table.rows))
    boxes = np.array([table.numbers(row, places, "give all four edges") for row in rows])
    refuse_degrees(boxes, grid, table.label)
    names = table.column("name") if "name" in table.header else [None] * len(boxes)
    return boxes, _checked_names(boxes, names, table.label)


def check_number(rows: Sequence[Any], label: str) -> None:
    """Refuse a file of no rectangle, or of more than `MAX_RECTANGLES`."""
    if not rows:
        raise InputError(f"{label} holds no rectangle; add one, or leave the file out.")
    if len(rows) > MAX_RECTANGLES:
        raise rectangle_geojson.too_many(label, MAX_RECTANGLES)


def refuse_degrees(boxes: Floats, grid: Grid, label: str) -> None:
    """Degrees taken for metres would be a speck in the middle of the map: refuse them."""
    if grid.crs is None or np.any(np.abs(boxes) > (360, 90, 360, 90)):
        return
    x, y = grid.from_lonlat(boxes[:, [0, 2]].mean(axis=1), boxes[:, [1, 3]].mean(axis=1))
    x0, y0, x1, y1 = grid.bounds
    if np.all((x0 <= x) & (x <= x1) & (y0 <= y) & (y <= y1)):
        raise InputError(
            f"The rectangles in {label} look like degrees, but CSV is read in metres of the map; "
            "give longitude and latitude as GeoJSON."
        )


def as_csv(labels: Sequence[str], names: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table of named rows; no text in it is a formula, and numbers that are none are empty."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["name", *map(no_formula, labels)])
    for name, row in zip(names, rows, strict=True):
        writer.writerow([no_formula(str(name)), *(no_formula(finite(cell)) for cell in row)])
    return text.getvalue()


def no_formula(cell: Any) -> Any:
    """A cell as it is, but text in one line and never one that a spreadsheet would run."""
    if not isinstance(cell, str):
        return cell
    text = _one_line(cell)
    return f"'{text}" if _FORMULA.match(text) else text


def _one_line(text: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in text).strip()


def clean_name(name: Any, number: int) -> str:
    """One short line of a name from a file, or Q and its number."""
    text = str(name) if isinstance(name, str | int | float) else ""
    if text.startswith("'") and _FORMULA.match(text):
        text = text[1:]
    return _one_line(text)[:_NAME_LENGTH].strip() or f"Q{number + 1}"


# Which column of a table names its rows: the one that is asked for, or the best that there is.


#: So many columns of text are offered for names.
MOST_COLUMNS = 20
# Columns that name areas, the best first; in any case of letters.
_NAMES = (
    *("name", "name_en", "nam", "label", "title", "area_name", "namelsad", "lau_name"),
    *("nuts_name", "name_latn", "gen", "nom", "nome", "nombre", "naam", "navn", "nazwa"),
    *(f"name_{level}" for level in (5, 4, 3, 2, 1)),
    *("borough", "district", "ward", "neighborhood", "neighbourhood", "community", "county"),
    *("municipality", "commune", "gemeinde", "kommune", "arrondissement", "region", "state"),
)
#: The columns that are looked for where none is asked for.
USUAL = tuple(
    dict.fromkeys(spelling(word) for word in _NAMES for spelling in (str, str.upper, str.title))
)


def usual(has: Collection[str]) -> str:
    """The column that names rows where no one says which one; "" where none looks like it.

    >>> usual(["POP", "NAME_2", "label"]), usual(["POP"])
    ('label', '')
    """
    return next((column for column in USUAL if column in has), "")


def offered(columns: Mapping[str, Sequence[Any]], used: str) -> dict[str, list[str]]:
    """Names by each column of text, and by the one that is used whatever it holds.

    Parameters
    ----------
    columns : n values each, None for no name
    used : a key of ``columns``, or ""
    """
    texts = [name for name, values in columns.items() if any(isinstance(v, str) for v in values)]
    chosen = dict.fromkeys([*texts[:MOST_COLUMNS], *([used] if used else [])])
    return {name: texts_of(columns[name]) for name in chosen}


def values_of(frame: Any, column: str) -> list[Any]:
    """The values of a column of a frame, None for none."""
    # What a table has for no name is NaN in most formats of polygons.
    return list(frame[column].astype(object).where(frame[column].notna(), None))


def texts_of(names: Sequence[Any]) -> list[str]:
    """Names in one short line each, "" for none."""
    return [
        "" if name is None or not str(name).strip() else clean_name(name, number)
        for number, name in enumerate(names)
    ]


# Boxes on several places as files: CSV with columns for each place, or a file for each place.


def read_trip_boxes(
    source: str | Path | bytes, domain: TripDomain, name: str = ""
) -> tuple[Floats, list[str]]:
    """Read boxes on all places from CSV.

    Parameters
    ----------
    source : path, or the content of a file as bytes
        Columns such as o_x0, o_y0, o_x1, o_y1, d_x0, .., in the unit of each place's grid; the
        part before the edge is the place's name, or a word for it such as "from". Four empty
        cells, or no columns, mean anywhere. A column "name" if there is one.
    domain : TripDomain
    name : str
        What to call content that is given as bytes.

    Returns
    -------
    boxes : (n, k, 4) float64, NaN for anywhere
    names : n texts, "Q1", "Q2" .. where the file has none

    Raises
    ------
    InputError
        For a file that is missing, too large, or has something else in it.
    """
    content, label = content_of(source, name)
    table = read_csv(content, label)
    at = _columns(table.header, domain, label)
    check_number(table.rows, label)
    boxes = np.full((len(table.rows), len(domain.grids), 4), np.nan)
    for place, columns in at.items():
        cells = zip(*map(table.column, columns), strict=True)
        for row, texts in enumerate(cells):
            if any(text.strip() for text in texts):
                advice = "give all four edges, or none for anywhere"
                boxes[row, place] = table.numbers(row, columns, advice)
    values = table.column("name") if "name" in table.header else [None] * len(boxes)
    names = [clean_name(name, row) for row, name in enumerate(values)]
    for place in at:
        _check(boxes[:, place], domain.grids[place], label, names)
    return boxes, names


def read_place(
    source: str | Path | bytes,
    grid: Grid,
    name: str = "",
    note: Callable[[str], None] | None = None,
) -> tuple[Floats, list[str]]:
    """Read the boxes of one place, GeoJSON or CSV; a Feature without a shape is anywhere.

    Parameters, returns and errors are as of `read_rectangles`, but for boxes of NaN.
    """
    content, label = content_of(source, name)
    if content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] != b"{":
        return read_rectangles(content, grid, label, note)
    try:
        document = json.loads(content.decode("utf-8-sig"))
        features = document["features"] if document["type"] == "FeatureCollection" else [document]
        has_shape = np.array([_has_shape(feature) for feature in features], dtype=bool)
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return read_rectangles(content, grid, label, note)  # refuses it
    if has_shape.all() or not len(has_shape):
        return read_rectangles(content, grid, label, note)
    check_number(features, label)
    boxes = np.full((len(features), 4), np.nan)
    facts = [feature.get("properties") for feature in features]
    names = [
        clean_name(fact.get("name") if isinstance(fact, dict) else None, number)
        for number, fact in enumerate(facts)
    ]
    if has_shape.any():
        with_shape = [feature for feature, has in zip(features, has_shape, strict=True) if has]
        rest = {**document, "type": "FeatureCollection", "features": with_shape}
        boxes[has_shape] = read_rectangles(json.dumps(rest).encode(), grid, label, note)[0]
    return boxes, names


def write_trip_boxes(
    boxes: ArrayLike,
    names: Sequence[str],
    domain: TripDomain,
    columns: Mapping[str, ArrayLike] | None = None,
) -> str:
    """Return boxes (n, k, 4) and further columns (n,) as CSV that `read_trip_boxes` reads back.

    Raises
    ------
    InputError
        For columns of another length.
    """
    flat = np.asarray(boxes, dtype=np.float64).reshape(-1, 4 * len(domain.grids))
    extra = _columns_of(columns, len(flat), names)
    edges = [f"{place}_{edge}" for place in domain.names for edge in EDGES]
    rows = zip(*flat.T.tolist(), *extra.values(), strict=True)
    return as_csv([*edges, *extra], names, rows)


def _columns(header: list[str], domain: TripDomain, label: str) -> dict[int, list[str]]:
    """Columns of the four edges of every place that has them."""
    columns: dict[int, list[str]] = {}
    for column in header:
        word, _, edge = column.rpartition("_")
        if edge != EDGES[0] or not word:
            continue
        of_place = [f"{word}_{side}" for side in EDGES]
        if not set(of_place) <= set(header):
            raise InputError(f"{label} lacks some of {', '.join(of_place)}; give all four.")
        place = place_of(word, domain.names)
        if place in columns:
            raise InputError(f"{label} has boxes of {domain.names[place]} twice; give them once.")
        columns[place] = of_place
    if not columns:
        example = ",".join(f"{domain.names[0]}_{edge}" for edge in EDGES)
        raise InputError(
            f"{label} is no CSV with columns of places such as name,{example}; the places are "
            f"{', '.join(domain.names)}."
        )
    return columns


def _check(boxes: Floats, grid: Grid, label: str, names: Sequence[str]) -> None:
    """Refuse what is inside out, or degrees where metres are wanted; NaN is fine."""
    there = np.flatnonzero(~np.isnan(boxes[:, 0]))
    inside_out = there[np.any(boxes[there, :2] > boxes[there, 2:], axis=1)]
    if len(inside_out):
        raise InputError(
            f"The row {names[inside_out[0]]!r} in {label} is inside out; give west before east and "
            "south before north."
        )
    if len(there):
        refuse_degrees(boxes[there], grid, label)


def _has_shape(feature: Any) -> bool:
    geometry = feature["geometry"]
    return geometry is not None and geometry.get("coordinates") != []
