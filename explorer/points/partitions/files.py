"""Points in Parquet files of any size: looked at by their footers, and counted part by part."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyproj

from explorer.errors import InputError
from explorer.grid.areas.areas import Areas
from explorer.grid.geometry_columns import GeometryColumn, described
from explorer.grid.grid import Grid, Progress
from explorer.grid.plans import Plan
from explorer.grid.projection import LONLAT
from explorer.points.area_counts import AreaCounts
from explorer.points.cleaning import JOINED, Floats
from explorer.points.counting import Counted, Unheld
from explorer.points.matrix import FrequencyMatrix
from explorer.points.partitions.counting import count_plan
from explorer.points.partitions.listing import Listing, Part, list_files, refuse_gaps, refuse_twins
from explorer.points.populations import populations_of_files
from explorer.points.sources.parquet import ParquetTable
from explorer.points.sources.tables import is_number, not_numbers, refuse_doubled
from explorer.points.wanted import Wanted, chosen

# What one part is to hold, so that there is progress, and what is lost with a worker is little.
PART_ROWS = 2**22
# Rows that are held against a CRS before all are read.
_FIRST_ROWS = 4096
# What a column of a row group may unpack to.
MOST_BYTES = 2**30


@dataclass(frozen=True, eq=False)
class PointFiles(Unheld):
    """Points in Parquet files that are counted without being held; `scan_points` makes it.

    `Grid.count` and `Areas.count` take it as they take `Points`, with the same counts to the last
    bit.

    Parameters
    ----------
    listing : Listing, class of the package
        Where the files are.
    wanted : Wanted, class of the package
        Which columns are read.
    crs : CRS
        Of the coordinates.
    parts : tuple of Part
        In the order of the files.
    key : str
        SHA-256 of the footers and the columns: other rows, another key.
    name : str
        What to call the points on a screen.
    notes : tuple of str
        Which columns were guessed.
    populations : tuple of str
        Whose records they are, for the ledger: of what was given, and of each file in it.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from explorer import Grid, PointFiles, scan_points
    >>> grid = Grid.around(-122.42, 37.77, "4km", shape=4)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in range(2):
    ...         here = pd.DataFrame({"lon": [-122.42, -122.41], "lat": [37.77, 37.77 + part / 100]})
    ...         here.to_parquet(f"{folder}/part-{part}.parquet")
    ...     files = scan_points(folder)
    ...     matrix, notes = files.count(grid)
    >>> isinstance(files, PointFiles), files.rows, matrix.total
    (True, 4, 4)
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

    def count(
        self,
        grid: Grid,
        contribution_bound: int | None = None,
        progress: Progress | None = None,
        workers: str | None = None,
        checkpoint: str | Path | None = None,
    ) -> tuple[FrequencyMatrix, tuple[str, ...]]:
        """Count into the cells of a grid, and say which rows were left out and why.

        Parameters
        ----------
        grid : Grid
        contribution_bound : int, optional
            At most so many records of each user inside the grid, over all files together, chosen
            as `Grid.count` says. Needs a column of users. While counting, 24 bytes are held for
            each user and cell of the grid with records of that user.
        progress : callable, optional
            Called with the fraction done, 0 to 1.
        workers : "auto", "threads" or "tcp://...", optional
            Dask counts: processes of this computer, its threads, or a cluster. By default this
            thread does. The counts are the same to the last bit.
        checkpoint : path, optional
            A file that keeps what was counted, so that counting goes on where it was interrupted.
            It holds exact counts, and is removed when they are complete.

        Returns
        -------
        FrequencyMatrix, and sentences with exact numbers for the curator's screen

        Raises
        ------
        InputError
            For files that changed or are damaged, places that are not what they are said to be,
            weights that are not whole, a bound without users, or no row that can be used.
        """
        how = {"progress": progress, "workers": workers, "checkpoint": checkpoint}
        return self._with_notes(grid, contribution_bound, **how)

    def _count(
        self, plan: Plan, bound: int | None, progress: Progress | None = None, **how: Any
    ) -> Counted:
        return count_plan(self, plan, bound, progress, **how)

    def count_areas(
        self,
        areas: Areas,
        cell: float = 500.0,
        contribution_bound: int | None = None,
        progress: Progress | None = None,
        workers: str | None = None,
        checkpoint: str | Path | None = None,
    ) -> AreaCounts:
        """As `count`, by area and cell of a national lattice; see `Areas.count`.

        Parameters
        ----------
        areas : Areas
            Public.
        cell : float, 1 to 100,000
            Metres, the side of the lattice's cells.
        contribution_bound, progress, workers, checkpoint : optional
            As for `count`.

        Returns
        -------
        AreaCounts

        Raises
        ------
        InputError
            See `count`, and for cells that no lattice has.

        Examples
        --------
        >>> import tempfile
        >>> import geopandas
        >>> import pandas as pd
        >>> from shapely import box
        >>> from explorer import Areas, scan_points
        >>> places = geopandas.GeoSeries([box(0, 0, 1, 1), box(1, 0, 2, 1)], crs=4326)
        >>> frame = geopandas.GeoDataFrame({"district": ["West", "East"]}, geometry=places)
        >>> areas = Areas.read(frame, levels=("district",))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = f"{folder}/points.parquet"
        ...     pd.DataFrame({"lon": [0.5, 1.5], "lat": [0.5, 0.5]}).to_parquet(path)
        ...     counts = scan_points(path).count_areas(areas, cell=5_000)
        >>> counts.national().total
        2
        """
        how = {"progress": progress, "workers": workers, "checkpoint": checkpoint}
        return self._in_areas(areas, cell, contribution_bound, **how)

    def __repr__(self) -> str:
        # No number of points in it: a repr ends up in logs and notebooks.
        return f"PointFiles({self.name!r}, {self.crs.name})"


def scan_points(
    source: Any,
    *,
    lon: str | None = None,
    lat: str | None = None,
    crs: Any = None,
    user: str | None = None,
    weight: str | None = None,
    name: str | None = None,
    gaps: bool = False,
    keep_zero: bool = False,
) -> PointFiles:
    """Look at points in Parquet or GeoParquet files of any size, to count them part by part.

    Parameters
    ----------
    source : path, address or list of them
        A file, a folder (all Parquet files below it, but for names that begin with "_" or "."), a
        pattern such as "points-*.parquet", or an address of fsspec such as "s3://bucket/points".
        Files are in the order of their names, numbers as numbers.
    lon, lat, crs, user, weight, name, keep_zero : optional
        As for `read_points`; users and weights are columns.
    gaps : bool
        Whether numbered files may lack some numbers between the first and the last.

    Returns
    -------
    PointFiles

    Raises
    ------
    InputError
        For files that are not there, not Parquet, damaged, twice there or missing in between;
        whose columns differ; or of which a row group unpacks to more than memory should hold.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from explorer import scan_points
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     here = pd.DataFrame({"lon": [-122.42, -122.41], "lat": [37.77, 37.78]})
    ...     here.to_parquet(f"{folder}/points.parquet")
    ...     files = scan_points(f"{folder}/points.parquet")
    >>> files.rows, files.has_users
    (2, False)
    """
    listing = list_files(source)
    if not gaps:
        refuse_gaps(listing)
    digest = hashlib.sha256()
    first: pa.Schema | None = None
    selection, resolved = Wanted((), False, True), LONLAT
    notes: list[str] = []
    parts: list[Part] = []
    path_of_mark: dict[str, str] = {}
    row = 0
    kinds: set[str] = set()
    for number, path in enumerate(listing.paths):
        title = PurePath(path).name
        mark, metadata, schema = listing.footer(path)
        if metadata.num_rows and mark in path_of_mark:
            refuse_twins(listing, path_of_mark[mark], path)
        path_of_mark[mark] = path
        digest.update(f"{title} {mark}\n".encode())
        if first is None:
            first = schema
            is_far = bool(listing.protocol)
            table = ParquetTable(partial(listing.open, path), sys.maxsize, title, is_far)
            roles, places = {"user": user, "weight": weight}, partial(_places, listing, table)
            selection, resolved, notes = chosen(table, lon, lat, crs, roles, keep_zero, places)
        stated = described(schema, metadata.schema)
        _refuse_other(schema, first, stated, selection, title, PurePath(listing.paths[0]).name)
        if selection.user is not None:
            kind = schema.field(selection.user).type
            kinds.add("integer" if pa.types.is_integer(kind) else str(kind).removeprefix("large_"))
        for groups in _grouped(metadata, selection, title):
            rows = sum(metadata.row_group(g).num_rows for g in groups)
            parts.append(Part(f"{number}:{groups[0]}-{groups[-1]}", number, groups, row, rows))
            row += rows
    if len(kinds) > 1:
        notes.append(JOINED)
    digest.update(repr((selection, resolved.to_wkt())).encode())
    return PointFiles(
        listing,
        selection,
        resolved,
        tuple(parts),
        digest.hexdigest(),
        name or PurePath(listing.title).stem,
        (*listing.notes, *notes),
        populations_of_files(listing.given, listing.paths),
    )


def _places(listing: Listing, table: ParquetTable, where: tuple[str, ...]) -> tuple[Floats, Floats]:
    """Coordinates of the first rows of the first file that has any."""
    try:
        for path in listing.paths:
            with listing.open(path) as opened:
                for batch in pq.ParquetFile(opened).iter_batches(_FIRST_ROWS, columns=[*where]):
                    return table.coordinates(batch, where)
    except (pa.ArrowException, OSError, KeyError):
        # What is wrong is said once all are read.
        pass
    return np.empty(0), np.empty(0)


def _refuse_other(
    schema: pa.Schema,
    first: pa.Schema,
    stated: GeometryColumn | None,
    selection: Wanted,
    title: str,
    other: str,
) -> None:
    """Raise `InputError` for a file whose columns are not those of the first one."""
    for name in selection.names:
        if name not in schema.names:
            raise InputError(
                f"{title} has no column {name!r}, which {other} has; give files of the same "
                "columns."
            )
        refuse_doubled([name], schema.names)
        kind = schema.field(name).type
        numeric = name in selection.place or name == selection.weight
        if numeric and not selection.geometry and not is_number(kind):
            raise not_numbers(name)
        if name == selection.user and pa.types.is_nested(kind):
            raise InputError(f"The column {name!r} is {kind}; users are numbers or text.")
        if selection.geometry and name in selection.place and kind != first.field(name).type:
            raise InputError(f"{title} has another geometry than {other}; write both alike.")
    column = selection.column
    if column is None or column.found:
        return
    if stated is None or (column.name, column.crs) != (stated.name, stated.crs):
        raise InputError(f"{title} has another geometry or CRS than {other}; write both alike.")


def _grouped(metadata: pq.FileMetaData, selection: Wanted, title: str) -> Iterator[tuple[int, ...]]:
    """Row groups in parts of about `PART_ROWS`."""
    leaves = [metadata.schema.column(i).path.split(".")[0] for i in range(metadata.num_columns)]
    indices = [i for i, name in enumerate(leaves) if name in selection.names]
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
