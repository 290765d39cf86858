"""Which reader a source needs: told by its first bytes, so that a wrong name does no harm."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid import containers, gdal
from explorer.grid.gdal import check_fields, damaged
from explorer.grid.geojson import Features
from explorer.grid.geometry_columns import GeometryColumn, described
from explorer.grid.geometry_values import SAMPLE, sample
from explorer.grid.layers import Layer, chosen, layers_of, read_table
from explorer.grid.place_texts import not_points, refuse_shapes
from explorer.grid.projection import as_crs
from explorer.grid.table_folders import check_counted
from explorer.grid.table_values import NotANumber, advice_on
from explorer.grid.table_values import numbers as numbers_in_texts
from explorer.points.sources.parquet import ParquetTable
from explorer.points.sources.tables import (
    MAX_ROWS,
    ArrayTable,
    Batches,
    Floats,
    Table,
    not_numbers,
    numbers,
    refuse_rows,
    unused_name,
)
from explorer.points.sources.text import TextTable, times

_DAMAGED = (TypeError, ValueError, LookupError, AttributeError, OverflowError)


class GeoJSONFile(Table):
    """A file of JSON whose places have been read."""

    def __init__(self, file: Path | bytes, max_rows: int = MAX_ROWS) -> None:
        content = file if isinstance(file, bytes) else file.read_bytes()
        self._features = Features(content)
        self._x, self._y = array("d"), array("d")
        self._other: InputError | None = None
        self._some: dict[str, list[Any]] = {}
        placed = False
        for feature in self._features:
            refuse_rows(len(self._x) + 1, max_rows)
            geometry = feature.get("geometry")
            placed |= geometry is not None
            x, y = self._place(geometry)
            self._x.append(x)
            self._y.append(y)
            for name, value in _properties(feature).items():
                some = self._some.setdefault(name, [])
                if len(some) < SAMPLE and value is not None:
                    some.append(_plain(value))
            check_fields(len(self._some))
        if not self._x:
            raise InputError("This JSON holds no features, so there are no points in it.")
        self.names = tuple(self._some)
        self._own = unused_name("geometry", self.names) if placed else ""
        crs = self._features.crs
        self._find(GeometryColumn(self._own, "objects", crs) if placed else None)
        self.notes = (self._features.taken,) if self._features.taken else ()

    def look(self, name: str) -> Any:
        """Some values of a column."""
        return np.array([*self._some[name], None], dtype=object)[:-1]

    def batches(self, figures: Sequence[str], others: Sequence[str]) -> Batches:
        """Named properties of all features, numbers also where they are written as texts."""
        names = [name for name in (*figures, *others) if name != self._own]
        columns: dict[str, list[Any]] = {name: [] for name in names}
        if columns:
            for feature in self._features:
                facts = _properties(feature)
                for name, values in columns.items():
                    values.append(_plain(facts.get(name)))
        yield 1.0, columns | {name: _numbers(columns[name], name) for name in figures}

    def coordinates(self, batch: Mapping[str, Any], place: Sequence[str]) -> tuple[Floats, Floats]:
        """Coordinates of the geometry, or of columns."""
        if [*place] != [self._own]:
            return super().coordinates(batch, place)
        if self._other is not None:
            raise self._other
        return np.array(self._x), np.array(self._y)

    def times(self, parts: list[Any]) -> NDArray[Any]:
        """ISO dates as datetime64."""
        import pandas

        return times(np.asarray(pandas.Series(parts[0])))

    def _place(self, geometry: Any) -> tuple[float, float]:
        """Coordinates of a point, NaN for none; other shapes are remembered."""
        if geometry is None:
            return np.nan, np.nan
        try:
            kind = geometry["type"]
            # Some programs write every point as a MultiPoint, or a collection, of one.
            while kind == "GeometryCollection" and len(geometry["geometries"]) == 1:
                (geometry,) = geometry["geometries"]
                if geometry is None:
                    return np.nan, np.nan
                kind = geometry["type"]
            if kind not in ("Point", "MultiPoint", "GeometryCollection"):
                raise not_points(str(kind)[:20])
            corner = geometry["geometries" if kind == "GeometryCollection" else "coordinates"]
            if kind != "Point" and len(corner) > 1:
                raise not_points(kind)
            if kind == "MultiPoint" and corner:
                (corner,) = corner
            if not corner or None in corner:
                return np.nan, np.nan
            return float(corner[0]), float(corner[1])
        except InputError as error:
            # Columns may be chosen in its place.
            self._other = self._other or error
            return np.nan, np.nan
        except _DAMAGED as error:
            raise damaged() from error


def _properties(feature: Mapping[str, Any]) -> dict[str, Any]:
    facts = feature.get("properties")
    if facts is not None and not isinstance(facts, dict):
        raise damaged()
    return facts or {}


def _plain(value: Any) -> Any:
    """A value that a table can hold: lists and objects become their text."""
    return json.dumps(value) if isinstance(value, dict | list) else value


def _numbers(values: list[Any], name: str) -> np.ndarray:
    """Numbers, also those that are written as texts."""
    import pandas

    texts = [at for at, value in enumerate(values) if isinstance(value, str)]
    plain = list(values)
    try:
        for at, value in zip(
            texts, numbers_in_texts([values[at] for at in texts], ",", set()), strict=True
        ):
            plain[at] = value
    except NotANumber as error:
        kind = error.args[0]
        if "comma" not in kind:
            raise not_numbers(name) from error
        raise InputError(f"The column {name!r} has {kind}; {advice_on(kind)}.") from error
    return numbers(pandas.Series(plain, dtype=object), name)


# Two letters or more, so that a drive of Windows is not taken for one.
_URL = re.compile(r"^([a-z][a-z0-9+.-]+:/|/vsi)", re.IGNORECASE)


def open_source(source: Any, name: str | None, max_rows: int, layer: str = "") -> tuple[Table, str]:
    """Return the source opened for a look, and what to call it.

    Parameters
    ----------
    source : path, bytes, file-like, DataFrame, GeoDataFrame, mapping, pair of arrays
        Only local files: an address would make a server fetch what a visitor names.
    name : str or None
        The name of a file whose content is given as bytes.
    max_rows : int
        Above this many rows nothing is read.
    layer : str
        The layer, table, sheet or file of an archive that is meant, where there are several.
    """
    if isinstance(source, str | Path):
        return _open_path(source, name, max_rows, layer)
    if isinstance(source, bytes | bytearray | memoryview) or hasattr(source, "read"):
        content = source.read() if hasattr(source, "read") else bytes(source)
        if not isinstance(content, bytes):
            raise InputError("This file was opened as text; open it in binary mode ('rb').")
        file_name = name or str(getattr(source, "name", "") or "points")
        return _open_file(content, Path(file_name).suffix, max_rows, layer), Path(file_name).stem
    if layer:
        raise InputError(f"What is in memory has no layers; leave out layer={layer!r}.")
    return _open_frame(source, max_rows), name or "points"


def _open_path(
    source: str | Path, name: str | None, max_rows: int, layer: str
) -> tuple[Table, str]:
    if _URL.match(str(source)):
        raise InputError("Only files of this computer are read; download the file and give it.")
    path, behind = containers.split_layer(source)
    if not path.exists():
        raise InputError(f"There is no file {path.name}; check the path.")
    try:
        return _open_file(path, path.suffix, max_rows, layer or behind), name or path.stem
    except OSError as error:
        raise InputError(f"{path.name} cannot be opened ({error.strerror}).") from error


def is_text(path: Path) -> bool:
    """Whether a file of this computer is taken for CSV or TSV, and not compressed."""
    try:
        head = gdal.beginning(path)
        is_packed = containers.is_packed(head)
        return not is_packed and containers.kind_of(path, head, path.suffix) == containers.TEXT
    except (OSError, InputError):
        # Opening it says why it cannot be read.
        return False


def _open_file(file: Path | bytes, suffix: str, max_rows: int, layer: str) -> Table:
    content = containers.recognised(file, suffix, layer)
    kind, file = content.kind, content.file
    if kind == containers.TEXT:
        source: Table = TextTable(file, max_rows)
    elif kind == containers.PARQUET:
        if isinstance(file, Path):
            check_counted(file)
        source = ParquetTable(file, max_rows)
        gdal.check_fields(len(source.names))
    elif kind == containers.GEOJSON:
        source = GeoJSONFile(file, max_rows)
    elif kind in (containers.SHEETS, containers.DUCKDB, containers.ARROW):
        return _open_frame(read_table(content), max_rows)
    else:
        return VectorFile(content, max_rows)
    if content.layer:
        raise InputError(f"A file of {kind} has no layers; leave out layer={content.layer!r}.")
    return source


def _open_frame(source: Any, max_rows: int) -> Table:
    if isinstance(source, Mapping):
        return ArrayTable(source, max_rows)
    if type(source).__name__ == "GeoSeries" and hasattr(source, "to_frame"):
        source = source.to_frame("geometry")
    if hasattr(source, "columns") and hasattr(source, "iloc"):
        name = getattr(source, "active_geometry_name", None)
        column = None if name is None else GeometryColumn(str(name), "objects")
        return ArrayTable({name: source[name] for name in source.columns}, max_rows, column)
    if hasattr(source, "__arrow_c_stream__"):
        import pyarrow as pa

        table = pa.table(source)
        columns = dict(zip(table.column_names, table.columns, strict=True))
        return ArrayTable(columns, max_rows, described(table.schema))
    if isinstance(source, np.ndarray) and source.ndim == 2 and source.shape[1] == 2:
        return ArrayTable({"x": source[:, 0], "y": source[:, 1]}, max_rows)
    if isinstance(source, tuple | list) and len(source) == 2:
        try:
            x, y = (np.asarray(part) for part in source)
        except ValueError as error:
            raise InputError("A pair of arrays is expected, x (or longitude) first.") from error
        return ArrayTable({"x": x, "y": y}, max_rows)
    raise InputError(
        f"Points cannot be read from {type(source).__name__}; give the path of a file "
        f"({containers.formats()}), a DataFrame or a pair of arrays."
    )


class VectorFile(Table):
    """A layer of GDAL or a table of SQLite, of which the header has been read."""

    def __init__(self, content: containers.Content, max_rows: int = MAX_ROWS) -> None:
        self._layers = layers_of(content)
        self._layer, choice = chosen(self._layers, content.layer, _of_points)
        refuse_rows(self._layer.rows, max_rows)
        self.names = self._layer.fields
        if self._layer.kind is not None:
            refuse_shapes([self._layer.kind])
            crs = as_crs(self._layer.crs) if self._layer.crs else None
            name = unused_name("geometry", self.names)
            self._place_at(GeometryColumn(name, "objects", crs))
        else:
            self._find(None)
        #: What was chosen among several, for the curator's screen.
        self.notes = (f"The layer {self._layer.name!r} was read.",) if choice else ()

    def batches(self, figures: Sequence[str], others: Sequence[str]) -> Batches:
        """Named columns, and the geometry."""
        columns = dict.fromkeys([*figures, *others])
        shape = self.column.name if self.column is not None and not self.column.found else ""
        is_placed = shape in columns
        if is_placed:
            del columns[shape]
        frame = self._layers.read(self._layer, list(columns), is_placed)
        shapes = {shape: frame.geometry} if is_placed else {}
        yield 1.0, {name: frame[name] for name in columns} | shapes

    def look(self, name: str) -> Any:
        """Some values of a column of a table without geometry, or of one that may be the place."""
        return sample(self._layers.read(self._layer, [name], geometry=False)[name])

    def look_at_text(self, name: str) -> Any:
        """Nothing: all of a layer is read to look at one of its columns."""
        return np.empty(0)


def _of_points(layer: Layer) -> bool:
    return layer.kind is not None and layer.kind.split(" ")[0] in ("Point", "MultiPoint", "Unknown")
