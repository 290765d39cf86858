"""Untrusted files of boxes and polygons: read in a sandbox, rebuilt here from plain arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.grid.apart import read_apart
from explorer.grid.apart.shapes import plain_shapes, shapes_of
from explorer.grid.grid import Grid
from explorer.grid.places import TripDomain
from explorer.queries.range_files import RangeFile, read_ranges
from explorer.queries.trip_files import read_trip_boxes


def foreign_ranges(content: bytes, grid: Grid, name: str, **how: Any) -> RangeFile:
    """Boxes and polygons of a file, see `read_ranges`.

    Parameters
    ----------
    content, grid, name : as of `read_ranges`
    **how : as of `read_apart`

    Raises
    ------
    InputError
        As of both.
    """
    plain = read_apart(ranges_as_plain, content, grid, name, **how)
    texts = {str(key): [str(row) for row in rows] for key, rows in plain["texts"].items()}
    names = [str(entry) for entry in plain["names"]]
    return RangeFile(
        np.asarray(plain["boxes"], np.float64).reshape(-1, 4),
        list(shapes_of(plain["shapes"])),
        names,
        str(plain["column"]),
        texts,
    )


def prepare() -> None:
    """Load what readers of polygons need, without a thread: they are forked from here."""
    import geopandas  # noqa: F401
    import pyogrio  # noqa: F401


def ranges_as_plain(content: bytes, grid: Grid | None = None, name: str = "") -> dict[str, Any]:
    """What a reader finds, as plain values."""
    file = read_ranges(content, grid or Grid((0, 0, 1, 1), (1, 1)), name)
    return {
        "boxes": file.boxes,
        "shapes": plain_shapes(file.shapes),
        "names": list(file.names),
        "column": file.column,
        "texts": {key: list(rows) for key, rows in file.texts.items()},
    }


def foreign_trip_boxes(
    content: bytes, domain: TripDomain, name: str, **how: Any
) -> tuple[NDArray[np.float64], list[str]]:
    """Boxes about several maps, see `read_trip_boxes`; the rest is as for `foreign_ranges`."""
    plain = read_apart(trip_boxes_as_plain, content, domain, name, **how)
    return np.asarray(plain["boxes"], np.float64), [str(entry) for entry in plain["names"]]


def trip_boxes_as_plain(content: bytes, domain: TripDomain, name: str) -> dict[str, Any]:
    """What a reader finds, as plain values."""
    boxes, names = read_trip_boxes(content, domain, name)
    return {"boxes": boxes, "names": names}
