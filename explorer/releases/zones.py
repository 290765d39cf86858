"""Zones: one place divided into an even grid of rectangles, between which flows are counted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.releases.nodes import Ints

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Zones:
    """The n = rows x columns zones of one place, numbered row by row from the south-west.

    Along a side of L cells divided by z, zone i has the cells floor(i L / z) up to
    floor((i + 1) L / z): whole cells, of uneven number where z does not divide L. A side of one
    cell is not divided.

    Attributes
    ----------
    name : what the place is called, such as "from"
    grid : the grid of the place
    rows, columns : zones along either side
    """

    name: str
    grid: Grid
    rows: int
    columns: int

    @classmethod
    def of(cls, name: str, grid: Grid, zones: Any) -> Zones:
        """``zones`` x ``zones`` zones of a place.

        Raises
        ------
        InputError
            For what is no whole number of 1 or more, and for more zones than a side has cells.
        """
        whole = isinstance(zones, int | np.integer) and not isinstance(zones, bool)
        if not whole or zones < 1:
            raise InputError(f"The number of zones is {zones!r}: give a whole number, 1 or more.")
        short = [side for side in grid.shape if 1 < side < zones]
        if short or max(grid.shape) < zones:
            raise InputError(
                f"{zones} x {zones} zones are finer than the {grid.shape[0]} x {grid.shape[1]} "
                f"cells of the place {name!r}: choose at most {min(short or grid.shape)}."
            )
        rows, columns = (int(min(zones, side)) for side in grid.shape)
        return cls(name, grid, rows, columns)

    def __len__(self) -> int:
        return self.rows * self.columns

    @cached_property
    def edges(self) -> tuple[Ints, Ints]:
        """Edges in cells along rows, (rows + 1,), and along columns, (columns + 1,)."""
        return _edges(self.grid.shape[0], self.rows), _edges(self.grid.shape[1], self.columns)

    @cached_property
    def cells(self) -> Ints:
        """Lower and upper cell of every zone, (n, 2, 2), half open."""
        north, east = np.divmod(np.arange(len(self)), self.columns)
        of_rows, of_columns = self.edges
        lower = np.stack([of_rows[north], of_columns[east]], axis=1)
        upper = np.stack([of_rows[north + 1], of_columns[east + 1]], axis=1)
        return np.stack([lower, upper], axis=1)

    @cached_property
    def boxes(self) -> Floats:
        """x0, y0, x1, y1 of every zone in the unit of its place, (n, 4)."""
        return self.grid.from_cells(self.cells.astype(np.float64))

    @cached_property
    def centres(self) -> Floats:
        """x, y of the middle of every zone in the unit of its place, (n, 2)."""
        boxes = self.boxes
        return (boxes[:, :2] + boxes[:, 2:]) / 2

    @cached_property
    def lonlat(self) -> Floats | None:
        """Longitude and latitude of the middles, (n, 2); None for a grid of cells."""
        if self.grid.crs is None:
            return None
        return np.stack(self.grid.to_lonlat(*self.centres.T), axis=1)

    @property
    def labels(self) -> list[str]:
        """Row and column of every zone from 1 on, such as "1-3": south first, west first."""
        return [f"{i + 1}-{j + 1}" for i in range(self.rows) for j in range(self.columns)]

    def at(self, x: float, y: float) -> int | None:
        """The number of the zone at a point in the unit of the place; None outside of it."""
        x0, y0, x1, y1 = self.grid.bounds
        if not (x0 <= x <= x1 and y0 <= y <= y1):
            return None
        cell = self.grid.to_cells([[x, y, x, y]])[0, 0]
        results = [
            min(int(np.searchsorted(edges, at, side="right")) - 1, len(edges) - 2)
            for edges, at in zip(self.edges, cell, strict=True)
        ]
        return results[0] * self.columns + results[1]

    def same_as(self, other: Zones) -> bool:
        """Whether both places are divided alike on one and the same grid."""
        return self.grid == other.grid and (self.rows, self.columns) == (other.rows, other.columns)


def _edges(side: int, parts: int) -> Ints:
    return np.arange(parts + 1, dtype=np.int64) * side // parts
