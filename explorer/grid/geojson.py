"""GeoJSON read without GDAL, feature by feature.

GDAL takes a file that begins with ``{`` for any of a dozen formats, and some of them name other
files or addresses to be read. This reader opens nothing and knows GeoJSON alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pyproj

from explorer.errors import InputError
from explorer.grid.gdal import damaged
from explorer.grid.projection import as_crs
from explorer.grid.stated_crs import ASSUMED

_SPACE = re.compile(r"[ \t\r\n]*")
# Names such as EPSG:27700 and urn:ogc:def:crs:EPSG::27700; nothing that PROJ might look up.
_CRS = re.compile(r"(urn:ogc:def:crs:)?[A-Z]{2,8}:[\d.]*:?\d{1,9}", re.IGNORECASE)
_DEGREES = "EPSG:4326"
_GEOMETRIES = (
    "Point",
    "MultiPoint",
    "LineString",
    "MultiLineString",
    "Polygon",
    "MultiPolygon",
    "GeometryCollection",
)


class Features:
    """The features of a document, decoded one at a time, as often as they are iterated over.

    Parameters
    ----------
    content : the bytes of the file, UTF-8

    Attributes
    ----------
    crs : that of the coordinates, `ASSUMED` degrees unless the document names one; None where it
        says that it has none. Known after the first time all features were iterated over.

    Raises
    ------
    InputError
        While iterating: for what is not a FeatureCollection, a Feature or a geometry.
    """

    def __init__(self, content: bytes) -> None:
        self.crs: pyproj.CRS | None = None
        try:
            self._text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise damaged() from error

    def __iter__(self) -> Iterator[dict[str, Any]]:
        members: dict[str, Any] = {}
        collected = False
        try:
            for key, value in _members(self._text):
                if key is not None:
                    members[key] = value
                elif isinstance(value, dict) and value.get("type") == "Feature":
                    collected = True
                    yield value
                else:
                    raise damaged()
        except (ValueError, IndexError, RecursionError) as error:
            raise damaged() from error
        kind = members.get("type")
        if collected and kind != "FeatureCollection":
            raise damaged()
        self.crs = _crs(members)
        if kind == "Feature":
            yield members
        elif kind in _GEOMETRIES:
            yield {"type": "Feature", "geometry": members, "properties": None}
        elif kind != "FeatureCollection" or "features" in members:
            raise damaged()


def _members(text: str) -> Iterator[tuple[str | None, Any]]:
    """Key and value of every member of the document; a feature alone, without a key."""
    decode = json.JSONDecoder().raw_decode
    at = _expect(text, "{", _skip(text, 0))
    while text[at] != "}":
        key, at = decode(text, at)
        if not isinstance(key, str):
            raise ValueError("a key is no text")
        at = _expect(text, ":", _skip(text, at))
        if key == "features" and text[at] == "[":
            at = _skip(text, at + 1)
            while text[at] != "]":
                feature, at = decode(text, at)
                yield None, feature
                at = _next(text, at, "]")
            at += 1
        else:
            value, at = decode(text, at)
            yield key, value
        at = _next(text, at, "}")
    if _skip(text, at + 1) != len(text):
        raise ValueError("something follows the document")


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _expect(text: str, sign: str, at: int) -> int:
    if text[at] != sign:
        raise ValueError(f"{sign} is missing")
    return _skip(text, at + 1)


def _next(text: str, at: int, end: str) -> int:
    """The place of what follows a value: the next one, behind a comma, or the end."""
    at = _skip(text, at)
    if text[at] == end:
        return at
    at = _expect(text, ",", at)
    if text[at] == end:
        raise ValueError("a comma has nothing behind it")
    return at


def _crs(members: dict[str, Any]) -> pyproj.CRS | None:
    """The CRS that older files name; newer ones are in WGS 84."""
    named = members.get("crs", ASSUMED)
    if named is None or named is ASSUMED:
        return named
    if isinstance(named, dict):
        facts = named.get("properties")
        named = facts.get("name") if isinstance(facts, dict) else None
    if isinstance(named, str) and named.upper().endswith("CRS84"):
        named = _DEGREES
    if not (isinstance(named, str) and _CRS.fullmatch(named)):
        raise InputError(
            "This GeoJSON is in a CRS that is not named by its code; export it again in longitude "
            "and latitude (WGS 84, EPSG:4326)."
        )
    return as_crs(named)
