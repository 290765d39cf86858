"""What points can be counted on: public functions of position, one atom for each place.

An atom is the smallest set of places that is counted separately: a cell of a grid, or the part of a
cell that is in one area. Counts of anything larger are sums over atoms, so that points are read
once.
"""

from __future__ import annotations

import hashlib
from typing import Protocol

import numpy as np
import pyproj
from numba import njit
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.cells import CellFinder
from explorer.grid.grid import Grid
from explorer.grid.projection import LONLAT

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_MOST_ATOMS = 2**62


class Plan(Protocol):
    """A public function from places to atoms, made for coordinates of one CRS.

    It holds all that it needs (fitted patches, an index of areas), so that a worker which gets it
    computes the same bits as anyone who made it. Plans are pickled to be sent.
    """

    @property
    def size(self) -> int:
        """How many atoms there may be; they are numbered from 0."""

    @property
    def key(self) -> str:
        """SHA-256 of all that decides which atom a place is in."""

    def atoms(self, x: Floats, y: Floats) -> Ints:
        """The atom of each of (n,) places, -1 for none."""


class Assigned(Protocol):
    """Areas as a plan needs them."""

    @property
    def key(self) -> str:
        """SHA-256 of what they are."""

    def __len__(self) -> int:
        """How many areas."""

    def assign(self, x: Floats, y: Floats, crs: pyproj.CRS) -> NDArray[np.int32]:
        """Number of the area of each place, -1 for none."""


class GridPlan:
    """The cells of a grid, row-major: row times columns plus column.

    Parameters
    ----------
    grid : Grid
    crs : pyproj.CRS or None
        Of the places; ``None`` for plain cells.
    places : float
        About how many will be asked for, see `CellFinder`.

    Examples
    --------
    >>> plan = GridPlan(Grid.cells((2, 3)), None)
    >>> plan.atoms(np.array([0.5, 3.0, 9.0]), np.array([0.5, 2.0, 0.5])).tolist()
    [0, 5, -1]
    """

    def __init__(self, grid: Grid, crs: pyproj.CRS | None = LONLAT, places: float = np.inf) -> None:
        if crs is None and grid.crs is not None:
            raise InputError("These points have no CRS; read them with crs=... to place them.")
        if crs is not None and grid.crs is None:
            raise InputError("This grid has no CRS; make it with Grid.around to count places.")
        self.grid = grid
        self.finder = CellFinder(grid, crs, places)

    @property
    def size(self) -> int:
        """Cells of the grid."""
        return self.grid.shape[0] * self.grid.shape[1]

    @property
    def key(self) -> str:
        """SHA-256 of the grid, without its name, and the CRS of the places."""
        crs = None if self.finder.crs is None else self.finder.crs.to_wkt()
        described = {**self.grid.to_dict(), "name": "", "points": crs}
        return hashlib.sha256(repr(described).encode()).hexdigest()

    def atoms(self, x: Floats, y: Floats) -> Ints:
        """The cell of each place, -1 outside."""
        return self.finder.number(x, y)

    def count(self, x: Floats, y: Floats, counts: Ints) -> None:
        """Add (n,) places to the counts (size,) of all cells: faster than by their atoms."""
        self.finder.count(x, y, counts)


class PairPlan:
    """Areas and the cells of a grid: area times cells plus cell, for places in both.

    Everything that a release over areas asks for follows by adding: counts of areas, the grid
    inside one, the grid of all. A place in an area but off the grid would vanish, so a grid for
    areas is made from their boundaries and holds them all; another one is refused.

    Parameters
    ----------
    grid : Grid
    areas : areas with ``assign``, ``key`` and a number
    crs : pyproj.CRS
        Of the places.
    """

    def __init__(
        self, grid: Grid, areas: Assigned, crs: pyproj.CRS = LONLAT, places: float = np.inf
    ) -> None:
        self.cells, self.areas, self.crs = GridPlan(grid, crs, places), areas, crs
        if self.size > _MOST_ATOMS:
            raise InputError("There are too many areas and cells; declare larger cells.")

    @property
    def size(self) -> int:
        """Areas times cells; most pairs never occur."""
        return len(self.areas) * self.cells.size

    @property
    def key(self) -> str:
        """SHA-256 of the grid and the areas."""
        return hashlib.sha256(f"{self.cells.key} {self.areas.key}".encode()).hexdigest()

    def atoms(self, x: Floats, y: Floats) -> Ints:
        """The pair of each place, -1 outside of all areas.

        Raises
        ------
        InputError
            For a place in an area and off the grid: its record would vanish.
        """
        atoms = self.cells.atoms(x, y)
        if not _pair(self.areas.assign(x, y, self.crs), self.cells.size, atoms):
            raise InputError("The lattice does not hold all areas: take the one of the areas.")
        return atoms

    def parts(self, atoms: Ints) -> tuple[Ints, Ints]:
        """Area and cell of atoms, (m,) each."""
        area, cell = np.divmod(atoms, self.cells.size)
        return area, cell


@njit(cache=True, nogil=True)
def _pair(area, cells, atoms):  # type: ignore[no-untyped-def]
    """Turn cells into pairs, in place; False if a place in an area is in no cell."""
    for i in range(atoms.size):
        if area[i] < 0:
            atoms[i] = -1
        elif atoms[i] < 0:
            return False
        else:
            atoms[i] += np.int64(area[i]) * cells
    return True
