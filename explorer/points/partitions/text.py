"""CSV and TSV of any size: counted block by block while they are read, and never held."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.areas.areas import Areas
from explorer.grid.delimited import BadRow
from explorer.grid.geometry_values import floats
from explorer.grid.grid import Grid, Progress
from explorer.grid.plans import GridPlan, Plan
from explorer.points.area_counts import AreaCounts
from explorer.points.columns import Place
from explorer.points.matrix import FrequencyMatrix
from explorer.points.partitions.adding import JUDGED, Counted
from explorer.points.partitions.files import Wanted, chosen
from explorer.points.partitions.people import Held, People
from explorer.points.partitions.rows import owners, refuse, turned, usable
from explorer.points.partitions.unheld import Unheld, on_areas, on_grid
from explorer.points.points import TURNED
from explorer.points.populations import populations_of_files
from explorer.points.row_weights import refuse_weight, whole_numbers
from explorer.points.sources.opening import is_text, open_source
from explorer.points.sources.text import TextTable
from explorer.points.tally import Tally

Floats = NDArray[np.float64]
# A line of two numbers has so many bytes, or more: how many rows there are is not known before.
_BYTES = 20


@dataclass(frozen=True, eq=False)
class CountedText(Counted):
    """What a text holds.

    Attributes
    ----------
    records : of all rows that can be used
    has_turned : whether longitudes were read as degrees from 0 to 360
    """

    records: int = 0
    has_turned: bool = False

    @property
    def meant(self) -> int:
        """Records that might have counted, wherever they lie."""
        return self.records

    def sentences(self) -> list[str]:
        """How many rows were left out and why, with exact numbers, and how others were read."""
        return [*super().sentences(), *([TURNED] if self.has_turned else [])]


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

    def count_in(
        self,
        areas: Areas,
        cell: float,
        contribution_bound: int | None = None,
        progress: Progress | None = None,
    ) -> AreaCounts:
        """Count these records by area and cell of a national lattice; see `Areas.count`."""
        return on_areas(
            self,
            areas,
            cell,
            contribution_bound,
            lambda plan, bound: self._counted(plan, bound, progress),
        )

    def count(
        self, grid: Grid, contribution_bound: int | None = None, progress: Progress | None = None
    ) -> tuple[FrequencyMatrix, tuple[str, ...]]:
        """Count into the cells of a grid, and say which rows were left out and why.

        Raises
        ------
        InputError
            As `read_points` does, once the text is read, and for a bound without users.
        """
        return on_grid(
            self, grid, contribution_bound, lambda plan, bound: self._counted(plan, bound, progress)
        )

    def _counted(self, plan: Plan, bound: int | None, progress: Progress | None) -> CountedText:
        return self.table.settled(lambda: self._counted_once(plan, bound, progress))

    def _counted_once(
        self, plan: Plan, bound: int | None, progress: Progress | None
    ) -> CountedText:
        wanted, judged, tally = self.wanted, np.zeros(JUDGED, np.int64), Tally(plan.size)
        people, held = People(), Held.none()
        meant, has_turned = 0, False
        fault: InputError | None = None
        asked = wanted.place, wanted.user, wanted.weight
        for done, batch in self.table.batches(*asked):
            user, known = owners(batch, wanted, judged)
            x, y = self.table.coordinates(batch, wanted.place)
            x, y, keep = usable(x, y, wanted, known, judged)
            x, before = turned(x, wanted.degrees), x
            has_turned |= x is not before
            records = None
            try:
                if wanted.weight is not None:
                    records = whole_numbers(floats(batch[wanted.weight])[keep])
            except InputError as found:
                # What is wrong with the place of most rows is said first.
                fault = found if fault is None else fault
                continue
            meant += len(x) if records is None else int(records.sum())
            if bound is not None and user is not None:
                people.add(user[keep], plan.atoms(x, y), records)
            elif records is None and isinstance(plan, GridPlan):
                plan.count(x, y, tally.dense())
            else:
                tally.add(plan.atoms(x, y), records)
            if progress is not None:
                progress(done)
        refuse(wanted, judged)
        if fault is not None:
            raise fault
        refuse_weight(meant if wanted.weight is not None else 0)
        if bound is None:
            return CountedText(*tally.sparse(), judged, held, None, meant, has_turned)
        atoms, counts, unclipped = people.clipped(bound, plan.size)
        return CountedText(atoms, counts, judged, held, unclipped, meant, has_turned)


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
    roles = ("lon", "lat", "crs", "user", "weight")
    lon, lat, crs, user, weight = (columns.get(role) for role in roles)

    if lon is not None and lon == lat:
        table.take(lon)
        lon = lat = None

    def places(place: Place | None) -> tuple[Floats, Floats]:
        where = place.columns if place is not None else (str(name),)
        try:
            rows = table.first_rows(where)
        except BadRow:
            # What is wrong is said once all are read.
            rows = {}
        return table.coordinates(rows, where) if rows else (np.empty(0), np.empty(0))

    name = None if table.column is None else table.column.name
    zero = bool(columns.get("keep_zero"))
    wanted, known, notes = chosen(
        table.names, name, table.crs, lon, lat, crs, user, weight, zero, places, table.look
    )
    if wanted.geometry:
        notes = [*table.notes, *notes]
    whose = populations_of_files([named])
    return TextPoints(table, wanted, known, title, tuple(notes), whose)
