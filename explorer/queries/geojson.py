"""Rectangles as GeoJSON: read whatever others draw, write what comes back exactly."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.geojson import as_collection
from explorer.grid.grid import Grid
from explorer.grid.pieces import Shapes
from explorer.grid.projection import LONLAT
from explorer.queries.boxes import DECIMALS
from explorer.queries.shapes import (
    are_rectangles,
    box_shapes,
    boxes_of_rings,
    polygon_shape,
    shape_of_text,
)

Floats = NDArray[np.float64]

EDGES = ("x0", "y0", "x1", "y1")
# An edge that moved by less than this in another program did not move: it was rounded.
_UNMOVED = 0.05


def read(
    content: bytes, grid: Grid, label: str, most: int, note: Callable[[str], None] | None = None
) -> tuple[Floats, list[Any]]:
    """Rectangles and names of a FeatureCollection or a Feature, see `read_rectangles`.

    More features than `most` are refused. Returns (n, 4) x0, y0, x1, y1 in metres, and the n names
    as
    they are: text, numbers, None.
    """
    parsed = _read(content, grid, label, most)
    if note is not None and not parsed.trusted.all():
        odd, total = int(parsed.odd(grid).sum()), int((~parsed.trusted).sum())
        if odd:
            note(_of_others(odd, total))
    return parsed.boxes, parsed.names


def read_shapes(
    content: bytes, grid: Grid, label: str, limit: int
) -> tuple[Floats, list[Any], list[Any]]:
    """As `read`, with the shapes that are no rectangles on the map as n polygons of shapely.

    They are in the grid's unit where `write` has noted them, in degrees as a `Shapes` of one
    elsewhere; None for a rectangle.
    """
    parsed = _read(content, grid, label, limit)
    odd, crs = parsed.odd(grid), grid.to_dict()["crs"]
    shapes: list[Any] = [None] * len(odd)
    for number, feature in enumerate(parsed.features):
        facts = feature.get("properties") or {}
        # Anyone who writes no edges of a shape says that it is none of a box.
        if odd[number] or ("x0" in facts and facts["x0"] is None):
            noted = _noted(facts, crs, parsed.corners[number])
            shape = shapely.geometry.shape(feature["geometry"]) if noted is None else noted
            shapes[number] = Shapes(np.array([shape]), None if noted is not None else LONLAT)
    return parsed.boxes, parsed.names, shapes


@dataclass(frozen=True, eq=False)
class _Read:
    """Features of a document: their rings in degrees, the boxes around them in metres."""

    features: list[Any]
    names: list[Any]
    rings: list[list[Floats]]
    holes: list[list[Floats]]
    boxes: Floats
    corners: Floats
    trusted: NDArray[np.bool_]

    def odd(self, grid: Grid) -> NDArray[np.bool_]:
        """Which are no rectangles, (n,); of those that say their own edges none."""
        result = np.zeros(len(self.trusted), dtype=bool)
        at = np.flatnonzero(~self.trusted)
        if len(at):
            rings, holes = [self.rings[i] for i in at], [self.holes[i] for i in at]
            result[at] = ~are_rectangles(rings, holes, self.boxes[at], grid)
        return result


def _read(content: bytes, grid: Grid, label: str, limit: int) -> _Read:
    _refuse_cells(grid)
    try:
        document = as_collection(content)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{label} is not complete GeoJSON; export it again from the program that made it."
        ) from error
    features = _features(document, label, limit)
    names, rings, holes, stated = [], [], [], np.full((len(features), 4), np.nan)
    crs = grid.to_dict()["crs"]
    for number, feature in enumerate(features):
        geometry = feature.get("geometry") if isinstance(feature, dict) else None
        outer, inner = _rings(geometry, number, label)
        rings.append(outer)
        holes.append(inner)
        facts = feature.get("properties")
        facts = facts if isinstance(facts, dict) else {}
        names.append(facts.get("name"))
        edges = [facts.get(edge) for edge in EDGES]
        if facts.get("crs") == crs:
            stated[number] = [_edge(edge) for edge in edges]
    boxes, corners = boxes_of_rings(rings, grid)
    bad = np.flatnonzero(~np.isfinite(boxes).all(axis=1))
    if len(bad):
        raise InputError(
            f"Feature {bad[0] + 1} of {label} lies where the map's projection has no place; leave "
            "it out."
        )
    trusted = _trusted(corners, stated, grid)
    boxes = np.where(trusted[:, None], stated, boxes)
    return _Read(features, names, rings, holes, boxes, corners, trusted)


def is_geojson(content: bytes) -> bool:
    """Whether the content of a file of rectangles is GeoJSON; else it is a table."""
    return content.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n\x1e")[:1] in (b"{", b"[")


def shapes_of(content: bytes) -> NDArray[Any]:
    """The shapes (n,) in degrees, of shapely, of a file that `read` has read."""
    document = as_collection(content)
    features = document.get("features", [document])
    result = np.empty(len(features), dtype=object)
    result[:] = [shapely.geometry.shape(feature["geometry"]) for feature in features]
    return result


def _of_others(odd: int, total: int) -> str:
    """How many of the shapes that are asked about are no rectangles."""
    which = f"{odd:,} of {total:,} shapes" if total > 1 else "The shape"
    be, whose = ("are not rectangles", "their") if odd > 1 else ("is not a rectangle", "its")
    what = "boxes are" if odd > 1 else "box is"
    return f"{which} {be} on this map: {whose} bounding {what} asked."


def _noted(facts: dict[str, Any], crs: Any, corners: Floats) -> Any:
    """The polygon that `write` has noted next to a shape, if that has not been moved since."""
    text = facts.get("wkt")
    if not isinstance(text, str) or facts.get("crs") != crs:
        return None
    try:
        shape = shape_of_text(text)
    except ValueError:
        return None
    same = shape is not None and np.abs(np.array(shape.bounds) - corners).max() <= _UNMOVED
    return shape if same else None


def _edge(value: Any) -> float:
    return float(value) if type(value) in (int, float) and abs(value) < 1e300 else math.nan


def _trusted(corners: Floats, stated: Floats, grid: Grid) -> NDArray[np.bool_]:
    """Whether the edges a Feature states about itself hold: not if it has been moved since."""
    trusted = np.all(np.abs(corners - stated) <= _UNMOVED, axis=1)
    # A shape that was cut at the antimeridian has corners of its own: compare with the same cut.
    doubtful = np.flatnonzero(~trusted & np.isfinite(stated).all(axis=1))
    doubtful = doubtful[np.all(stated[doubtful, :2] <= stated[doubtful, 2:], axis=1)]
    if len(doubtful):
        shapes = box_shapes(stated[doubtful], grid)
        rings = [_rings(shape, 0, "")[0] if shape else [] for shape in shapes]
        keep = [at for at, ring in enumerate(rings) if ring]
        if keep:
            written = boxes_of_rings([rings[at] for at in keep], grid)[1]
            same = np.all(np.abs(corners[doubtful[keep]] - written) <= _UNMOVED, axis=1)
            trusted[doubtful[keep]] = same
    return trusted


def _features(document: Any, label: str, limit: int) -> list[Any]:
    kind = document.get("type") if isinstance(document, dict) else None
    if kind == "Feature":
        return [document]
    features = document.get("features") if kind == "FeatureCollection" else None
    if not isinstance(features, list):
        raise InputError(f"{label} is not a GeoJSON FeatureCollection; export rectangles as one.")
    named = document.get("crs")
    if named and not re.search(r"CRS84|4326", json.dumps(named)):
        raise InputError(
            f"{label} is in a CRS of its own; export it again in longitude and latitude "
            "(WGS 84, EPSG:4326)."
        )
    if not features:
        raise InputError(f"{label} holds no rectangle; add one, or leave the file out.")
    if len(features) > limit:
        raise too_many(label, limit)
    return features


def _rings(geometry: Any, number: int, label: str) -> tuple[list[Floats], list[Floats]]:
    """Outer rings and holes of a Polygon or MultiPolygon, (k, 2) longitude and latitude each."""
    kind = geometry.get("type") if isinstance(geometry, dict) else None
    if kind not in ("Polygon", "MultiPolygon"):
        raise InputError(
            f"Feature {number + 1} of {label} is {kind or 'without a shape'}, not a polygon; give "
            "Features of Polygon or MultiPolygon only."
        )
    try:
        parts = geometry["coordinates"]
        parts = [parts] if kind == "Polygon" else parts
        outer = [_corners(part[0]) for part in parts]
        holes = [_corners(ring) for part in parts for ring in part[1:] if len(ring)]
        rings = [*outer, *holes]
        sound = outer and all(ring.ndim == 2 and len(ring) >= 3 for ring in rings)
        sound = sound and all(ring.shape[1] == 2 and np.isfinite(ring).all() for ring in rings)
    except (TypeError, ValueError, KeyError, IndexError, OverflowError):
        sound = False
    if not sound:
        raise InputError(
            f"Feature {number + 1} of {label} has corners that are not pairs of numbers; export "
            "it again."
        )
    if any(np.abs(ring[:, 0]).max() > 540 or np.abs(ring[:, 1]).max() > 90 for ring in rings):
        raise InputError(
            f"Feature {number + 1} of {label} is not in degrees; export it again in longitude and "
            "latitude (WGS 84, EPSG:4326), or give CSV in the unit of the map."
        )
    return outer, holes


def _corners(ring: Any) -> Floats:
    return np.asarray([place[:2] for place in ring], dtype=np.float64)


def write(
    boxes: Floats,
    names: Sequence[str],
    grid: Grid,
    labels: Sequence[str],
    cells: Sequence[Any],
    polygons: Sequence[Any] = (),
) -> str:
    """A FeatureCollection of (n, 4) boxes, with n rows of further cells under their labels.

    Each Feature notes its exact edges and their CRS next to its shape, which is curved in degrees;
    one that represents one of n ``polygons`` (None for a box) notes that instead.
    """
    _refuse_cells(grid)
    crs = grid.to_dict()["crs"]
    features = []
    shapes = box_shapes(boxes, grid)
    notes: list[dict[str, Any]] = [dict(zip(EDGES, box, strict=True)) for box in boxes.tolist()]
    for number, polygon in enumerate(polygons):
        if polygon is not None:
            shapes[number] = polygon_shape(polygon, grid)
            text = shapely.to_wkt(polygon, rounding_precision=DECIMALS)
            notes[number] = {**dict.fromkeys(EDGES), "wkt": text}
    for note, name, row, shape in zip(notes, names, cells, shapes, strict=True):
        if shape is None:
            raise InputError(
                f"The rectangle {str(name)!r} has corners without a longitude and latitude; write "
                "CSV instead."
            )
        facts = {"name": str(name), **note, "crs": crs}
        facts |= {label: finite(cell) for label, cell in zip(labels, row, strict=True)}
        features.append({"type": "Feature", "properties": facts, "geometry": shape})
    document = {"type": "FeatureCollection", "features": features}
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def finite(cell: Any) -> Any:
    """A cell as it is, or None for a number that JSON and CSV cannot write."""
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def too_many(label: str, limit: int) -> InputError:
    """The error for a file of more rectangles than are read."""
    return InputError(
        f"{label} holds more than the {limit:,} rectangles that are read; give fewer."
    )


def _refuse_cells(grid: Grid) -> None:
    if grid.crs is None:
        raise InputError(
            "This map is measured in cells and has no longitude and latitude, which GeoJSON needs; "
            "use CSV with the columns name,x0,y0,x1,y1."
        )
