"""Exact counts of the areas of a country, and of the cells inside each."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid.areas.areas import Areas
from explorer.grid.areas.people import Row
from explorer.grid.areas.windows import Window, Windows
from explorer.grid.cards import exact_card
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix, check_unit
from explorer.points.populations import of_people

Ints = NDArray[np.int64]


class AreaCounts:
    """Exact counts of records by (area, cell) on a national lattice: atoms, from which all follows.

    Parameters
    ----------
    windows : Windows
        The areas and their part of the lattice.
    area : (a,) int, 0 to the number of areas - 1
        Number of the area of each atom, in the order of the file.
    cell : (a,) int, 0 or more
        Row times columns plus column of its cell of the lattice.
    number : (a,) int, 0 or more
        Records there.
    contribution_bound : int, 1 or more
        The most records that one unit of privacy contributes *in the whole country*, whatever
        areas they lie in: bounded an area at a time, a user could move every one of them.
    unit : {"point", "user"}
    notes : sequence of str
        How the records were read, with exact numbers (curator only).
    unclipped : AreaCounts, optional
        Counts of all records in the areas, before the contribution bound left any out.

    Attributes
    ----------
    unclipped : AreaCounts or None
        Those counts, with unit "point"; None where they are not known. Exact, for the curator
        alone: they are no part of `key`, and no mechanism reads them.

    Raises
    ------
    InputError
        For atoms outside the areas or the lattice, counts below 0, or another unit.

    Examples
    --------
    Two districts of a made-up country, each 1 km wide:

    >>> import geopandas
    >>> from shapely import box
    >>> from explorer import AreaCounts, Areas
    >>> frame = geopandas.GeoDataFrame(
    ...     {"district": ["West", "East"]},
    ...     geometry=[box(0, 0, 1000, 2000), box(1000, 0, 2000, 2000)],
    ...     crs="EPSG:32633",
    ... )
    >>> areas = Areas.read(frame, levels=("district",))
    >>> counts = areas.count({"x": [500, 500], "y": [900, 950]}, cell=250, crs="EPSG:32633")
    >>> isinstance(counts, AreaCounts), counts.national().total
    (True, 2)
    """

    #: Whose records these are, for the ledger; no part of `key`. See `points.populations`.
    populations: tuple[str, ...] = ()

    def __init__(
        self,
        windows: Windows,
        area: ArrayLike,
        cell: ArrayLike,
        number: ArrayLike,
        contribution_bound: int = 1,
        unit: str = "point",
        notes: Sequence[str] = (),
        *,
        unclipped: AreaCounts | None = None,
    ) -> None:
        whole = [np.asarray(column, dtype=np.int64) for column in (area, cell, number)]
        if len({column.shape for column in whole}) != 1 or whole[0].ndim != 1:
            raise InputError("Give area, cell and number of each atom: three lists of one length.")
        areas, cells = len(windows.areas), int(np.prod(windows.grid.shape))
        for values, limit, what in ((whole[0], areas, "areas"), (whole[1], cells, "cells")):
            if len(values) and not 0 <= values.min() <= values.max() < limit:
                raise InputError(f"An atom lies outside the {limit:,} {what} of this country.")
        if len(whole[2]) and whole[2].min() < 0:
            raise InputError("The counts hold a negative number: give counts of 0 or more.")
        self.contribution_bound = check_unit(contribution_bound, unit)
        self.unit = unit
        self.notes = tuple(notes)
        self.unclipped = unclipped
        self.windows = windows
        # An atom without records is none: the same counts have one key, and so one account.
        there = whole[2] > 0
        atoms = whole[0][there] * cells + whole[1][there]
        names, place = np.unique(atoms, return_inverse=True)
        self._number = np.zeros(len(names), dtype=np.int64)
        np.add.at(self._number, place, whole[2][there])
        self._area, self._cell = np.divmod(names, cells)

    @property
    def areas(self) -> Areas:
        """The public areas."""
        return self.windows.areas

    @property
    def domain(self) -> Row:
        """The lowest areas in a row, see `people`: the domain of a curator of this."""
        return Row(len(self.areas))

    @cached_property
    def key(self) -> str:
        """SHA-256 of the counts, the areas and the lattice: names the data set in the ledger."""
        digest = hashlib.sha256(f"{self.areas.key} {self.windows.grid.to_dict()}".encode())
        for array in (self._area, self._cell, self._number):
            digest.update(array.astype("<i8").tobytes())
        return digest.hexdigest()

    @cached_property
    def by_area(self) -> Ints:
        """Exact count of every area, (m,), in the order of the file (curator only)."""
        counts = np.zeros(len(self.areas), dtype=np.int64)
        np.add.at(counts, self._area, self._number)
        return counts

    @cached_property
    def by_node(self) -> Ints:
        """Exact count of every node of the tree of areas, (n,) (curator only)."""
        counts = np.zeros(len(self.areas.parent), dtype=np.int64)
        counts[self.areas.lowest] = self.by_area
        for node in range(len(counts) - 1, 0, -1):
            counts[self.areas.parent[node]] += counts[node]
        return counts

    @property
    def by_cell(self) -> tuple[Ints, Ints]:
        """Cell of the lattice and exact count of every atom, (a,) each (curator only)."""
        return self._cell, self._number

    def count(self, lower: Ints, upper: Ints) -> Ints:
        """Exact counts of n ranges of the row, (n,); `lower` and `upper` are (n, 1)."""
        exact: Ints = self._sums[upper[:, 0]] - self._sums[lower[:, 0]]
        return exact

    @cached_property
    def _sums(self) -> Ints:
        return np.concatenate([[0], np.cumsum(self.by_area[self.windows.row])])

    def split_costs(self, *_: Any) -> Any:
        """Areas are divided by their borders: raises InputError."""
        raise InputError("Areas have no cuts: choose a mechanism that does not look for any.")

    all_split_costs = all_imbalances = split_costs

    def inside(self, window: Window) -> FrequencyMatrix:
        """The records of the areas of a window, and no others, in its cells.

        The matrix has no place on the Earth; the window knows it.
        """
        counts = np.zeros(window.shape, dtype=np.int64)
        for area in window.members:
            begin, end = np.searchsorted(self._area, [area, area + 1])
            row, col = np.divmod(self._cell[begin:end], self.windows.grid.shape[1])
            at = (row // window.scale - window.row), (col // window.scale - window.col)
            np.add.at(counts, at, self._number[begin:end])
        unclipped = None if self.unclipped is None else self.unclipped.inside(window)
        return self._matrix(counts, Grid.cells(window.shape), unclipped)

    def national(self) -> FrequencyMatrix:
        """All records of all areas on the lattice (curator only).

        Returns
        -------
        FrequencyMatrix
            (rows, cols) of the whole lattice.
        """
        counts = np.zeros(self.windows.grid.shape, dtype=np.int64)
        np.add.at(counts.ravel(), self._cell, self._number)
        unclipped = None if self.unclipped is None else self.unclipped.national()
        return self._matrix(counts, self.windows.grid, unclipped)

    def _matrix(
        self, counts: Ints, grid: Grid, unclipped: FrequencyMatrix | None
    ) -> FrequencyMatrix:
        bound, unit = self.contribution_bound, self.unit
        matrix = FrequencyMatrix(counts, grid, bound, unit, unclipped=unclipped)
        return of_people(matrix, self.populations)

    def __repr__(self) -> str:
        # No count in it: a repr ends up in logs and notebooks.
        return f"AreaCounts({len(self.areas)} areas, unit of privacy: {self.unit})"

    def _repr_html_(self) -> str:
        facts = {"areas": f"{len(self.areas):,}", "unit of privacy": self.unit}
        return exact_card("Counts of areas", facts)
