"""Points of any kind: read whole, or looked at and counted while they are read."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from glob import has_magic
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import pyproj

from explorer.errors import InputError
from explorer.grid.containers import split_layer
from explorer.grid.delimited import BadRow
from explorer.grid.gdal import is_geodatabase
from explorer.grid.grid import Progress
from explorer.grid.plans import Plan
from explorer.points.cleaning import Floats
from explorer.points.counting import Counted, Unheld
from explorer.points.partitions import PointFiles, is_parquet, scan_points
from explorer.points.partitions.counting import Sum
from explorer.points.points import Points, read_points
from explorer.points.populations import populations_of_files
from explorer.points.sources.opening import is_text, open_source
from explorer.points.sources.text import TextTable
from explorer.points.wanted import Wanted, chosen

COLUMNS = ("lon", "lat", "crs", "user", "weight", "name", "layer", "keep_zero")
# A line of two numbers has so many bytes, or more: how many rows there are is not known before.
_BYTES = 20


def as_points(
    source: Any, columns: Mapping[str, Any] | None = None
) -> Points | PointFiles | TextPoints:
    """Points of a file, frame or arrays; of Parquet, CSV and TSV those that are never held.

    Parameters
    ----------
    source : as of `read_points`, or of `scan_points`: a folder, a pattern, an address of fsspec or
        a list of paths
    columns : lon, lat, crs, user, weight, name, layer and keep_zero, as of either

    Raises
    ------
    InputError
        For other names of columns, and as either does.
    """
    columns = dict(columns or {})
    unknown = [name for name in columns if name not in COLUMNS]
    if unknown:
        raise InputError(f"There is no {unknown[0]}=...; there are {', '.join(COLUMNS)}.")
    of_arrays = any(
        columns.get(role) is not None and not isinstance(columns[role], str)
        for role in ("user", "weight")
    )
    if in_parts(source) and not of_arrays:
        if columns.pop("layer", None):
            raise InputError("Points in parts have no layers; leave out layer=...")
        return scan_points(source, **columns)
    if isinstance(source, str | PathLike) and not of_arrays and not columns.get("layer"):
        text = look_at_text(source, columns)
        if text is not None:
            return text
    return read_points(source, **columns)


def in_parts(source: Any) -> bool:
    """Whether points are Parquet, which is counted part by part and never held.

    >>> in_parts("s3://bucket/points"), in_parts("points.csv"), in_parts({"lon": [], "lat": []})
    (True, False, False)
    """
    if isinstance(source, str | PathLike):
        text = fspath(source)
        if not isinstance(text, str):
            return False
        path = Path(text).expanduser()
        if path.is_file():
            return is_parquet(path)
        if path.is_dir():
            return not is_geodatabase(path)
        return "://" in text or (has_magic(text) and not split_layer(path)[1])
    if isinstance(source, Sequence) and not isinstance(source, bytes | bytearray):
        return bool(source) and all(isinstance(entry, str | PathLike) for entry in source)
    return False


@dataclass(frozen=True, eq=False)
class TextPoints(Unheld):
    """Points in a text that has been looked at, but not read; `look_at_text` makes it.

    `Grid.count` and `Areas.count` take it as they take `Points`, with the same counts.

    Parameters
    ----------
    table : the text
    wanted : which columns are read
    crs : of the coordinates
    name : what to call the points on a screen
    notes : which columns were taken; no count is in them
    populations : whose records they are, for the ledger
    """

    table: TextTable
    wanted: Wanted
    crs: pyproj.CRS
    name: str
    notes: tuple[str, ...]
    populations: tuple[str, ...]

    @property
    def rows(self) -> int:
        """No fewer than there are."""
        return self.table.size // _BYTES

    def _count(self, plan: Plan, bound: int | None, progress: Progress | None = None) -> Counted:
        def once() -> Counted:
            total = Sum(plan.size, bound)
            total.count(self.table.batches(*self.wanted.columns), self.wanted, plan, progress)
            return total.total()

        counted = self.table.settled(once)
        self.wanted.refuse(counted.judged)
        return counted


def look_at_text(source: str | PathLike[Any], columns: Mapping[str, Any]) -> TextPoints | None:
    """A text that can be counted while it is read; None for any other source.

    Parameters
    ----------
    source : as of `read_points`
    columns : lon, lat, crs, user, weight and name, as of `read_points`

    Raises
    ------
    InputError
        As `read_points` does before it reads.
    """
    named = fspath(source)
    if not isinstance(named, str) or not is_text(Path(named).expanduser()):
        return None
    table, title = open_source(Path(named), columns.get("name"), sys.maxsize)
    if not isinstance(table, TextTable):
        return None

    def places(where: tuple[str, ...]) -> tuple[Floats, Floats]:
        try:
            rows = table.first_rows(where)
        except BadRow:
            # What is wrong is said once all are read.
            rows = {}
        return table.coordinates(rows, where) if rows else (np.empty(0), np.empty(0))

    roles = {role: columns.get(role) for role in ("user", "weight")}
    how = columns.get("lon"), columns.get("lat"), columns.get("crs"), roles
    selection, crs, notes = chosen(table, *how, bool(columns.get("keep_zero")), places)
    return TextPoints(table, selection, crs, title, tuple(notes), populations_of_files([named]))
