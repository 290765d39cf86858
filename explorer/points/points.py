"""Points of a city as arrays, read from files, frames and arrays of many kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.areas.areas import Areas
from explorer.grid.areas.windows import Windows
from explorer.grid.cards import exact_card
from explorer.grid.degrees import scaled
from explorer.grid.grid import Grid, Progress
from explorer.grid.plans import GridPlan
from explorer.grid.projection import LONLAT, as_crs
from explorer.grid.stated_crs import ASSUMED, in_degrees, which_crs
from explorer.points.area_counting import count_areas
from explorer.points.area_counts import AreaCounts
from explorer.points.caught import few_inside, warn_few
from explorer.points.cleaning import FINE, judge, left_out, none_left, refuse_columns, sentences
from explorer.points.clipping import refuse_hashes
from explorer.points.columns import (
    Place,
    candidates,
    find_place,
    listed,
    not_read,
    unread_weights,
    unused_by_shape,
    unused_users,
)
from explorer.points.counting import Placed, count_and_place, count_block, count_clipped, dense
from explorer.points.identity import JOINED
from explorer.points.matrix import FrequencyMatrix, whole_bound
from explorer.points.populations import of_people, population_of_records, populations_of_files
from explorer.points.row_weights import whole_weights
from explorer.points.sources import MAX_ROWS, Columns, codes, numbers, open_source

TURNED = "Longitudes above 180 were read as degrees from 0 to 360."


@dataclass(frozen=True, eq=False)
class Points:
    """Records with a place, in the order of their file.

    Parameters
    ----------
    x, y : (n,) float64
        Coordinates in ``crs``: degrees of longitude and latitude, or metres, or, without a CRS,
        cells of a matrix. Arrays of this type are kept, not copied.
    crs : pyproj.CRS or None
        ``None`` means that the coordinates are plain numbers without a place on the Earth.
    user : (n,) int64 or None
        Code of the person a record belongs to, 0 or more.
    weight : (n,) int64 or None
        How many records a row represents, 0 or more; ``None`` means one each.
    time : (n,) array or None
        When, as it was in the file.
    name : str
        What to call these points on a screen.
    notes : tuple of str
        Sentences for the curator's screen: which columns were taken, which rows were left out
        and why. They hold exact counts and belong in no release.
    user_hash : (u,) uint64 or None
        Of what each code of `user` represents, a hash that is the same in every file and reader:
        it enters the choice of records under a contribution bound. None takes the codes.
    populations : tuple of str
        Whose records they are, for the ledger; by default what ``name`` says.

    Raises
    ------
    InputError
        For arrays that do not belong together.

    Examples
    --------
    >>> from explorer import Grid, Points
    >>> points = Points(np.array([-122.42, -122.41]), np.array([37.77, 37.78]), name="two")
    >>> len(points), points.has_users
    (2, False)
    >>> Grid.around(-122.42, 37.77, "4km", shape=4).count(points).total
    2
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    crs: pyproj.CRS | None = field(default_factory=lambda: LONLAT)
    user: NDArray[np.int64] | None = None
    weight: NDArray[np.int64] | None = None
    time: NDArray[Any] | None = None
    name: str = ""
    notes: tuple[str, ...] = ()
    user_hash: NDArray[np.uint64] | None = None
    populations: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        kinds = {"x": np.float64, "y": np.float64, "user": np.int64, "weight": np.int64}
        for label, kind in kinds.items():
            values = getattr(self, label)
            if values is not None:
                object.__setattr__(self, label, np.ascontiguousarray(values, kind))
        for label in (*kinds, "time"):
            values = getattr(self, label)
            if values is not None and values.shape != (self.x.size,):
                raise InputError(
                    f"{label} has shape {values.shape}, x has {self.x.shape}; give arrays of one "
                    "dimension and equal length."
                )
        for values in (self.user, self.weight):
            if values is not None and values.min(initial=0) < 0:
                raise InputError("Codes of users and weights are whole numbers of 0 or more.")
        if self.user is not None and self.user_hash is not None:
            hashes = np.ascontiguousarray(self.user_hash, np.uint64)
            object.__setattr__(self, "user_hash", hashes)
            refuse_hashes(self.user, hashes)

    def __len__(self) -> int:
        return int(self.x.size)

    @property
    def has_users(self) -> bool:
        """Whether it is known whose record each is."""
        return self.user is not None

    def count_on(
        self, grid: Grid, contribution_bound: int | None = None, progress: Progress | None = None
    ) -> FrequencyMatrix:
        """Count these records into the cells of a grid; see `Grid.count`."""
        matrix = self._counted(grid, contribution_bound, progress)
        warn_few(self.few_inside(matrix))
        return of_people(matrix, self._whose())

    def few_inside(self, matrix: FrequencyMatrix) -> str | None:
        """A sentence for the curator if the extent of these counts catches next to nothing."""
        weighed = len(self) if self.weight is None else int(self.weight.sum())
        bound = matrix.contribution_bound if matrix.unit == "user" else None
        return few_inside(matrix.total, weighed, bound)

    def place_on(
        self, grid: Grid, contribution_bound: int | None = None, progress: Progress | None = None
    ) -> tuple[FrequencyMatrix, Placed]:
        """As `count_on`, and where all records on the grid lie."""
        bound = self._checked(grid, contribution_bound)
        counts, placed = count_and_place(self, grid, progress)
        matrix = FrequencyMatrix(counts, grid) if bound is None else self._counted(grid, bound)
        return of_people(matrix, self._whose()), placed

    def _counted(
        self, grid: Grid, contribution_bound: int | None, progress: Progress | None = None
    ) -> FrequencyMatrix:
        bound = self._checked(grid, contribution_bound)
        if bound is None:
            return FrequencyMatrix(count_block(self, grid, progress=progress), grid)
        plan = GridPlan(grid, self.crs, len(self))
        atoms, *both = count_clipped(self, plan, bound, progress)
        counts, unclipped = (dense(atoms, number, grid) for number in both)
        return FrequencyMatrix(counts, grid, bound, "user", unclipped=unclipped)

    def count_in(
        self,
        areas: Areas,
        cell: float,
        contribution_bound: int | None = None,
        progress: Progress | None = None,
    ) -> AreaCounts:
        """Count these records by area and cell of a national lattice; see `Areas.count`."""
        bound = self._checked_bound(contribution_bound)
        counts = count_areas(self, Windows(areas, areas.lattice(cell)), bound, progress)
        return of_people(counts, self._whose())

    def _whose(self) -> tuple[str, ...]:
        return self.populations or (population_of_records(self),)

    def _checked(self, grid: Grid, contribution_bound: Any) -> int | None:
        """The bound, once these records can be counted on the grid with it."""
        bound = self._checked_bound(contribution_bound)
        if self.crs is None and grid.crs is not None:
            raise InputError("These points have no CRS; read them with crs=... to place them.")
        if self.crs is not None and grid.crs is None:
            raise InputError("This grid has no CRS; make it with Grid.around to count places.")
        return bound

    def _checked_bound(self, bound: Any) -> int | None:
        if bound is None:
            return None
        bound = whole_bound(bound)
        if self.user is None:
            raise InputError(
                "A contribution bound needs to know the user of each record; read the points with "
                "user=... or leave the bound out."
            )
        return int(bound)

    def __repr__(self) -> str:
        # No number of points in it: a repr ends up in logs and notebooks.
        where = "no CRS" if self.crs is None else self.crs.name
        columns = [
            label for label in ("user", "weight", "time") if getattr(self, label) is not None
        ]
        return f"Points({', '.join([repr(self.name), where, *columns])})"

    def _repr_html_(self) -> str:
        where = "none" if self.crs is None else self.crs.name
        columns = [
            label for label in ("user", "weight", "time") if getattr(self, label) is not None
        ]
        facts = {"CRS": where, "with": ", ".join(columns)}
        return exact_card(f"Points {self.name}".strip(), facts)


def read_points(
    source: Any,
    *,
    lon: str | None = None,
    lat: str | None = None,
    crs: Any = None,
    user: Any = None,
    weight: Any = None,
    time: Any = None,
    name: str | None = None,
    layer: str = "",
    max_rows: int = MAX_ROWS,
    keep_zero: bool = False,
) -> Points:
    """Read points from a file, a frame or arrays.

    Parameters
    ----------
    source : path, bytes, file-like, DataFrame, GeoDataFrame, dict of arrays, pair of arrays
        CSV, TSV, Parquet, Excel, GeoParquet, GeoJSON, GeoPackage, Shapefile, FlatGeobuf, FileGDB,
        KML, GPX, SpatiaLite, SQLite or DuckDB of this computer, also zipped; frames of pandas,
        GeoPandas, Polars or Arrow; ``(x, y)`` with longitude first.
    lon, lat : str, optional
        Columns of longitude and latitude (or of x and y); guessed from their names otherwise,
        which the notes say.
    crs : int, str or CRS, optional
        CRS of the coordinates, such as "EPSG:27700", where the source does not say it, or where
        its coordinates cannot be what it says. A projected one takes columns in metres before
        those in degrees. Degrees (WGS 84) are assumed only for values that can be degrees.
    user : str or (n,) array, optional
        Whose record it is; any values, turned into codes. Rows without one are left out.
    weight : str or (n,) array, optional
        How many records a row represents: whole numbers of 0 or more.
    time : str or (n,) array, optional
        When; kept as it is.
    name : str, optional
        What to call the points; for bytes the name of the file, with its ending.
    layer : str, optional
        The layer, table, sheet or file of an archive that is meant, where there are several; a
        path may end in it, as in "city.gpkg::stops".
    max_rows : int, 1 or more
        A longer source is refused before it is read.
    keep_zero : bool
        Whether 0 0 is a place, in degrees or metres, and does not mean a missing one.

    Returns
    -------
    Points
        Rows without a usable place (null, infinite, 0 0, beyond the range of degrees) are left
        out, and the notes say how many and why.

    Raises
    ------
    InputError
        If the source cannot be read, the columns are ambiguous or absent, the coordinates are
        not what they are said to be, or no row is left.

    Examples
    --------
    >>> points = read_points({"lng": [-30.0, 0.0], "lat": [40.0, 0.0]}, name="two")
    >>> points.x, points.notes[1]
    (array([-30.]),
     '1 row at longitude 0, latitude 0, which stands for a missing place, was left out.')
    """
    table, title = open_source(source, name, max_rows, layer or "")
    if lon is not None and lon == lat:
        table.take(lon)
        lon = lat = None
    roles = {"user": user, "weight": weight, "time": time}
    named = {role: value for role, value in roles.items() if isinstance(value, str)}
    for column in named.values():
        if column not in table.names:
            raise InputError(
                f"There is no column {column!r}; the columns are {listed(table.names)}."
            )

    @lru_cache
    def read(place: Place | None) -> Columns:
        others = (named.get(role) for role in roles)
        columns = table.read(None if place is None else place.columns, *others)
        if place is not None:
            columns.x, columns.y = scaled(place.columns, columns.x, columns.y)
        return columns

    stated = table.crs if table.geometry else None
    place, resolved, notes = choose_place(
        table.names, table.geometry, stated, lon, lat, crs, lambda place: read(place).places
    )
    columns = read(place)
    add_arrays(columns, {role: value for role, value in roles.items() if role not in named})
    notes = [*table.notes, *notes, *unused_users(table.names, user)]
    read_too = {*named.values(), *(() if place is None else place.columns)}
    if place is None and table.column is not None:
        read_too.add(table.column.name)
    others = [column for column in table.names if column not in read_too]
    notes += unused_by_shape(others, user, table.look)
    notes += unread_weights(table.names, weight)
    notes += not_read(table.names, read_too, notes)
    labels = () if place is None else place.columns
    points = _clean(columns, resolved, labels, title, notes, keep_zero)
    if isinstance(source, str | Path):
        return replace(points, populations=populations_of_files([str(source)]))
    return points


def choose_place(
    names: Sequence[str],
    geometry: bool,
    own: pyproj.CRS | None,
    lon: str | None,
    lat: str | None,
    crs: Any,
    places: Callable[[Place | None], tuple[NDArray[np.float64], NDArray[np.float64]]],
) -> tuple[Place | None, pyproj.CRS, list[str]]:
    """The columns of a place, None for the geometry, its CRS, and what to say of both.

    Parameters
    ----------
    names, geometry, own : columns of a source, whether it has a geometry, and the CRS of that
    lon, lat, crs : as of `read_points`
    places : reads x and y (n,) of columns or the geometry, or of the first rows
    """
    stated = None if crs is None else as_crs(crs)
    if geometry and lon is None and lat is None:
        pairs = candidates(names)
        resolved, notes = which_crs(own, stated, lambda: places(None))
        if pairs:
            notes = [f"The geometry was taken as the place, not {listed(pairs)}.", *notes]
        return None, resolved, notes
    metric = stated is not None and stated.is_projected
    place = find_place(names, lon, lat, metric)
    sentence = ""
    if lon is None or lat is None:
        others = [pair for pair in candidates(names, not metric) if pair.degrees != place.degrees]
        ignored = f", not {listed(others)}" if others else ""
        sentence = f"The columns {place} were taken as the place{ignored}."
    own = ASSUMED if place.degrees else None
    instead = ", or name columns in that CRS with lon=..., lat=..."
    resolved, notes = which_crs(own, stated, lambda: places(place), instead)
    return place, resolved, [sentence, *notes] if sentence else notes


def add_arrays(columns: Columns, roles: dict[str, Any]) -> None:
    """Take users, weights and times that were given as arrays next to the source."""
    for role, value in roles.items():
        if value is not None and np.shape(value) != columns.x.shape:
            raise InputError(
                f"{role} is neither a column nor an array of {columns.x.size:,} values; give one."
            )
    if roles.get("user") is not None:
        columns.user = codes(roles["user"])
    if roles.get("weight") is not None:
        columns.weight = numbers(roles["weight"], "weight")
    if roles.get("time") is not None:
        columns.time = np.asarray(roles["time"])


def _clean(
    columns: Columns,
    crs: pyproj.CRS,
    labels: Sequence[str],
    name: str,
    notes: list[str],
    keep_zero: bool,
) -> Points:
    """Return the rows that have a place (and, where users are asked for, a user)."""
    degrees = in_degrees(crs)
    reasons, rows = judge(columns.x, columns.y, degrees, keep_zero)
    refuse_columns(rows, *labels)
    notes += sentences(rows)
    keep = reasons == FINE
    user, hashes, joined = columns.user or (None, None, False)
    notes += [JOINED] if joined else []
    if user is not None:
        nobody = int(np.sum(keep & (user < 0)))
        keep &= user >= 0
        if nobody:
            notes.append(left_out(nobody, "without a user"))
    if keep.size and not keep.any():
        raise none_left(rows)
    # All rows are fine in most files: then nothing is copied.
    choice: Any = slice(None) if keep.all() else keep
    x = columns.x[choice]
    if degrees and x.max(initial=0.0) > 180.0:
        notes.append(TURNED)
        x = np.where(x > 180.0, x - 360.0, x)
    return Points(
        x,
        columns.y[choice],
        crs,
        None if user is None else user[choice],
        None if columns.weight is None else whole_weights(columns.weight[choice]),
        None if columns.time is None else columns.time[choice],
        name,
        tuple(notes),
        hashes,
    )
