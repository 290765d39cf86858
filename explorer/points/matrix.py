"""The frequency matrix: exact counts per cell, and the tables that make sliders fast.

A `FrequencyMatrix` is exact data. During a release only the curator holds one; a `Release` never
does.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid.cards import exact_card
from explorer.grid.grid import Grid
from explorer.grid.sums import box_sums, summed
from explorer.grid.values import shown
from explorer.points import cost_tables
from explorer.points import split_costs as homogeneity

Ints = NDArray[np.int64]
#: Records of one user.
MOST_BOUND = 10**9


class FrequencyMatrix:
    """Exact counts of records per cell of a public grid: the dense case of `privacy.counts.Counts`.

    Parameters
    ----------
    counts : (rows, cols) array of integers, 0 or more
        Row 0 is the southern edge of the grid, column 0 its western edge.
    grid : Grid
        The public extent that the counts belong to; its shape equals that of `counts`.
    contribution_bound : int, 1 or more
        The most records that one unit of privacy contributes: 1 when the unit is a record, k when
        it is a user of whom at most k records were kept. It multiplies every sensitivity.
    unit : {"point", "user"}
        What adding or removing one of makes two data sets neighbours.
    unclipped : (rows, cols) array of integers or FrequencyMatrix, optional
        Counts of all records on the grid, before the contribution bound left any out.

    Attributes
    ----------
    unclipped : FrequencyMatrix or None
        Those counts, with unit "point" and bound 1; None where they are not known. Exact, for the
        curator alone: they are no part of `key`, and no mechanism reads them.

    Raises
    ------
    InputError
        For counts that are negative, fractional, not finite, or not of the grid's shape, and for
        unclipped counts that are lower than the counts.

    Examples
    --------
    >>> from explorer import FrequencyMatrix, Grid
    >>> matrix = FrequencyMatrix([[9, 0, 2], [8, 1, 0]], Grid.cells((2, 3)))
    >>> matrix.shape, matrix.total, matrix.unit
    ((2, 3), 20, 'point')
    >>> matrix.dense()[0].tolist()  # the southern row
    [9, 0, 2]
    >>> matrix.prepare() is matrix
    True
    """

    #: Whose records these are, for the ledger; no part of `key`. See `points.populations`.
    populations: tuple[str, ...] = ()

    def __init__(
        self,
        counts: ArrayLike,
        grid: Grid,
        contribution_bound: int = 1,
        unit: str = "point",
        *,
        unclipped: ArrayLike | FrequencyMatrix | None = None,
    ) -> None:
        self.counts = _whole_counts(counts)
        self.counts.flags.writeable = False
        if self.counts.shape != tuple(grid.shape):
            raise InputError(
                f"The counts have shape {self.counts.shape} but the grid has {grid.shape}: "
                "give a grid of the same rows and columns."
            )
        self.grid = grid
        self.contribution_bound = check_unit(contribution_bound, unit)
        self.unit = unit
        self.unclipped: FrequencyMatrix | None = None
        if unclipped is not None:
            if not isinstance(unclipped, FrequencyMatrix):
                unclipped = FrequencyMatrix(unclipped, grid)
            self.unclipped = unclipped
            if self.unclipped.shape != self.shape or np.any(self.unclipped.counts < self.counts):
                raise InputError(
                    "The unclipped counts are of another shape or lower than the counts: give the "
                    "counts of all records of the same grid."
                )

    @classmethod
    def from_array(
        cls, counts: ArrayLike, grid: Grid | None = None, contribution_bound: int = 1
    ) -> FrequencyMatrix:
        """Wrap a matrix of counts; without a grid its unit is cells (x columns, y rows).

        Parameters
        ----------
        counts : (rows, cols) array of int, 0 or more
            Row 0 is the southern edge.
        grid : Grid, optional
            Of the same shape; without one the unit is cells.
        contribution_bound : int, 1 or more
            Above 1 the unit of privacy is a user.

        Returns
        -------
        FrequencyMatrix

        Raises
        ------
        InputError
            For counts that are negative, fractional, not finite, or not of the grid's shape, and
            for another bound.

        Examples
        --------
        >>> FrequencyMatrix.from_array([[9, 0], [8, 1]], contribution_bound=5).unit
        'user'
        """
        whole = _whole_counts(counts)
        unit = "point" if contribution_bound == 1 else "user"
        return cls(whole, grid or Grid.cells(whole.shape), contribution_bound, unit)

    @property
    def domain(self) -> Grid:
        """The public space, which is the grid."""
        return self.grid

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, cols = self.counts.shape
        return rows, cols

    @cached_property
    def total(self) -> int:
        """The exact number of records on the grid (curator only: it is not private)."""
        return int(self.counts.sum())

    @cached_property
    def key(self) -> str:
        """SHA-256 of the counts and their extent: names the data set in the ledger."""
        place = {**self.grid.to_dict(), "name": ""}  # a new name is no new data set
        digest = hashlib.sha256(repr(place).encode())
        digest.update(np.ascontiguousarray(self.counts, dtype="<i8").tobytes())
        return digest.hexdigest()

    @cached_property
    def sums(self) -> NDArray[np.int64]:
        """Summed-area table, (rows + 1, cols + 1): entry [i, j] counts rows < i and columns < j."""
        return summed(self.counts)

    @cached_property
    def tables(self) -> cost_tables.Tables:
        """What answers the split objective of any box, see `cost_tables` (curator only)."""
        return cost_tables.tables(self.counts, self.sums)

    def prepare(self) -> FrequencyMatrix:
        """Build the tables once, so that no slider move has to; returns the matrix itself.

        Returns
        -------
        FrequencyMatrix
            Itself.
        """
        _ = self.tables
        return self

    def count(self, lower: NDArray[Any], upper: NDArray[Any]) -> NDArray[np.int64]:
        """Exact counts of n boxes, rows and columns half open: `lower`, `upper` are (n, 2)."""
        return box_sums(self.sums, lower, upper)

    def split_costs(self, lower: Ints, upper: Ints, axis: Ints, cut: Ints) -> Ints:
        """Objective of one cut for each of n boxes, (n,), see `points.split_costs`."""
        return homogeneity.split_costs(self.tables, lower, upper, axis, cut)

    def all_split_costs(self, lower: Ints, upper: Ints, axis: Ints) -> tuple[Ints, Ints]:
        """Objectives of all cuts of n boxes: flat, and (n + 1,) offsets of each box in them."""
        return homogeneity.costs_of_all_cuts(self.tables, lower, upper, axis)

    def all_imbalances(self, lower: Ints, upper: Ints, axis: Ints) -> tuple[Ints, Ints]:
        """|below - above| of all cuts of n boxes: flat, and (n + 1,) offsets."""
        return homogeneity.all_imbalances(self.count, lower, upper, axis)

    def slab_costs(
        self, lower: Ints, upper: Ints, axis: int, owner: Ints, start: Ints, stop: Ints
    ) -> Ints:
        """How far cells of slabs lie from their means, (p, m), see `privacy.counts.Sliced`."""
        return homogeneity.slab_costs(self.tables, lower, upper, axis, owner, start, stop)

    def dense(self) -> Ints:
        """The count of every cell, (rows, cols); not to be written to.

        Returns
        -------
        (rows, cols) int64
        """
        return self.counts

    def __repr__(self) -> str:
        # No count in it: a repr ends up in logs and notebooks.
        rows, cols = self.shape
        return f"FrequencyMatrix({rows} x {cols} cells, unit of privacy: {self.unit})"

    def _repr_html_(self) -> str:
        rows, cols = self.shape
        facts = {"cells": f"{rows:,} x {cols:,}", "unit of privacy": self.unit}
        if self.unit == "user":
            facts["records of a user"] = f"up to {self.contribution_bound}"
        return exact_card(f"Counts {self.grid.name}".strip(), facts)


def check_unit(contribution_bound: int, unit: str) -> int:
    """The contribution bound as a whole number, once it goes with the unit of privacy.

    Raises
    ------
    InputError
        For a bound that is none, or a unit that gives another number of records.
    """
    bound = whole_bound(contribution_bound)
    if unit not in ("point", "user") or (unit == "point" and contribution_bound > 1):
        raise InputError(
            f"The unit of privacy is {unit!r} with {contribution_bound} records: a point gives "
            "1 record, a user any number."
        )
    return bound


def whole_bound(bound: Any, lattice: int = 1) -> int:
    """A contribution bound as a whole number, in parts of a record where there is a lattice.

    Raises
    ------
    InputError
        For what is no whole number, 1 to `MOST_BOUND`.
    """
    whole = isinstance(bound, int | np.integer) and not isinstance(bound, bool)
    if not whole or not 1 <= bound <= MOST_BOUND * max(lattice, 1):
        raise InputError(
            f"The contribution bound is {shown(bound)}: give a whole number of 1 or more, up to "
            f"{MOST_BOUND:,}."
        )
    return int(bound)


def _whole_counts(counts: ArrayLike) -> NDArray[np.int64]:
    try:
        array = np.asarray(counts)
    except ValueError as error:
        raise InputError("The counts are not a rectangular table: give rows x columns.") from error
    if array.ndim == 0:
        raise InputError(
            f"A mechanism takes counts, and this is a {type(counts).__name__}: give a matrix of "
            "counts, or count points first, grid.count(points)."
        )
    if array.ndim != 2 or array.size == 0:
        raise InputError(
            f"The counts have {array.ndim} dimensions and {array.size} cells: "
            "give a matrix of at least one row and one column."
        )
    if array.dtype.kind not in "iufb":
        raise InputError("The counts are not numbers: give whole counts per cell.")
    if array.dtype.kind == "f" and not (
        np.isfinite(array).all() and np.all(array == np.floor(array))
    ):
        raise InputError("The counts have fractions, NaN or infinity: give whole counts per cell.")
    if array.min() < 0:
        raise InputError("The counts hold a negative number: give counts of 0 or more.")
    if float(array.sum(dtype=np.float64)) > 1e11:
        raise InputError("The counts add up to more than 100 billion: give a smaller data set.")
    return np.array(array, dtype=np.int64, order="C")
