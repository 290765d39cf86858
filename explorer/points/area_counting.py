"""Points into areas and cells of a national lattice, a million points at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.areas.windows import Windows
from explorer.grid.grid import Progress
from explorer.grid.plans import PairPlan
from explorer.grid.projection import CHUNK, as_crs
from explorer.points.area_counts import AreaCounts
from explorer.points.counting import Records, count_clipped
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
) -> AreaCounts:
    """Count points by (area, cell); those in no area are counted nowhere.

    Parameters
    ----------
    points : ReadRecords
        In any CRS.
    windows : the areas and their lattice
    contribution_bound : int, optional
        At most this many records of each code in ``points.user`` that lie in any area, see
        `clipping`.
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
    if contribution_bound is not None:
        clipped = count_clipped(points, plan, contribution_bound, progress)
        return of_atoms(windows, plan, *clipped[:2], contribution_bound, points.notes, clipped[2])
    total = Tally(plan.size)
    for start in range(0, len(points), CHUNK):
        part = slice(start, min(start + CHUNK, len(points)))
        weight = None if points.weight is None else points.weight[part]
        total.add(plan.atoms(points.x[part], points.y[part]), weight)
        if progress is not None:
            progress(part.stop / len(points))
    return of_atoms(windows, plan, *total.sparse(), None, points.notes)


def of_atoms(
    windows: Windows,
    plan: PairPlan,
    atoms: Ints,
    counts: Ints,
    contribution_bound: int | None,
    notes: Sequence[str],
    unclipped: Ints | None = None,
) -> AreaCounts:
    """Counts (a,) of atoms (a,) of a plan over these windows, as counts of areas."""
    area, cell = plan.parts(atoms)
    unit = "point" if contribution_bound is None else "user"
    every = None if unclipped is None else AreaCounts(windows, area, cell, unclipped, notes=notes)
    bound = contribution_bound or 1
    return AreaCounts(windows, area, cell, counts, bound, unit, notes, unclipped=every)
