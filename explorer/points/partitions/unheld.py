"""Points that are counted without being held: what those in parts and those in text share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import pyproj

from explorer.errors import InputError
from explorer.grid.areas.areas import Areas
from explorer.grid.areas.windows import Windows
from explorer.grid.grid import Grid, Progress
from explorer.grid.plans import GridPlan, PairPlan, Plan
from explorer.points.area_counting import of_atoms
from explorer.points.area_counts import AreaCounts
from explorer.points.caught import FEW_INSIDE, few_inside, warn_few
from explorer.points.matrix import FrequencyMatrix, whole_bound
from explorer.points.partitions.adding import Counted, dense
from explorer.points.partitions.files import Wanted
from explorer.points.populations import of_people


class Looked(Protocol):
    """Points that have been looked at."""

    @property
    def wanted(self) -> Wanted:
        """Which columns are read."""

    @property
    def crs(self) -> pyproj.CRS:
        """Of the coordinates."""

    @property
    def rows(self) -> int:
        """How many rows there are, or about as many."""

    @property
    def notes(self) -> Sequence[str]:
        """Which columns were taken."""

    @property
    def populations(self) -> tuple[str, ...]:
        """Whose records they are, for the ledger."""


class Unheld(ABC):
    """What all of them can do as `Points` do."""

    wanted: Wanted

    @property
    def has_users(self) -> bool:
        """Whether it is known whose record each is."""
        return self.wanted.user is not None

    @abstractmethod
    def count(
        self, grid: Grid, contribution_bound: int | None = None, progress: Progress | None = None
    ) -> tuple[FrequencyMatrix, tuple[str, ...]]:
        """Count into the cells of a grid, and say which rows were left out and why."""

    def count_on(
        self, grid: Grid, contribution_bound: int | None = None, progress: Progress | None = None
    ) -> FrequencyMatrix:
        """Count these records into the cells of a grid; see `Grid.count`."""
        return told(self.count(grid, contribution_bound, progress))


#: What counts on a plan with a bound.
Count = Callable[[Plan, int | None], Counted]


def on_grid(
    points: Looked, grid: Grid, contribution_bound: Any, count: Count
) -> tuple[FrequencyMatrix, tuple[str, ...]]:
    """Counts of cells, and sentences for the curator on what was left out."""
    bound = checked_bound(points, contribution_bound)
    plan = GridPlan(grid, points.crs, points.rows)
    counted = count(plan, bound)
    counts = counted.dense(plan.size).reshape(grid.shape)
    few = few_inside(int(counts.sum()), counted.meant, bound)
    notes = _each_once(*points.notes, *counted.sentences(), *(() if few is None else (few,)))
    if bound is None:
        return of_people(FrequencyMatrix(counts, grid), points.populations), notes
    unclipped = counted.unclipped
    if unclipped is not None:
        unclipped = dense(counted.atoms, unclipped, plan.size).reshape(grid.shape)
    matrix = FrequencyMatrix(counts, grid, bound, "user", unclipped=unclipped)
    return of_people(matrix, points.populations), notes


def told(counted: tuple[FrequencyMatrix, tuple[str, ...]]) -> FrequencyMatrix:
    """The counts alone; that they are next to none is a warning at the line that counts."""
    matrix, notes = counted
    warn_few(FEW_INSIDE if FEW_INSIDE in notes else None, 1)
    return matrix


def on_areas(
    points: Looked, areas: Areas, cell: float, contribution_bound: Any, count: Count
) -> AreaCounts:
    """Counts by area and cell of a national lattice."""
    bound = checked_bound(points, contribution_bound)
    windows = Windows(areas, areas.lattice(cell))
    plan = PairPlan(windows.grid, areas, points.crs, points.rows)
    counted = count(plan, bound)
    atoms, numbers = counted.atoms.astype(np.int64), counted.counts.astype(np.int64)
    notes = _each_once(*points.notes, *counted.sentences())
    found = of_atoms(windows, plan, atoms, numbers, bound, notes, counted.unclipped)
    return of_people(found, points.populations)


def _each_once(*notes: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(notes))


def checked_bound(points: Looked, bound: Any) -> int | None:
    """A contribution bound that these points can be counted with.

    Raises
    ------
    InputError
        For one that is none, or without users.
    """
    if bound is None:
        return None
    bound = whole_bound(bound)
    if points.wanted.user is None:
        raise InputError(
            "A contribution bound needs to know the user of each record; read the points with "
            "user=... or leave the bound out."
        )
    return int(bound)
