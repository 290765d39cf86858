"""What a file is, by its content: a table, a layer, an archive of either, or something else.

Readers of points, trips, areas, boundaries and polygons ask here first. A name or an ending decides
nothing where the content does.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from explorer.errors import InputError
from explorer.grid import gdal
from explorer.grid.table_folders import refuse_folder
from explorer.grid.values import shown

PARQUET, ARROW, GEOJSON, TEXT = "Parquet", "Arrow", "GeoJSON", "text"
SQLITE, DUCKDB, SHEETS = "SQLite", "DuckDB", "spreadsheet"
#: Bytes that what is compressed may unpack to.
MOST_UNPACKED = 2**30
#: Endings of files that are compressed as a whole.
PACKED = (".zip", ".gz", ".bz2", ".xz", ".zst")
#: Endings of files of one layer or several, with geometry.
LAYERS = (
    *(".gpkg", ".geojson", ".json", ".geojsonl", ".ndjson", ".fgb", ".kml", ".kmz", ".gpx"),
    *(".sqlite", ".db"),
)
#: Endings of tables.
TABLES = (".csv", ".tsv", ".txt", ".parquet", ".geoparquet", ".xlsx", ".xls", ".ods")

_TEXT = (".csv", ".tsv", ".txt", ".tab", "")
_NAMED = {
    ".parquet": "Parquet",
    ".geoparquet": "GeoParquet",
    ".gpkg": "GeoPackage",
    ".geojson": "GeoJSON",
    ".json": "GeoJSON",
    ".shp": "Shapefile",
    ".fgb": "FlatGeobuf",
    ".kml": "KML",
    ".kmz": "KMZ",
    ".gpx": "GPX",
    ".sqlite": "SQLite",
    ".duckdb": "DuckDB",
    ".xlsx": "Excel",
    ".xls": "Excel",
    ".ods": "OpenDocument",
    ".zip": "zip",
    ".gz": "gzip",
    ".bz2": "bzip2",
    ".xz": "xz",
    ".zst": "Zstandard",
}
_BEGINS = {
    b"PAR1": PARQUET,
    b"ARROW1": ARROW,
    gdal.SQLITE: SQLITE,
    # The former Excel; others of Office begin so, too, which its reader says.
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": SHEETS,
}
_COMPRESSED = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zst"}
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_UNPACK = "unpack it and give what is inside"
_EXPORT = "export the table itself as CSV or Parquet"
_RASTER = "give points, or a table of them"
#: What else files begin with: what that is, and what to do instead.
_OTHERS = {
    b"\x93NUMPY": ("a matrix of counts", "use FrequencyMatrix.from_array for it"),
    b"%PDF": ("a PDF document", "give the table that it shows as a file of its own"),
    b"\x89PNG": ("a picture (PNG)", _RASTER),
    b"\xff\xd8\xff": ("a picture (JPEG)", _RASTER),
    b"GIF8": ("a picture (GIF)", _RASTER),
    b"II*\0": ("a raster (TIFF)", _RASTER),
    b"MM\0*": ("a raster (TIFF)", _RASTER),
    b"II+\0": ("a raster (TIFF)", _RASTER),
    b"\x89HDF": ("HDF5 or netCDF", _EXPORT),
    b"CDF": ("netCDF", _EXPORT),
    b"PMTiles": ("tiles for display (PMTiles)", "give the points that they were made from"),
    b"7z\xbc\xaf\x27\x1c": ("a 7z archive", _UNPACK),
    b"Rar!": ("a RAR archive", _UNPACK),
    b"\x04\x22\x4d\x18": ("compressed (LZ4)", _UNPACK),
    b"ORC": ("ORC", _EXPORT),
    b"Obj\x01": ("Avro", _EXPORT),
    b"RDX": ("data of R", _EXPORT),
    b"\x80\x04": ("a pickle of Python, which could run code", _EXPORT),
    b"\x80\x05": ("a pickle of Python, which could run code", _EXPORT),
}
_WEB_PAGE = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype html|html|head|body)\b", re.IGNORECASE
)
_XML = re.compile(rb"\s*<(?:\?xml|!DOCTYPE|osm\b|gml|wfs:)", re.IGNORECASE)
# What damage makes of an archive, by its ways of packing, and what a password, or a way of packing
# that Python does not know, does (both a RuntimeError).
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError),
    *(RuntimeError, ValueError, struct.error),
)


@dataclass(frozen=True)
class Content:
    """What a reader is given.

    Attributes
    ----------
    kind : `PARQUET`, `GEOJSON`, `TEXT`, ..., or a driver of GDAL (see `gdal.kind_of`)
    file : the file itself, or what was in it
    layer : the layer, table or sheet of it that was asked for, "" for none
    """

    kind: str
    file: Path | bytes
    layer: str = ""


def split_layer(path: str | Path) -> tuple[Path, str]:
    """A path, and the layer that is behind it.

    >>> split_layer("stops.gpkg::rail")
    (PosixPath('stops.gpkg'), 'rail')
    """
    whole = Path(path).expanduser()
    name, mark, layer = str(whole).rpartition("::")
    return (whole, "") if not mark or whole.exists() else (Path(name), layer)


def recognised(
    file: Path | bytes,
    suffix: str = "",
    layer: str = "",
    what: str = "points",
    most: int = MOST_UNPACKED,
) -> Content:
    """What a file is, taken out of an archive where it is in one.

    Parameters
    ----------
    file : path of a file or of a folder that is one (FileGDB), or the content of a file
    suffix : the ending of its name, which decides whether something without a signature is text
    layer : which of several files, layers, tables or sheets is meant
    what : what is read, for sentences
    most : bytes that it may unpack to

    Raises
    ------
    InputError
        For what is not read, and says what it is; for a damaged archive, one with several files
        of which none is named, one locked by a password, and one that unpacks to too much.
    """
    if isinstance(file, Path) and file.is_dir():
        if gdal.is_geodatabase(file):
            return Content(gdal.GEODATABASE, file, layer)
        refuse_folder(file)
        raise InputError(f"{file.name} is a folder; give one of the files in it.")
    head = gdal.beginning(file)
    if head.startswith(_ZIP):
        return _of_archive(file, layer, what, most)
    for begins, way in _COMPRESSED.items():
        if head.startswith(begins):
            return _of_stream(file, way, layer, what, most)
    return Content(kind_of(file, head, suffix, what), file, layer)


def is_packed(head: bytes) -> bool:
    """Whether a file that begins so is compressed."""
    return head.startswith((*_ZIP, *_COMPRESSED))


def kind_of(file: Path | bytes, head: bytes, suffix: str, what: str = "points") -> str:
    """The kind of a file that is not compressed, see `Content`; ``head`` is how it begins."""
    suffix = suffix.lower()
    driver = gdal.kind_of(file)
    if driver is not None:
        return driver
    if not head.strip():
        raise InputError(f"This file is empty; give {what} in it.")
    if head[8:12] == b"DUCK":
        return DUCKDB
    for begins, kind in _BEGINS.items():
        if head.startswith(begins):
            return kind
    if head.startswith(b"\0\0\x27\x0a"):
        raise InputError(
            "A Shapefile is several files, of which this is one; zip all of them together and give "
            "the archive, or give the path of the one ending in .shp."
        )
    for begins, (name, advice) in _OTHERS.items():
        if head.startswith(begins):
            raise InputError(f"This file is {name}; {advice}.")
    if head[257:262] == b"ustar":
        raise InputError(f"This file is a tar archive; {_UNPACK}.")
    plain = head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n\x1e")
    if plain.startswith((b"{", b"[")):
        return GEOJSON
    if _WEB_PAGE.match(plain):
        raise InputError(
            "This file is a web page, perhaps of a log-in or an error, saved in place of the data; "
            "download the data again."
        )
    if _XML.match(plain):
        raise InputError(
            "This file is XML of another kind than KML or GPX; convert it to GeoPackage or GeoJSON."
        )
    if suffix in _TEXT:
        return TEXT
    if suffix in _NAMED:
        raise InputError(
            f"This file does not begin as a {_NAMED[suffix]} file does, so it could not be read; "
            "it may be damaged: export or download it again."
        )
    raise InputError(f"A file of the kind {suffix!r} is not read; give {what} as {formats(what)}.")


def formats(what: str = "points") -> str:
    """The formats that are read, for sentences."""
    layers = "GeoPackage, GeoJSON, GeoParquet, Shapefile, FlatGeobuf, FileGDB, KML or SpatiaLite"
    if what in ("points", "trips"):
        return f"CSV, TSV, Parquet, Excel, {layers.replace(' or ', ', GPX or ')}"
    return layers


def as_list(names: Iterable[str], limit: int = 8) -> str:
    """Names of layers or files for a sentence."""
    names = list(names)
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(map(shown, names[:limit])) + more


def several(kind: str, names: Iterable[str], what: str = "points") -> InputError:
    """The error for a file with several layers, tables, sheets or files of which one is meant."""
    names = list(names)
    how = f"such as layer={names[0]!r}"
    if what not in ("points", "trips"):
        how = f"such as ::{names[0]} behind the path, or save it as a file of its own"
    return InputError(
        f"This file has {len(names)} {kind} that could be meant ({as_list(names)}); name one, "
        f"{how}."
    )


def _of_stream(file: Path | bytes, way: str, layer: str, what: str, limit: int) -> Content:
    """What one compressed stream holds."""
    try:
        with _plain(file, way) as opened:
            content = opened.read(limit + 1)
    except _DAMAGED as error:
        raise InputError(
            "This compressed file is damaged or incomplete; download it again."
        ) from error
    _check_size(len(content), limit)
    head = content[: gdal.LOOK]
    if is_packed(head):
        raise InputError(f"This file is compressed twice; {_UNPACK}.")
    # What is inside has no name; without a signature it is text.
    return Content(kind_of(content, head, "", what), content, layer)


def _plain(file: Path | bytes, way: str) -> IO[bytes]:
    opened: Any = io.BytesIO(file) if isinstance(file, bytes) else file.open("rb")
    if way == "zst":
        import pyarrow as pa

        return io.BufferedReader(pa.CompressedInputStream(opened, "zstd"))
    return {"gz": gzip.open, "bz2": bz2.open, "xz": lzma.open}[way](opened)  # type: ignore[operator]


def _check_size(size: int, max_bytes: int) -> None:
    if size > max_bytes:
        limit = f"{max_bytes / 2**30:.0f} GB" if max_bytes >= 2**30 else f"{max_bytes / 1e6:.0f} MB"
        raise InputError(
            f"This file unpacks to more than {limit}; unpack it and give what is inside, or give a "
            "smaller part."
        )


def _of_archive(file: Path | bytes, layer: str, what: str, limit: int) -> Content:
    """What a zip archive holds; nothing of it touches a disk."""
    try:
        with zipfile.ZipFile(io.BytesIO(file) if isinstance(file, bytes) else file) as archive:
            inside = _entries(archive, limit)
            if any(name in inside for name in ("xl/workbook.xml", "xl/workbook.bin")) or (
                "content.xml" in inside and "mimetype" in inside
            ):
                return Content(SHEETS, file, layer)
            if "word/document.xml" in inside or "ppt/presentation.xml" in inside:
                raise InputError(f"This file is a document of an office program; {_EXPORT}.")
            choices = _choices(inside)
            if not choices:
                raise _nothing_inside(inside, what)
            name = _chosen(choices, layer, what)
            parts = {part: archive.read(entry) for part, entry in choices[name].items()}
    except InputError:
        raise
    except _DAMAGED as error:
        raise InputError(
            "This compressed file (zip) may be damaged or locked by a password; unpack it, or "
            "download it again."
        ) from error
    kind = PurePosixPath(name).suffix.lower()
    # A name that chose among the files of the archive chooses no layer in the file.
    named = layer in (name, PurePosixPath(name).stem)
    rest = "" if named and (len(choices) > 1 or kind == ".shp") else layer
    if kind == ".shp":
        for part in gdal.SHAPEFILE_PARTS[:3]:
            if part not in parts:
                raise gdal.missing_part(part)
        return Content(gdal.SHAPEFILE, gdal.packed(gdal.SHAPEFILE, parts), rest)
    if kind == ".gdb":
        return Content(gdal.GEODATABASE, gdal.packed(gdal.GEODATABASE, parts), rest)
    (content,) = parts.values()
    head = content[: gdal.LOOK]
    if is_packed(head):
        book = recognised(content, kind, rest, what, limit) if kind in _SHEETS else None
        if book is None or book.kind != SHEETS:
            raise InputError(f"This file is compressed twice; {_UNPACK}.")
        return book
    return Content(kind_of(content, head, kind, what), content, rest)


_SHEETS = (".xlsx", ".xlsm", ".xlsb", ".ods")
_INSIDE = (*TABLES, *LAYERS, *_SHEETS, ".tab", ".jsonl", ".duckdb")
# Next to other files these are what is said of them.
_BESIDE = (".txt", ".json")


def _entries(archive: zipfile.ZipFile, limit: int) -> dict[str, zipfile.ZipInfo]:
    """The files of an archive by name, but for those that a Mac adds."""
    inside = [entry for entry in archive.infolist() if not entry.is_dir()]
    for entry in inside:
        path = PurePosixPath(entry.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts:
            raise InputError(
                "This archive names a file outside of itself; pack the files again and give that."
            )
    _check_size(sum(entry.file_size for entry in inside), limit)
    return {
        entry.filename: entry
        for entry in inside
        if "__MACOSX" not in entry.filename
        and not PurePosixPath(entry.filename).name.startswith(".")
    }


def _choices(inside: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Files that are read, each with its parts: first FileGDB and Shapefile, else other ones."""
    layers: dict[str, dict[str, Any]] = {}
    lower = {name.lower(): name for name in inside}
    for name in inside:
        path = PurePosixPath(name)
        folder = next((above for above in path.parents if above.suffix.lower() == ".gdb"), None)
        if folder is not None:
            layers.setdefault(folder.name, {})[path.name] = inside[name]
        elif path.suffix.lower() == ".shp":
            beside = {part: f"{name[:-4]}{part}".lower() for part in gdal.SHAPEFILE_PARTS}
            layers[path.name] = {
                part: inside[lower[other]] for part, other in beside.items() if other in lower
            }
    if layers:
        return layers
    for endings in ([ending for ending in _INSIDE if ending not in _BESIDE], _BESIDE):
        files = {
            name: {"": inside[name]}
            for name in inside
            if PurePosixPath(name).suffix.lower() in endings
        }
        if files:
            break
    # Of the documents in a KMZ this is the one that is shown.
    return {"doc.kml": files["doc.kml"]} if "doc.kml" in files else files


def _chosen(choices: Mapping[str, Any], layer: str, what: str) -> str:
    names = list(choices)
    matching = [name for name in names if layer in (name, PurePosixPath(name).stem)]
    if len(names) == 1 or len(matching) == 1:
        return (matching or names)[0]
    raise several("files", names, what)


def _nothing_inside(inside: Iterable[str], what: str) -> InputError:
    names = list(inside)
    if any(
        PurePosixPath(name).suffix.lower() in (*PACKED, ".7z", ".rar", ".tar") for name in names
    ):
        return InputError(f"This archive holds another archive; {_UNPACK}.")
    return InputError(
        f"This archive holds no file of {what} that is read ({as_list(names) or 'nothing'}); give "
        f"{formats(what)}."
    )
