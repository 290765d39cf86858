"""The file of a country's release: a layer per level for others, everything for us.

A GeoPackage has a layer for every level and a table without geometry; GeoParquet one table with the
levels below each other, and metadata. Table and metadata hold what is not for the eye: the tree,
the maps inside, what was paid. Nothing in it is exact, and it loads back without the points.
"""

from __future__ import annotations

import base64
import io
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyproj
import shapely

from explorer.errors import InputError
from explorer.grid import gdal
from explorer.grid.areas.areas import Areas
from explorer.grid.areas.windows import Windows
from explorer.grid.grid import Grid
from explorer.grid.whole_file import write_whole
from explorer.releases.area_map import AreaMap
from explorer.releases.checks import check_tree
from explorer.releases.facts import checked, of_any
from explorer.releases.file import KEY, damage, unpacked
from explorer.releases.tree import Tree

if TYPE_CHECKING:
    import geopandas

FORMAT = 4
"""Of releases of areas; those of maps have 1 to 3."""
TABLE = "dp_explorer"
# Names that begin so are tables of GeoPackage and SQLite.
_NOT_OURS = ("gpkg_", "rtree_", "sqlite_")
_MOST_NODES = 2**25
_COLUMNS = ("level", "path", "name", "count", "low", "high", "unbiased", "sd")
_TREE = ("lower", "upper", "parent", "value", "precision", "spent", "draws")


def write(path: str | Path, release: Any) -> None:
    """Write a `CountryRelease`, see its `save`.

    Raises
    ------
    InputError
        For an ending that is neither .gpkg nor .parquet, and when it cannot be written.
    """
    if Path(path).suffix not in (".gpkg", ".parquet"):
        raise InputError(f"{Path(path).name} ends in neither .gpkg nor .parquet: choose one.")
    write_whole(path, lambda part: _write(part, release))


def _write(file: Path, release: Any) -> None:
    """All layers, or the one table, into a file that is not there yet."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    frame = release.areas().reset_index(names="node")
    facts = json.dumps(_facts(release))
    if file.suffix == ".gpkg":
        for level, name in enumerate(layers(release.windows.areas)):
            some = frame[frame["level"] == level]
            some.to_file(file, layer=name, driver="GPKG", engine="pyogrio")
        import pyogrio

        pyogrio.write_dataframe(pd.DataFrame({"facts": [facts]}), file, TABLE, "GPKG", append=True)
    else:
        buffer = io.BytesIO()
        frame.to_parquet(buffer)
        table = pq.read_table(pa.BufferReader(buffer.getvalue()))
        metadata = {**(table.schema.metadata or {}), KEY: facts.encode()}
        pq.write_table(table.replace_schema_metadata(metadata), file, compression="zstd")


def read(path: str | Path) -> dict[str, Any]:
    """What a `CountryRelease` is made of.

    Raises
    ------
    InputError
        For a file that is missing, damaged, not a release of areas, or from another version.
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"There is no release file {path}: check the name.")
    try:
        text = _read_facts(file)
    except damage(InputError, sqlite3.Error) as error:
        raise InputError(
            f"{path} is not a release of areas: make one with `dp-explorer country`. A map is "
            "asked as Parquet, release.save('map.parquet'); other tools read its GeoPackage."
        ) from error
    try:
        facts = json.loads(text)
        file_format = facts.get("format") if isinstance(facts, dict) else None
        if file_format != FORMAT:
            raise InputError(
                f"{path} has release format {str(file_format)[:20]} and releases of areas have "
                f"{FORMAT}: open it with Release.load, or the version that wrote it."
            )
        return _release(facts, _frame(file, facts))
    except InputError:
        raise
    except damage(sqlite3.Error, RuntimeError, shapely.GEOSException) as error:
        raise InputError(
            f"{path} is a release of areas but damaged: make it anew with `dp-explorer country`."
        ) from error


def is_country(path: str | Path) -> bool:
    """Whether a file is to be read as a release of areas: a GeoPackage, or Parquet that says so."""
    file = Path(path)
    if file.suffix == ".gpkg":
        return True
    try:
        return bool(json.loads(_read_facts(file)).get("kind") == "areas")
    except damage(InputError, RuntimeError):
        return False


def layers(areas: Areas) -> list[str]:
    """Names of the layers, the whole first."""
    return _layers(areas.levels)


def _layers(levels: Sequence[str]) -> list[str]:
    """Names that a GeoPackage can hold next to each other and next to what is its own.

    >>> _layers(["Whole", "Region", "region", "gpkg_contents"])
    ['whole', 'Whole_', 'Region', 'region_', 'level gpkg_contents']
    """
    layers, used = ["whole"], {"whole", TABLE}
    for level in levels:
        name = f"level {level}" if level.lower().startswith(_NOT_OURS) else level
        # Its tables are distinguished by their letters, not by their case.
        while name.casefold() in used:
            name += "_"
        used.add(name.casefold())
        layers.append(name)
    return layers


def _facts(release: Any) -> dict[str, Any]:
    """All that is not for the eye, as JSON can hold it."""
    areas = release.windows.areas
    maps = [area_map for area_map in release.maps if area_map is not None]
    stages = tuple(dict.fromkeys(stage for area_map in maps for stage in area_map.tree.stages))
    arrays: dict[str, Any] = {f"tree_{n}": getattr(release.tree, n) for n in _TREE}
    arrays |= {"unbiased": release.unbiased, "node": release.node}
    arrays |= {"parent": areas.parent, "level": areas.level, "lowest": areas.lowest}
    arrays["has_map"] = np.array([area_map is not None for area_map in release.maps])
    arrays["haar"] = np.array([area_map.haar_variance or np.nan for area_map in maps])
    if maps:
        arrays["size"] = np.array([len(area_map.tree) for area_map in maps])
        for name in _TREE[:5]:
            arrays[f"map_{name}"] = np.concatenate(
                [getattr(area_map.tree, name) for area_map in maps]
            )
        for name, nothing in (("spent", 0), ("draws", np.nan)):
            parts = [_by_stage(getattr(area_map.tree, name), area_map.tree.stages, stages, nothing)
                     for area_map in maps]  # fmt: skip
            arrays[f"map_{name}"] = np.concatenate(parts)
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)
    return {
        "format": FORMAT,
        "kind": "areas",
        **of_any(release),
        "elsewhere": [],
        "inside": maps[0].inside if maps else "uniform",
        "linear": True,
        "haar_variance": None,
        "areas": {
            "levels": list(areas.levels),
            "paths": [list(path) for path in areas.paths],
            "crs": areas.crs.to_wkt(),
            "nearest": areas.nearest,
            "key": areas.key,
        },
        "lattice": release.windows.grid.to_dict(),
        "stages": list(release.tree.stages),
        "map_stages": list(stages),
        "nodes": len(release.tree) + sum(len(area_map.tree) for area_map in maps),
        "arrays": base64.b64encode(packed.getvalue()).decode(),
    }


def _by_stage(
    values: Any, map_stages: tuple[str, ...], stages: tuple[str, ...], nothing: float
) -> np.ndarray:
    """Columns of a map's own stages among those of all maps."""
    result = np.full((len(values), len(stages)), nothing, dtype=values.dtype)
    for number, stage in enumerate(map_stages):
        result[:, stages.index(stage)] = values[:, number]
    return result


def _read_facts(file: Path) -> str:
    import pyarrow.parquet as pq

    if file.suffix == ".gpkg":
        # Plain SQL: no other program's idea of a text field cuts it short.
        address = f"{Path(str(gdal.checked(file))).as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(address, uri=True)) as database:
            (text,) = database.execute(f"SELECT facts FROM {TABLE}").fetchone()
        return str(text)
    return str((pq.ParquetFile(file).schema_arrow.metadata or {})[KEY].decode())


def _frame(file: Path, facts: dict[str, Any]) -> geopandas.GeoDataFrame:
    """Nodes and geometries of the file."""
    import geopandas
    import pandas as pd

    if file.suffix != ".gpkg":
        return geopandas.read_parquet(file, columns=["node", "geometry"])
    return pd.concat(
        [
            geopandas.read_file(gdal.checked(file), layer=name, columns=["node"])
            for name in _layers(facts["areas"]["levels"])[1:]
        ]
    )


def _release(facts: dict[str, Any], frame: geopandas.GeoDataFrame) -> dict[str, Any]:
    about = checked(facts)
    nodes, width = facts["nodes"], 2 * (len(facts["stages"]) + len(facts["map_stages"]))
    if not isinstance(nodes, int) or not 0 < nodes <= _MOST_NODES:
        raise ValueError("more nodes than there can be")
    declared = facts["areas"]
    limit = 2**16 + 8 * (nodes * (12 + width) + 8 * len(declared["paths"]))
    with np.load(unpacked(facts["arrays"], limit), allow_pickle=False) as arrays:
        stored = {name: arrays[name] for name in arrays.files}
    by_node = dict(zip(frame["node"], frame.geometry, strict=True))
    geometry = np.empty(len(stored["lowest"]), dtype=object)
    geometry[:] = [by_node[node] for node in stored["lowest"]]
    areas = Areas(
        tuple(declared["levels"]),
        stored["parent"],
        stored["level"],
        tuple(tuple(map(str, parameter)) for parameter in declared["paths"]),
        stored["lowest"],
        geometry,
        pyproj.CRS.from_user_input(declared["crs"]),
        declared["nearest"],
    )
    if areas.key != declared["key"]:
        raise ValueError("the areas are not those that were released")
    windows = Windows(areas, _lattice(areas, Grid.from_dict(facts["lattice"])))
    tree = Tree(stages=tuple(facts["stages"]), **{n: stored[f"tree_{n}"] for n in _TREE})
    check_tree(tree, (len(areas),))
    if not tree.spent.shape == tree.draws.shape == (len(tree), len(tree.stages)):
        raise ValueError("stages are missing")
    node, unbiased = stored["node"], stored["unbiased"]
    first, behind = windows.people.ranges
    fits = node.shape == unbiased.shape == (len(tree),)
    if not fits or not np.array_equal(
        np.column_stack([first[node], behind[node]]), np.column_stack([tree.lower, tree.upper])
    ):
        raise ValueError("the tree is not one of these areas")
    maps = _maps(windows, tree, node, stored, tuple(facts["map_stages"]), facts["inside"])
    for name in ("elsewhere", "inside", "linear", "haar_variance", "weighted"):
        about.pop(name)
    return {"windows": windows, "tree": tree, "unbiased": unbiased, "node": node, "maps": maps,
            **about}  # fmt: skip


def _lattice(areas: Areas, grid: Grid) -> Any:
    """The lattice that was released over: the areas' own, unless another grid was given."""
    lattice = areas.lattice(grid.cell_width)
    return lattice if lattice.grid == grid else areas.lattice(grid.cell_width, grid)


def _maps(
    windows: Windows,
    tree: Tree,
    node: Any,
    stored: dict[str, Any],
    stages: tuple[str, ...],
    inside: str,
) -> tuple[AreaMap | None, ...]:
    has_map, haar = stored["has_map"], stored["haar"]
    if len(has_map) != len(tree.leaves):
        raise ValueError("a map is missing")
    results: list[AreaMap | None] = []
    sizes = iter(stored.get("size", ()))
    begin, number = 0, 0
    for leaf, has in zip(tree.leaves, has_map, strict=True):
        if not has:
            results.append(None)
            continue
        end = begin + int(next(sizes))
        arrays = {name: stored[f"map_{name}"][begin:end] for name in _TREE}
        used = (arrays["spent"] > 0).any(axis=0) | np.isfinite(arrays["draws"]).any(axis=0)
        if len(used) != len(stages):
            raise ValueError("stages are missing")
        arrays["spent"], arrays["draws"] = arrays["spent"][:, used], arrays["draws"][:, used]
        names = tuple(s for s, u in zip(stages, used, strict=True) if u)
        window = windows.of(windows.members(int(node[leaf])))
        inner = Tree(stages=names, **arrays)
        check_tree(inner, window.shape)
        variance = float(haar[number])
        results.append(AreaMap(window, inner, inside, None if np.isnan(variance) else variance))
        begin, number = end, number + 1
    return tuple(results)
