"""Places written as one text: WKT, EWKT, hex WKB, GeoJSON, "(lat, lon)" and "lon lat"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
from numpy.typing import NDArray

from explorer.errors import InputError

Floats = NDArray[np.float64]

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_COMMA, _MORE = r"\s*[,;]\s*", r"{0,2}"
# An address may be above the pair, as in the tables of Socrata.
_ABOVE = r"(?s)^(?:.*[\r\n])?\s*"
_QUOTE = r"[\'\"]+"
#: By encoding, regular expressions (of RE2 and of Python alike) with groups x and y. Of a pair of
#: numbers x is the first, whatever it is.
_PATTERNS = {
    "WKT": (
        r"(?is)^\s*(?:SRID\s*=\s*(?P<srid>\d+)\s*;\s*)?(?:MULTI)?POINT\s*(?:ZM|Z|M)?\s*\(\s*\(?\s*"
        rf"(?P<x>{_NUMBER})\s+(?P<y>{_NUMBER})(?:\s+{_NUMBER}){_MORE}\s*\)?\s*\)\s*$",
    ),
    "hex WKB": (r"^\s*(?:\\x)?(?P<hex>0[01](?:[0-9A-Fa-f]{2}){8,})\s*$",),
    "GeoJSON": (
        rf"(?s)^\s*\{{.*{_QUOTE}coordinates{_QUOTE}\s*:\s*\[\s*\[?\s*(?P<x>{_NUMBER})\s*,\s*"
        rf"(?P<y>{_NUMBER})(?:\s*,\s*{_NUMBER}){_MORE}\s*\]?\s*\].*\}}\s*$",
    ),
    "object": (
        rf"(?is)^\s*\{{.*{_QUOTE}(?:longitude|long|lng|lon){_QUOTE}\s*:\s*[\'\"]*(?P<x>{_NUMBER})",
        rf"(?is)^\s*\{{.*{_QUOTE}(?:latitude|lat){_QUOTE}\s*:\s*[\'\"]*(?P<y>{_NUMBER})",
    ),
    "pair (": (
        rf"{_ABOVE}\(\s*(?P<x>{_NUMBER}){_COMMA}(?P<y>{_NUMBER})(?:{_COMMA}{_NUMBER})?\s*\)\s*$",
    ),
    "pair [": (
        rf"^\s*\[\s*(?P<x>{_NUMBER}){_COMMA}(?P<y>{_NUMBER})(?:{_COMMA}{_NUMBER})?\s*\]\s*$",
    ),
    "pair ,": (
        rf"{_ABOVE}(?P<x>{_NUMBER}){_COMMA}(?P<y>{_NUMBER})(?:{_COMMA}{_NUMBER}){_MORE}\s*$",
    ),
    "pair": (rf"^\s*(?P<x>{_NUMBER})\s+(?P<y>{_NUMBER})(?:\s+{_NUMBER}){_MORE}\s*$",),
}
# Some tools write the kind of a shape that has no place, others a word or a sign.
_MISSING = (
    r"(?is)^\s*(?:(?:SRID\s*=\s*\d+\s*;\s*)?(?:MULTI)?POINT\s*(?:ZM|Z|M)?\s*EMPTY|"
    r"nan|null|none|n/?a|<na>|\\n|-+|[\(\[]?\s*(?:nan|null|none)?\s*,?\s*(?:nan|null|none)?\s*[\)\]]?"
    r"|point\s*\(\s*nan\s+nan\s*\)|\{\s*\})\s*$"
)
_SHAPE = re.compile(
    r"^\s*(?:SRID\s*=\s*\d+\s*;\s*)?((?:MULTI)?(?:POINT|LINESTRING|POLYGON)|GEOMETRYCOLLECTION)"
    r"\s*(?:ZM|Z|M)?\s*\(",
    re.IGNORECASE,
)
_LAT, _LON = re.compile(r"lat|north|(?<![a-z])y"), re.compile(r"lon|lng|east|(?<![a-z])x")
# A value may be a few words amiss in this part of a column that is one of places.
_MOSTLY = 0.8


@dataclass(frozen=True)
class Written:
    """How the values of a column of texts are written.

    Attributes
    ----------
    encoding : "WKT", "hex WKB", "GeoJSON", "object" or a kind of pair
    north_first : whether the first number of a pair is a latitude
    assumed : whether neither the name nor the values say which is first
    srid : of the first value, 0 for none
    refusal : why the values cannot be read, "" where they can
    """

    encoding: str
    north_first: bool = False
    assumed: bool = False
    srid: int = 0
    refusal: str = ""


def written(values: Sequence[str], name: str) -> Written | None:
    """How a column writes places, from some of its values; None where they are no places.

    Examples
    --------
    >>> written(["SRID=27700;POINT (530000 180000)", "POINT EMPTY"], "geom")
    Written(encoding='WKT', north_first=False, assumed=False, srid=27700, refusal='')
    >>> written(["(37.77, -122.42)", "(37.78, -122.41)"], "Location").north_first
    True
    >>> written(["13,4", "52,5"], "amount") is None
    True
    """
    present = [value for value in values if not re.match(_MISSING, value)]
    for encoding, patterns in _PATTERNS.items():
        matches = [[re.search(pattern, value) for pattern in patterns] for value in present]
        fitting = [row for row in matches if all(row)]
        if not fitting or len(fitting) < _MOSTLY * len(present):
            continue
        if encoding.startswith("pair"):
            pairs = [(match["x"], match["y"]) for (match,) in fitting if match]
            return _pair(encoding, pairs, name)
        first = fitting[0][0]
        srid = first["srid"] if encoding == "WKT" and first else None
        return Written(encoding, srid=int(srid or 0))
    return None


def written_shapes(values: Sequence[str]) -> Written | None:
    """How a column writes shapes of any kind, from some of its values; None where it does not.

    >>> written_shapes(["POLYGON ((0 0, 1 0, 1 1, 0 0))"])
    Written(encoding='WKT', north_first=False, assumed=False, srid=0, refusal='')
    """
    present = [value for value in values if not re.match(_MISSING, value)]
    pattern_of_encoding = {
        "WKT": _SHAPE,
        "hex WKB": re.compile(_PATTERNS["hex WKB"][0]),
        "GeoJSON": re.compile(rf"(?s)^\s*\{{.*{_QUOTE}coordinates{_QUOTE}\s*:\s*\["),
    }
    for encoding, pattern in pattern_of_encoding.items():
        matches = [pattern.match(value) for value in present]
        if matches and all(matches):
            srid = re.match(r"\s*SRID\s*=\s*(\d+)", present[0], re.IGNORECASE)
            return Written(encoding, srid=0 if srid is None else int(srid[1]))
    return None


def point_texts(texts: pa.Array, how: Written, name: str) -> tuple[Floats, Floats]:
    """Coordinates x, y of a batch of texts (n,), NaN for a missing place.

    Raises
    ------
    InputError
        For a value that is written in another way, without printing it.
    """
    texts = texts.cast(pa.large_string())
    x, y = np.full((2, len(texts)), np.nan)
    fitting = np.ones(len(texts), dtype=bool)
    for pattern in _PATTERNS[how.encoding]:
        groups = compute.extract_regex(texts, pattern.replace("(?is)^", "^(?is)"))
        fitting &= groups.is_valid().to_numpy(zero_copy_only=False)
        for field in groups.type:
            values = compute.struct_field(groups, field.name)
            if field.name == "srid":
                _refuse_mixed(values, how, name)
            else:
                numbers = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
                (x if field.name == "x" else y)[:] = numbers
    _refuse_others(texts, ~fitting, name)
    x[~fitting] = y[~fitting] = np.nan
    return (y, x) if how.north_first else (x, y)


def wkb_of_hex(texts: pa.Array, name: str) -> pa.Array:
    """WKB of texts in hex (n,), null for a missing place."""
    texts = texts.cast(pa.large_string())
    groups = compute.extract_regex(texts, _PATTERNS["hex WKB"][0])
    _refuse_others(texts, groups.is_null().to_numpy(zero_copy_only=False), name)
    digits = compute.struct_field(groups, "hex").to_pylist()
    return pa.array([None if value is None else bytes.fromhex(value) for value in digits])


def without_missing(texts: pa.Array) -> pa.Array:
    """Texts of shapes, null for one that says that none is there."""
    texts = texts.cast(pa.large_string())
    missing = compute.match_substring_regex(texts, _MISSING)
    return compute.if_else(missing, pa.scalar(None, texts.type), texts)


def without_srid(texts: pa.Array) -> pa.Array:
    """WKT of EWKT."""
    plain = texts.cast(pa.large_string())
    return compute.replace_substring_regex(plain, r"(?i)^\s*SRID\s*=\s*\d+\s*;\s*", "")


def refuse_shapes(kinds: Sequence[str]) -> None:
    """Raise `InputError` if what a file says it holds is something else than points.

    A MultiPoint may be of one point, and "Unknown" are mixed kinds: both are looked at when they
    are read.
    """
    allowed = {"Point", "MultiPoint", "Unknown", "GeometryCollection", "Geometry"}
    other = [kind for kind in kinds if kind.split(" ")[0] not in allowed]
    if other:
        raise not_points(other[0])


def _pair(encoding: str, pairs: Sequence[tuple[str, str]], name: str) -> Written | None:
    if encoding != "pair (" and sum("." in x + y for x, y in pairs) < len(pairs) / 2:
        # 52,5 is a number with a decimal comma.
        return None
    first, second = np.abs(np.array(pairs, dtype=np.float64)).max(axis=0)
    words = name.lower()
    lat, lon = _LAT.search(words), _LON.search(words)
    if lat is not None and lon is not None:
        return Written(encoding, lat.start() < lon.start())
    if max(first, second) > 360:
        return Written(encoding, north_first=False, assumed=True)
    if (first > 90) != (second > 90):
        return Written(encoding, bool(second > 90))
    if encoding in ("pair (", "pair ,"):
        return Written(encoding, north_first=True, assumed=True)
    return Written(
        encoding,
        refusal=f"Nothing says which number in {name!r} is the latitude; rename the column lat_lon "
        "or lon_lat.",
    )


def _refuse_mixed(srids: pa.Array, how: Written, name: str) -> None:
    different = {int(srid) for srid in srids.drop_null().unique().to_pylist() if srid}
    if different - {how.srid}:
        raise InputError(
            f"The places in {name!r} have different SRIDs; give those of one CRS at a time."
        )


def _refuse_others(texts: pa.Array, other: NDArray[np.bool_], name: str) -> None:
    if not other.any():
        return
    present = texts.filter(pa.array(other)).drop_null()
    present = present.filter(compute.invert(compute.match_substring_regex(present, _MISSING)))
    if len(present):
        shape = _SHAPE.match(present[0].as_py())
        if shape is not None and shape[1].upper() != "POINT":
            raise not_points(shape[1])
        raise InputError(
            f"The column {name!r} holds places and values that are written in another way; empty "
            "those, or write all places alike."
        )


def not_points(kind: str) -> InputError:
    """The error for a shape of another kind, or for a MultiPoint of several points."""
    if kind.upper() == "MULTIPOINT":
        return InputError(
            "This file holds MultiPoints of several points; split them into one point a row."
        )
    return InputError(
        f"This file holds shapes of kind {kind} where points were expected; give points here, and "
        "polygons as the boundary of a grid."
    )


def sentence(name: str, how: Written | None) -> str:
    """What was taken as the place, for the curator's screen."""
    if how is None or not how.encoding.startswith("pair"):
        return f"The column {name!r} was taken as the place."
    order = "latitude first" if how.north_first else "longitude (or easting) first"
    more = "; if it is not, rename the column lat_lon or lon_lat" if how.assumed else ""
    return f"The column {name!r} was taken as the place, {order}{more}."
