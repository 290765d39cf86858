"""GeoJSON and other JSON of places, read without GDAL, feature by feature.

GDAL takes a file that begins with ``{`` for any of a dozen formats, and some of them name other
files or addresses to be read. This reader opens nothing. Next to GeoJSON it knows features or
objects that follow each other (a line each, or a text sequence), lists of objects, alone or inside
a document as most web services send them, tables by columns, and Esri's JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

import pyproj

from explorer.errors import InputError
from explorer.grid.gdal import damaged
from explorer.grid.projection import LONLAT, as_crs, foreign_crs
from explorer.grid.stated_crs import ASSUMED

_SPACE = re.compile(r"[ \t\r\n\x1e]*")
# Names such as EPSG:27700 and urn:ogc:def:crs:EPSG::27700; nothing that PROJ might look up.
_CRS = re.compile(r"(urn:ogc:def:crs:)?[A-Z]{2,8}:[\d.]*:?\d{1,9}", re.IGNORECASE)
_GEOMETRIES = (
    "Point",
    "MultiPoint",
    "LineString",
    "MultiLineString",
    "Polygon",
    "MultiPolygon",
    "GeometryCollection",
)
# Lists of these names are decoded value by value, since files of them may be large.
_LISTS = ("features", "data", "records", "results", "elements", "locations", "items", "rows")
# Between two documents; inside one, no brace occurs so, and texts have no plain line breaks.
_BETWEEN = ("}\n{", "}\r\n{", "\n\x1e")
# Objects in objects whose members are columns of their own.
_DEPTH = 4
_CODES_OF_EPSG = 32_768


class Features:
    """The features of a document, decoded one at a time, as often as they are iterated over.

    What is no GeoJSON becomes features, too: an object has its members as properties (those of
    objects in it as "location.lat"), and a GeoJSON geometry among them as geometry.

    Parameters
    ----------
    content : the bytes of the file, UTF-8

    Attributes
    ----------
    crs : that of the coordinates, `ASSUMED` degrees unless the document names one; None where it
        says that it has none. Known after the first time all features were iterated over.
    taken : a sentence that says what was read of a document that is no GeoJSON, else ""

    Raises
    ------
    InputError
        While iterating: for what is no JSON, or JSON without features and objects.
    """

    def __init__(self, content: bytes) -> None:
        self.crs: pyproj.CRS | None = None
        self.taken = ""
        try:
            self._text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise damaged() from error

    def __iter__(self) -> Iterator[dict[str, Any]]:
        self.crs, self.taken = ASSUMED, ""
        text = _Text(self._text)
        follow = any(sign in self._text for sign in _BETWEEN) or self._text.startswith("\x1e")
        try:
            if follow:
                for value in text.values():
                    yield from self._features_of(value)
            elif text.sign == "[":
                for value in text.elements():
                    yield from self._features_of(value)
            else:
                yield from self._document(text)
            text.expect_end()
        except InputError:
            raise
        except (ValueError, IndexError, RecursionError) as error:
            raise damaged() from error

    def _document(self, text: _Text) -> Iterator[dict[str, Any]]:
        """Features of an object: of its list of features or objects, or of itself."""
        members: dict[str, Any] = {}
        lists: dict[str, int] = {}
        for key, value, listed in text.members():
            if not listed:
                members[key] = value
            elif isinstance(value, dict | list):
                lists[key] = lists.get(key, 0) + 1
                if len(lists) > 1:
                    raise InputError(
                        f"This JSON has several lists ({', '.join(map(repr, lists))}); give a file "
                        "with the one of the places."
                    )
                names = _names_of_columns(members) if isinstance(value, list) else ()
                value = dict(zip(names, value, strict=False)) if names else value
                yield from self._features_of(value)
        if members.get("type") == "Topology":
            raise InputError(
                "This is TopoJSON, which is not read; convert it to GeoJSON (mapshaper and "
                "ogr2ogr do) and give that."
            )
        self._name_crs(members)
        if lists:
            if members.get("type") != "FeatureCollection":
                self.taken = f"The list {next(iter(lists))!r} of this JSON was read."
        elif members.get("type") in ("Feature", *_GEOMETRIES):
            yield from self._features_of(members)
        elif members.get("type") != "FeatureCollection" or "features" not in text.empty:
            yield from self._inside(members)

    def _inside(self, members: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Features of a document of another kind: its longest list of objects, or its columns."""
        lists = sorted(_lists_in(members), key=lambda entry: -len(entry[1]))
        if lists:
            self.taken = f"The list {lists[0][0]!r} of this JSON was read."
            if len(lists) > 1:
                self.taken = self.taken.replace(" was", f" was, and {len(lists) - 1} others not")
            for value in lists[0][1]:
                yield from self._features_of(value)
            return
        columns = _columns_of(members)
        if columns is None:
            raise InputError(
                "This JSON holds neither features nor a list of objects; give GeoJSON, or a list "
                "of objects that have a longitude and a latitude each."
            )
        for row in zip(*columns.values(), strict=True):
            yield from self._features_of(dict(zip(columns, row, strict=True)))

    def _features_of(self, value: Any) -> Iterator[dict[str, Any]]:
        """The feature that a value is, or those that it holds."""
        if not isinstance(value, dict):
            raise InputError(
                "This JSON is a list of values without names; give GeoJSON, or a list of objects "
                "that have a longitude and a latitude each."
            )
        kind = value.get("type")
        if kind == "Feature":
            yield value
        elif _is_geometry(value):
            yield {"type": "Feature", "geometry": value, "properties": None}
        elif kind == "FeatureCollection" and isinstance(value.get("features"), list):
            self._name_crs(value)
            for feature in value["features"]:
                yield from self._features_of(feature)
        elif isinstance(value.get("attributes"), dict):
            shape = _of_esri(value.get("geometry"))
            yield {"type": "Feature", "geometry": shape, "properties": value["attributes"]}
        else:
            yield _record(value)

    def _name_crs(self, members: Mapping[str, Any]) -> None:
        if "crs" in members:
            self.crs = _crs(members["crs"])
        elif isinstance(members.get("spatialReference"), dict):
            self.crs = _esri_crs(members["spatialReference"])


def as_collection(content: bytes) -> Any:
    """A document as JSON has it; of features that follow each other, or a list, one collection.

    Raises
    ------
    ValueError, RecursionError
        For what is no JSON.
    """
    text = content.decode("utf-8-sig")
    follow = any(item in text for item in _BETWEEN) or text.startswith("\x1e")
    document = None if follow else json.loads(text)
    alike = isinstance(document, list) and all(isinstance(item, dict) for item in document)
    if not follow and not alike:
        return document
    return {"type": "FeatureCollection", "features": list(Features(content))}


class _Text:
    """A text that is decoded from its beginning to its end."""

    def __init__(self, text: str) -> None:
        self._text, self._decode = text, json.JSONDecoder().raw_decode
        self._at = 0
        self._skip()
        #: Names of lists in which there is nothing.
        self.empty: set[str] = set()

    @property
    def sign(self) -> str:
        """The next one."""
        return self._text[self._at]

    def value(self) -> Any:
        """The next value."""
        value, self._at = self._decode(self._text, self._at)
        self._skip()
        return value

    def values(self) -> Iterator[Any]:
        """All values that follow each other."""
        while self._at < len(self._text):
            yield self.value()

    def elements(self) -> Iterator[Any]:
        """The values of a list."""
        self._expect("[")
        while self.sign != "]":
            yield self.value()
            self._next("]")
        self._expect("]")

    def members(self) -> Iterator[tuple[str, Any, bool]]:
        """Key and value of every member of an object; of large lists each element."""
        self._expect("{")
        while self.sign != "}":
            key = self.value()
            if not isinstance(key, str):
                raise ValueError("a key is no text")
            self._expect(":")
            if key in _LISTS and self.sign == "[":
                self.empty.add(key)
                for element in self.elements():
                    self.empty.discard(key)
                    yield key, element, True
            else:
                yield key, self.value(), False
            self._next("}")
        self._expect("}")

    def expect_end(self) -> None:
        """Raise `ValueError` for anything behind the document."""
        if self._at != len(self._text):
            raise ValueError("something follows the document")

    def _skip(self) -> None:
        space = _SPACE.match(self._text, self._at)
        self._at = space.end() if space else self._at

    def _expect(self, sign: str) -> None:
        if self.sign != sign:
            raise ValueError(f"{sign} is missing")
        self._at += 1
        self._skip()

    def _next(self, end: str) -> None:
        """To what follows a value: the next one, behind a comma, or the end."""
        if self.sign != end:
            self._expect(",")
            if self.sign == end:
                raise ValueError("a comma has nothing behind it")


def _is_geometry(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.get("type") in _GEOMETRIES
        and ("coordinates" in value or "geometries" in value)
    )


def _record(value: Mapping[str, Any]) -> dict[str, Any]:
    """A feature of an object: its members as properties, a geometry among them as geometry."""
    shapes = [key for key in ("geometry", *value) if _is_geometry(value.get(key))]
    facts = {key: member for key, member in value.items() if key not in shapes[:1]}
    middle = facts.get("center")
    if isinstance(middle, dict) and "lat" not in facts:
        # Of a way or a relation of OpenStreetMap.
        facts |= {key: middle[key] for key in ("lon", "lat") if key in middle}
        del facts["center"]
    shape = value[shapes[0]] if shapes else None
    return {"type": "Feature", "geometry": shape, "properties": dict(_flat(facts))}


def _flat(facts: Mapping[str, Any], before: str = "", depth: int = 1) -> Iterator[tuple[str, Any]]:
    for key, value in facts.items():
        if isinstance(value, dict) and value and depth < _DEPTH and not _is_geometry(value):
            yield from _flat(value, f"{before}{key}.", depth + 1)
        else:
            yield f"{before}{key}", value


def _lists_in(value: Any, path: str = "", depth: int = 1) -> Iterator[tuple[str, Sequence[Any]]]:
    """Lists of objects inside objects, by where they are."""
    for key, member in value.items():
        place = f"{path}.{key}" if path else key
        if isinstance(member, dict) and depth < _DEPTH:
            yield from _lists_in(member, place, depth + 1)
        elif isinstance(member, list) and member and isinstance(member[0], dict):
            yield place, member


def _columns_of(members: Mapping[str, Any]) -> dict[str, Sequence[Any]] | None:
    """A table by columns: lists of one length, or objects of the same keys, as pandas writes it."""
    columns: dict[str, Sequence[Any]] = {}
    keys: list[Any] | None = None
    for name, member in members.items():
        if isinstance(member, dict) and (keys is None or list(member) == keys):
            keys, columns[name] = list(member), list(member.values())
        elif isinstance(member, list):
            columns[name] = member
        else:
            return None
    return columns if columns and len({len(column) for column in columns.values()}) == 1 else None


def _names_of_columns(members: Mapping[str, Any]) -> Sequence[str]:
    """Names for rows that are lists: of pandas ("split") and of Socrata."""
    names = members.get("columns")
    if names is None:
        view = members.get("meta")
        view = view.get("view") if isinstance(view, dict) else None
        names = view.get("columns") if isinstance(view, dict) else None
    if not isinstance(names, list):
        return ()
    return [str(name.get("name")) if isinstance(name, dict) else str(name) for name in names]


def _of_esri(shape: Any) -> dict[str, Any] | None:
    """A shape of Esri's JSON as one of GeoJSON."""
    if not isinstance(shape, dict):
        return None
    if "x" in shape:
        return {"type": "Point", "coordinates": [shape["x"], shape.get("y")]}
    if "points" in shape:
        return {"type": "MultiPoint", "coordinates": shape["points"]}
    if "paths" in shape:
        return {"type": "MultiLineString", "coordinates": shape["paths"]}
    if "rings" not in shape:
        return None
    import shapely

    # A ring inside another is a hole in it.
    rings = [shapely.Polygon([corner[:2] for corner in ring]) for ring in shape["rings"]]
    whole: dict[str, Any] = shapely.geometry.mapping(reduce(shapely.symmetric_difference, rings))
    return whole


def _crs(named: Any) -> pyproj.CRS | None:
    """The CRS that older files name; newer ones are in WGS 84."""
    if named is None:
        return None
    if isinstance(named, dict):
        facts = named.get("properties")
        named = facts.get("name") if isinstance(facts, dict) else None
    if isinstance(named, str) and named.upper().endswith("CRS84"):
        return LONLAT
    if not (isinstance(named, str) and _CRS.fullmatch(named)):
        raise InputError(
            "This GeoJSON is in a CRS that is not named by its code; export it again in longitude "
            "and latitude (WGS 84, EPSG:4326)."
        )
    return as_crs(named)


def _esri_crs(reference: Mapping[str, Any]) -> pyproj.CRS | None:
    """The CRS of Esri's JSON: a code of EPSG, one of Esri's, or WKT."""
    code = reference.get("latestWkid", reference.get("wkid"))
    if type(code) is int:
        return as_crs(f"{'EPSG' if 0 < code < _CODES_OF_EPSG else 'ESRI'}:{code}")
    text = reference.get("wkt")
    return foreign_crs(text) if isinstance(text, str) else None
