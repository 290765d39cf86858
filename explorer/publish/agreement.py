"""Whether the formats of a folder say the same: counts, places and sums of every leaf."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pyproj
import shapely
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid import gdal
from explorer.publish import geotiff, geotiff_reading
from explorer.publish.leaves import Leaves
from explorer.publish.names import DENSITY, GEOJSON, PACKAGE, PICTURE, RELEASE, REPORT, TABLE
from explorer.publish.published import Published
from explorer.publish.report import POLICY, report
from explorer.publish.tables import COUNTS, EDGES, LAYER
from explorer.releases.release import Release

Floats = NDArray[np.float64]

#: How far a number may be from the release's: by its last decimal, or not at all.
_TEXT, _EXACT = 10.0**-COUNTS, 1e-12
#: Degrees and metres. PROJ 9.5 and 9.8 differ by up to 1.5e-8 (laea).
_DEGREES, _METRES = 2.5e-8, 1e-5
#: Bytes of one line of GeoJSON.
_LINE = 200_000
# Inside tags: what runs, and what is fetched. Words of a person are outside of them.
_TAGS = re.compile(rb"<[^>]*>")
_ELSEWHERE = re.compile(
    rb"^<\s*(script|iframe|object|embed|link|base|form)\b|\son\w+\s*=|http-equiv=\"?refresh"
    rb"|\b(src|href|action)\s*=\s*(?![\"']data:image/)",
    re.IGNORECASE,
)
_IMAGES = re.compile(rb"data:image/png;base64,[A-Za-z0-9+/=]*")
_STYLES = re.compile(rb"@import|url\(", re.IGNORECASE)


class Differs(ValueError):
    """Raised where a format says something else than the release, with what."""


def disagreements(folder: Path, published: Published, *, same_words: bool) -> dict[str, str]:
    """What each file says otherwise than the release, "" where it agrees, by the file's name.

    ``same_words`` says whether this version has written it, so that texts are alike, too.
    """
    release, leaves = published.release, published.leaves
    looks: Mapping[str, Callable[[], None]] = {
        RELEASE: lambda: _parquet(folder / RELEASE, leaves),
        PACKAGE: lambda: _package(folder / PACKAGE, leaves),
        GEOJSON: lambda: _geojson(folder / GEOJSON, leaves),
        TABLE: lambda: _table(folder / TABLE, leaves),
        DENSITY: lambda: _density(folder / DENSITY, release),
        PICTURE: lambda: _picture(folder / PICTURE),
        REPORT: lambda: _report(folder / REPORT, published if same_words else None),
    }
    return {name: _found(look) for name, look in looks.items()}


def _found(look: Callable[[], None]) -> str:
    try:
        look()
    except (Differs, geotiff_reading.NotOurs, InputError) as error:
        return str(error)
    # Nonsense may raise anything, somewhere in a library.
    except Exception as error:
        return f"it cannot be read ({type(error).__name__})"
    return ""


def _columns(stored: Mapping[str, Any], leaves: Leaves, near: float) -> None:
    expected = {"leaf": leaves.leaf.astype(float), **leaves.columns}
    for name, column in expected.items():
        if name not in stored:
            raise Differs(f"it has no column {name}")
        there = np.asarray(stored[name], dtype=float)
        if there.shape != column.shape:
            raise Differs(f"it has {len(there):,} leaves, the release {len(column):,}")
        relative = _EXACT if near == 0 else 0.0
        if not np.allclose(there, column, rtol=relative, atol=near):
            raise Differs(f"its column {name} is another than the release's")


def _places(stored: Floats, expected: Floats, near: float) -> None:
    if stored.shape != expected.shape or not np.abs(stored - expected).max() <= near:
        raise Differs("its leaves lie elsewhere than the release's")


def _rectangles(shapes: Any, boxes: Floats) -> None:
    """Shapes that are rectangles with these edges, and nothing else."""
    _places(shapely.bounds(shapes), boxes, _METRES)
    area = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    if not np.allclose(shapely.area(shapes), area):
        raise Differs("its leaves have another shape than the release's")


def _parquet(path: Path, leaves: Leaves) -> None:
    names = ["leaf", *leaves.columns, "geometry"]
    table = pq.read_table(path, columns=names)
    _columns({name: table[name].to_numpy() for name in names[:-1]}, leaves, 0)
    _rectangles(shapely.from_wkb(table["geometry"].to_pylist()), leaves.boxes)
    geo = json.loads(table.schema.metadata[b"geo"])["columns"]["geometry"]
    _same_crs(pyproj.CRS.from_json_dict(geo["crs"]), leaves)


def _package(path: Path, leaves: Leaves) -> None:
    import pyogrio

    source = gdal.checked(path)
    about = pyogrio.read_info(source, layer=LAYER)
    gdal.check_driver(about)
    if about["features"] != len(leaves) or len(pyogrio.list_layers(source)) != 1:
        raise Differs(f"it has {about['features']:,} leaves, the release {len(leaves):,}")
    # Only what is asked for: an untrusted table may have a thousand columns.
    columns = [name for name in ("leaf", *leaves.columns) if name in about["fields"]]
    frame = pyogrio.read_dataframe(source, layer=LAYER, columns=columns)
    _columns(frame, leaves, 0)
    _rectangles(frame.geometry.to_numpy(), leaves.boxes)
    _same_crs(frame.crs, leaves)


def _same_crs(crs: Any, leaves: Leaves) -> None:
    """The corners of the map have to be the same places on the Earth."""
    x0, y0, x1, y1 = leaves.grid.bounds
    x, y = np.array([x0, x1, x1, x0]), np.array([y0, y0, y1, y1])
    there = pyproj.Transformer.from_crs(crs, 4326, always_xy=True).transform(x, y)
    if not np.allclose(there, leaves.grid.to_lonlat(x, y), rtol=0, atol=_DEGREES):
        raise Differs("it has another CRS than the release")


def _geojson(path: Path, leaves: Leaves) -> None:
    with path.open("rb") as file:
        json.loads(file.readline(_LINE) + b"]}")
        for part in leaves.parts():
            _features(file, part)
        if file.read(10) != b"]}\n":
            raise Differs(f"it has more leaves than the release, which has {len(leaves):,}")


def _features(file: BinaryIO, leaves: Leaves) -> None:
    """The next lines of a file are these leaves."""
    columns: dict[str, list[float]] = {name: [] for name in ("leaf", *leaves.columns)}
    rings, shapes = [], leaves.degrees()
    for number, shape in zip(leaves.leaf.tolist(), shapes, strict=True):
        line = file.readline(_LINE)
        feature = json.loads(line[1:] if number and line[:1] == b"," else line)
        if feature["id"] != number or feature["type"] != "Feature":
            raise Differs("its leaves have other numbers than the release's")
        for name, column in columns.items():
            column.append(feature["properties"][name])
        place = feature["geometry"]
        if place["type"] != shape.geom_type:
            raise Differs("its leaves have another shape than the release's")
        rings.append(_points(place["coordinates"], place["type"]))
    _columns(columns, leaves, _TEXT)
    _places(np.concatenate(rings), shapely.get_coordinates(shapes), _DEGREES)


def _points(coordinates: Any, kind: str) -> Floats:
    parts = [coordinates] if kind == "Polygon" else coordinates
    points: Floats = np.concatenate([np.asarray(ring, float) for part in parts for ring in part])
    if points.ndim != 2 or points.shape[1] != 2:
        raise Differs("its leaves have another shape than the release's")
    return points


def _table(path: Path, leaves: Leaves) -> None:
    frame = pd.read_csv(path, encoding="utf8", nrows=len(leaves) + 1)
    if list(frame) != ["leaf", *leaves.columns, *EDGES]:
        raise Differs("it has other columns")
    _columns(frame, leaves, _TEXT)
    _places(frame[list(EDGES)].to_numpy(float), leaves.boxes, _METRES)


def _density(path: Path, release: Release) -> None:
    picture = geotiff_reading.read(path)
    whole, expected = picture.levels[0], release.density()
    if whole.shape != expected.shape or not np.allclose(whole, expected, rtol=_EXACT, atol=1e-12):
        raise Differs("its density is another than the release's")
    for overview, level in zip(picture.levels, geotiff.pyramid(expected[::-1]), strict=True):
        if not np.allclose(overview[::-1], level, rtol=1e-9, atol=1e-9):
            raise Differs("its overviews are not of its density")
    grid = release.grid
    x0, _, _, y1 = grid.bounds
    georeference = {
        33550: (12, [grid.cell_width, grid.cell_height, 0.0]),
        33922: (12, [0.0, 0.0, 0.0, x0, y1, 0.0]),
        **geotiff.geo_keys(grid.crs),
    }
    for tag, value in georeference.items():
        if picture.tags.get(tag) != value:
            raise Differs("it lies elsewhere than the release")


def _picture(path: Path) -> None:
    with path.open("rb") as file:
        if file.read(8) != b"\x89PNG\r\n\x1a\n":
            raise Differs("it is no PNG")


def _report(path: Path, published: Published | None) -> None:
    content = path.read_bytes()
    policy = POLICY.replace("'", "&#x27;").encode()
    loads = any(_ELSEWHERE.search(tag) for tag in _TAGS.findall(content))
    loads = loads or any(map(_STYLES.search, re.findall(rb"<style.*?</style", content, re.DOTALL)))
    if policy not in content[:1000] or loads:
        raise Differs("it could run a script, or load something from elsewhere")
    if published is not None:
        # Pictures are packed as the library of the day packs them.
        again, stored = (_IMAGES.sub(b"", text) for text in (report(published).encode(), content))
        if again != stored:
            raise Differs("it says something else than the release")
