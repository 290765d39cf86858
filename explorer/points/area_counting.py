"""Points into areas and cells of a national lattice, a million points at a time."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.areas.windows import Windows
from explorer.grid.grid import Progress
from explorer.grid.projection import CHUNK, transform
from explorer.points.area_counts import AreaCounts
from explorer.points.counting import Records

Ints = NDArray[np.int64]


def count_areas(
    points: Records,
    windows: Windows,
    contribution_bound: int | None = None,
    progress: Progress | None = None,
) -> AreaCounts:
    """Count points by (area, cell); those in no area are counted nowhere.

    Parameters
    ----------
    points : Records
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
    grid = windows.grid
    rows, cols = grid.shape
    if points.crs is None or grid.crs is None:
        raise InputError("These points have no CRS; read them with crs=... to place them.")
    taken = _nobody(points.user) if contribution_bound and points.user is not None else None
    names: list[Ints] = []
    numbers: list[Ints] = []
    for start in range(0, len(points), CHUNK):
        part = slice(start, min(start + CHUNK, len(points)))
        area = windows.areas.assign(points.x[part], points.y[part], points.crs).astype(np.int64)
        inside = np.flatnonzero(area >= 0)
        x, y = points.x[part][inside], points.y[part][inside]
        if points.crs != grid.crs:
            x, y = transform(points.crs, grid.crs, x, y)
        row = np.floor((y - grid.bounds[1]) / grid.cell_height).astype(np.int64)
        col = np.floor((x - grid.bounds[0]) / grid.cell_width).astype(np.int64)
        if np.any((row < 0) | (row >= rows) | (col < 0) | (col >= cols)):
            raise InputError("The lattice does not hold all areas: take the one of the areas.")
        number = np.ones(len(inside), dtype=np.int64)
        if points.weight is not None:
            number = points.weight[part][inside].copy()
        if taken is not None and points.user is not None and contribution_bound:
            codes = np.searchsorted(taken[0], points.user[part][inside])
            keep_first(codes, contribution_bound, taken[1], number, area[inside])
        atom, place = np.unique(
            area[inside] * (rows * cols) + row * cols + col, return_inverse=True
        )
        names.append(atom)
        numbers.append(np.bincount(place, number, len(atom)).astype(np.int64))
        if progress is not None:
            progress(part.stop / len(points))
    atoms = np.concatenate(names) if names else np.zeros(0, dtype=np.int64)
    counted = np.concatenate(numbers) if numbers else np.zeros(0, dtype=np.int64)
    area, cell = np.divmod(atoms, rows * cols)
    unit = "point" if contribution_bound is None else "user"
    return AreaCounts(windows, area, cell, counted, contribution_bound or 1, unit)


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
