"""Which reader a source needs: told by its first bytes, so that a wrong name does no harm."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from explorer.errors import InputError
from explorer.grid.geometry_columns import described
from explorer.points.sources.geojson import GeoJSONFile
from explorer.points.sources.parquet import ParquetTable
from explorer.points.sources.tables import ArrayTable, Source
from explorer.points.sources.text import TextTable
from explorer.points.sources.vector import GeoFrame, VectorFile

_FORMATS = "CSV, TSV, Parquet, GeoParquet, GeoJSON, GeoPackage or Shapefile"
_TEXT = {".csv", ".tsv", ".txt", ".tab", ""}
_NAMED = {
    ".parquet": "Parquet",
    ".geoparquet": "GeoParquet",
    ".gpkg": "GeoPackage",
    ".geojson": "GeoJSON",
    ".json": "GeoJSON",
    ".shp": "Shapefile",
}
# Bytes at the beginning of a file that tell what it is.
_LOOK = 64
#: Opens a file for a look.
Reader = Callable[[Any, int], Source]
# Two letters or more, so that a drive of Windows is not taken for one.
_URL = re.compile(r"^([a-z][a-z0-9+.-]+:/|/vsi)", re.IGNORECASE)


def open_source(source: Any, name: str | None, max_rows: int) -> tuple[Source, str]:
    """Return the source opened for a look, and what to call it.

    Parameters
    ----------
    source : path, bytes, file-like, DataFrame, GeoDataFrame, mapping, pair of arrays
        Only local files: an address would make a server fetch what a visitor names.
    name : str or None
        The name of a file whose content is given as bytes.
    max_rows : int
        Above this many rows nothing is read.
    """
    if isinstance(source, str | Path):
        return _open_path(source, name, max_rows)
    if isinstance(source, bytes | bytearray | memoryview) or hasattr(source, "read"):
        content = source.read() if hasattr(source, "read") else bytes(source)
        if not isinstance(content, bytes):
            raise InputError("This file was opened as text; open it in binary mode ('rb').")
        given = name or str(getattr(source, "name", "") or "points")
        return _open_file(content, content[:_LOOK], Path(given).suffix, max_rows), Path(given).stem
    return _open_frame(source, max_rows), name or "points"


def _open_path(source: str | Path, name: str | None, max_rows: int) -> tuple[Source, str]:
    if _URL.match(str(source)):
        raise InputError("Only files of this computer are read; download the file and give it.")
    path = Path(source).expanduser()
    if path.is_dir():
        raise InputError(f"{path.name} is a folder; give one of the files in it.")
    if not path.is_file():
        raise InputError(f"There is no file {path.name}; check the path.")
    try:
        with path.open("rb") as opened:
            head = opened.read(_LOOK)
    except OSError as error:
        raise InputError(f"{path.name} cannot be opened ({error.strerror}).") from error
    return _open_file(path, head, path.suffix, max_rows), name or path.stem


def is_text(path: Path) -> bool:
    """Whether a file of this computer is taken for CSV or TSV."""
    try:
        with path.open("rb") as opened:
            return _reader_of(path, opened.read(_LOOK), path.suffix) is TextTable
    except (OSError, InputError):
        # Whoever opens it says why it cannot be read.
        return False


def _open_file(file: Path | bytes, head: bytes, suffix: str, max_rows: int) -> Source:
    return _reader_of(file, head, suffix)(file, max_rows)


def _reader_of(file: Path | bytes, head: bytes, suffix: str) -> Reader:
    suffix = suffix.lower()
    if head.startswith(
        (b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"7z")
    ):
        raise InputError("This file is compressed; unpack it and give what is inside.")
    if not head.strip():
        raise InputError(f"This file is empty; give points as {_FORMATS}.")
    if head.startswith(b"PAR1"):
        return ParquetTable
    if head.startswith(b"SQLite format 3\0"):
        return VectorFile
    if head.startswith(b"\0\0\x27\x0a"):
        if isinstance(file, bytes):
            raise InputError("A Shapefile is several files; give a GeoPackage or GeoJSON instead.")
        return VectorFile
    if head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n\x1e").startswith((b"{", b"[")):
        return GeoJSONFile
    if head.startswith(b"\x93NUMPY"):
        raise InputError("This file is a matrix of counts; use FrequencyMatrix.from_array for it.")
    if suffix in _TEXT:
        return TextTable
    if suffix in _NAMED:
        raise InputError(
            f"This file does not begin as a {_NAMED[suffix]} file does, so it could not be read; "
            "it may be damaged: export or download it again."
        )
    raise InputError(f"A file of the kind {suffix!r} is not read; give points as {_FORMATS}.")


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
        f"Points cannot be read from {type(source).__name__}; give the path of a file ({_FORMATS}),"
        " a DataFrame or a pair of arrays."
    )
