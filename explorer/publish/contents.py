"""What must hold of a folder whose files are as they were: do they say the same, and is it so?

The release is loaded, the manifest and the registry's entry are computed anew from it, and every
format is compared with its leaves: counts, places and sums.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pyproj
import shapely
import yaml
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid import gdal
from explorer.publish import geotiff, registry
from explorer.publish.leaves import Leaves
from explorer.publish.manifest import as_bytes, manifest_of
from explorer.publish.names import (
    DENSITY,
    GEOJSON,
    PACKAGE,
    PICTURE,
    REGISTRY,
    RELEASE,
    REPORT,
    TABLE,
)
from explorer.publish.published import Published
from explorer.publish.report import POLICY, report
from explorer.publish.tables import COUNTS, EDGES, LAYER
from explorer.releases.release import Release
from explorer.releases.units import to_epsilon
from explorer.version import __version__

Floats = NDArray[np.float64]

#: Bytes that a release may unpack to.
MOST = 2 * 10**9
#: What of a manifest another version may say in other words.
_WORDED = ("software", "checksum", "lineage", "citation", "files")
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


@dataclass(frozen=True)
class Check:
    """One thing that must hold.

    Attributes
    ----------
    name : what it is about
    holds : whether it does
    said : why not, or what was found
    """

    name: str
    holds: bool
    said: str = ""


def contents(folder: Path, manifest: dict[str, Any]) -> list[Check]:
    """The release, what the manifest says of it, the registry's entry and all formats."""
    path = folder / RELEASE
    size = _unpacked(path)
    if size > MOST:
        return [Check("release", False, "It would unpack to more than 2 GB.")]
    try:
        release = Release.load(path)
    except InputError as error:
        why = error.__cause__ or error
        return [Check("release", False, f"It cannot be loaded: {why}.")]
    checks = [
        Check(
            "preview",
            not release.preview,
            "A preview: it is not private and must not be published." if release.preview else "",
        ),
        Check("tiling", True, f"{release.n_leaves:,} leaves tile the extent"),
        _paths(release),
        _stages(release),
    ]
    if release.preview:
        return checks
    try:
        published = Published.of_manifest(release, manifest)
        again = json.loads(as_bytes(manifest_of(published, folder)))
        again["format"] = manifest["format"]
        if not isinstance(manifest["software"], dict):
            raise TypeError
    # A budget or a place may be a number of a thousand digits.
    except (InputError, ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        problem = str(error) if isinstance(error, InputError) else "It is not complete."
        return [*checks, Check("facts", False, f"The manifest does not fit the release: {problem}")]
    checks.append(_facts(manifest, again))
    checks.append(_registry(folder, manifest, published))
    same_words = manifest["software"] == again["software"]
    for name, problem in disagreements(folder, published, same_words=same_words).items():
        detail = f"{name}: {problem}." if problem else ""
        if name == REPORT and not problem and not same_words:
            detail = "other versions are said to have written it: its words were not compared"
        checks.append(Check(f"{name}: contents", not problem, detail))
    return checks


def _unpacked(path: Path) -> int:
    """Bytes that a Parquet file says it unpacks to, and cannot be less than what is read."""
    try:
        footer = pq.read_metadata(path)
        groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
        return int(sum(group.total_byte_size for group in groups))
    except (OSError, ValueError):
        return 0


def _paths(release: Release) -> Check:
    elsewhere = sum(round(part * 10**12) for _, part in release.elsewhere)
    limit = int(release.tree.path_spent.sum(axis=1).max()) + elsewhere
    text = f"paths spend epsilon {to_epsilon(limit):.12g} at most"
    # What passed elsewhere is kept as a decimal: a unit may be lost by reading it.
    if release.tree.spent.min() < 0 or limit > release.units + len(release.elsewhere):
        return Check("paths", False, f"The {text}, more than the {release.epsilon:.12g} paid.")
    return Check("paths", True, text)


def _stages(release: Release) -> Check:
    """The ledger's rows are those of the tree, and add up to epsilon."""
    stages, rows = release.stages(), [(row.stage, row.epsilon) for row in release.ledger]
    same = [name for name, _ in stages] == [name for name, _ in rows] and np.allclose(
        [part for _, part in stages], [part for _, part in rows], rtol=1e-9, atol=1e-12
    )
    total = sum(part for _, part in rows)
    if not same or not 0 < total <= release.epsilon * (1 + 1e-9):
        return Check("stages", False, "What stages cost does not add up to what was booked.")
    # Parts are kept as decimals: their sum may be another one in the last.
    return Check("stages", True, f"stages add up to epsilon {total:.9g}")


def _facts(manifest: Mapping[str, Any], again: Mapping[str, Any]) -> Check:
    """What the manifest says, computed anew from the release."""
    version = manifest.get("software", {})
    same = isinstance(version, dict) and version.get("dp-explorer") == __version__
    left_out = ("software", "checksum") if same else _WORDED
    wrong = [
        name
        for name in {**manifest, **again}
        if name not in left_out and not _alike(manifest.get(name), again.get(name))
    ]
    if wrong:
        names = ", ".join(sorted(map(str, wrong)))
        return Check(
            "facts", False, f"The manifest says of {names[:80]} what the release does not."
        )
    text = "" if same else "; the words of another version were not compared"
    return Check("facts", True, f"the manifest says what the release does{text}")


def _alike(one: Any, other: Any) -> bool:
    """Whether values are the same, numbers to what sums of floats are on another machine."""
    if isinstance(one, float) and isinstance(other, float):
        return bool(np.isclose(one, other, rtol=1e-9, atol=1e-9))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[n], other[n]) for n in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    return bool(one == other)


def _registry(folder: Path, manifest: Mapping[str, Any], published: Published) -> Check:
    try:
        text = (folder / REGISTRY).read_bytes().decode("utf8")
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text)):
            raise ValueError
        stored = yaml.safe_load(text)
    except (ValueError, yaml.YAMLError, RecursionError):
        return Check("registry entry", False, "It is no entry of the registry.")
    expected = registry.entry(published)
    if manifest["software"].get("dp-explorer") == __version__:
        same = _but_library(stored, manifest) == _but_library(expected, manifest)
    else:
        same = _keys(stored) == _keys(expected)
    return Check("registry entry", same, "" if same else "It says something else than the release.")


def _but_library(entry: Any, manifest: Mapping[str, Any]) -> str:
    """An entry without the number of the noise's library, which is that of anyone who drew."""
    text = registry.as_text(entry) if isinstance(entry, dict) else ""
    for version in (manifest["software"].get("opendp"), metadata.version("opendp")):
        text = text.replace(str(version), "")
    return " ".join(text.split())


def _keys(entry: Any) -> Any:
    return {n: _keys(value) for n, value in entry.items()} if isinstance(entry, dict) else None


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
    return {name: _difference(look) for name, look in looks.items()}


def _difference(look: Callable[[], None]) -> str:
    try:
        look()
    except (Differs, geotiff.NotOurs, InputError) as error:
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
    picture = geotiff.read(path)
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
