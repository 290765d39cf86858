"""Points of a city as arrays, read from files, frames and arrays of many kinds."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.cards import exact_card
from explorer.grid.grid import Grid, Progress
from explorer.grid.plans import Plan
from explorer.grid.projection import LONLAT
from explorer.points.cleaning import (
    JUDGED,
    RESPELLED,
    Floats,
    refuse_weight,
    sentences,
    whole_weights,
)
from explorer.points.clipping import refuse_hashes
from explorer.points.counting import (
    Countable,
    Counted,
    Placed,
    count_and_place,
    count_records,
    few_inside,
)
from explorer.points.identity import codes
from explorer.points.matrix import FrequencyMatrix
from explorer.points.populations import of_people, population_of_records, populations_of_files
from explorer.points.sources.opening import open_source
from explorer.points.sources.tables import MAX_ROWS, Columns, numbers
from explorer.points.wanted import chosen


@dataclass(frozen=True, eq=False)
class Points(Countable):
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

    def few_inside(self, matrix: FrequencyMatrix) -> str | None:
        """A sentence for the curator if the extent of these counts catches next to nothing."""
        weighed = len(self) if self.weight is None else int(self.weight.sum())
        bound = matrix.contribution_bound if matrix.unit == "user" else None
        return few_inside(matrix.total, weighed, bound)

    def place_on(
        self, grid: Grid, contribution_bound: int | None = None, progress: Progress | None = None
    ) -> tuple[FrequencyMatrix, Placed]:
        """As `count_on`, and where all records on the grid lie."""
        counts, placed = count_and_place(self, grid, progress)
        if contribution_bound is not None:
            return self._on_grid(grid, contribution_bound)[0], placed
        return of_people(FrequencyMatrix(counts, grid), self._about()[1]), placed

    def _about(self) -> tuple[int, tuple[str, ...]]:
        return len(self), self.populations or (population_of_records(self),)

    def _count(self, plan: Plan, bound: int | None, progress: Progress | None = None) -> Counted:
        return count_records(self, plan, bound, progress)

    def _facts(self) -> tuple[str, list[str]]:
        """CRS and further columns; no number of points: a repr ends up in logs and notebooks."""
        columns = [
            label for label in ("user", "weight", "time") if getattr(self, label) is not None
        ]
        return "no CRS" if self.crs is None else self.crs.name, columns

    def __repr__(self) -> str:
        crs, columns = self._facts()
        return f"Points({', '.join([repr(self.name), crs, *columns])})"

    def _repr_html_(self) -> str:
        crs, columns = self._facts()
        return exact_card(f"Points {self.name}".strip(), {"CRS": crs, "with": ", ".join(columns)})


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
    roles = {"user": user, "weight": weight, "time": time}
    named = [value if isinstance(value, str) else None for value in roles.values()]

    @lru_cache
    def read(where: tuple[str, ...]) -> Columns:
        return table.read(where if len(where) == 2 else None, *named)

    def places(where: tuple[str, ...]) -> tuple[Floats, Floats]:
        return read(where).x, read(where).y

    selection, resolved, notes = chosen(table, lon, lat, crs, roles, keep_zero, places)
    columns = read(selection.place)
    add_arrays(columns, roles)
    code, hashes, joined = columns.user or (None, None, False)
    judged = np.zeros(JUDGED, np.int64)
    judged[RESPELLED] = joined
    x, y, keep = selection.usable(columns.x, columns.y, None if code is None else code >= 0, judged)
    selection.refuse(judged)
    heavy = None if columns.weight is None else whole_weights(columns.weight[keep])
    refuse_weight(0 if heavy is None else heavy.sum())
    return Points(
        x,
        y,
        resolved,
        None if code is None else code[keep],
        heavy,
        None if columns.time is None else columns.time[keep],
        title,
        (*notes, *sentences(judged)),
        hashes,
        populations_of_files([str(source)]) if isinstance(source, str | Path) else (),
    )


def add_arrays(columns: Columns, roles: dict[str, Any]) -> None:
    """Take users, weights and times that were given as arrays next to the source."""
    arrays: dict[str, Any] = {role: roles.get(role) for role in ("user", "weight", "time")}
    arrays = {role: value for role, value in arrays.items() if not isinstance(value, str | None)}
    for role, value in arrays.items():
        if np.shape(value) != columns.x.shape:
            raise InputError(
                f"{role} is neither a column nor an array of {columns.x.size:,} values; give one."
            )
    if "user" in arrays:
        columns.user = codes(arrays["user"])
    if "weight" in arrays:
        columns.weight = numbers(arrays["weight"], "weight")
    if "time" in arrays:
        columns.time = np.asarray(arrays["time"])
