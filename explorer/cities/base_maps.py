"""Base maps of cities, trips and countries: made up with the made-up ones, or files in a folder."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from explorer.cities import madeup, nation
from explorer.cities.catalogue import folders
from explorer.errors import InputError
from explorer.grid.base_map import LONGEST, BaseMap
from explorer.grid.polygon_files import SUFFIXES, read_frame

#: What is between a city's key and the ending in the name of its base map.
MIDDLE = ".base_map"
# Files of known data that hold public boundaries, and the column of the areas that are named.
_KNOWN = {"great-britain": ("gb_districts.parquet", "region")}


def base_map(key: str) -> BaseMap | None:
    """The base map of a key of any catalogue, None where there is none.

    Port Amber and the Amber Isles have their own. Any other has one where a folder of data holds
    a file ``KEY.base_map.geojson`` (or .gpkg, .parquet, .shp), see `BaseMap.read`.

    Raises
    ------
    InputError
        For a file that cannot be used.
    """
    if key == "madeup":
        return _port_amber()
    if key == "nation":
        return _nation()
    if not key or Path(key).name != key:
        return None
    for folder in folders():
        for suffix in SUFFIXES:
            path = folder / f"{key}{MIDDLE}{suffix}"
            if path.is_file():
                return _read(path, path.stat().st_mtime_ns)
        if key in _KNOWN and (folder / _KNOWN[key][0]).is_file():
            return _areas(folder / _KNOWN[key][0], _KNOWN[key][1])
    return None


@lru_cache(maxsize=1)
def _port_amber() -> BaseMap:
    """Shores, parks, main roads and names, in metres of the city's grid."""
    with np.load(madeup.PLAN) as plan:
        corners, starts = plan["map_corners"], plan["map_starts"]
        lines = [shapely.LineString(line) for line in np.split(corners, starts[1:-1])]
        kinds, names, of = (plan[f"map_{name}"].tolist() for name in ("kinds", "names", "of"))
        return BaseMap(lines, kinds, names, plan["map_places"], of, madeup.grid(1).crs)


@lru_cache(maxsize=8)
def _read(path: Path, _changed: int) -> BaseMap:
    return BaseMap.read(path)


@lru_cache(maxsize=1)
def _nation() -> BaseMap:
    return _of_areas(nation.boundaries(), nation.LEVELS[1])


@lru_cache(maxsize=2)
def _areas(path: Path, level: str) -> BaseMap:
    return _of_areas(read_frame(path, (level,), "areas"), level)


def _of_areas(frame, level: str) -> BaseMap:  # type: ignore[no-untyped-def]
    """Borders and names of the areas that share a value in a column, the largest first."""
    if frame.crs is None:
        raise InputError("Boundaries without a CRS have no place: save them with one.")
    parts, owner = shapely.get_parts(np.asarray(frame.geometry.array, object), return_index=True)
    flat = shapely.get_dimensions(parts) == 2
    called = frame[level].to_numpy()[owner]
    names = [name for name in dict.fromkeys(called) if isinstance(name, str)]
    # Districts share the corners of their borders, so that those between two of one area vanish.
    whole = np.array([_joined(parts[flat & (called == name)]) for name in names] + [None])[:-1]
    order = np.argsort(-shapely.area(whole), kind="stable")
    rings = shapely.get_rings(shapely.get_parts(whole))
    return BaseMap(
        [shapely.LineString(ring) for ring in rings],
        ["border"] * len(rings),
        [names[at][:LONGEST] for at in order],
        shapely.get_coordinates(shapely.point_on_surface(whole[order])),
        ["place"] * len(whole),
        frame.crs,
    )


def _joined(parts: NDArray[Any]) -> Any:
    """The union of polygons that share corners; of others, slower, too."""
    parts = shapely.get_parts(parts)
    try:
        return shapely.coverage_union_all(parts)
    except shapely.GEOSException:
        return shapely.union_all(shapely.make_valid(parts))
