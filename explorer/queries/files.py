"""Rectangles as files: GeoJSON in longitude and latitude, and CSV in the unit of the grid."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid.delimited import Delimited
from explorer.grid.extent import as_rectangles
from explorer.grid.grid import Grid
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
    extra = {str(label): np.asarray(values) for label, values in (columns or {}).items()}
    odd = any(values.shape != (len(boxes),) for values in extra.values())
    if odd or len(names) != len(boxes):
        raise InputError("Names and columns need one value for each rectangle.")
    rows = zip(*(values.tolist() for values in extra.values()), strict=True)
    cells = list(rows) if extra else [()] * len(boxes)
    if format == "geojson":
        return rectangle_geojson.write(boxes, names, grid, tuple(extra), cells, polygons)
    if format == "csv":
        if any(polygon is not None for polygon in polygons):
            cells = [(*row, _wkt(polygon)) for row, polygon in zip(cells, polygons, strict=True)]
            return _as_csv(boxes, names, (*extra, "wkt"), cells)
        return _as_csv(boxes, names, tuple(extra), cells)
    raise InputError(f"{format!r} is not a format of rectangles; choose {' or '.join(FORMATS)}.")


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


def _as_csv(boxes: Floats, names: Sequence[str], labels: tuple[str, ...], cells: list[Any]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["name", *EDGES, *map(no_formula, labels)])
    for box, name, row in zip(boxes.tolist(), names, cells, strict=True):
        writer.writerow([no_formula(str(name)), *box, *map(no_formula, map(finite, row))])
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
