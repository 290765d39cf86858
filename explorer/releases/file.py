"""Release files: Parquet whose rows are the leaves, everything else in its metadata.

Format 2 names the domain and has a column for either edge of a leaf along each axis. Over a grid
the leaves have a polygon each, so that the file is GeoParquet. Format 1 knew grids alone. A
release with maps of its places is written in format 3, which is format 2 with those maps: what does
not know them must not answer without them.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import math
import re
import zipfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid import kinds
from explorer.grid.domain import Domain
from explorer.grid.grid import MAX_CELLS, Grid
from explorer.grid.whole_file import write_whole
from explorer.releases.answers import Answers
from explorer.releases.place_maps import PlaceMaps
from explorer.releases.transcript import LedgerRow
from explorer.releases.tree import Tree
from explorer.releases.units import UNITS_OF_PRIVACY, UNITS_PER_EPSILON, to_epsilon

if TYPE_CHECKING:
    import geopandas
    import pyarrow.parquet as pq


FORMAT = 2
WITH_MAPS = 3
_READ = (1, FORMAT, WITH_MAPS)
KEY = b"dp-explorer"
_ARRAYS = ("lower", "upper", "parent", "value", "precision", "spent", "draws")
# Of few mechanisms; a file without it is whole.
_TESTED = "tested"


def write(
    path: str | Path,
    tree: Tree,
    domain: Domain,
    about: dict[str, Any],
    maps: PlaceMaps | None = None,
    also: Mapping[str, Any] | None = None,
) -> None:
    """Write a tree and what is to be known about it; `read` reads it.

    `about` are facts that JSON can hold, `maps` those of places, `also` further columns of the
    leaves
    for other tools. InputError when it cannot be written, see `write_whole`.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    leaves = tree.leaves
    inner = np.flatnonzero(tree.fan_out > 0)
    columns: dict[str, Any] = {"count": tree.value[leaves], "noise_sd": tree.sd[leaves]}
    columns |= {name: np.asarray(values) for name, values in (also or {}).items()}
    for axis in range(len(domain.shape)):
        columns[f"lower_{axis}"] = tree.lower[leaves, axis]
        columns[f"upper_{axis}"] = tree.upper[leaves, axis]
    columns |= {
        "node": leaves,
        "parent": tree.parent[leaves],
        "precision": tree.precision[leaves],
    }
    for number, stage in enumerate(tree.stages):
        columns[f"spent {stage}"] = tree.spent[leaves, number]
        columns[f"drawn {stage}"] = tree.draws[leaves, number]
    arrays = [*_ARRAYS] if tree.tested is None else [*_ARRAYS, _TESTED]
    if tree.tested is not None:
        columns[_TESTED] = tree.tested[leaves]
    metadata: dict[bytes, bytes] = {}
    if isinstance(domain, Grid):
        cells = np.stack([tree.lower[leaves], tree.upper[leaves]], axis=1)
        boxes = domain.from_cells(cells)
        columns["geometry"] = shapely.to_wkb(shapely.box(*boxes.T))
        metadata[b"geo"] = json.dumps(_geo(domain, boxes)).encode()
    facts = {
        "format": FORMAT,
        "domain": kinds.to_plain(domain),
        **about,
        "stages": tree.stages,
        "nodes": len(tree),
        "inner": packed({"node": inner, **{name: getattr(tree, name)[inner] for name in arrays}}),
    }
    if maps is not None:
        facts |= {"format": WITH_MAPS, "maps": {"key": maps.key, "leaves": packed(maps.arrays())}}
    metadata[KEY] = json.dumps(facts).encode()
    table = pa.table(columns).replace_schema_metadata(metadata)
    write_whole(path, lambda part: pq.write_table(table, part, compression="zstd"))


def _geo(grid: Grid, boxes: np.ndarray) -> dict[str, Any]:
    """What GeoParquet says of its polygons."""
    return {
        "version": "1.1.0",
        "primary_column": "geometry",
        "columns": {
            "geometry": {
                "encoding": "WKB",
                "geometry_types": ["Polygon"],
                "crs": None if grid.crs is None else grid.crs.to_json_dict(),
                "bbox": [float(v) for v in (*boxes[:, :2].min(0), *boxes[:, 2:].max(0))],
            }
        },
    }


def is_release(path: str | Path) -> bool:
    """Whether a file holds a release: by what is in it, not by its name."""
    # It loads libraries of tables, which a preview does not need.
    from explorer.grid.parquet import has_metadata

    return has_metadata(path, KEY)


def damage(*also: type[Exception]) -> tuple[type[Exception], ...]:
    """What reading nonsense can raise, somewhere in Arrow, numpy, zip or base64, and these."""
    import pyarrow as pa

    return (
        pa.ArrowException,
        OSError,
        ValueError,
        KeyError,
        IndexError,
        TypeError,
        EOFError,
        AttributeError,
        OverflowError,
        zipfile.BadZipFile,
        binascii.Error,
        *also,
    )


def read(path: str | Path) -> tuple[Tree, Domain, dict[str, Any], PlaceMaps | None]:
    """The tree, the domain, the facts and the maps, if there are some, of a release file.

    InputError for a file that is missing, damaged, not a release, or from another version.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not Path(path).is_file():
        raise InputError(f"There is no release file {path}: check the name.")
    try:
        file = pq.ParquetFile(path)
        facts = json.loads((file.schema_arrow.metadata or {})[KEY])
    except KeyError:
        raise InputError(
            f"{path} is a Parquet file but not a release: make one with `dp-explorer release`."
        ) from None
    except (pa.ArrowInvalid, OSError, ValueError):
        if Path(path).suffix.lower() in (".gpkg", ".geojson", ".json"):
            raise InputError(
                f"{path} is not a release that can be asked: other tools read what is saved so; "
                "save it as Parquet too, release.save('map.parquet')."
            ) from None
        raise InputError(
            f"{path} is damaged or not a release file: make it anew with `dp-explorer release`."
        ) from None
    version = facts.get("format") if isinstance(facts, dict) else None
    if type(version) is not int or version not in _READ:
        raise InputError(
            f"{path} has release format {version!r} and this version reads "
            f"{' and '.join(map(str, _READ))}: open it with the version that wrote it, or release "
            "again."
        )
    # The footer says how much would be unpacked, so a bomb is refused before it is read.
    nodes = facts.get("nodes")
    plausible = isinstance(nodes, int) and 0 < nodes <= 2 * MAX_CELLS
    if file.metadata.num_rows > MAX_CELLS or not plausible:
        raise InputError(f"{path} claims more leaves than a grid can have: it is damaged.")
    try:
        if version == 1:
            domain: Domain = Grid.from_dict(facts["grid"])
        else:
            domain = kinds.from_plain(facts["domain"])
        tree = _tree(file, facts, len(domain.shape))
        check_tree(tree, domain.shape)
        maps = _maps(facts["maps"], domain.shape) if version == WITH_MAPS else None
    except kinds.UnknownKind:
        raise
    except damage() as error:
        raise InputError(
            f"{path} is a release file but damaged: make it anew with `dp-explorer release`."
        ) from error
    return tree, domain, facts, maps


def packed(arrays: Mapping[str, Any]) -> str:
    """Arrays as text that JSON can hold: what `unpacked` reads."""
    archive = io.BytesIO()
    np.savez_compressed(archive, **arrays)
    return base64.b64encode(archive.getvalue()).decode()


def unpacked(stored: str, limit: int) -> dict[str, NDArray[Any]]:
    """The arrays that `packed` wrote; raises where they unpack to more than ``limit`` bytes."""
    raw = io.BytesIO(base64.b64decode(stored, validate=True))
    # Sizes are in the archive's directory: look before unpacking.
    with zipfile.ZipFile(raw) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > limit:
            raise ValueError("arrays unpack to more than there can be")
    with np.load(raw, allow_pickle=False) as arrays:
        return dict(arrays)


def _maps(stored: dict[str, Any], shape: tuple[int, ...]) -> PlaceMaps:
    cells = sum(rows * cols for rows, cols in zip(shape[::2], shape[1::2], strict=True))
    arrays = unpacked(stored["leaves"], 4096 * len(shape) + 8 * 5 * cells)
    maps = PlaceMaps.from_arrays(arrays, shape)
    if maps.key != stored["key"]:
        raise ValueError("the maps are not those that were written")
    return maps


def _tree(file: pq.ParquetFile, facts: dict[str, Any], axes: int) -> Tree:
    stages = tuple(facts["stages"])
    lower = [f"lower_{axis}" for axis in range(axes)]
    upper = [f"upper_{axis}" for axis in range(axes)]
    if facts["format"] == 1:
        lower, upper = ["row0", "column0"], ["row1", "column1"]
    columns = [*lower, *upper, "node", "parent", "count", "precision"]
    columns += [f"{kind} {stage}" for stage in stages for kind in ("spent", "drawn")]
    tested = _TESTED in file.schema_arrow.names
    columns += [_TESTED] if tested else []
    table = {
        name: column.to_numpy() for name, column in zip(
            columns, file.read(columns=columns).select(columns).columns, strict=True
        )
    }  # fmt: skip
    spent = np.stack([table[f"spent {s}"] for s in stages], axis=1)
    draws = np.stack([table[f"drawn {s}"] for s in stages], axis=1)
    leaves = {
        "lower": np.stack([table[name] for name in lower], axis=1),
        "upper": np.stack([table[name] for name in upper], axis=1),
        "parent": table["parent"],
        "value": table["count"],
        "precision": table["precision"],
        "spent": spent,
        "draws": draws,
        **({_TESTED: table[_TESTED]} if tested else {}),
    }
    limit = 4096 + 8 * (5 + 2 * axes + 2 * len(stages)) * facts["nodes"]
    inner = unpacked(facts["inner"], limit)
    place = np.concatenate([inner["node"], table["node"]])
    if not np.array_equal(np.sort(place), np.arange(facts["nodes"])):
        raise ValueError("nodes are missing")
    merged: dict[str, Any] = {}
    for name, ends in leaves.items():
        both = np.concatenate([inner[name], ends])
        merged[name] = np.empty_like(both)
        merged[name][place] = both
    return Tree(stages=stages, **merged)


# What a release says of itself next to its counts: checked when it comes out of a file.


# The key of a mechanism in a file, of ours or of someone's own.
_NAME = re.compile(r"[\w -]{0,60}")


def by_stage(
    stages: Sequence[tuple[str, float]], ledger: Sequence[LedgerRow]
) -> tuple[LedgerRow, ...]:
    """The rows of single measurements summed by stage, so that their epsilons add up.

    `stages` are (stage, epsilon) of a leaf's path, averaged over leaves.
    """
    rows = []
    for stage, epsilon in stages:
        of = [row for row in ledger if row.stage == stage]
        draws, sensitivity = sum(row.draws for row in of), max(row.sensitivity for row in of)
        why = ", ".join(dict.fromkeys(row.composition for row in of))
        rows.append(LedgerRow(stage, epsilon, draws, sensitivity, why))
    return tuple(rows)


def described(release: Any) -> dict[str, Any]:
    """The facts of a `Release` as JSON can hold them: what `checked` reads again."""
    return {
        **of_any(release),
        "elsewhere": release.elsewhere,
        "inside": release.inside,
        "linear": release.linear,
        "haar_variance": release.haar_variance,
        # Files without it are of whole records.
        **({"weighted": True} if release.weighted else {}),
    }


def of_any(release: Any) -> dict[str, Any]:
    """What releases of every kind say of themselves, as JSON can hold it."""
    return {
        "software": release.version,
        "mechanism": release.mechanism,
        "parameters": dict(release.parameters),
        "epsilon": release.epsilon,
        "units": release.units,
        "preview": release.preview,
        "unit_of_privacy": release.unit,
        "contribution_bound": release.contribution_bound,
        "ledger": [vars(row) for row in release.ledger],
        "facts": dict(release.facts),
    }


def checked(about: dict[str, Any], has_maps: bool = False) -> dict[str, Any]:
    """The facts of a release file in their own types; raises where one is impossible."""
    units, bound, variance = about["units"], about["contribution_bound"], about["haar_variance"]
    mechanism, epsilon = about["mechanism"], about["epsilon"]
    facts = {str(name): float(value) for name, value in about["facts"].items()}
    elsewhere = tuple((str(stage), float(part)) for stage, part in about["elsewhere"])
    ledger = tuple(
        LedgerRow(str(r["stage"]), float(r["epsilon"]), int(r["draws"]), float(r["sensitivity"]),
                  str(r["composition"]))
        for r in about["ledger"]
    )  # fmt: skip
    possible = (
        isinstance(units, int)
        and 0 < units <= 10**6 * UNITS_PER_EPSILON
        and type(epsilon) in (int, float)
        and math.isclose(epsilon, to_epsilon(units))
        and isinstance(mechanism, str)
        and _NAME.fullmatch(mechanism) is not None
        and isinstance(bound, int)
        and bound >= 1
        and about["inside"] in ("uniform", "maps" if has_maps else "interpolated")
        and about["unit_of_privacy"] in UNITS_OF_PRIVACY
        and all(isinstance(about[name], bool) for name in ("preview", "linear"))
        and isinstance(about.get("weighted", False), bool)
        and (variance is None or (isinstance(variance, float) and 0 < variance < np.inf))
        and np.isfinite([*facts.values(), *(part for _, part in elsewhere)]).all()
    )
    if not possible:
        raise ValueError("a fact of the release is impossible")
    return {
        "mechanism": mechanism,
        "parameters": dict(about["parameters"]),
        "units": units,
        "preview": about["preview"],
        "unit": about["unit_of_privacy"],
        "contribution_bound": bound,
        "ledger": ledger,
        "facts": facts,
        "elsewhere": elsewhere,
        "inside": about["inside"],
        "linear": about["linear"],
        "haar_variance": variance,
        "weighted": about.get("weighted", False),
        "version": str(about["software"]),
    }


# Whether a tree is one that a release can be on: for files, and for trees made elsewhere.


Ints = NDArray[np.int64]
# The largest prime below 2^31: products of two remainders stay within int64.
_PRIME = 2**31 - 1
_ROUNDS = 2


def check_made(
    tree: Tree, shape: tuple[int, ...], ledger: Sequence[LedgerRow], units: int, unit: str
) -> None:
    """Refuse what no single plan drew where no release can be on it, see `from_tree`."""
    try:
        check_tree(tree, shape)
    except ValueError as error:
        raise InputError(f"No release can stand on this tree: {error}.") from error
    if unit not in UNITS_OF_PRIVACY:
        raise InputError(
            f"The unit of privacy is {unit!r}; it is one of {', '.join(UNITS_OF_PRIVACY)}."
        )
    missing = set(tree.stages) - {row.stage for row in ledger}
    if missing:
        raise InputError(f"The ledger has no row for {', '.join(sorted(missing))}; add one.")
    spent = int(tree.path_spent.sum(axis=1).max())
    if spent > units:
        raise InputError(
            f"A path of this tree spent epsilon {to_epsilon(spent):g}, more than the "
            f"{to_epsilon(units):g} of the release."
        )


def check_tree(tree: Tree, shape: tuple[int, ...]) -> None:
    """Raise ValueError for a tree that does not divide a domain of ``shape``, or was not measured.

    Parents precede their children, siblings are side by side and tile their parent, the root is the
    whole domain, every leaf was measured, and counts are numbers.
    """
    if tree.lower.shape != (len(tree), len(shape)) or tree.upper.shape != tree.lower.shape:
        raise ValueError("the boxes are not of this domain")
    if tree.parent[0] != -1 or np.any(tree.parent[1:] < 0):
        raise ValueError("no root")
    if np.any(tree.parent[1:] >= np.arange(1, len(tree))):
        raise ValueError("children stand before their parents")
    families = 1 + np.count_nonzero(np.diff(tree.parent[1:])) if len(tree) > 1 else 0
    if families != np.count_nonzero(tree.fan_out):
        raise ValueError("children of one node do not stand side by side")
    if np.any(tree.lower < 0) or np.any(tree.upper > shape) or np.any(tree.upper <= tree.lower):
        raise ValueError("a box leaves the domain")
    if np.any(tree.lower[0] != 0) or np.any(tree.upper[0] != shape):
        raise ValueError("the root is not the whole domain")
    if not children_tile(tree.lower, tree.upper, tree.parent):
        raise ValueError("children do not tile their parent")
    leaves = tree.leaves
    if np.any(tree.precision < 0) or np.any(tree.precision[leaves] == 0):
        raise ValueError("a leaf was never measured")
    if not np.isfinite(tree.value).all() or not np.isfinite(tree.precision).all():
        raise ValueError("a count is not a number")


def children_tile(lower: Ints, upper: Ints, parent: Ints) -> bool:
    """Whether the children of every node cover it, none of its cells twice.

    Parameters
    ----------
    lower, upper : (n, d) half open, 0 or more, upper above lower
    parent : (n,) parents before children, children of one node side by side

    Notes
    -----
    Volumes that add up do not suffice: one child may overlap another while a cell is left out.
    So every axis is measured by a ruler whose marks are at random. A box has the volume
    prod (R(upper) - R(lower)), and as polynomials in the marks R the volumes of the children add
    up to that of their parent only if the boxes do, corner by corner. Marks are drawn anew for
    each call from the remainders of a prime p, so that a tree that does not tile is taken for one
    that does with probability (d / p)^2, below 10^-16 for d up to 20 (Schwartz and Zippel).
    """
    if len(parent) < 2:
        return True
    rng = np.random.default_rng()
    # The first child of every family; families follow each other.
    first = np.flatnonzero(np.diff(parent, prepend=-1))
    for _ in range(_ROUNDS):
        volume = np.ones(len(parent), dtype=np.int64)
        for axis in range(lower.shape[1]):
            marks = rng.integers(0, _PRIME, int(upper[:, axis].max()) + 1)
            side = (marks[upper[:, axis]] - marks[lower[:, axis]]) % _PRIME
            volume = volume * side % _PRIME
        together = np.add.reduceat(volume, first) % _PRIME
        if not np.array_equal(together, volume[parent[first]]):
            return False
    return True


# A map's leaves as a table of polygons, and as files that other tools read.


#: The release itself, which loads back, and copies of its leaves for other tools.
WHOLE = (".parquet", ".geoparquet")
COPIES: Mapping[str, str] = {".gpkg": "GPKG", ".geojson": "GeoJSON", ".json": "GeoJSON"}


def frame_of(release: Any, crs: Any = None, details: bool = False) -> geopandas.GeoDataFrame:
    """See `Release.to_geodataframe`."""
    import geopandas

    grid = release.grid
    boxes = release.boxes()
    area = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    # Square kilometres where the grid is in metres, cells where it has none.
    area = area / 1e6 if grid.crs is not None else area
    low, high = Answers(release.counts, release.sd).interval()
    columns = {
        "count": release.counts,
        "noise_sd": release.sd,
        "density": release.counts / area,
        "low": low,
        "high": high,
    }
    if details:
        tree, leaves = release.tree, release.tree.leaves
        names = ("row", "column")
        for axis, name in enumerate(names):
            columns[f"first_{name}"] = tree.lower[leaves, axis]
            columns[f"end_{name}"] = tree.upper[leaves, axis]
        columns |= {
            "height": release.height,
            "depth": tree.depth[leaves],
            "cells": np.prod(tree.upper[leaves] - tree.lower[leaves], axis=1),
        }
    frame = geopandas.GeoDataFrame(columns, geometry=shapely.box(*boxes.T), crs=grid.crs)
    if crs is not None:
        if grid.crs is None:
            raise InputError("This map is measured in cells and has no CRS: leave crs= out.")
        frame = frame.to_crs(crs)
    metadata = of_any(release)
    keys = ("mechanism", "parameters", "epsilon", "unit_of_privacy", "preview")
    frame.attrs = {name: metadata[name] for name in keys}
    return frame


def save(release: Any, path: str | Path, about: dict[str, Any]) -> None:
    """Write a release by the ending of the name; see `Release.save`."""
    path = Path(path)
    ending = path.suffix.lower()
    if ending in WHOLE:
        also = {}
        if isinstance(release.domain, Grid):
            # What `to_geodataframe` says of a leaf, a file says to anyone who has only GeoPandas.
            also = frame_of(release)[["density", "low", "high"]].to_dict("series")
        write(path, release.tree, release.domain, about, release.maps, also)
        return
    if ending not in COPIES:
        raise InputError(
            f"A release is not written as {ending or 'a file without an ending'!r}: name it "
            f"{path.stem or 'map'}.parquet to load it back, or .gpkg or .geojson for other tools."
        )
    frame = frame_of(release, details=True)
    if ending != ".gpkg" and frame.crs is not None:
        # GeoJSON is longitude and latitude, whatever is in it.
        frame = frame.to_crs(4326)
    metadata = {name: json.dumps(value) for name, value in frame.attrs.items()}
    metadata |= {"software": "dp-explorer", "summary": release.summary()}
    how = (
        {"layer_metadata": metadata} if ending == ".gpkg" else {"DESCRIPTION": metadata["summary"]}
    )

    import pyogrio

    write_copy = partial(pyogrio.write_dataframe, driver=COPIES[ending], layer="leaves", **how)
    write_whole(path, lambda part: write_copy(frame, part))
