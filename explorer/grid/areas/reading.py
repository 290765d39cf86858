"""Tables of areas: files and frames of polygons with a name at every level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import shapely
from numpy.typing import NDArray

from explorer.errors import InputError


@dataclass(frozen=True, eq=False)
class AreaTable:
    """A table of m areas.

    Attributes
    ----------
    levels : names of the columns
    paths : (m,) names from the highest level down
    geometry : (m,) valid polygons and multipolygons in `crs`
    crs : of the boundaries
    notes : sentences on what was changed
    """

    levels: tuple[str, ...]
    paths: tuple[tuple[str, ...], ...]
    geometry: NDArray[Any]
    crs: pyproj.CRS
    notes: tuple[str, ...]


def read_table(source: str | Path | Any, levels: Sequence[str]) -> AreaTable:
    """Read areas, one a row; see `Areas.read`."""
    import geopandas

    frame = source if isinstance(source, geopandas.GeoDataFrame) else geopandas.read_parquet(source)
    columns = [str(each) for each in levels]
    lacking = [each for each in columns if each not in frame.columns]
    if lacking:
        raise InputError(f"There is no column {lacking[0]!r} among the areas.")
    names = frame[columns].astype(str)
    paths = tuple(tuple(row) for row in names.itertuples(index=False, name=None))
    shapes = frame.geometry.to_numpy()
    parts = [[p for p in shapely.get_parts(s) if p.geom_type in ("Polygon", "MultiPolygon")]
             for s in shapes]  # fmt: skip
    kept = np.array([shapely.union_all(p) if len(p) > 1 else p[0] for p in parts], dtype=object)
    return AreaTable(tuple(columns), paths, kept, frame.crs, ())
