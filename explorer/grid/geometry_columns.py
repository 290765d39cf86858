"""Columns of geometries, as tables describe them: GeoParquet, Parquet's own types, GeoArrow."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyproj

from explorer.errors import InputError
from explorer.grid.place_texts import Written, sentence
from explorer.grid.projection import LONLAT, foreign_crs
from explorer.grid.stated_crs import ASSUMED, AssumedCRS

_KINDS = (
    *("Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon"),
    "GeometryCollection",
)
_GEOARROW = {kind.lower(): kind for kind in _KINDS}
_EXTENSION, _ABOUT = b"ARROW:extension:name", b"ARROW:extension:metadata"
#: Words in the names of columns of geometries.
NAMED = re.compile(r"geom|shape|wkb|wkt|geog|location|point|position|place|georef|coord|lat.?lo?n")


@dataclass(frozen=True)
class GeometryColumn:
    """A column of geometries, as a table describes it.

    Attributes
    ----------
    name : of the column
    encoding : "WKB", "WKT", "GeoArrow" (nested numbers), "objects", or one of `place_texts`
    crs : of the coordinates; `ASSUMED` where a standard implies degrees, None where the table says
        that it is unknown, or says nothing
    kinds : kinds of shapes that the table promises, none where it promises nothing
    edges : "planar", "spherical" or another word of GeoParquet for the lines between corners
    text : how texts are written
    srid : that is the CRS, 0 for none
    refusal : why its places cannot be read, "" where they can
    found : whether its values say that it is one, and nothing else does
    others : names of further geometries, of which the table says that this is the first
    """

    name: str
    encoding: str = "WKB"
    crs: pyproj.CRS | None = None
    kinds: tuple[str, ...] = ()
    edges: str = "planar"
    text: Written | None = None
    srid: int = 0
    refusal: str = ""
    found: bool = False
    others: tuple[str, ...] = ()

    @property
    def names_crs(self) -> bool:
        """Whether the table says what the CRS is."""
        return self.crs is not None and not isinstance(self.crs, AssumedCRS)

    @property
    def repeated(self) -> str | None:
        """The name where values may be read as a dictionary, each different one once."""
        return None if self.encoding == "GeoArrow" else self.name

    @property
    def sentence(self) -> str:
        """What was taken as the place, and in which order."""
        if not self.others:
            return sentence(self.name, self.text)
        others = ", ".join(repr(name) for name in self.others[:6])
        return f"The geometry {self.name!r}, the primary one, was taken as the place, not {others}."


def described(schema: pa.Schema, parquet: Any = None) -> GeometryColumn | None:
    """The geometry that a table describes, None where it describes none.

    Parameters
    ----------
    schema : of the table
    parquet : `pyarrow.parquet.ParquetSchema`, optional
        Of the file, which knows the types GEOMETRY and GEOGRAPHY.

    Raises
    ------
    InputError
        For a description that is damaged, or a CRS that is none.
    """
    metadata = dict(schema.metadata or {})
    columns = [*_parquets_own(parquet, metadata), *_of_geoarrow(schema)]
    geo = metadata.get(b"geo")
    if geo is not None:
        return _of_geoparquet(geo, schema, columns)
    by_name: dict[str, GeometryColumn] = {}
    for column in columns:
        # What Parquet itself says is before what Arrow adds, but for a CRS that it lacks.
        first = by_name.setdefault(column.name, column)
        if not first.names_crs and column.names_crs:
            by_name[column.name] = column
    likely = sorted(by_name.values(), key=lambda column: NAMED.search(column.name.lower()) is None)
    return likely[0] if likely else None


def crs_named(text: Any, metadata: Mapping[bytes, bytes] | None = None) -> pyproj.CRS | None:
    """The CRS that Parquet or GeoArrow names: a code, WKT, PROJJSON, or "projjson:" and a key."""
    if text is None or text in ("srid:0", "0", ""):
        return None
    if isinstance(text, str):
        key = text.removeprefix("projjson:")
        if key != text and metadata is not None:
            text = metadata.get(key.encode(), b"").decode(errors="replace")
        if text.lstrip().startswith("{"):
            text = json.loads(text)
        elif re.fullmatch(r"(srid:)?\d{1,9}", text, re.IGNORECASE):
            text = f"EPSG:{text.split(':')[-1]}"
        elif text.upper().endswith(("OGC:CRS84", ":CRS84")):
            return LONLAT
    return foreign_crs(text)


def _parquets_own(parquet: Any, metadata: Mapping[bytes, bytes]) -> list[GeometryColumn]:
    """Columns whose logical type is GEOMETRY or GEOGRAPHY, which PyArrow knows from 21 on."""
    columns = []
    for number in range(0 if parquet is None else len(parquet.names)):
        leaf = parquet.column(number)
        kind = leaf.logical_type
        if not str(kind).startswith(("Geometry", "Geography")) or "." in leaf.path:
            continue
        try:
            crs = json.loads(kind.to_json()).get("crs")
            # The standard: no entry means degrees.
            stated = crs_named(crs, metadata) if crs else ASSUMED
        except ValueError as error:
            raise damaged_description() from error
        along = re.search(r"algorithm=(\w+)", str(kind))
        columns.append(
            GeometryColumn(leaf.path, "WKB", stated, edges=along[1] if along else "planar")
        )
    return columns


def _of_geoarrow(schema: pa.Schema) -> list[GeometryColumn]:
    columns = []
    for field in schema:
        extension = getattr(field.type, "extension_name", None)
        about = dict(field.metadata or {})
        name = extension or about.get(_EXTENSION, b"").decode(errors="replace")
        if name != "ogc.wkb" and not name.startswith("geoarrow."):
            continue
        try:
            description = field.type.__arrow_ext_serialize__() if extension else about.get(_ABOUT)
            facts = json.loads(description or b"{}") or {}
            crs = crs_named(facts.get("crs"))
        except (ValueError, AttributeError) as error:
            raise damaged_description() from error
        kind = name.rpartition(".")[2]
        encoding = {"wkb": "WKB", "wkt": "WKT"}.get(kind, "GeoArrow")
        text = Written("WKT") if encoding == "WKT" else None
        kinds = () if encoding != "GeoArrow" or kind == "geometry" else (_GEOARROW.get(kind, kind),)
        edges = str(facts.get("edges", "planar"))
        columns.append(GeometryColumn(field.name, encoding, crs, kinds, edges, text))
    return columns


def _of_geoparquet(
    raw: bytes, schema: pa.Schema, columns: Sequence[GeometryColumn]
) -> GeometryColumn:
    """The geometry of GeoParquet 1.0 to 2.0; older drafts give the CRS as WKT."""
    try:
        facts = json.loads(raw)
        name = str(facts["primary_column"])
        about = facts["columns"][name]
        kinds, crs = about.get("geometry_types", []), about.get("crs", "absent")
        encoding = str(about["encoding"])
        schema.field(name)
        kinds = [kinds] if isinstance(kinds, str) else [str(kind) for kind in kinds]
        edges = str(about.get("edges", "planar"))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged_description() from error
    if encoding.upper() not in ("WKB", "WKT") and not pa.types.is_nested(schema.field(name).type):
        raise InputError(
            f"This GeoParquet file stores shapes as {encoding[:40]!r}; write it again as WKB."
        )
    text = Written("WKT") if encoding.upper() == "WKT" else None
    encoding = encoding.upper() if encoding.upper() in ("WKB", "WKT") else "GeoArrow"
    if crs == "absent":
        # The standard: no entry means degrees, an entry of null means unknown.
        stated = [column.crs for column in columns if column.name == name and column.names_crs]
        resolved = stated[0] if stated else ASSUMED
    else:
        resolved = None if crs is None else foreign_crs(crs)
    others = tuple(str(other) for other in facts["columns"] if other != name)
    return GeometryColumn(name, encoding, resolved, tuple(kinds), edges, text, others=others)


def damaged_description() -> InputError:
    """The error for metadata that say something impossible of a geometry."""
    return InputError("The description of the geometry in this file is damaged; write it again.")
