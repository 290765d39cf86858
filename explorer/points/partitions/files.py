"""Parquet in any number of files: found and looked at by their footers, before a row is read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePath
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyproj
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.degrees import scaled
from explorer.grid.geometry_columns import GeometryColumn, described
from explorer.grid.geometry_values import floats, point_coordinates
from explorer.grid.parquet import geometry_of
from explorer.grid.parquet import look_at as look_at_column
from explorer.grid.projection import LONLAT
from explorer.grid.stated_crs import in_degrees
from explorer.points.columns import (
    Place,
    candidates,
    listed,
    not_read,
    unread_weights,
    unused_by_shape,
    unused_users,
)
from explorer.points.identity import JOINED
from explorer.points.partitions.listing import Listing, list_files, refuse_gaps, refuse_twins
from explorer.points.points import choose_place
from explorer.points.populations import populations_of_files
from explorer.points.sources.tables import not_numbers, one_column

# What one part is to hold, so that there is progress, and what is lost with a worker is little.
PART_ROWS = 2**22
# Rows that are held against a CRS before all are read.
_FIRST_ROWS = 4096
# What a column of a row group may unpack to.
MOST_BYTES = 2**30


@dataclass(frozen=True)
class Part:
    """Row groups of one file that follow each other: what one task counts.

    Attributes
    ----------
    key : names the part among all of its source
    file : number of the file
    groups : numbers of its row groups
    first_row : number of its first row over all files
    rows : how many it has
    """

    key: str
    file: int
    groups: tuple[int, ...]
    first_row: int
    rows: int


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
    def names(self) -> list[str]:
        """All of them, each once."""
        others = (name for name in (self.user, self.weight) if name is not None)
        return list(dict.fromkeys([*self.place, *others]))


@dataclass(frozen=True, eq=False)
class FileSet:
    """Points in Parquet files that have been looked at, but not read.

    Attributes
    ----------
    listing : where the files are
    wanted : which columns are read
    crs : pyproj.CRS
        Of the coordinates.
    parts : tuple of Part
        In the order of the files.
    key : str
        SHA-256 of the footers and the columns: other rows, another key.
    name : str
        What to call the points on a screen.
    notes : tuple of str
        Which columns were taken; no count is in them.
    populations : tuple of str
        Whose records they are, for the ledger: of what was given, and of each file in it.
    """

    listing: Listing
    wanted: Wanted
    crs: pyproj.CRS
    parts: tuple[Part, ...]
    key: str
    name: str = ""
    notes: tuple[str, ...] = ()
    populations: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Exact number of rows, those that cannot be used included."""
        return sum(part.rows for part in self.parts)


def look_at(
    source: Any,
    lon: str | None,
    lat: str | None,
    crs: Any,
    user: str | None,
    weight: str | None,
    name: str | None,
    gaps: bool,
    keep_zero: bool = False,
) -> FileSet:
    """Find the files and look at the footer of each; see `scan_points` for all of it."""
    listing = list_files(source)
    if not gaps:
        refuse_gaps(listing)
    digest = hashlib.sha256()
    first: pa.Schema | None = None
    wanted, known = Wanted((), False, True), LONLAT
    notes: list[str] = []
    parts: list[Part] = []
    seen: dict[str, str] = {}
    row = 0
    kinds: set[str] = set()
    for number, path in enumerate(listing.paths):
        title = PurePath(path).name
        mark, metadata, schema = listing.footer(path)
        if metadata.num_rows and mark in seen:
            refuse_twins(listing, seen[mark], path)
        seen[mark] = path
        digest.update(f"{title} {mark}\n".encode())
        if first is None:
            first = schema
            look = partial(_values_of, listing, path)
            column = geometry_of(schema, metadata, bool(candidates(schema.names)), look)
            if lon is not None and lon == lat:
                column, lon, lat = one_column(schema.names, column, look, lon), None, None
            shapes, own = (None, None) if column is None else (column.name, column.crs)
            given = lon, lat, crs, user, weight, keep_zero
            first_places = partial(_first_places, listing, column)
            wanted, known, notes = chosen(
                schema.names,
                shapes,
                own,
                *given,
                first_places,
                partial(_texts_of, listing, path, schema),
            )
            if wanted.geometry and column is not None:
                wanted = replace(wanted, column=column)
                notes = [*([column.sentence] if column.found else []), *notes]
        _refuse_other(schema, first, wanted, title, PurePath(listing.paths[0]).name)
        if wanted.user is not None:
            kind = schema.field(wanted.user).type
            kinds.add("integer" if pa.types.is_integer(kind) else str(kind).removeprefix("large_"))
        if wanted.column is not None and not wanted.column.found:
            _refuse_other_crs(wanted.column, described(schema, metadata.schema), listing, path)
        indices = _indices(metadata, wanted)
        for groups in _grouped(metadata, indices, title):
            rows = sum(metadata.row_group(g).num_rows for g in groups)
            parts.append(Part(f"{number}:{groups[0]}-{groups[-1]}", number, groups, row, rows))
            row += rows
    if len(kinds) > 1:
        notes.append(JOINED)
    digest.update(repr((wanted, known.to_wkt())).encode())
    notes = [*listing.notes, *notes]
    title = name or PurePath(listing.title).stem
    return FileSet(
        listing,
        wanted,
        known,
        tuple(parts),
        digest.hexdigest(),
        title,
        tuple(notes),
        populations_of_files(listing.given, listing.paths),
    )


def chosen(
    names: Sequence[str],
    shapes: str | None,
    own: pyproj.CRS | None,
    lon: str | None,
    lat: str | None,
    crs: Any,
    user: str | None,
    weight: str | None,
    keep_zero: bool,
    places: Callable[[Place | None], tuple[NDArray[np.float64], NDArray[np.float64]]],
    look: Callable[[str], Any],
) -> tuple[Wanted, pyproj.CRS, list[str]]:
    """Columns, CRS and what to say of them, by the rules of `read_points`.

    Parameters
    ----------
    names : all columns
    shapes, own : the column of shapes and its CRS, if there is one
    lon, lat, crs, user, weight, keep_zero : as given
    places : reads x and y of the first rows
    look : reads some values of a column
    """
    place, known, notes = choose_place(names, shapes is not None, own, lon, lat, crs, places)
    for column in (user, weight):
        if column is not None and column not in names:
            raise InputError(f"There is no column {column!r}; the columns are {listed(names)}.")
    notes += unused_users(names, user)
    columns = (str(shapes),) if place is None else place.columns
    others = [name for name in names if name not in (*columns, weight)]
    notes += [*unused_by_shape(others, user, look), *unread_weights(names, weight)]
    notes += not_read(names, (*columns, user or "", weight or ""), notes)
    wanted = Wanted(columns, place is None, in_degrees(known), user, weight, keep_zero)
    return wanted, known, notes


def _first_places(
    listing: Listing, column: GeometryColumn | None, place: Place | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coordinates of the first rows of the first file that has any."""
    names = list(place.columns) if place is not None else [str(column and column.name)]
    try:
        for path in listing.paths:
            with listing.open(path) as opened:
                for batch in pq.ParquetFile(opened).iter_batches(_FIRST_ROWS, columns=names):
                    if place is None and column is not None:
                        return point_coordinates(batch[names[0]], column)
                    return scaled(names, *(floats(batch[name]) for name in names))
    except (pa.ArrowException, OSError, ValueError, KeyError):
        # What is wrong is said once all are read.
        pass
    return np.empty(0), np.empty(0)


def _refuse_other(
    schema: pa.Schema, first: pa.Schema, wanted: Wanted, title: str, other: str
) -> None:
    """Raise `InputError` for a file whose columns are not those of the first one."""
    for name in wanted.names:
        if name not in schema.names:
            raise InputError(
                f"{title} has no column {name!r}, which {other} has; give files of the same "
                "columns."
            )
        kind = schema.field(name).type
        numeric = name in wanted.place or name == wanted.weight
        if numeric and not wanted.geometry and not _is_number(kind):
            raise not_numbers(name)
        if name == wanted.user and pa.types.is_nested(kind):
            raise InputError(f"The column {name!r} is {kind}; users are numbers or text.")
        if wanted.geometry and name in wanted.place and kind != first.field(name).type:
            raise InputError(f"{title} has another geometry than {other}; write both alike.")


def _refuse_other_crs(
    column: GeometryColumn, other: GeometryColumn | None, listing: Listing, path: str
) -> None:
    """Raise `InputError` for a file that describes another geometry than the first one."""
    if other is None or (column.name, column.crs) != (other.name, other.crs):
        title, first = PurePath(path).name, PurePath(listing.paths[0]).name
        raise InputError(f"{title} has another geometry or CRS than {first}; write both alike.")


def _values_of(listing: Listing, path: str, name: str) -> pa.Array:
    with listing.open(path) as opened:
        return look_at_column(pq.ParquetFile(opened), name)


def _texts_of(listing: Listing, path: str, schema: pa.Schema, name: str) -> pa.Array:
    """Some values of a column of texts, of files of this computer: others are not fetched twice."""
    kind = schema.field(name).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if listing.protocol or not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return pa.nulls(0)
    try:
        return _values_of(listing, path, name)
    except (pa.ArrowException, OSError, ValueError):
        # That they cannot be read is said when they are counted.
        return pa.nulls(0)


def _is_number(kind: pa.DataType) -> bool:
    numeric = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return any(is_kind(kind) for is_kind in numeric)


def _indices(metadata: pq.FileMetaData, wanted: Wanted) -> list[int]:
    """The leaves of the schema below the wanted columns."""
    names = [metadata.schema.column(i).path.split(".")[0] for i in range(metadata.num_columns)]
    return [i for i, name in enumerate(names) if name in wanted.names]


def _grouped(
    metadata: pq.FileMetaData, indices: Sequence[int], title: str
) -> Iterator[tuple[int, ...]]:
    """Row groups in parts of about `PART_ROWS`."""
    groups: list[int] = []
    rows = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        sizes = [group.column(i).total_uncompressed_size for i in indices]
        unpacked = max(8 * group.num_rows, *sizes)
        if unpacked > MOST_BYTES:
            raise InputError(
                f"Row group {number} of {title} unpacks to {unpacked / 2**30:.1f} GB a column; "
                "write the file again in row groups of about a million rows."
            )
        if groups and rows + group.num_rows > PART_ROWS:
            yield tuple(groups)
            groups, rows = [], 0
        groups.append(number)
        rows += group.num_rows
    if groups:
        yield tuple(groups)
