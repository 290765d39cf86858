"""Points in Parquet files of any size: what `read_points` is to those that fit the memory."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from explorer.grid.areas.areas import Areas
from explorer.grid.grid import Grid, Progress
from explorer.points.area_counts import AreaCounts
from explorer.points.matrix import FrequencyMatrix
from explorer.points.partitions.adding import Counted
from explorer.points.partitions.counting import count_plan
from explorer.points.partitions.files import FileSet, look_at
from explorer.points.partitions.unheld import Unheld, checked_bound, on_areas, on_grid


class PointFiles(Unheld, FileSet):
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
        return on_grid(
            self,
            grid,
            contribution_bound,
            lambda plan, bound: count_plan(self, plan, bound, progress, workers, checkpoint),
        )

    def count_in(
        self,
        areas: Areas,
        cell: float,
        contribution_bound: int | None = None,
        progress: Progress | None = None,
    ) -> AreaCounts:
        """Count these records by area and cell of a national lattice; see `Areas.count`."""
        return self.count_areas(areas, cell, contribution_bound, progress)

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
        contribution_bound : int, 1 or more, optional
        progress : callable, optional
        workers : "auto", "threads" or "tcp://...", optional
        checkpoint : path, optional
            These four as for `count`.

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
        >>> frame = geopandas.GeoDataFrame(
        ...     {"district": ["West", "East"]},
        ...     geometry=[box(0, 0, 1, 1), box(1, 0, 2, 1)],
        ...     crs=4326,
        ... )
        >>> areas = Areas.read(frame, levels=("district",))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = f"{folder}/points.parquet"
        ...     pd.DataFrame({"lon": [0.5, 1.5], "lat": [0.5, 0.5]}).to_parquet(path)
        ...     counts = scan_points(path).count_areas(areas, cell=5_000)
        >>> counts.national().total
        2
        """
        return on_areas(
            self,
            areas,
            cell,
            contribution_bound,
            lambda plan, bound: count_plan(self, plan, bound, progress, workers, checkpoint),
        )

    def count_atoms(self, plan: Any, contribution_bound: int | None = None, **how: Any) -> Counted:
        """Count on any `Plan`; ``how`` is progress, workers and checkpoint as for `count`."""
        return count_plan(self, plan, checked_bound(self, contribution_bound), **how)

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
    lon, lat : str, optional
        Columns of longitude and latitude, as for `read_points`.
    crs : CRS, optional
        Of the coordinates, as for `read_points`.
    user : str, optional
        Column of whose record it is.
    weight : str, optional
        Column of how many records a row represents.
    name : str, optional
        What to call the points on a screen.
    gaps : bool
        Whether numbered files may lack some numbers between the first and the last.
    keep_zero : bool
        Whether 0 0 is a place, as for `read_points`.

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
    found = look_at(source, lon, lat, crs, user, weight, name, gaps, keep_zero)
    return PointFiles(**{each.name: getattr(found, each.name) for each in fields(FileSet)})
