"""Points that a visitor sends: read in a process of its own, rebuilt here from plain arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from explorer.grid.apart import read_apart
from explorer.grid.delimited import Delimited
from explorer.grid.projection import crs_of_text, foreign_crs, text_of_crs
from explorer.points.cleaning import judge
from explorer.points.points import Points, read_points

_ARRAYS = ("x", "y", "user", "weight", "user_hash")


def foreign_points(
    content: bytes, name: str, columns: Mapping[str, str | None], max_rows: int, **how: Any
) -> Points:
    """Points of a file, see `read_points`.

    Parameters
    ----------
    content, name : what was sent, and what it is called, with its ending
    columns : lon, lat, user and weight, None where they are to be guessed (of the user and the
        weight: where there is none), and crs
    max_rows : as of `read_points`
    **how : as of `read_apart`

    Raises
    ------
    InputError
        As of both.
    """
    plain = read_apart(as_plain, content, name, dict(columns), max_rows, **how)
    return Points(
        **{name: plain[name] for name in _ARRAYS},
        crs=crs_of_text(plain["crs"]),
        name=str(plain["name"]),
        notes=tuple(map(str, plain["notes"])),
    )


def prepare() -> None:
    """Load what readers of points need, without a thread: they are forked from here."""
    import geopandas  # noqa: F401
    import pandas  # noqa: F401
    import pyogrio  # noqa: F401

    judge(np.zeros(1), np.zeros(1), degrees=True)
    list(Delimited(b'a\n"b"\n').blocks())


def with_crs(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The same with the CRS, which is looked up by its code alone and never as a file."""
    crs = columns.get("crs")
    return {**columns, "crs": None if crs is None else foreign_crs(crs)}


def as_plain(
    content: bytes, name: str = "", columns: Mapping[str, Any] | None = None, max_rows: int = 0
) -> dict[str, Any]:
    """What a reader finds, as plain values."""
    points = read_points(content, name=name, max_rows=max_rows, **with_crs(columns or {}))
    plain = {name: getattr(points, name) for name in (*_ARRAYS, "name", "notes")}
    return {**plain, "crs": text_of_crs(points.crs)}
