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
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from explorer.errors import InputError
from explorer.grid import kinds
from explorer.grid.domain import Domain
from explorer.grid.grid import MAX_CELLS, Grid
from explorer.grid.whole_file import write_whole
from explorer.releases.checks import check_tree
from explorer.releases.place_maps import PlaceMaps
from explorer.releases.tree import Tree

if TYPE_CHECKING:
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
    """Write a tree and what is to be known about it.

    Parameters
    ----------
    path : file to write
    tree : the released tree
    domain : what it divides
    about : facts that JSON can hold
    maps : of the places, if it has some
    also : further columns of the leaves for other tools; nothing here reads them again

    Raises
    ------
    InputError
        When it cannot be written, see `write_whole`.
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
    rest = io.BytesIO()
    np.savez_compressed(rest, node=inner, **{name: getattr(tree, name)[inner] for name in arrays})
    facts = {
        "format": FORMAT,
        "domain": kinds.to_plain(domain),
        **about,
        "stages": tree.stages,
        "nodes": len(tree),
        "inner": base64.b64encode(rest.getvalue()).decode(),
    }
    if maps is not None:
        packed = io.BytesIO()
        np.savez_compressed(packed, **maps.arrays())
        stored_maps = {"key": maps.key, "leaves": base64.b64encode(packed.getvalue()).decode()}
        facts |= {"format": WITH_MAPS, "maps": stored_maps}
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

    Raises
    ------
    InputError
        For a file that is missing, damaged, not a release, or from another version.
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


def unpacked(saved: str, limit: int) -> io.BytesIO:
    """An archive of arrays that unpack to no more than so many bytes."""
    raw = io.BytesIO(base64.b64decode(saved, validate=True))
    # Sizes are in the archive's directory: look before unpacking.
    with zipfile.ZipFile(raw) as archive:
        unpacked = sum(entry.file_size for entry in archive.infolist())
    if unpacked > limit:
        raise ValueError("arrays unpack to more than there can be")
    return raw


def _maps(saved: dict[str, Any], shape: tuple[int, ...]) -> PlaceMaps:
    cells = sum(rows * cols for rows, cols in zip(shape[::2], shape[1::2], strict=True))
    raw = unpacked(saved["leaves"], 4096 * len(shape) + 8 * 5 * cells)
    with np.load(raw, allow_pickle=False) as arrays:
        maps = PlaceMaps.from_arrays(arrays, shape)
    if maps.key != saved["key"]:
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
    raw = unpacked(facts["inner"], limit)
    merged: dict[str, Any] = {}
    with np.load(raw, allow_pickle=False) as inner:
        place = np.concatenate([inner["node"], table["node"]])
        if not np.array_equal(np.sort(place), np.arange(facts["nodes"])):
            raise ValueError("nodes are missing")
        for name, ends in leaves.items():
            both = np.concatenate([inner[name], ends])
            merged[name] = np.empty_like(both)
            merged[name][place] = both
    return Tree(stages=stages, **merged)
