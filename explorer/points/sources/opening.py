"""Which reader a source needs: told by its first bytes, so that a wrong name does no harm."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from explorer.errors import InputError
from explorer.grid import containers, gdal
from explorer.grid.geometry_columns import described
from explorer.grid.table_folders import check_counted
from explorer.grid.tables import read_table
from explorer.points.sources.geojson import GeoJSONFile
from explorer.points.sources.parquet import ParquetTable
from explorer.points.sources.tables import ArrayTable, Source
from explorer.points.sources.text import TextTable
from explorer.points.sources.vector import GeoFrame, VectorFile

# Two letters or more, so that a drive of Windows is not taken for one.
_URL = re.compile(r"^([a-z][a-z0-9+.-]+:/|/vsi)", re.IGNORECASE)


def open_source(
    source: Any, name: str | None, max_rows: int, layer: str = ""
) -> tuple[Source, str]:
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
        given = name or str(getattr(source, "name", "") or "points")
        return _open_file(content, Path(given).suffix, max_rows, layer), Path(given).stem
    if layer:
        raise InputError(f"What is in memory has no layers; leave out layer={layer!r}.")
    return _open_frame(source, max_rows), name or "points"


def _open_path(
    source: str | Path, name: str | None, max_rows: int, layer: str
) -> tuple[Source, str]:
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


def _open_file(file: Path | bytes, suffix: str, max_rows: int, layer: str) -> Source:
    content = containers.recognised(file, suffix, layer)
    kind, file = content.kind, content.file
    if kind == containers.TEXT:
        source: Source = TextTable(file, max_rows)
    elif kind == containers.PARQUET:
        if isinstance(file, Path):
            check_counted(file)
        source = ParquetTable(file, max_rows)
    elif kind == containers.GEOJSON:
        source = GeoJSONFile(file, max_rows)
    elif kind in (containers.SHEETS, containers.DUCKDB, containers.ARROW):
        return _open_frame(read_table(content), max_rows)
    else:
        return VectorFile(content, max_rows)
    if content.layer:
        raise InputError(f"A file of {kind} has no layers; leave out layer={content.layer!r}.")
    return source


def _open_frame(source: Any, max_rows: int) -> Source:
    if isinstance(source, Mapping):
        return ArrayTable(source, max_rows)
    if type(source).__name__ == "GeoSeries" and hasattr(source, "to_frame"):
        source = source.to_frame("geometry")
    if type(source).__name__ == "GeoDataFrame" and source.active_geometry_name is not None:
        return GeoFrame(source, max_rows)
    if hasattr(source, "columns") and hasattr(source, "iloc"):
        return ArrayTable({name: source[name] for name in source.columns}, max_rows)
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
