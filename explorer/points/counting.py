"""Records into atoms of a plan, a million at a time, and what they count to there."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.areas.areas import Areas
from explorer.grid.areas.windows import Windows
from explorer.grid.grid import Grid, Progress
from explorer.grid.plans import GridPlan, PairPlan, Plan
from explorer.grid.projection import CHUNK, as_crs
from explorer.points.area_counts import AreaCounts
from explorer.points.cleaning import JUDGED, RECORDS, sentences
from explorer.points.clipping import PersonCells, starts_of_codes
from explorer.points.matrix import FrequencyMatrix, whole_bound
from explorer.points.populations import of_people
from explorer.points.tally import Tally
from explorer.points.wanted import Wanted

#: Below this part of the points an extent is more often a slip than meant.
FEW = 0.01
_ENOUGH = 100
FEW_INSIDE = (
    "Less than 1 % of the points lie inside this extent: is longitude first, and is it the right "
    "place?"
)


class ExtentWarning(UserWarning):
    """A map that holds next to none of the points. Told to the curator: it depends on the points,
    and no release or file of one says it.
    """


def few_inside(inside: int, points: int, bound: int | None = None) -> str | None:
    """A sentence, without any count, if an extent catches next to nothing; else None.

    Parameters
    ----------
    inside : how many records count on the extent
    points : how many there are, or what they weigh; of fewer than 100 nothing is said
    bound : contribution bound; what it leaves out was not outside, so that only an extent
        without any record is spoken of

    >>> few_inside(2, 1000), few_inside(20, 1000), few_inside(2, 1000, bound=1)
    ('Less than 1 % of the points lie inside this extent: is longitude first, and is it the right \
place?', None, None)
    """
    part = 0.0 if inside == 0 else FEW if bound is not None else inside / max(points, 1)
    if points < _ENOUGH or part >= FEW:
        return None
    return FEW_INSIDE


def warn_few(sentence: str | None) -> None:
    """Tell the curator, as a warning that names the line which called `Grid.count`."""
    if sentence is not None:
        warnings.warn(sentence, ExtentWarning, stacklevel=4)


Ints = NDArray[np.int64]
_NONE = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Counted:
    """Counts of the atoms of a plan. Exact: for the curator alone.

    Attributes
    ----------
    atoms : (m,) int64
        Atoms that occurred, ascending.
    counts : (m,) int64
        Records that count in each.
    judged : (12,) int64
        What was counted of the rows, see `cleaning`.
    held : partitions.counting.Held or None
        Under a contribution bound the records of each person in a part, which has no atoms itself.
    unclipped : (m,) int64 or None
        Under a contribution bound all records in each atom, once all parts are added up.
    """

    atoms: NDArray[np.integer]
    counts: NDArray[np.integer]
    judged: Ints
    held: Any = None
    unclipped: Ints | None = None

    def packed(self) -> Counted:
        """The same in 32 bits where that is enough: what a worker sends."""
        largest = max(self.atoms.max(initial=0), self.counts.max(initial=0))
        kind: type[np.integer] = np.uint32 if largest < 2**32 else np.int64
        atoms, counts = self.atoms.astype(kind), self.counts.astype(kind)
        return replace(self, atoms=atoms, counts=counts, held=self.held.packed())

    def dense(self, size: int) -> tuple[Ints, Ints | None]:
        """`counts` and `unclipped` of all atoms, (size,)."""
        counts, unclipped = np.zeros((2, size), np.int64)
        counts[self.atoms] = self.counts
        unclipped[self.atoms] = 0 if self.unclipped is None else self.unclipped
        return counts, None if self.unclipped is None else unclipped


class Countable(ABC):
    """Records with a place, held or not, that are counted on any plan."""

    crs: Any
    notes: tuple[str, ...]

    @property
    @abstractmethod
    def has_users(self) -> bool:
        """Whether it is known whose record each is."""

    @abstractmethod
    def _about(self) -> tuple[int, tuple[str, ...]]:
        """How many rows there are, or about as many, and whose they are, for the ledger."""

    @abstractmethod
    def _count(self, plan: Plan, bound: int | None, progress: Progress | None = None) -> Counted:
        """Count on a plan."""

    def count_on(
        self, grid: Grid, contribution_bound: int | None = None, progress: Progress | None = None
    ) -> FrequencyMatrix:
        """Count these records into the cells of a grid; see `Grid.count`."""
        matrix, _, few = self._on_grid(grid, contribution_bound, progress=progress)
        warn_few(few)
        return matrix

    def count_in(
        self,
        areas: Areas,
        cell: float,
        contribution_bound: int | None = None,
        progress: Progress | None = None,
    ) -> AreaCounts:
        """Count these records by area and cell of a national lattice; see `Areas.count`."""
        return self._in_areas(areas, cell, contribution_bound, progress=progress)

    def _on_grid(
        self,
        grid: Grid,
        contribution_bound: int | None,
        **how: Any,
    ) -> tuple[FrequencyMatrix, list[str], str | None]:
        """Counts of cells, what was left out and why, and a sentence where they are next to none.

        ``how`` are further arguments of `_count`.
        """
        bound = checked_bound(contribution_bound, self.has_users)
        rows, whose = self._about()
        plan = GridPlan(grid, self.crs, rows)
        counted = self._count(plan, bound, **how)
        counts, unclipped = counted.dense(plan.size)
        few = few_inside(int(counts.sum()), int(counted.judged[RECORDS]), bound)
        if unclipped is not None:
            unclipped = unclipped.reshape(grid.shape)
        unit = (1, "point") if bound is None else (bound, "user")
        matrix = FrequencyMatrix(counts.reshape(grid.shape), grid, *unit, unclipped=unclipped)
        return of_people(matrix, whose), sentences(counted.judged), few

    def _in_areas(
        self,
        areas: Areas,
        cell: float,
        contribution_bound: int | None,
        **how: Any,
    ) -> AreaCounts:
        bound = checked_bound(contribution_bound, self.has_users)
        rows, whose = self._about()
        windows = Windows(areas, areas.lattice(cell))
        crs: Any = None if self.crs is None else as_crs(self.crs)
        plan = PairPlan(windows.grid, areas, crs, rows)
        counted = self._count(plan, bound, **how)
        notes = tuple(dict.fromkeys([*self.notes, *sentences(counted.judged)]))
        atoms = plan.parts(counted.atoms.astype(np.int64))
        every = None
        if counted.unclipped is not None:
            every = AreaCounts(windows, *atoms, counted.unclipped, notes=notes)
        unit = (1, "point") if bound is None else (bound, "user")
        counts = AreaCounts(windows, *atoms, counted.counts, *unit, notes, unclipped=every)
        return of_people(counts, whose)


class Unheld(Countable):
    """Points that are counted while they are read, and never held."""

    populations: tuple[str, ...]
    wanted: Wanted

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many there are, or about as many."""

    @property
    def has_users(self) -> bool:
        """Whether it is known whose record each is."""
        return self.wanted.user is not None

    def _about(self) -> tuple[int, tuple[str, ...]]:
        return self.rows, self.populations

    def count(
        self, grid: Grid, contribution_bound: int | None = None, progress: Progress | None = None
    ) -> tuple[FrequencyMatrix, tuple[str, ...]]:
        """Count into the cells of a grid, and say which rows were left out and why.

        Raises
        ------
        InputError
            As `read_points` does, once the points are read, and for a bound without users.
        """
        return self._with_notes(grid, contribution_bound, progress=progress)

    def _with_notes(
        self, grid: Grid, contribution_bound: int | None, **how: Any
    ) -> tuple[FrequencyMatrix, tuple[str, ...]]:
        matrix, left_out, few = self._on_grid(grid, contribution_bound, **how)
        return matrix, tuple(dict.fromkeys([*self.notes, *left_out, *([few] if few else [])]))


def checked_bound(bound: Any, has_users: bool, what: str = "record") -> int | None:
    """A contribution bound of records that have users or not; None for none.

    Raises
    ------
    InputError
        For one that is none, or without users.
    """
    if bound is None:
        return None
    bound = whole_bound(bound)
    if not has_users:
        raise InputError(
            f"A contribution bound needs to know the user of each {what}; read the "
            f"{'points' if what == 'record' else 'trips'} with user=... or leave the bound out."
        )
    return bound


@dataclass(frozen=True, eq=False)
class Placed:
    """Where the records on a grid lie: all of them, whichever count under a contribution bound.

    Parameters
    ----------
    column, row : (n,) float32
        Place in cells of the grid, rounded down: the whole part is the cell of the record.
    records : (n,) float32 or None
        How many records lie there; None means one each.
    """

    column: NDArray[np.float32]
    row: NDArray[np.float32]
    records: NDArray[np.float32] | None


def count_records(
    points: Any, plan: Plan, bound: int | None = None, progress: Progress | None = None
) -> Counted:
    """Counts of the atoms of a plan, under a contribution bound with those of all records.

    Parameters
    ----------
    points, plan : `Points`, or arrays called as theirs, and what they are counted on, of one CRS
    bound : at most this many records on the plan of each code in ``points.user``, see `clipping`
    progress : is called with the fraction done after each chunk
    """
    people, tally, judged = PersonCells(), Tally(plan.size), np.zeros(JUDGED, np.int64)
    judged[RECORDS] = len(points) if points.weight is None else points.weight.sum()
    for start in range(0, len(points), CHUNK):
        part = slice(start, min(start + CHUNK, len(points)))
        x, y = points.x[part], points.y[part]
        weight = None if points.weight is None else points.weight[part]
        if bound is not None:
            user = np.zeros(x.size, np.int64) if points.user is None else points.user[part]
            people.add(user, plan.atoms(x, y), weight)
        elif weight is None and isinstance(plan, GridPlan):
            # A grid's cells are never so many that they are in no vector.
            plan.count(x, y, tally.dense())
        else:
            tally.add(plan.atoms(x, y), weight)
        if progress is not None:
            progress(part.stop / len(points))
    if bound is None:
        return Counted(*tally.sparse(), judged)
    atoms, counts, unclipped = people.clipped(bound, starts_of_codes(points.user_hash), plan.size)
    return Counted(atoms, counts, judged, unclipped=unclipped)


def count_and_place(
    points: Any, grid: Grid, progress: Progress | None = None
) -> tuple[NDArray[np.int64], Placed]:
    """Counts of all records by (row, column) of a grid, and where each is; see `count_records`."""
    counts = np.zeros(grid.shape, dtype=np.int64)
    finder = GridPlan(grid, points.crs, len(points)).finder
    # Pages of memory that nothing is written to take no space: points outside cost nothing here.
    column, row = np.empty(len(points), np.float32), np.empty(len(points), np.float32)
    records = np.empty(len(points) if points.weight is not None else 0, np.float32)
    inside = 0
    for start in range(0, len(points), CHUNK):
        stop = min(start + CHUNK, len(points))
        u, v, index = finder.find(points.x[start:stop], points.y[start:stop])
        weight = _NONE if points.weight is None else points.weight[index + start]
        inside += _add(u, v, weight, counts, column[inside:], row[inside:], records[inside:])
        if progress is not None:
            progress(stop / len(points))
    weights = None if points.weight is None else records[:inside]
    return counts, Placed(column[:inside], row[:inside], weights)


@njit(cache=True, nogil=True)
def _add(us, vs, weight, counts, column, row, records):  # type: ignore[no-untyped-def]
    """Count places; write those that counted to the arrays behind ``counts``.

    Places are columns and rows, NaN outside. Without ``weight`` each counts once. Returns how many
    were written.
    """
    rows, cols = counts.shape
    n = 0
    for i in range(us.size):
        u, v = us[i], vs[i]
        if np.isnan(u):
            continue
        number = weight[i] if weight.size else 1
        # The last edge belongs to the last cell.
        counts[min(int(v), rows - 1), min(int(u), cols - 1)] += number
        if number > 0:
            column[n], row[n] = _down(u, cols), _down(v, rows)
            if records.size:
                records[n] = number
            n += 1
    return n


@njit(cache=True, nogil=True)
def _down(value, end):  # type: ignore[no-untyped-def]
    """The largest float32 that is not above ``value`` and below ``end``."""
    single = np.float32(value)
    if single > value or single >= end:
        single = np.nextafter(single, np.float32(0))
    return single
