"""Tables that have been looked at but not read, whose columns come part by part."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyproj
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.degrees import scaled
from explorer.grid.geometry_columns import GeometryColumn
from explorer.grid.geometry_values import (
    floats,
    place_column,
    place_columns,
    point_coordinates,
    sample,
)
from explorer.points.columns import candidates, listed
from explorer.points.identity import Users, codes

Floats = NDArray[np.float64]
#: Named columns of some rows, and the part of the table that has been read with them.
Batches = Iterator[tuple[float, Mapping[str, Any]]]

# What a workstation holds: 200 million points are 3.2 GB. A public server gives less.
MAX_ROWS = 200_000_000


@dataclass
class Columns:
    """The columns asked for, each (n,), in the order of the file."""

    x: Floats
    y: Floats
    user: Users | None = None
    weight: Floats | None = None
    time: NDArray[Any] | None = None


class Table(ABC):
    """A table of any kind; each kind says how it looks at columns and reads them.

    Attributes
    ----------
    names : of the columns
    column : that is the place by itself, if one is
    crs : of that column
    notes : sentences on what was chosen among several
    rows : how many there are, if that is known
    """

    names: tuple[str, ...] = ()
    column: GeometryColumn | None = None
    crs: pyproj.CRS | None = None
    notes: tuple[str, ...] = ()
    rows: int | None = None

    def look(self, name: str) -> Any:
        """Some values of a column, as an array."""
        return np.empty(0)

    def look_at_text(self, name: str) -> Any:
        """As `look`, where a column holds texts and looking costs little."""
        return self.look(name)

    @abstractmethod
    def batches(self, figures: Sequence[str], others: Sequence[str]) -> Batches:
        """Named columns part by part, some as ``figures`` that `numbers` takes."""

    def take(self, name: str) -> None:
        """Have one column be the place; raise `InputError` if it is not there, or holds none."""
        if name not in self.names:
            raise InputError(f"There is no column {name!r}; the columns are {listed(self.names)}.")
        if self.column is None or self.column.name != name or self.column.found:
            column = place_column([name], self.look)
            if column is None:
                raise InputError(
                    f"The column {name!r} holds no places; choose one that does, or two of numbers "
                    "with lon=..., lat=..."
                )
            self._place_at(column)

    def places(self) -> list[GeometryColumn]:
        """Columns whose values are places, where no columns are named as one."""
        by_values = self.column is not None and self.column.found
        return place_columns(self.names, self.look) if by_values else []

    def coordinates(self, batch: Mapping[str, Any], place: Sequence[str]) -> tuple[Floats, Floats]:
        """Coordinates x, y (n,) of a part, from two columns or from the one that is the place."""
        return coordinates(batch, place, self.column)

    def read(
        self,
        place: tuple[str, str] | None,
        user: str | None = None,
        weight: str | None = None,
        time: str | None = None,
    ) -> Columns:
        """All rows of named columns; ``place=None`` takes the column that is the place.

        Nulls are NaN in numbers and -1 in the codes of users.
        """
        where = place or (self.column.name if self.column is not None else "",)
        refuse_doubled([*where, *filter(None, (user, weight, time))], self.names)
        figures = [name for name in (*(place or ()), weight) if name is not None]
        others = [name for name in (*(() if place else where), user, time) if name is not None]
        # Filled while what was read is in the caches, where it is known how long they are.
        columns: Any = [[] if self.rows is None else np.empty(self.rows) for _ in range(3)]
        x, y, records = columns
        whose, when, start = list[Any](), list[Any](), 0
        for _, batch in self.batches(figures, others):
            east, north = self.coordinates(batch, where)
            _put(x, start, east)
            _put(y, start, north)
            if weight is not None:
                _put(records, start, numbers(batch[weight], weight))
            start += len(east)
            if user is not None:
                whose.append(batch[user])
            if time is not None:
                when.append(batch[time])
        if user is not None and (not whose or isinstance(whose[0], pa.Array)):
            whose = [pa.chunked_array(whose or [pa.nulls(0)])]
        return Columns(
            _whole(x),
            _whole(y),
            None if user is None else codes(whose[0]),
            None if weight is None else _whole(records),
            None if time is None else self.times(when),
        )

    def times(self, parts: list[Any]) -> NDArray[Any]:
        """A column of times, given part by part, as this kind of table has them: (n,)."""
        return _whole([np.asarray(part) for part in parts])

    def _find(self, column: GeometryColumn | None) -> None:
        """Have the place be what a table describes, or else the column whose values are places."""
        if column is None and not candidates(self.names):
            column = place_column(self.names, self.look)
        self._place_at(column)

    def _place_at(self, column: GeometryColumn | None) -> None:
        if column is not None:
            self.column, self.crs = column, column.crs


class ArrayTable(Table):
    """Columns that are in memory: a dict of arrays, a frame of pandas, GeoPandas or Arrow."""

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

    def batches(self, figures: Sequence[str], others: Sequence[str]) -> Batches:
        """The columns as they are."""
        yield 1.0, self._columns


def coordinates(
    batch: Mapping[str, Any], place: Sequence[str], column: GeometryColumn | None
) -> tuple[Floats, Floats]:
    """Coordinates x, y (n,) of two columns, or of the one that is the place, which is described."""
    if len(place) == 1 and column is not None:
        return point_coordinates(batch[place[0]], column)
    return scaled(place, *(numbers(batch[name], name) for name in place))


def refuse_rows(rows: int, max_rows: int) -> None:
    """Raise `InputError` if a table is longer than what may be read."""
    if rows > max_rows:
        raise InputError(
            f"There are more than the {max_rows:,} rows that are read at most; give a part of "
            "them, or raise max_rows in Python."
        )


def refuse_doubled(read: Sequence[str], names: Sequence[str]) -> None:
    """Raise `InputError` if one of the columns that are read has the name of another."""
    for name in read:
        if names.count(name) > 1:
            raise InputError(f"Two columns have the name {name!r}; rename one of them.")


def unused_name(name: str, names: Sequence[str]) -> str:
    """A name for a further column, which none has.

    >>> unused_name("geometry", ["geometry", "id"])
    'geometry_'
    """
    while name in names:
        name += "_"
    return name


def numbers(values: Any, name: str) -> Floats:
    """Return a column as float64, nulls as NaN; refuse dates and text."""
    if isinstance(values, pa.Array):
        if not is_number(values.type):
            raise not_numbers(name)
        return floats(values)
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


def is_number(kind: pa.DataType) -> bool:
    """Whether values of a type of Arrow are numbers."""
    numeric = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return any(is_kind(kind) for is_kind in numeric)


def not_numbers(name: str) -> InputError:
    """Return the error for a column that was expected to hold numbers."""
    return InputError(f"The column {name!r} holds something else than numbers; choose another.")


def _put(column: Any, start: int, values: Floats) -> None:
    if isinstance(column, list):
        column.append(values)
    else:
        column[start : start + len(values)] = values


def _whole(parts: Any) -> NDArray[Any]:
    """One array of several, which are let go."""
    if not isinstance(parts, list):
        return np.asarray(parts)
    whole = parts[0] if len(parts) == 1 else np.concatenate(parts or [np.empty(0)])
    parts.clear()
    return whole
