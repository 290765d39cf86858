"""The only door to GDAL: it may open GeoPackages and Shapefiles, and nothing else.

Left to itself, GDAL chooses among some sixty drivers by a file's content, and several of them read
further files or fetch addresses that the content names. So a file is looked at first, and what
GDAL is then asked to open can be taken for one format alone.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from explorer.errors import InputError

PACKAGE, SHAPEFILE = "GPKG", "ESRI Shapefile"
_BEGINS = {PACKAGE: b"SQLite format 3\0", SHAPEFILE: b"\0\0\x27\x0a"}
_ENDINGS = {PACKAGE: ".gpkg", SHAPEFILE: ".shp"}
# SQLite keeps what it made in these very words, whatever was typed; after them it can only be that.
_STORED = re.compile(r"CREATE (TABLE|INDEX|UNIQUE INDEX|TRIGGER) ")
# A table that other code fills: of these a GeoPackage has its spatial index alone. Its name is
# quoted or one word, so that no comment hides a module in it.
_INDEX = re.compile(
    r'CREATE VIRTUAL TABLE\s+("rtree_[^"]*"|rtree_\w*)\s+USING\s+rtree\s*\([^()]*\)', re.IGNORECASE
)


def kind_of(path: Path) -> str | None:
    """`PACKAGE` or `SHAPEFILE` by a file's first bytes and its ending, None for anything else."""
    with path.open("rb") as opened:
        head = opened.read(16)
    for kind, begins in _BEGINS.items():
        if head.startswith(begins) and path.suffix.lower() == _ENDINGS[kind]:
            return kind
    return None


def checked(path: Path) -> str:
    """The name under which GDAL may open a file.

    Raises
    ------
    InputError
        For another kind of file, and for a GeoPackage with tables that are made up when read.
    """
    kind = kind_of(path)
    if kind is None:
        raise damaged()
    if kind == PACKAGE:
        _check_package(path)
    # Some drivers go by the beginning of a name; none of them by that of a whole path.
    return str(path.resolve())


def check_driver(about: dict[str, Any]) -> None:
    """Refuse what GDAL opened by another driver than was meant; takes `pyogrio.read_info`."""
    if about["driver"] not in _BEGINS:
        raise damaged()


def _check_package(path: Path) -> None:
    address = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as opened:
            opened.execute("PRAGMA trusted_schema = OFF")
            made = opened.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL").fetchall()
    except sqlite3.Error as error:
        raise damaged() from error
    for (sql,) in made:
        # The text is what SQLite reads again, whatever type it says it has.
        if not (_STORED.match(str(sql)) or _INDEX.fullmatch(str(sql))):
            raise InputError(
                "This GeoPackage holds tables that are computed when they are read (views or "
                "virtual tables); save the layer alone as a new file."
            )


def damaged() -> InputError:
    """The error for a file that is none of those whose places are geometries."""
    return InputError(
        "This file could not be read as GeoJSON, GeoPackage or Shapefile; it may be damaged."
    )
