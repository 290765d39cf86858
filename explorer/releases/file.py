"""Release files: GeoParquet whose rows are the leaves, everything else in its metadata."""

from __future__ import annotations

import base64
import binascii
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely

from explorer.errors import InputError
from explorer.grid.grid import MAX_CELLS, Grid
from explorer.releases.tree import Tree

FORMAT = 1
_KEY = b"dp-explorer"
# What reading nonsense can raise, somewhere in Arrow, numpy, zip or base64.
_DAMAGE = (
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
)
_ARRAYS = ("lower", "upper", "parent", "value", "precision", "spent", "draws")
# Of few mechanisms; a file without it is whole.
_TESTED = "tested"


def write(path: str | Path, tree: Tree, boxes: np.ndarray, about: dict[str, Any]) -> None:
    """Write a tree and what is to be known about it.

    Parameters
    ----------
    path : file to write
    tree : the released tree
    boxes : (leaves, 4) x0, y0, x1, y1 of the leaves in the grid's unit
    about : facts that JSON can hold, with the grid as `grid`
    """
    leaves = tree.leaves
    inner = np.flatnonzero(tree.fan_out > 0)
    columns: dict[str, Any] = {
        "count": tree.value[leaves],
        "noise_sd": tree.sd[leaves],
        "row0": tree.lower[leaves, 0],
        "row1": tree.upper[leaves, 0],
        "column0": tree.lower[leaves, 1],
        "column1": tree.upper[leaves, 1],
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
    columns["geometry"] = shapely.to_wkb(shapely.box(*boxes.T))
    rest = io.BytesIO()
    np.savez_compressed(rest, node=inner, **{name: getattr(tree, name)[inner] for name in arrays})
    facts = {
        "format": FORMAT,
        **about,
        "stages": tree.stages,
        "nodes": len(tree),
        "inner": base64.b64encode(rest.getvalue()).decode(),
    }
    crs = Grid.from_dict(about["grid"]).crs
    geo = {
        "version": "1.1.0",
        "primary_column": "geometry",
        "columns": {
            "geometry": {
                "encoding": "WKB",
                "geometry_types": ["Polygon"],
                "crs": None if crs is None else crs.to_json_dict(),
                "bbox": [float(v) for v in (*boxes[:, :2].min(0), *boxes[:, 2:].max(0))],
            }
        },
    }
    table = pa.table(columns).replace_schema_metadata(
        {_KEY: json.dumps(facts).encode(), b"geo": json.dumps(geo).encode()}
    )
    pq.write_table(table, path, compression="zstd")


def read(path: str | Path) -> tuple[Tree, dict[str, Any]]:
    """The tree and the facts of a release file.

    Raises
    ------
    InputError
        For a file that is missing, damaged, not a release, or from another version.
    """
    if not Path(path).is_file():
        raise InputError(f"There is no release file {path}: check the name.")
    try:
        file = pq.ParquetFile(path)
        facts = json.loads((file.schema_arrow.metadata or {})[_KEY])
    except KeyError:
        raise InputError(
            f"{path} is a Parquet file but not a release: make one with `dp-explorer release`."
        ) from None
    except (pa.ArrowInvalid, OSError, ValueError):
        raise InputError(
            f"{path} is damaged or not a release file: make it anew with `dp-explorer release`."
        ) from None
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        found = facts.get("format") if isinstance(facts, dict) else None
        raise InputError(
            f"{path} has release format {found!r} and this version reads {FORMAT}: "
            "open it with the version that wrote it, or release again."
        )
    # The footer says how much would be unpacked, so a bomb is refused before it is read.
    nodes = facts.get("nodes")
    plausible = isinstance(nodes, int) and 0 < nodes <= 2 * MAX_CELLS
    if file.metadata.num_rows > MAX_CELLS or not plausible:
        raise InputError(f"{path} claims more leaves than a grid can have: it is damaged.")
    try:
        tree = _tree(file, facts)
        _check(tree, Grid.from_dict(facts["grid"]).shape)
    except _DAMAGE as error:
        raise InputError(
            f"{path} is a release file but damaged: make it anew with `dp-explorer release`."
        ) from error
    return tree, facts


def _tree(file: pq.ParquetFile, facts: dict[str, Any]) -> Tree:
    stages = tuple(facts["stages"])
    columns = ["row0", "row1", "column0", "column1", "node", "parent", "count", "precision"]
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
        "lower": np.stack([table["row0"], table["column0"]], axis=1),
        "upper": np.stack([table["row1"], table["column1"]], axis=1),
        "parent": table["parent"],
        "value": table["count"],
        "precision": table["precision"],
        "spent": spent,
        "draws": draws,
        **({_TESTED: table[_TESTED]} if tested else {}),
    }
    raw = io.BytesIO(base64.b64decode(facts["inner"], validate=True))
    # Sizes stand in the archive's directory: look before unpacking.
    with zipfile.ZipFile(raw) as archive:
        unpacked = sum(entry.file_size for entry in archive.infolist())
    if unpacked > 4096 + 8 * (9 + 2 * len(stages)) * facts["nodes"]:
        raise ValueError("the inner nodes unpack to more than there can be")
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


def _check(tree: Tree, shape: tuple[int, int]) -> None:
    """Refuse a tree whose parents do not precede children or whose leaves do not tile the grid."""
    if tree.parent[0] != -1 or np.any(tree.parent[1:] < 0):
        raise ValueError("no root")
    if np.any(tree.parent[1:] >= np.arange(1, len(tree))):
        raise ValueError("children stand before their parents")
    families = 1 + np.count_nonzero(np.diff(tree.parent[1:])) if len(tree) > 1 else 0
    if families != np.count_nonzero(tree.fan_out):
        raise ValueError("children of one node do not stand side by side")
    if np.any(tree.lower < 0) or np.any(tree.upper > shape) or np.any(tree.upper <= tree.lower):
        raise ValueError("a box leaves the grid")
    leaves = tree.leaves
    area = np.prod(tree.upper[leaves] - tree.lower[leaves], axis=1).sum()
    # As many cells as the grid has, and none of them left out: then none is covered twice.
    if area != shape[0] * shape[1] or tree.owners(shape).min() < 0:
        raise ValueError("the leaves do not tile the grid")
    if np.any(tree.precision < 0) or np.any(tree.precision[leaves] == 0):
        raise ValueError("a leaf was never measured")
    if not np.isfinite(tree.value).all() or not np.isfinite(tree.precision).all():
        raise ValueError("a count is not a number")
