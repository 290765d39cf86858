"""The only door to GDAL: it may open GeoPackages and Shapefiles, and nothing else.

Left to itself, GDAL chooses among some sixty drivers by a file's content, and several of them read
further files or fetch addresses that the content names. So a file is looked at first, and what
GDAL is then asked to open can be taken for one format alone. Where the process is ours (readers of
foreign files, the command line, the server), all other drivers are left out as well.
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

PACKAGE, SHAPEFILE = "GPKG", "ESRI Shapefile"
#: The drivers that stay: GeoJSON is written by GDAL and never read by it.
DRIVERS = (PACKAGE, SHAPEFILE, "GeoJSON")
#: All others that GDAL's builds are known to have, `tests/grid/test_gdal.py` compares.
_OTHERS = (
    *("ADBC", "AIVector", "AVCBin", "AVCE00", "AmigoCloud", "Arrow", "CAD", "CSV", "CSW", "Carto"),
    *("DGN", "DWG", "DXF", "EDIGEO", "EEDA", "ESRIJSON", "Elasticsearch", "FITS", "FileGDB"),
    *("FlatGeobuf", "GDALG", "GML", "GMLAS", "GPSBabel", "GPX", "GTFS", "GeoJSONSeq", "GeoRSS"),
    *("HANA", "HDF5", "HTTP", "IDB", "INGRES", "Idrisi", "Interlis 1", "Interlis 2", "JML"),
    *("JPEG2000", "JP2ECW", "JP2KAK", "JP2MrSID", "JP2OpenJPEG", "JSONFG", "KML", "LIBKML"),
    *("LVBAG", "MBTiles", "MEM", "MSSQLSpatial", "MVT", "MapInfo File", "MapML", "Memory"),
    *("MiraMonVector", "MongoDBv3", "MySQL", "NAS", "NGW", "NTv2", "OAPIF", "OCI", "ODBC", "ODS"),
    *("OGCAPI", "OGDI", "OGR_GMT", "OGR_PDS", "OGR_VRT", "OSM", "OpenFileGDB", "PCIDSK", "PDF"),
    *("PDS4", "PGDUMP", "PGeo", "PLSCENES", "PMTiles", "Parquet", "PostgreSQL", "S57", "SDTS"),
    *("SOSI", "SQLite", "SVG", "SXF", "Selafin", "TIGER", "TopoJSON", "UK .NTF", "VDV", "VFK"),
    *("VICAR", "WAsP", "WFS", "WMS", "WMTS", "WCS", "XLS", "XLSX", "XODR", "ZARR", "netCDF"),
)
#: What GDAL goes by when it is loaded: no other driver.
DRIVERS_SKIPPED = {
    "GDAL_SKIP": ",".join(_OTHERS),
    # It says of each that a build does not have, which is nobody's fault.
    "CPL_LOG": os.devnull,
}
#: Columns that a table may have.
MOST_FIELDS = 1_000
_BEGINS = {PACKAGE: b"SQLite format 3\0", SHAPEFILE: b"\0\0\x27\x0a"}
_ENDINGS = {PACKAGE: ".gpkg", SHAPEFILE: ".shp"}
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
    """A Shapefile in an archive that `packed` has made: GDAL is given no other one."""


def skip_drivers() -> None:
    """Have GDAL loaded without the drivers that are not ours; called before it is loaded.

    In a notebook GDAL is the person's, who may want other formats of it: there files are looked at,
    which is done everywhere.
    """
    os.environ.update(DRIVERS_SKIPPED)


def kind_of(file: Path | bytes) -> str | None:
    """`PACKAGE` or `SHAPEFILE` by a file's first bytes and its ending, None for anything else.

    Content that has no name is a package, or a Shapefile that we packed (see `packed`).
    """
    if isinstance(file, Packed):
        return SHAPEFILE
    if isinstance(file, bytes):
        return PACKAGE if file.startswith(_BEGINS[PACKAGE]) else None
    with file.open("rb") as opened:
        head = opened.read(16)
    for kind, begins in _BEGINS.items():
        if head.startswith(begins) and file.suffix.lower() == _ENDINGS[kind]:
            return kind
    return None


def checked(file: Path | bytes) -> str | bytes:
    """What GDAL may open: the name of a file, or content, which never touches a disk.

    Raises
    ------
    InputError
        For another kind of file, and for a GeoPackage with tables that are made up when read.
    """
    kind = kind_of(file)
    if kind is None:
        raise damaged()
    if kind == PACKAGE:
        _check_package(file)
    # Some drivers go by the beginning of a name; none of them by that of a whole path.
    if isinstance(file, bytes):
        return _alone(file) if kind == PACKAGE else bytes(file)
    return str(file.resolve())


def packed(parts: Mapping[str, bytes]) -> Packed:
    """The files of one Shapefile by ending, as content that `checked` takes."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for ending, part in parts.items():
            archive.writestr(f"layer{ending}", part)
    return Packed(made.getvalue())


def check_driver(about: dict[str, Any]) -> None:
    """Refuse what GDAL opened by another driver than was meant; takes `pyogrio.read_info`."""
    if about["driver"] not in _BEGINS:
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
        with closing(_database(file)) as opened:
            opened.execute("PRAGMA trusted_schema = OFF")
            made = opened.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL").fetchall()
    except sqlite3.Error as error:
        raise damaged() from error
    for (sql,) in made:
        # The text is what SQLite reads again, whatever type it says it has.
        known = (_STORED.match, _TRIGGER.match, _INDEX.fullmatch)
        if not any(is_known(str(sql)) for is_known in known):
            raise InputError(
                "This GeoPackage holds tables that are computed when they are read (views, "
                "triggers or virtual tables); save the layer alone as a new file."
            )


def _database(file: Path | bytes) -> sqlite3.Connection:
    if isinstance(file, bytes):
        opened = sqlite3.connect(":memory:")
        opened.deserialize(_alone(file))
        return opened
    return sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro&immutable=1", uri=True)


def _alone(content: bytes) -> bytes:
    """A database that says by itself what it is, and needs no second file beside it."""
    # 2 and 2 stand for a journal written ahead, which was not sent along and no memory can hold.
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
        "This file could not be read as GeoJSON, GeoPackage or Shapefile; it may be damaged."
    )
