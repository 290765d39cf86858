"""Trips that a visitor sends: read in a process of its own, rebuilt here from plain arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from explorer.grid.apart import read_apart
from explorer.grid.projection import crs_of_text, text_of_crs
from explorer.points.foreign import prepare, with_crs
from explorer.trips.trips import Trips, read_trips

__all__ = ["as_plain", "foreign_trips", "prepare"]
_CODES = ("user", "user_hash", "weight")


def foreign_trips(
    content: bytes,
    name: str,
    places: Sequence[str],
    columns: Mapping[str, str | None],
    max_rows: int,
    **how: Any,
) -> Trips:
    """Trips of a file, see `read_trips`.

    Parameters
    ----------
    content, name : what was sent, and what it is called, with its ending
    places, max_rows : as of `read_trips`
    columns : user, weight and crs, None where there is none
    **how : as of `read_apart`

    Raises
    ------
    InputError
        As of both.
    """
    plain = read_apart(as_plain, content, name, list(places), dict(columns), max_rows, **how)
    return Trips(
        tuple(plain["x"]),
        tuple(plain["y"]),
        tuple(map(str, plain["places"])),
        crs_of_text(plain["crs"]),
        name=str(plain["name"]),
        notes=tuple(map(str, plain["notes"])),
        **{name: plain[name] for name in _CODES},
    )


def as_plain(
    content: bytes,
    name: str = "",
    places: Sequence[str] = ("o", "d"),
    columns: Mapping[str, Any] | None = None,
    max_rows: int = 0,
) -> dict[str, Any]:
    """What a reader finds, as plain values."""
    trips = read_trips(content, places, name=name, max_rows=max_rows, **with_crs(columns or {}))
    plain = {name: getattr(trips, name) for name in ("x", "y", "places", "name", "notes", *_CODES)}
    return {**plain, "crs": text_of_crs(trips.crs)}
