"""Trips as arrays, read from tables whose columns say where they begin, stop and end."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
from numba import njit
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.apart import read_apart
from explorer.grid.cells import CellFinder
from explorer.grid.grid import Grid, Progress
from explorer.grid.places import TripDomain
from explorer.grid.projection import CHUNK, LONLAT, as_crs, crs_of_text, text_of_crs
from explorer.grid.stated_crs import ASSUMED, in_degrees, which_crs
from explorer.points.cleaning import (
    JUDGED,
    RESPELLED,
    refuse_columns,
    refuse_unused,
    refuse_weight,
    sentences,
    usable,
    whole_weights,
)
from explorer.points.clipping import Clipped, PersonCells, refuse_hashes, starts_of_codes
from explorer.points.columns import Place, listed, unread
from explorer.points.counting import checked_bound
from explorer.points.foreign import prepare, with_crs  # noqa: F401 - a sandbox calls `prepare`
from explorer.points.points import add_arrays
from explorer.points.populations import of_people, population_of_records, populations_of_files
from explorer.points.sources.opening import open_source
from explorer.points.sources.tables import MAX_ROWS, Columns, Table
from explorer.points.weights import LATTICE
from explorer.trips.columns import Choice, find_places, said
from explorer.trips.matrix import TripMatrix, merged

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Trips:
    """Records with k places each, in the order of their file.

    Parameters
    ----------
    x, y : tuple of k arrays (n,) of float64
        Coordinates of every place in ``crs``: degrees of longitude and latitude, or metres, or,
        without a CRS, cells.
    places : tuple of k str
        What the places are called: "o", "s1", .., "d" or other names.
    crs : pyproj.CRS or None
        ``None`` means that the coordinates are plain numbers without a place on the Earth.
    user : (n,) int64 or None
        Code of the person a trip belongs to, 0 or more.
    weight : (n,) int64 or None
        How many trips a row represents, 0 or more; ``None`` means one each.
    name : str
        What to call these trips on a screen.
    notes : tuple of str
        Sentences for the curator's screen: which columns were taken, which rows were left out
        and why. They hold exact counts and belong in no release.
    user_hash : (u,) uint64 or None
        As of `Points`.
    populations : tuple of str
        Whose records they are, for the ledger; by default what ``name`` says.

    Raises
    ------
    InputError
        For arrays that do not belong together.

    Examples
    --------
    >>> from explorer import Trips
    >>> trips = Trips(
    ...     x=(np.array([2.30]), np.array([2.40])), y=(np.array([48.8]), np.array([49.0]))
    ... )
    >>> len(trips), trips.places, trips.has_users
    (1, ('o', 'd'), False)
    """

    x: tuple[Floats, ...]
    y: tuple[Floats, ...]
    places: tuple[str, ...] = ("o", "d")
    crs: pyproj.CRS | None = field(default_factory=lambda: LONLAT)
    user: NDArray[np.int64] | None = None
    name: str = ""
    notes: tuple[str, ...] = ()
    user_hash: NDArray[np.uint64] | None = None
    populations: tuple[str, ...] = ()
    weight: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        for label in ("x", "y"):
            arrays = tuple(np.ascontiguousarray(a, np.float64) for a in getattr(self, label))
            object.__setattr__(self, label, arrays)
        object.__setattr__(self, "places", tuple(self.places))
        if not 0 < len(self.x) == len(self.y) == len(self.places):
            raise InputError(
                f"There are {len(self.x)} x, {len(self.y)} y and {len(self.places)} places; give "
                "one array of either for each place."
            )
        for label in ("user", "weight"):
            if getattr(self, label) is not None:
                values = np.ascontiguousarray(getattr(self, label), np.int64)
                object.__setattr__(self, label, values)
        numbers = [values for values in (self.user, self.weight) if values is not None]
        if {a.shape for a in (*self.x, *self.y, *numbers)} != {(self.x[0].size,)}:
            raise InputError("The columns of trips differ in length; give arrays of equal length.")
        if any(values.min(initial=0) < 0 for values in numbers):
            raise InputError("Codes of users and weights are whole numbers of 0 or more.")
        if self.user is not None and self.user_hash is not None:
            hashes = np.ascontiguousarray(self.user_hash, np.uint64)
            object.__setattr__(self, "user_hash", hashes)
            refuse_hashes(self.user, hashes)

    def __len__(self) -> int:
        return int(self.x[0].size)

    @property
    def has_users(self) -> bool:
        """Whether it is known whose trip each is."""
        return self.user is not None

    def count_on(
        self,
        domain: TripDomain,
        contribution_bound: int | None = None,
        progress: Progress | None = None,
        weights: bool = True,
    ) -> TripMatrix:
        """Count these trips into the cells of a domain; see `TripDomain.count`."""
        bound = self._checked(domain, contribution_bound)
        whose = self.populations or (population_of_records(self),)
        if bound is None:
            cells, rows = trip_cells(self, domain, progress)
            number = np.ones_like(cells) if self.weight is None else self.weight[rows]
            return of_people(_matrix(*merged(cells, number), domain), whose)
        lattice = LATTICE if weights else 1
        cells, units, records = count_trips(self, domain, bound, progress, lattice)
        every = _matrix(cells, records, domain)
        bound *= lattice
        matrix = _matrix(cells, units, domain, bound, "user", lattice, unclipped=every)
        return of_people(matrix, whose)

    def _checked(self, domain: TripDomain, bound: Any) -> int | None:
        """The bound, once these trips can be counted on the domain with it."""
        if not isinstance(domain, TripDomain):
            raise InputError("Trips are counted on several grids: TripDomain([from, to]).count.")
        if len(domain.grids) != len(self.places):
            raise InputError(
                f"These trips have {len(self.places)} places ({', '.join(self.places)}) and the "
                f"domain has {len(domain.grids)}; give a grid for every place."
            )
        if self.crs is None and domain.unit != "cells":
            raise InputError("These trips have no CRS; read them with crs=... to place them.")
        if self.crs is not None and domain.unit == "cells":
            raise InputError("These grids have no CRS; make them with Grid.around to count trips.")
        return checked_bound(bound, self.has_users, "trip")

    def __repr__(self) -> str:
        # No number of trips in it: a repr ends up in logs and notebooks.
        where = "no CRS" if self.crs is None else self.crs.name
        columns = [label for label in ("user", "weight") if getattr(self, label) is not None]
        return f"Trips({', '.join([repr(self.name), ' '.join(self.places), where, *columns])})"


def _matrix(cells: Ints, number: Ints, domain: TripDomain, *how: Any, **more: Any) -> TripMatrix:
    """Counts of the cells with row-major numbers ``cells``, (m,)."""
    where = np.stack(np.unravel_index(cells, domain.shape), axis=1)
    return TripMatrix(where, number, domain, *how, **more)


def read_trips(
    source: Any,
    places: Sequence[Choice] | str | None = ("o", "d"),
    *,
    crs: Any = None,
    user: Any = None,
    weight: Any = None,
    name: str | None = None,
    layer: str = "",
    max_rows: int = MAX_ROWS,
    keep_zero: bool = False,
) -> Trips:
    """Read trips from a file or a frame with a pair of columns for each place.

    Parameters
    ----------
    source : path, bytes, file-like, DataFrame, dict of arrays
        CSV, TSV, Parquet and what else `read_points` reads, of this computer; frames of pandas,
        Polars or Arrow.
    places : sequence of str or (str, str), or None
        Places of a trip in the order they are to have. A pair of columns belongs to the place
        that is before lon and lat in their names: o, origin, pickup, start, from ("o"); d,
        dest, dropoff, end, to ("d"); s1, stop 1, via 1 ("s1") and so on. Other names are taken
        as they are, and two columns may be named in place of a name. ``"o,s2,d"`` is the same as
        three names. None takes all that are recognised: origin, stops by number, destination.
    crs : int, str or CRS, optional
        CRS of all coordinates; degrees (WGS 84) are assumed otherwise. A projected one takes
        columns in metres before those in degrees.
    user : str or (n,) array, optional
        Whose trip it is; any values, turned into codes. Rows without one are left out.
    weight : str or (n,) array, optional
        How many trips a row represents: whole numbers of 0 or more. A row of a table of flows is
        many trips, and without a bound one of them is what a release protects.
    name : str, optional
        What to call the trips; for bytes the name of the file, with its ending.
    layer : str, optional
        The layer, table, sheet or file of an archive that is meant, as for `read_points`.
    max_rows : int, 1 or more
        A longer source is refused before it is read.
    keep_zero : bool
        Whether 0 0 is a place and does not mean a missing one, as for `read_points`.

    Returns
    -------
    Trips
        Rows of which one of these places is not usable (null, infinite, 0 0, beyond the range of
        degrees) are left out, and the notes say how many and why. Other stops may be empty.

    Raises
    ------
    InputError
        If the source cannot be read, columns are ambiguous or absent, the coordinates are not what
        they are said to be, or no row is left.

    Examples
    --------
    >>> ends = {"from_x": [2.3, 0], "from_y": [48.8, 0], "to_x": [2.4, 2.4], "to_y": [49, 49]}
    >>> trips = read_trips(ends)
    >>> trips.places, len(trips)
    (('o', 'd'), 1)
    >>> trips.notes[2]
    '1 row at longitude 0, latitude 0, which stands for a missing place, was left out.'
    """
    table, title = open_source(source, name, max_rows, layer or "")
    choices = (
        [choice.strip() for choice in places.split(",")] if isinstance(places, str) else places
    )
    stated = None if crs is None else as_crs(crs)
    located, in_one = _places_of(table, choices, stated is not None and stated.is_projected)
    roles = {"user": user, "weight": weight}
    named = {role: value for role, value in roles.items() if isinstance(value, str)}
    for column in named.values():
        if column not in table.names:
            raise InputError(
                f"There is no column {column!r}; the columns are {listed(table.names)}."
            )

    def read(place: Place, **roles: str) -> Columns:
        if place.lon in in_one:
            table.take(place.lon)
        return table.read(None if place.lon in in_one else place.columns, **roles)

    # Users and weights are read once, with the first place.
    first, *later = [place for _, place in located]
    columns = read(first, **named)
    add_arrays(columns, roles)
    coordinates = [
        (place_columns.x, place_columns.y) for place_columns in (columns, *map(read, later))
    ]
    code, hashes, joined = columns.user or (None, None, False)
    # One place in metres is enough to say nothing of degrees.
    implied = in_one.get(first.lon, ASSUMED if all(place.degrees for _, place in located) else None)
    x, y = ([place[axis] for place in coordinates] for axis in (0, 1))
    resolved, notes = which_crs(implied, stated, lambda: (np.concatenate(x), np.concatenate(y)))
    read_too = [*named.values(), *(name for _, place in located for name in place.columns)]
    notes = [*table.notes, _taken(located), *notes]
    notes += unread(table.names, read_too, user, weight, table.look_at_text, notes)
    judged = np.zeros(JUDGED, np.int64)
    judged[RESPELLED] = joined
    has_owner = None if code is None else code >= 0
    cleaned, keep, every = usable(coordinates, in_degrees(resolved), keep_zero, has_owner, judged)
    for rows, (_, place) in zip(every, located, strict=True):
        refuse_columns(rows, *place.columns, of_trips=True)
    refuse_unused(judged)
    records = None if columns.weight is None else whole_weights(columns.weight[keep])
    refuse_weight(0 if records is None else records.sum())
    return Trips(
        tuple(east for east, _ in cleaned),
        tuple(north for _, north in cleaned),
        tuple(label for label, _ in located),
        resolved,
        None if code is None else code[keep],
        title,
        (*notes, *sentences(judged)),
        hashes,
        populations_of_files([str(source)]) if isinstance(source, str | Path) else (),
        records,
    )


def _places_of(
    table: Table, choices: Sequence[Choice] | None, metric: bool
) -> tuple[list[tuple[str, Place]], dict[str, pyproj.CRS | None]]:
    """Places of a trip, and the CRS by the name of each column that is a place by itself."""
    alone = {column.name: column.crs for column in table.places()}
    if not alone:
        return find_places(table.names, choices, metric), {}
    # Such columns are distinguished by their names as pairs of columns are.
    axes = [f"{name} {axis}" for name in alone for axis in ("lon", "lat")]
    located = find_places(axes, choices, metric)
    names = [place.lon.removesuffix(" lon") for _, place in located]
    if len({alone[name] for name in names}) > 1:
        raise InputError("The places of a trip are in different CRS; give them in one.")
    places = [Place(name, name, False) for name in names]
    return [(part, place) for (part, _), place in zip(located, places, strict=True)], alone


def _taken(located: list[tuple[str, Place]]) -> str:
    """The sentence that says which columns were taken as which place."""
    (name, place), *others = located
    more = "".join(f", {place} as {said(name)}" for name, place in others)
    return f"The columns {place} were taken as {said(name)}{more}."


class _Locator:
    """Finds the cells of one grid in which places lie, exactly as `Grid.count` does."""

    def __init__(self, grid: Grid, crs: pyproj.CRS | None, places: int) -> None:
        self._shape = grid.shape
        self._finder = CellFinder(grid, crs, places)
        self._cell = np.empty(min(CHUNK, places), np.int64)

    def inside(self, x: Floats, y: Floats) -> tuple[Ints, Ints]:
        """Which of the places lie inside, and in which cell, row-major; until the next call."""
        column, row, index = self._finder.find(x, y)
        n = _number(column, row, *self._shape, index, self._cell)
        return index[:n], self._cell[:n]


def count_trips(
    trips: Trips,
    domain: TripDomain,
    contribution_bound: int,
    progress: Progress | None = None,
    lattice: int = 1,
) -> Clipped:
    """Counts of cells under a contribution bound, by their row-major numbers.

    At most `contribution_bound` trips inside of each code in ``trips.user`` count, or all by weight
    where a trip has more than 1 unit of the `lattice`, see `points.clipping`.
    """
    cells, rows = trip_cells(trips, domain, progress)
    people = PersonCells()
    person = np.zeros_like(rows) if trips.user is None else trips.user[rows]
    people.add(person, cells, None if trips.weight is None else trips.weight[rows])
    size = math.prod(domain.shape)
    return people.clipped(contribution_bound, starts_of_codes(trips.user_hash), size, lattice)


def trip_cells(
    trips: Trips, domain: TripDomain, progress: Progress | None = None
) -> tuple[Ints, Ints]:
    """The row-major number of the cell of each trip inside, and the trip's, (m,) each, in order.

    `progress` is called with the fraction done after each chunk.
    """
    locators = [_Locator(grid, trips.crs, len(trips)) for grid in domain.grids]
    cells, which = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for start in range(0, len(trips), CHUNK):
        stop = min(start + CHUNK, len(trips))
        rows = np.arange(start, stop)
        flat = np.zeros(len(rows), np.int64)
        for locator, grid, x, y in zip(locators, domain.grids, trips.x, trips.y, strict=True):
            # Who is outside of one place is nowhere, so the next one is not looked at.
            whole = len(rows) == stop - start
            here = slice(start, stop) if whole else rows
            inside, cell = locator.inside(x[here], y[here])
            rows = rows[inside]
            flat = flat[inside] * (grid.shape[0] * grid.shape[1]) + cell
        cells.append(flat)
        which.append(rows)
        if progress is not None:
            progress(stop / len(trips))
    return np.concatenate(cells), np.concatenate(which)


@njit(cache=True, nogil=True)
def _number(column, row, rows, cols, index, cell):  # type: ignore[no-untyped-def]
    """Put those inside first in ``index`` and their cells in ``cell``; return how many."""
    n = 0
    for i in range(column.size):
        if np.isnan(column[i]):
            continue
        index[n] = index[i]
        # The last edge belongs to the last cell.
        cell[n] = min(int(row[i]), rows - 1) * cols + min(int(column[i]), cols - 1)
        n += 1
    return n


# Trips that a visitor sends: read in a process of its own, rebuilt here from plain arrays.


_CODES = ("user", "user_hash", "weight")


def foreign_trips(
    content: bytes,
    name: str,
    places: Sequence[str],
    columns: Mapping[str, str | None],
    max_rows: int,
    **how: Any,
) -> Trips:
    """Trips of a file that a visitor sent, see `read_trips`; **how as of `read_apart`."""
    plain = read_apart(trips_as_plain, content, name, list(places), dict(columns), max_rows, **how)
    return Trips(
        tuple(plain["x"]),
        tuple(plain["y"]),
        tuple(map(str, plain["places"])),
        crs_of_text(plain["crs"]),
        name=str(plain["name"]),
        notes=tuple(map(str, plain["notes"])),
        **{name: plain[name] for name in _CODES},
    )


def trips_as_plain(
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
