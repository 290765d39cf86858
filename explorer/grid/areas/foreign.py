"""Boundaries that a visitor sends: read in a process of its own, rebuilt here from plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from shapely import box

from explorer.grid.apart import read_apart
from explorer.grid.apart.shapes import plain_shapes, shapes_of
from explorer.grid.areas.areas import Areas
from explorer.grid.projection import LONLAT, crs_of_text, text_of_crs


def foreign_areas(content: bytes, levels: Sequence[str], **how: Any) -> Areas:
    """Areas of a file, see `Areas.read`.

    Parameters
    ----------
    content : what was sent
    levels : as of `Areas.read`
    **how : as of `read_apart`

    Raises
    ------
    InputError
        As of both.
    """
    plain = read_apart(as_plain, content, list(levels), **how)
    areas = Areas(
        tuple(map(str, plain["levels"])),
        plain["parent"],
        plain["level"],
        tuple(tuple(map(str, path)) for path in plain["paths"]),
        plain["lowest"],
        shapes_of(plain["geometry"]),
        crs_of_text(plain["crs"]),
        notes=tuple(map(str, plain["notes"])),
    )
    for array in (areas.parent, areas.level, areas.lowest, areas.geometry):
        array.setflags(write=False)
    # Not computed again: it is the longest part of reading.
    measures = {str(name): np.asarray(values) for name, values in plain["measures"].items()}
    vars(areas)["measures"] = measures
    return areas


def prepare() -> None:
    """Load what readers of areas need, without a thread: they are forked from here."""
    import geopandas
    import pyogrio  # noqa: F401

    square = {"name": ["a", "b"], "geometry": [box(0, 0, 1, 1), box(1, 0, 2, 1)]}
    Areas.read(geopandas.GeoDataFrame(square, crs=LONLAT), ["name"])


def as_plain(content: bytes, levels: Sequence[str] = ("name",)) -> dict[str, Any]:
    """What a reader finds, as plain values."""
    areas = Areas.read(content, list(levels))
    return {
        "levels": areas.levels,
        "parent": areas.parent,
        "level": areas.level,
        "paths": areas.paths,
        "lowest": areas.lowest,
        "geometry": plain_shapes(areas.geometry),
        "crs": text_of_crs(areas.crs),
        "notes": areas.notes,
        "measures": areas.measures,
    }
