"""Points into areas and cells of a national lattice, a million points at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.areas.windows import Windows
from explorer.grid.grid import Progress
from explorer.grid.plans import PairPlan
from explorer.grid.projection import CHUNK, as_crs
from explorer.points.area_counts import AreaCounts
from explorer.points.counting import Records
from explorer.points.tally import Tally

Ints = NDArray[np.int64]


class ReadRecords(Records, Protocol):
    """Records that know how they were read."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on columns that were guessed and rows that were left out."""


def count_areas(
    points: ReadRecords,
    windows: Windows,
    contribution_bound: int | None = None,
    progress: Progress | None = None,
    unclipped: AreaCounts | None = None,
) -> AreaCounts:
    """Count points by (area, cell); those in no area are counted nowhere.

    Parameters
    ----------
    points : ReadRecords
        In any CRS.
    windows : the areas and their lattice
    contribution_bound : int, optional
        Keep the first this many records of each code in ``points.user`` that lie in any area, in
        the order of the rows: what is kept of one user depends on that user alone.
    progress : callable, optional
        Called with the fraction done after each chunk.

    Raises
    ------
    InputError
        For a lattice that does not hold a place of an area.
    """
    if points.crs is None or windows.grid.crs is None:
        raise InputError("These points have no CRS; read them with crs=... to place them.")
    plan = PairPlan(windows.grid, windows.areas, as_crs(points.crs), len(points))
    taken = _nobody(points.user) if contribution_bound and points.user is not None else None
    total = Tally(plan.size)
    for start in range(0, len(points), CHUNK):
        part = slice(start, min(start + CHUNK, len(points)))
        atoms = plan.atoms(points.x[part], points.y[part])
        inside = np.flatnonzero(atoms >= 0)
        number = None
        if points.weight is not None:
            number = points.weight[part][inside].copy()
        if taken is not None and points.user is not None and contribution_bound:
            codes = np.searchsorted(taken[0], points.user[part][inside])
            number = np.ones(len(inside), dtype=np.int64) if number is None else number
            keep_first(codes, contribution_bound, taken[1], number, plan.parts(atoms[inside])[0])
        total.add(atoms[inside], number)
        if progress is not None:
            progress(part.stop / len(points))
    atoms, counts = total.sparse()
    return of_atoms(windows, plan, atoms, counts, contribution_bound, points.notes, unclipped)


def of_atoms(
    windows: Windows,
    plan: PairPlan,
    atoms: Ints,
    counts: Ints,
    contribution_bound: int | None,
    notes: Sequence[str],
    unclipped: AreaCounts | None = None,
) -> AreaCounts:
    """Counts (a,) of atoms (a,) of a plan over these windows, as counts of areas."""
    area, cell = plan.parts(atoms)
    unit = "point" if contribution_bound is None else "user"
    bound = contribution_bound or 1
    return AreaCounts(windows, area, cell, counts, bound, unit, notes, unclipped=unclipped)


def _nobody(user: Ints) -> tuple[Ints, Ints]:
    """All codes of users, and the records taken of each so far."""
    codes = np.unique(user)
    return codes, np.zeros(len(codes), dtype=np.int64)


@njit(cache=True, nogil=True)
def keep_first(codes, bound, taken, number, _area):  # type: ignore[no-untyped-def]
    """Cut `number` (n,) down to what each user may still give, whatever the area, row by row."""
    for i in range(len(codes)):
        number[i] = min(number[i], bound - taken[codes[i]])
        taken[codes[i]] += number[i]
