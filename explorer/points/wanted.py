"""Which columns of a table are read, in which CRS, and what is said of the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyproj

from explorer.errors import InputError
from explorer.grid.geometry_columns import GeometryColumn
from explorer.grid.projection import as_crs
from explorer.grid.stated_crs import ASSUMED, in_degrees, which_crs
from explorer.points.cleaning import (
    REASONS,
    RECORDS,
    RESPELLED,
    Bools,
    Floats,
    Ints,
    refuse_columns,
    refuse_unused,
    refuse_weight,
    usable,
)
from explorer.points.columns import candidates, find_place, listed, unread
from explorer.points.identity import identities
from explorer.points.sources.tables import Table, refuse_doubled


@dataclass(frozen=True)
class Wanted:
    """The columns to read: two of a place or one of shapes, whose, and how many.

    ``keep_zero`` is as of `read_points`.
    """

    place: tuple[str, ...]
    geometry: bool
    degrees: bool
    user: str | None = None
    weight: str | None = None
    keep_zero: bool = False
    # What is in a column of shapes follows from the files, which the key of a count holds.
    column: GeometryColumn | None = field(default=None, repr=False)

    @property
    def columns(self) -> tuple[list[str], list[str]]:
        """Those of numbers, and the others."""
        figures = [*(() if self.geometry else self.place), *filter(None, [self.weight])]
        return figures, [*(self.place if self.geometry else ()), *filter(None, [self.user])]

    @property
    def names(self) -> list[str]:
        """All of them, each once."""
        return list(dict.fromkeys([*self.place, *filter(None, [self.user, self.weight])]))

    def owners(self, batch: Mapping[str, Any], judged: Ints) -> tuple[Ints | None, Bools | None]:
        """Whose each row of a part is, (n, 2), and which rows say so, (n,); None without users.

        ``judged`` gets the rows whose id is spelled otherwise.
        """
        if self.user is None:
            return None, None
        identity, has_owner, respelled = identities(batch[self.user])
        judged[RESPELLED] += np.count_nonzero(respelled)
        return identity, has_owner

    def usable(
        self, x: Floats, y: Floats, has_owner: Bools | None, judged: Ints
    ) -> tuple[Floats, Floats, slice | Bools]:
        """Places of the rows of a part that can be used, and which rows those are."""
        ((x, y),), keep, _ = usable([(x, y)], self.degrees, self.keep_zero, has_owner, judged)
        return x, y, keep

    def refuse(self, judged: Ints) -> None:
        """Raise `InputError` where the columns are no place, or no row is left, of all rows."""
        refuse_columns(judged[:REASONS], *(() if self.geometry else self.place))
        refuse_unused(judged)
        refuse_weight(0 if self.weight is None else judged[RECORDS])


def chosen(
    table: Table,
    lon: str | None,
    lat: str | None,
    crs: Any,
    roles: Mapping[str, Any],
    keep_zero: bool,
    places: Callable[[tuple[str, ...]], tuple[Floats, Floats]],
) -> tuple[Wanted, pyproj.CRS, list[str]]:
    """Columns, CRS and what to say of them.

    Parameters
    ----------
    table : what was looked at; takes one column as the place where both are the same
    lon, lat, crs, keep_zero : as of `read_points`
    roles : "user", "weight" and "time", a column or an array each, or None
    places : reads x and y (n,) of the columns of a place, of all rows or of the first

    Raises
    ------
    InputError
        For columns that are not there or no place, and for a CRS that the coordinates contradict.
    """
    if lon is not None and lon == lat:
        table.take(lon)
        lon = lat = None
    named = {role: value for role, value in roles.items() if isinstance(value, str)}
    for column in named.values():
        if column not in table.names:
            raise InputError(
                f"There is no column {column!r}; the columns are {listed(table.names)}."
            )
    stated = None if crs is None else as_crs(crs)
    alone = table.column if lon is None and lat is None else None
    refuse_doubled([*named.values()], table.names)
    if alone is not None:
        columns: tuple[str, ...] = (alone.name,)
        refuse_doubled(columns, table.names)
        resolved, notes = which_crs(table.crs, stated, lambda: places(columns))
        pairs = candidates(table.names)
        if pairs:
            notes = [f"The geometry was taken as the place, not {listed(pairs)}.", *notes]
    else:
        metric = stated is not None and stated.is_projected
        place = find_place(table.names, lon, lat, metric)
        columns = place.columns
        refuse_doubled(columns, table.names)
        source_crs = ASSUMED if place.degrees else None
        instead = ", or name columns in that CRS with lon=..., lat=..."
        resolved, notes = which_crs(source_crs, stated, lambda: places(columns), instead)
        if lon is None or lat is None:
            others = candidates(table.names, not metric)
            others = [pair for pair in others if pair.degrees != place.degrees]
            ignored = f", not {listed(others)}" if others else ""
            notes = [f"The columns {place} were taken as the place{ignored}.", *notes]
    user, weight = roles.get("user"), roles.get("weight")
    geometry_notes = [alone.sentence] if alone is not None and (alone.found or alone.others) else []
    notes = [*table.notes, *geometry_notes, *notes]
    read = {*columns, *named.values()}
    notes += unread(table.names, read, user, weight, table.look_at_text, notes)
    user, weight = named.get("user"), named.get("weight")
    degrees = in_degrees(resolved)
    selection = Wanted(columns, alone is not None, degrees, user, weight, keep_zero, alone)
    return selection, resolved, notes
