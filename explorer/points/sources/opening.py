"""Which reader a source needs: told by its first bytes, so that a wrong name does no harm."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from explorer.errors import InputError
from explorer.grid import containers, gdal
from explorer.grid.geometry_columns import GeometryColumn, described
from explorer.grid.geometry_values import sample
from explorer.grid.layers import Layer, chosen, layers_of
from explorer.grid.place_texts import refuse_shapes
from explorer.grid.projection import as_crs
from explorer.grid.table_folders import check_counted
from explorer.grid.tables import read_table
from explorer.points.sources.geojson import GeoJSONFile
from explorer.points.sources.parquet import ParquetTable
from explorer.points.sources.tables import (
    MAX_ROWS,
    ArrayTable,
    Batches,
    Table,
    refuse_rows,
    unused_name,
)
from explorer.points.sources.text import TextTable

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
