"""What every source of points can say and give, and tables that are in memory already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyproj
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.points.identity import Users, codes

# What a workstation holds: 200 million points are 3.2 GB. A public server gives less.
MAX_ROWS = 200_000_000


@dataclass
class Columns:
    """The columns asked for, each (n,), in the order of the file."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    user: Users | None = None
    weight: NDArray[np.float64] | None = None
    time: NDArray[Any] | None = None


class Source(Protocol):
    """A table that has been looked at but not read."""

    names: tuple[str, ...]
    geometry: bool
    crs: pyproj.CRS | None

    def read(
        self, place: tuple[str, str] | None, user: str | None, weight: str | None, time: str | None
    ) -> Columns:
        """Read named columns; ``place=None`` takes the geometry.

        Nulls are NaN in numbers and -1 in the codes of users.
        """
        ...


class ArrayTable:
    """Columns that are in memory: a dict of arrays, a DataFrame of pandas or of Arrow."""

    geometry = False
    crs: pyproj.CRS | None = None

    def __init__(self, columns: Mapping[Any, Any], max_rows: int = MAX_ROWS) -> None:
        self._columns = {str(name): columns[name] for name in columns}
        self.names = tuple(self._columns)
        try:
            lengths = {len(values) for values in self._columns.values()}
        except TypeError as error:
            raise InputError("A column is a single value; give arrays of equal length.") from error
        if len(lengths) > 1:
            raise InputError("The columns differ in length; give arrays of equal length.")
        refuse_rows(max(lengths, default=0), max_rows)

    def read(
        self, place: tuple[str, str] | None, user: str | None, weight: str | None, time: str | None
    ) -> Columns:
        """Read named columns; without a copy where they are float64."""
        assert place is not None, "a table without geometry is read by columns"
        take = self._columns
        return Columns(
            numbers(take[place[0]], place[0]),
            numbers(take[place[1]], place[1]),
            None if user is None else codes(take[user]),
            None if weight is None else numbers(take[weight], weight),
            None if time is None else np.asarray(take[time]),
        )


def refuse_rows(rows: int, max_rows: int) -> None:
    """Raise `InputError` if a table is longer than what may be read."""
    if rows > max_rows:
        raise InputError(
            f"There are more than the {max_rows:,} rows that are read at most; give a part of "
            "them, or raise max_rows in Python."
        )


def numbers(values: Any, name: str) -> NDArray[np.float64]:
    """Return a column as float64, nulls as NaN; refuse dates and text."""
    if str(getattr(values, "dtype", "")).startswith(("datetime", "timedelta")):
        raise not_numbers(name)
    try:
        if hasattr(values, "isna"):
            # Nullable columns of pandas have a null of their own.
            array = np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
        else:
            plain = values.to_numpy() if hasattr(values, "to_numpy") else values
            array = np.ma.asarray(plain).astype(np.float64, copy=False)
            array = np.asarray(np.ma.filled(array, np.nan))
    except (TypeError, ValueError) as error:
        raise not_numbers(name) from error
    if array.ndim != 1:
        raise not_numbers(name)
    return array


def not_numbers(name: str) -> InputError:
    """Return the error for a column that was expected to hold numbers."""
    return InputError(f"The column {name!r} holds something else than numbers; choose another.")
