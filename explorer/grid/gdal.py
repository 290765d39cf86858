"""The only place that opens files with GDAL: six formats, and nothing else.

Left to itself, GDAL chooses among some sixty drivers by a file's content, and several of them read
further files or fetch addresses that the content names. So a file is looked at first, and what
GDAL is then asked to open can be taken for one format alone. Where the process is ours (readers of
untrusted files, the command line, the server), all other drivers are left out as well.
"""

from __future__ import annotations

import io
import os
import re
import sqlite3
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from explorer.errors import InputError

PACKAGE, SHAPEFILE, FLATGEOBUF = "GPKG", "ESRI Shapefile", "FlatGeobuf"
GEODATABASE, KML, GPX = "OpenFileGDB", "LIBKML", "GPX"
# Builds without LIBKML have another driver for KML, which reads fewer attributes.
_READ = (PACKAGE, SHAPEFILE, FLATGEOBUF, GEODATABASE, KML, "KML", GPX)
#: The drivers that stay: GeoJSON is written by GDAL and never read by it.
DRIVERS = (*_READ, "GeoJSON")
#: All others that GDAL's builds are known to have; `tests/grid/apart/test_reading.py` compares.
_OTHERS = (
    *("ADBC", "AIVector", "AVCBin", "AVCE00", "AmigoCloud", "Arrow", "CAD", "CSV", "CSW", "Carto"),
    *("DGN", "DWG", "DXF", "EDIGEO", "EEDA", "ESRIJSON", "Elasticsearch", "FITS", "FileGDB"),
    *("GDALG", "GML", "GMLAS", "GPSBabel", "GTFS", "GeoJSONSeq", "GeoRSS"),
    *("HANA", "HDF5", "HTTP", "IDB", "INGRES", "Idrisi", "Interlis 1", "Interlis 2", "JML"),
    *("JPEG2000", "JP2ECW", "JP2KAK", "JP2MrSID", "JP2OpenJPEG", "JSONFG"),
    *("LVBAG", "MBTiles", "MEM", "MSSQLSpatial", "MVT", "MapInfo File", "MapML", "Memory"),
    *("MiraMonVector", "MongoDBv3", "MySQL", "NAS", "NGW", "NTv2", "OAPIF", "OCI", "ODBC", "ODS"),
    *("OGCAPI", "OGDI", "OGR_GMT", "OGR_PDS", "OGR_VRT", "OSM", "PCIDSK", "PDF"),
    *("PDS4", "PGDUMP", "PGeo", "PLSCENES", "PMTiles", "Parquet", "PostgreSQL", "S57", "SDTS"),
    *("SOSI", "SQLite", "SVG", "SXF", "Selafin", "TIGER", "TopoJSON", "UK .NTF", "VDV", "VFK"),
    *("VICAR", "WAsP", "WFS", "WMS", "WMTS", "WCS", "XLS", "XLSX", "XODR", "ZARR", "netCDF"),
)
#: What GDAL goes by when it is loaded: no other driver.
DRIVERS_SKIPPED = {
    "GDAL_SKIP": ",".join(_OTHERS),
    # It says of each that a build does not have, which is no one's fault.
    "CPL_LOG": os.devnull,
}
#: Columns that a table may have.
MOST_FIELDS = 1_000
SQLITE = b"SQLite format 3\0"
_BEGINS = {SHAPEFILE: b"\0\0\x27\x0a", FLATGEOBUF: b"fgb"}
#: Bytes at the beginning of a file that tell what it is.
LOOK = 4096
# What may be before the first element of a document of XML.
_PROLOG = rb"\s*(?:<\?xml[^>]*\?>)?(?:\s|<!--(?:(?!-->).)*-->)*"
_XML = re.compile(_PROLOG + rb"<(?:\w+:)?(kml|gpx)[\s>]", re.DOTALL)
# Documents that other drivers take for theirs wherever these words occur, and what no document of
# places needs: entities, which may be made of each other without end.
_OTHER_XML = re.compile(rb"<(?:OGR[A-Z]|VRTD|GDAL_|WFS_|WMT_|OAPI|!DOCTYPE|!ENTITY)")
# The parts of a Shapefile that are read; the first three must be there.
SHAPEFILE_PARTS = (".shp", ".shx", ".dbf", ".prj", ".cpg")
# SQLite keeps what it made in these very words, whatever was typed; after them it can only be that.
_STORED = re.compile(r"CREATE (TABLE|INDEX|UNIQUE INDEX) ")
# Triggers do nothing when a file is read, and every package has some: of its index and of counts.
_TRIGGER = re.compile(
    r"CREATE TRIGGER\s+[\"'`\[]?(gpkg_|rtree_|trigger_(insert|delete)_feature_count_)\w*"
)
# A table that other code fills: of these a GeoPackage has its spatial index alone. Its name is
# quoted or one word, so that no comment hides a module in it.
_INDEX = re.compile(
    r'CREATE VIRTUAL TABLE\s+("rtree_[^"]*"|rtree_\w*)\s+USING\s+rtree\s*\([^()]*\)', re.IGNORECASE
)


class Packed(bytes):
    """A Shapefile or FileGDB in an archive that `packed` has written: GDAL reads no other one."""

    kind: str


def skip_drivers() -> None:
    """Have GDAL loaded without the drivers that are not ours; called before it is loaded.

    In a notebook GDAL is the person's, who may want other formats of it: there files are looked at,
    which is done everywhere.
    """
    os.environ.update(DRIVERS_SKIPPED)


def kind_of(file: Path | bytes) -> str | None:
    """The driver of GDAL that reads a file, by its content; None for anything else.

    A folder is a FileGDB if its name ends in .gdb. A Shapefile is a path with that ending, or
    `Packed`: its parts do not travel in one file.
    """
    if isinstance(file, Packed):
        return file.kind
    if not isinstance(file, bytes) and file.is_dir():
        return GEODATABASE if is_geodatabase(file) else None
    head = beginning(file)
    if head.startswith(SQLITE):
        return PACKAGE if "gpkg_contents" in tables_of(file) else None
    if head.startswith(_BEGINS[FLATGEOBUF]):
        return FLATGEOBUF
    if head.startswith(_BEGINS[SHAPEFILE]):
        named = isinstance(file, Path) and file.suffix.lower() == ".shp"
        return SHAPEFILE if named else None
    root = _XML.match(head.removeprefix(b"\xef\xbb\xbf"))
    return None if root is None else {b"kml": KML, b"gpx": GPX}[root[1]]


def is_geodatabase(path: Path) -> bool:
    """Whether a folder is a FileGDB: by its ending and the first of its tables."""
    return path.suffix.lower() == ".gdb" and (path / "a00000001.gdbtable").is_file()


def beginning(file: Path | bytes) -> bytes:
    """The first bytes of a file, `LOOK` at most."""
    if isinstance(file, bytes):
        return file[:LOOK]
    with file.open("rb") as opened:
        return opened.read(LOOK)


def checked(file: Path | bytes) -> str | bytes:
    """What GDAL may open: the name of a file, or content, which never touches a disk.

    Raises
    ------
    InputError
        For another kind of file, for a Shapefile without its parts, a GeoPackage with tables that
        are computed when read, and KML or GPX with entities.
    """
    kind = kind_of(file)
    if kind is None:
        raise damaged()
    if kind == PACKAGE:
        _check_package(file)
        if isinstance(file, Path) and file.suffix.lower() != ".gpkg":
            # A package goes by its ending; one with another name is read as if it had none.
            file = file.read_bytes()
    if kind in (KML, GPX):
        file = file.read_bytes() if isinstance(file, Path) else file
        if _OTHER_XML.search(file):
            raise InputError(
                "This file has a document type or parts of another format, which places need not; "
                "save it again as KML, GPX or GeoPackage."
            )
        if b"NetworkLink>" in file and b"<Placemark" not in file:
            raise InputError(
                "This KML holds no place, only links to other files, which are not followed; open "
                "it in a program for maps and save its places."
            )
    if kind == SHAPEFILE and isinstance(file, Path):
        _check_parts(file)
    # Some drivers go by the beginning of a name; none of them by that of a whole path.
    if isinstance(file, bytes):
        return _alone(file) if kind == PACKAGE else bytes(file)
    return str(file.resolve())


def packed(kind: str, parts: Mapping[str, bytes]) -> Packed:
    """The files of a Shapefile (by ending) or a FileGDB (by name) as what `checked` takes."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, part in parts.items():
            archive.writestr(f"layer{name}" if kind == SHAPEFILE else name, part)
    content = Packed(written.getvalue())
    content.kind = kind
    return content


def _check_parts(path: Path) -> None:
    """Raise `InputError` for a Shapefile of which a file is missing."""
    siblings = {sibling.name.lower() for sibling in path.parent.iterdir()}
    for part in SHAPEFILE_PARTS[:3]:
        if f"{path.stem}{part}".lower() not in siblings:
            raise missing_part(part)


def missing_part(part: str) -> InputError:
    """The error for a Shapefile without one of its files."""
    return InputError(
        f"This Shapefile lacks its file ending in {part}; bring it back to the others, under the "
        "same name."
    )


def check_driver(about: dict[str, Any]) -> None:
    """Refuse what GDAL opened by another driver than was meant; takes `pyogrio.read_info`."""
    if about["driver"] not in _READ:
        raise damaged()
    check_fields(len(about["fields"]))


def check_fields(number: int) -> None:
    """Raise `InputError` for a table with more columns than anybody names."""
    if number > MOST_FIELDS:
        raise InputError(
            f"This file has more than {MOST_FIELDS:,} columns; save the few that are needed alone."
        )


def _check_package(file: Path | bytes) -> None:
    try:
        with closing(database(file)) as opened:
            statements = opened.execute(
                "SELECT sql FROM sqlite_master WHERE sql NOT NULL"
            ).fetchall()
    except sqlite3.Error as error:
        raise damaged() from error
    for (sql,) in statements:
        # The text is what SQLite reads again, whatever type it says it has.
        allowed = (_STORED.match, _TRIGGER.match, _INDEX.fullmatch)
        if not any(matches(str(sql)) for matches in allowed):
            raise InputError(
                "This GeoPackage holds tables that are computed when they are read (views, "
                "triggers or virtual tables); save the layer alone as a new file."
            )


def database(file: Path | bytes) -> sqlite3.Connection:
    """A file of SQLite, opened to be read alone; nothing in it calls a function of ours."""
    if isinstance(file, bytes):
        opened = sqlite3.connect(":memory:")
        opened.deserialize(_alone(file))
    else:
        opened = sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
    opened.execute("PRAGMA trusted_schema = OFF")
    return opened


def tables_of(file: Path | bytes) -> list[str]:
    """The names of all tables and views in a file of SQLite; none of one that is damaged."""
    try:
        with closing(database(file)) as opened:
            rows = opened.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
            return [str(name) for (name,) in rows]
    except sqlite3.Error:
        return []


def _alone(content: bytes) -> bytes:
    """A database that says by itself what it is, and needs no second file next to it."""
    # 2 and 2 represent a journal written ahead, which was not sent along and no memory can hold.
    journal = b"\1\1" if content[18:20] == b"\2\2" else content[18:20]
    # Without a name GDAL goes by this alone; some programs leave it out.
    kind = content[68:72] if any(content[68:72]) else b"GPKG"
    if journal == content[18:20] and kind == content[68:72]:
        return content
    return content[:18] + journal + content[20:68] + kind + content[72:]


@contextmanager
def unnamed(file: Any) -> Iterator[None]:
    """Read content with GDAL, which finds that it has no ending."""
    with warnings.catch_warnings():
        if isinstance(file, bytes):
            warnings.filterwarnings("ignore", ".*non conformant file extension")
        yield


def damaged() -> InputError:
    """The error for a file that is none of those whose places are geometries."""
    return InputError(
        "This file could not be read as GeoJSON, GeoPackage or another kind of layer; it may be "
        "damaged: export or download it again."
    )
