"""What every source of points can say and give, and tables that are in memory already."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyproj
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.geometry_columns import GeometryColumn
from explorer.grid.geometry_values import place_column, place_columns, point_coordinates, sample
from explorer.points.columns import candidates, listed
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

    @property
    def places(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """X and y."""
        return self.x, self.y


class Source(Protocol):
    """A table that has been looked at but not read."""

    names: tuple[str, ...]
    column: GeometryColumn | None
    geometry: bool
    crs: pyproj.CRS | None
    notes: tuple[str, ...]

    def look(self, name: str) -> Any:
        """Some values of a column, as an array."""

    def take(self, name: str) -> None:
        """Have one column be the place, which ``place=None`` reads."""

    def places(self) -> list[GeometryColumn]:
        """Columns whose values are places, where no columns are named as one."""

    def read(
        self, place: tuple[str, str] | None, user: str | None, weight: str | None, time: str | None
    ) -> Columns:
        """Read named columns; ``place=None`` takes the geometry.

        Nulls are NaN in numbers and -1 in the codes of users.
        """
        ...


class Table:
    """What sources say of the column that is their place, if one is.

    Attributes
    ----------
    names : of the columns
    column : that is the place, if one is and the source looks at values
    geometry, crs : whether one column is the place, and its CRS
    notes : sentences on what was taken as the place
    """

    names: tuple[str, ...] = ()
    column: GeometryColumn | None = None
    geometry: bool = False
    crs: pyproj.CRS | None = None
    notes: tuple[str, ...] = ()

    def look(self, name: str) -> Any:
        """Some values of a column, as an array."""
        return np.empty(0)

    def take(self, name: str) -> None:
        """Have a column be the place; see `one_column`."""
        self._place_at(one_column(self.names, self.column, self.look, name))

    def places(self) -> list[GeometryColumn]:
        """Columns whose values are places, where no columns are named as one."""
        by_values = self.column is not None and self.column.found
        return place_columns(self.names, self.look) if by_values else []

    def _find(self, column: GeometryColumn | None) -> None:
        """Have the place be what a table describes, or else the column whose values are places."""
        if column is None and not candidates(self.names):
            column = place_column(self.names, self.look)
        self._place_at(column)

    def _place_at(self, column: GeometryColumn | None) -> None:
        if column is not None:
            self.column, self.geometry, self.crs = column, True, column.crs
            self.notes = (column.sentence,) if column.found else ()


def one_column(
    names: Sequence[str], known: GeometryColumn | None, look: Callable[[str], Any], name: str
) -> GeometryColumn:
    """The column that a person names as the place.

    Parameters
    ----------
    names, known : columns of the table, and the one that is its place, if one is
    look : as of `place_column`
    name : of the column

    Raises
    ------
    InputError
        If it is not there, or holds no places.
    """
    if name not in names:
        raise InputError(f"There is no column {name!r}; the columns are {listed(names)}.")
    if known is not None and known.name == name and not known.found:
        return known
    column = place_column([name], look)
    if column is None:
        raise InputError(
            f"The column {name!r} holds no places; choose one that does, or two of numbers with "
            "lon=..., lat=..."
        )
    return column


class ArrayTable(Table):
    """Columns that are in memory: a dict of arrays, a DataFrame of pandas or of Arrow."""

    def __init__(
        self,
        columns: Mapping[Any, Any],
        max_rows: int = MAX_ROWS,
        column: GeometryColumn | None = None,
    ) -> None:
        self._columns = {str(name): columns[name] for name in columns}
        self.names = tuple(self._columns)
        try:
            lengths = {len(values) for values in self._columns.values()}
        except TypeError as error:
            raise InputError("A column is a single value; give arrays of equal length.") from error
        if len(lengths) > 1:
            raise InputError("The columns differ in length; give arrays of equal length.")
        refuse_rows(max(lengths, default=0), max_rows)
        self._find(column)
        if self.column is not None and self.column.encoding == "objects":
            values = self._columns[self.column.name]
            self.crs = getattr(getattr(values, "array", None), "crs", None)

    def look(self, name: str) -> Any:
        """Some values of a column."""
        return sample(self._columns[name])

    def read(
        self, place: tuple[str, str] | None, user: str | None, weight: str | None, time: str | None
    ) -> Columns:
        """Read named columns; without a copy where they are float64."""
        take = self._columns
        if place is not None:
            x, y = (numbers(take[name], name) for name in place)
        else:
            assert self.column is not None, "a table without geometry is read by columns"
            x, y = point_coordinates(take[self.column.name], self.column)
        return Columns(
            x,
            y,
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
