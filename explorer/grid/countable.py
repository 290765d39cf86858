"""What a grid or areas can count: records, or what records can be read from.

Grids and areas are public and know no point, so they cannot read any. The package's root lends them
a reader; a process that counts nothing never loads it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from explorer.errors import InputError

Reader = Callable[[Any, Mapping[str, Any]], Any]

_lent: list[Reader] = []


def lend(reader: Reader) -> None:
    """Let this make records of files, frames and arrays, given them and the names of columns."""
    _lent[:] = [reader]


def countable(points: Any, method: str, columns: Mapping[str, Any]) -> Any:
    """Records that have a method: these, or those that are read from what was given.

    Parameters
    ----------
    points : records, or a path, address, frame or arrays
    method : such as "count_on"
    columns : lon, lat, crs, user, weight; for what has to be read only

    Raises
    ------
    InputError
        For columns beside records that were read before, and for what cannot be read.
    """
    if hasattr(points, method):
        if columns:
            raise InputError(
                f"These points are read already; leave out {', '.join(columns)}, or name them "
                "where the points are read."
            )
        return points
    if not _lent:
        raise InputError("Read the points first: read_points(...), or scan_points(...).")
    return _lent[0](points, columns)
