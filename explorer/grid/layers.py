"""Layers and tables of a file: of GDAL, SQLite, DuckDB, Arrow, Excel and OpenDocument."""

from __future__ import annotations

import io
import re
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid import containers, gdal
from explorer.grid.containers import Content

#: Layers of a file that are looked at.
_MOST_LAYERS = 1_000
_KINDS = ("", "Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon")
# What SQLite and SpatiaLite keep for themselves.
_OWN_TABLES = re.compile(
    r"(sqlite_|geometry_columns|spatial_ref_sys|spatialite_|views_geometry_|virts_geometry_|idx_"
    r"|vector_layers|geom_cols_ref_sys|sql_statements_log|data_licenses|raster_coverages"
    r"|vector_coverages|wms_|iso_metadata|stored_|networks$|topologies$|se_|rl2map_|knn2?$"
    r"|spatialindex$|elementarygeometries$)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Layer:
    """A layer that has been looked at, but not read.

    Attributes
    ----------
    number : its place in the file
    name : as the file says it
    kind : of its geometries, such as "Point" or "Unknown"; None without geometry
    fields : names of its other columns
    texts : those of them that hold text
    crs : that of its geometries, as the file says it; None for none
    rows : how many there are
    """

    number: int
    name: str
    kind: str | None
    fields: tuple[str, ...]
    texts: tuple[str, ...]
    crs: Any
    rows: int


class Layers:
    """The layers of a GeoPackage, Shapefile, FlatGeobuf, FileGDB, KML or GPX.

    Raises
    ------
    InputError
        For a file that is damaged, or would have GDAL read something else.
    """

    def __init__(self, content: Content) -> None:
        import pyogrio

        self._file = gdal.checked(content.file)
        with self._reading():
            named = [str(name) for name, _ in pyogrio.list_layers(self._file)][:_MOST_LAYERS]
            # By number: what a file does not name is called otherwise whenever it is opened.
            infos = [
                pyogrio.read_info(self._file, layer=number, force_feature_count=True)
                for number in range(len(named))
            ]
        for about in infos:
            gdal.check_driver(about)
        self.layers = [
            Layer(
                number,
                name,
                about["geometry_type"],
                tuple(map(str, about["fields"])),
                tuple(
                    str(field)
                    for field, kind in zip(about["fields"], about["ogr_types"], strict=True)
                    if kind == "OFTString"
                ),
                about["crs"],
                int(about["features"]),
            )
            for number, (name, about) in enumerate(zip(named, infos, strict=True))
        ]

    def read(self, layer: Layer, columns: Sequence[str], geometry: bool) -> Any:
        """A frame of GeoPandas with the named columns, and the geometry if it is asked for."""
        import pyogrio

        def read(names: Sequence[str], with_geometry: bool) -> Any:
            return pyogrio.read_dataframe(
                self._file,
                layer=layer.number,
                columns=list(names),
                read_geometry=with_geometry,
                # Else whole numbers with gaps would be floats, and long ids others.
                use_arrow=True,
                arrow_to_pandas_kwargs={"integer_object_nulls": True},
            )

        with self._reading():
            if geometry and "geometry" in columns:
                shapes = read([], True).geometry
                return _with_shapes(read(columns, False), shapes.array, shapes.crs)
            return read(columns, geometry)

    @contextmanager
    def _reading(self) -> Any:
        try:
            with gdal.unnamed(self._file):
                yield
        except InputError:
            raise
        except Exception as error:  # each driver has errors of its own
            raise gdal.damaged() from error


class Tables:
    """The tables of a file of SQLite, those of SpatiaLite with their places.

    Raises
    ------
    InputError
        For a file that is damaged, still open in another program, or holds tiles.
    """

    def __init__(self, content: Content) -> None:
        self._file = content.file
        if isinstance(self._file, Path):
            journal = self._file.with_name(f"{self._file.name}-wal")
            if journal.is_file() and journal.stat().st_size:
                raise InputError(
                    "This file of SQLite is still open in another program, so that rows may lie "
                    "beside it; close it there first."
                )
        self._shapes: dict[str, str] = {}
        with self._opened() as opened:
            schema = opened.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
            tables = [
                str(name)
                for kind, name, sql in schema
                if kind == "table" and not re.match(r"CREATE VIRTUAL", str(sql), re.IGNORECASE)
            ]
            names = {str(name) for _, name, _ in schema}
            if {"tiles", "metadata"} <= names:
                raise InputError(
                    "This file is tiles for display (MBTiles); give the points that they were made "
                    "from."
                )
            places = _geometry_columns(opened) if "geometry_columns" in names else {}
            named = [name for name in tables if not _OWN_TABLES.match(name)][:_MOST_LAYERS]
            self.layers = [
                self._look(opened, number, name, places.get(name.lower()))
                for number, name in enumerate(named)
            ]
        #: Names of views, which are computed when they are read.
        self.views = [str(name) for kind, name, _ in schema if kind == "view"]

    def read(self, layer: Layer, columns: Sequence[str], geometry: bool) -> Any:
        """A frame with the named columns, and the geometry if it is asked for."""
        import pandas

        shape = [self._shapes[layer.name]] if geometry else []
        selected = ", ".join(map(_quoted, [*columns, *shape])) or "NULL"
        with self._opened() as opened:
            rows = opened.execute(f"SELECT {selected} FROM {_quoted(layer.name)}").fetchall()
        values = list(zip(*rows, strict=True)) or [()] * len([*columns, *shape])
        frame = pandas.DataFrame(
            {name: list(column) for name, column in zip(columns, values, strict=False)}
        )
        if not geometry:
            return frame
        return _with_shapes(frame, _shapes_of(values[-1]), layer.crs)

    def _look(self, opened: sqlite3.Connection, number: int, name: str, place: Any) -> Layer:
        about = opened.execute(f"PRAGMA table_info({_quoted(name)})").fetchall()
        columns = {str(column): str(kind).upper() for _, column, kind, *_ in about}
        gdal.check_fields(len(columns))
        ((rows,),) = opened.execute(f"SELECT count(*) FROM {_quoted(name)}")
        lower = {column.lower(): column for column in columns}
        shape = None if place is None else lower.get(place[0].lower())
        if shape is not None:
            self._shapes[name] = shape
        return Layer(
            number,
            name,
            None if shape is None else place[1],
            tuple(column for column in columns if column != shape),
            tuple(c for c, kind in columns.items() if c != shape and re.search("CHAR|TEXT", kind)),
            None if shape is None else place[2],
            int(rows),
        )

    @contextmanager
    def _opened(self) -> Any:
        try:
            with closing(gdal.database(self._file)) as opened:
                yield opened
        except (sqlite3.Error, ValueError, OverflowError) as error:
            if isinstance(error, InputError):
                raise
            raise gdal.damaged() from error


def _with_shapes(frame: Any, shapes: Any, crs: Any) -> Any:
    """A frame with shapes, which are called "geometry" where no other column is."""
    import geopandas

    name = "geometry"
    while name in frame:
        name += "_"
    columns = dict(frame.items()) | {name: geopandas.GeoSeries(shapes, crs=crs)}
    return geopandas.GeoDataFrame(columns, geometry=name)


def layers_of(content: Content) -> Layers | Tables:
    """The layers of a file, see `containers.recognised`."""
    return Tables(content) if content.kind == containers.SQLITE else Layers(content)


def chosen(
    source: Layers | Tables, name: str, fits: Callable[[Layer], bool], what: str = "points"
) -> tuple[Layer, bool]:
    """The layer that is asked for, or the only one that may be meant; whether it was a choice.

    Parameters
    ----------
    name : of the layer, "" for none
    fits : whether a layer may be meant
    what : what is read, for sentences

    Raises
    ------
    InputError
        For a layer that is not there, and where several may be meant.
    """
    layers = source.layers
    if name:
        for layer in layers:
            if layer.name == name:
                return layer, False
        views = getattr(source, "views", [])
        if name in views:
            raise InputError(
                f"{name!r} is a view, which is computed when it is read; save it as a table."
            )
        raise InputError(
            f"There is no layer {name!r} in this file; there are "
            f"{containers.as_list(layer.name for layer in layers) or 'none'}."
        )
    if not layers:
        raise InputError("This file holds no layer or table; export or download it again.")
    # Tables without geometry are no layers where there are layers.
    placed = [layer for layer in layers if layer.kind is not None] or layers
    fitting = [layer for layer in placed if fits(layer)] or placed
    filled = [layer for layer in fitting if layer.rows]
    if len(filled) > 1:
        raise containers.several("layers", [layer.name for layer in filled], what)
    if not filled and len(fitting) > 1:
        raise InputError(f"No layer of this file holds {what}; export or download it again.")
    return (filled or fitting)[0], len(layers) > 1


def _geometry_columns(opened: sqlite3.Connection) -> dict[str, tuple[str, str, str | None]]:
    """Column, kind and CRS of the geometries by the small letters of the table's name."""
    about = [str(name) for _, name, *_ in opened.execute("PRAGMA table_info(geometry_columns)")]
    if not {"f_table_name", "f_geometry_column", "srid"} <= set(about):
        return {}
    kind = next((column for column in ("geometry_type", "type") if column in about), "NULL")
    crs_of_srid = {}
    with_crs = "SELECT srid, auth_name, auth_srid FROM spatial_ref_sys"
    try:
        crs_of_srid = {srid: f"{name}:{number}" for srid, name, number in opened.execute(with_crs)}
    except sqlite3.Error:
        crs_of_srid = {}
    rows = opened.execute(
        f"SELECT f_table_name, f_geometry_column, {kind}, srid FROM geometry_columns"
    )
    places = {}
    for table, column, code, srid in rows:
        crs = crs_of_srid.get(srid)
        crs = crs if crs and re.fullmatch(r"(EPSG|ESRI):\d{1,9}", crs, re.IGNORECASE) else None
        places[str(table).lower()] = str(column), _kind(code), crs
    return places


def _kind(code: Any) -> str:
    """The kind of geometries by their number, such as 1001 for a point with a height, or name."""
    if isinstance(code, int):
        return _KINDS[code % 1000] if 0 < code % 1000 < len(_KINDS) else "Unknown"
    named = {kind.upper(): kind for kind in _KINDS[1:]}
    return named.get(str(code).upper().removesuffix("M").removesuffix("Z"), "Unknown")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _shapes_of(values: Iterable[Any]) -> NDArray[Any]:
    """Shapes from WKB, or from what SpatiaLite keeps."""
    import shapely

    plain = [None if not isinstance(value, bytes) else _as_wkb(value) for value in values]
    shapes = np.array(plain, dtype=object)
    try:
        return np.asarray(shapely.from_wkb(shapes), dtype=object)
    except shapely.errors.GEOSException as error:
        raise gdal.damaged() from error


def _as_wkb(blob: bytes) -> bytes:
    """WKB of a geometry of SpatiaLite: a head of 38 bytes, a mark, and almost WKB."""
    if len(blob) < 45 or blob[:1] != b"\0" or blob[38:39] != b"\x7c":
        return blob
    order, body = blob[1:2], bytearray(blob[39:-1])
    little = order == b"\1"

    def number(at: int) -> int:
        return int.from_bytes(body[at : at + 4], "little" if little else "big")

    kind = number(0)
    if kind % 1000 in (4, 5, 6, 7):
        # Each part begins with a mark of its own where WKB has the order of bytes.
        size = {0: 16, 1: 24, 2: 24, 3: 32}[kind // 1000 % 10]
        at = 8
        for _ in range(number(4)):
            if body[at : at + 1] != b"\x69":
                raise gdal.damaged()
            body[at : at + 1] = order
            part = number(at + 1) % 1000
            at += 5
            if part == 1:
                at += size
                continue
            rings = 1
            if part == 3:
                rings, at = number(at), at + 4
            for _ in range(rings):
                at += 4 + size * number(at)
                if at > len(body):
                    raise gdal.damaged()
    return order + bytes(body)


_EXCEL = (
    "Spreadsheets need python-calamine, which is not installed; run pip install "
    "'dp-explorer[excel]', or save the sheet as CSV."
)


def read_table(content: Content) -> Any:
    """A table as a frame of pandas or a table of Arrow.

    Raises
    ------
    InputError
        For a file that is damaged, for several sheets or tables of which none is named, and where
        the library that reads it is not installed.
    """
    if content.kind == containers.SHEETS:
        return _read_sheet(content)
    if content.kind == containers.DUCKDB:
        return _read_duckdb(content)
    import pyarrow as pa

    file = content.file
    try:
        opened = pa.BufferReader(file) if isinstance(file, bytes) else pa.OSFile(str(file))
        with pa.ipc.open_file(opened) as batches:
            return batches.read_all()
    except (pa.ArrowException, OSError) as error:
        raise _damaged("Arrow") from error


def _read_sheet(content: Content) -> Any:
    try:
        import python_calamine
    except ImportError as error:
        raise InputError(_EXCEL) from error
    import pandas

    file = io.BytesIO(content.file) if isinstance(content.file, bytes) else str(content.file)
    try:
        with python_calamine.load_workbook(file) as book:
            sheets = {}
            for name in [content.layer] if content.layer in book.sheet_names else book.sheet_names:
                rows = book.get_sheet_by_name(name).to_python(skip_empty_area=True)
                if rows:
                    sheets[name] = rows
            names = list(book.sheet_names)
    except (python_calamine.CalamineError, OSError, ValueError) as error:
        raise _damaged("spreadsheet") from error
    if content.layer and content.layer not in names:
        raise InputError(
            f"There is no sheet {content.layer!r} in this file; there are "
            f"{containers.as_list(names)}."
        )
    if not sheets:
        raise InputError("This spreadsheet is empty; give the sheet with the records.")
    if len(sheets) > 1:
        raise containers.several("sheets", sheets)
    ((first, *rows),) = sheets.values()
    titles = [title for title in first if title != ""]
    if not titles or sum(not isinstance(title, str) for title in titles) > 1:
        raise InputError(
            "The first row of this sheet holds numbers or dates; begin it with the names of the "
            "columns, such as lon, lat."
        )
    columns = {str(title): at for at, title in enumerate(first) if title != ""}
    if len(columns) < len(titles):
        raise InputError("Two columns of this sheet have one name; rename one of them.")
    return pandas.DataFrame(
        {title: _values([row[at] for row in rows]) for title, at in columns.items()}
    )


def _values(cells: list[Any]) -> Any:
    """A column: whole numbers as such, an empty cell as none."""
    import pandas

    plain = [
        None if cell == "" else int(cell) if isinstance(cell, float) and cell.is_integer() else cell
        for cell in cells
    ]
    return pandas.Series(plain, dtype=object).infer_objects()


def _read_duckdb(content: Content) -> Any:
    if isinstance(content.file, bytes):
        raise InputError(
            "A file of DuckDB is read on its own computer only; write the table as Parquet: COPY "
            "points TO 'points.parquet'."
        )
    try:
        import duckdb
    except ImportError as error:
        raise InputError(
            "Files of DuckDB need duckdb, which is not installed; run pip install duckdb, or write "
            "the table as Parquet: COPY points TO 'points.parquet'."
        ) from error
    # Nothing in the file reads another file, fetches an address or loads an extension.
    closed: dict[str, str | bool | int | float | list[str]] = {
        "enable_external_access": "false",
        "autoload_known_extensions": "false",
        "autoinstall_known_extensions": "false",
        "lock_configuration": "true",
    }
    try:
        with duckdb.connect(str(content.file), read_only=True, config=closed) as opened:
            schema = opened.sql(
                "SELECT table_name, table_type FROM information_schema.tables "
                "WHERE table_schema = 'main' ORDER BY table_name"
            ).fetchall()
            tables = [str(name) for name, kind in schema if kind == "BASE TABLE"]
            if content.layer and content.layer not in tables:
                raise InputError(
                    f"There is no table {content.layer!r} in this file; there are "
                    f"{containers.as_list(tables) or 'none'}."
                )
            if not tables:
                raise InputError("This file of DuckDB holds no table; write one, not a view.")
            if not content.layer and len(tables) > 1:
                raise containers.several("tables", tables)
            return opened.table(_quoted(content.layer or tables[0])).to_arrow_table()
    except duckdb.Error as error:
        raise _damaged("DuckDB") from error


def _damaged(kind: str) -> InputError:
    return InputError(
        f"This file could not be read as {kind}; it may be damaged or locked by a password: export "
        "or download it again."
    )
