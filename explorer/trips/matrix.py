"""The trip matrix: exact counts of the occupied cells of a domain of any number of axes.

A `TripMatrix` is exact data. During a release only the curator holds one; a `Release` never does.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid import kinds
from explorer.grid.cards import exact_card
from explorer.grid.domain import Domain
from explorer.grid.grid import Grid
from explorer.grid.places import MOST_CELLS, TripDomain
from explorer.grid.sums import box_sums, summed
from explorer.points import split_costs as homogeneity
from explorer.points.matrix import FrequencyMatrix, whole_bound
from explorer.points.populations import of_people
from explorer.releases.units import UNITS_OF_PRIVACY
from explorer.trips.index import Index, Ints, count_nested, slab_costs

Floats = NDArray[np.float64]

_MOST_NUMBER = 2**53  # a float distinguishes all whole numbers up to here
_MOST_RECORDS = 10**11
_MOST_PRODUCT = 2**61  # of records and occupied cells: twice that is still an int64
_FEW_BOXES = 32  # on one place: for fewer its table is not made


class TripMatrix:
    """Exact counts of records per cell of d >= 1 axes: the sparse case of `privacy.counts.Counts`.

    Parameters
    ----------
    cells : (m, d) whole numbers
        Cells that hold records, axes in the order of the domain; one that is named twice holds
        what both say.
    multiplicities : (m,) whole numbers, 0 or more
        Records in each.
    domain : Domain
        The public space, such as `TripDomain`.
    contribution_bound : int, 1 or more
        The most records that one unit of privacy contributes.
    unit : {"point", "user", "client"}
        What adding or removing one of makes two data sets neighbours.
    lattice : int, 1 or more
        How many units of multiplicity make one record: above 1 records are weighted (see
        `points.weights`), and all numbers here are in those units, the contribution bound too.
    unclipped : TripMatrix, optional
        Counts of all records in the domain, before the contribution bound left any out.

    Up to 2^60 cells (1024 a side for three places, 64 for five): what is kept grows with the
    records alone.

    Attributes
    ----------
    cells : (m, d) int64, unique, in row-major order; read-only
    multiplicities : (m,) int64, 1 or more; read-only
    unclipped : TripMatrix or None
        Counts of all records, whole ones, with unit "point"; None where they are not known. Exact,
        for the curator alone: they are no part of `key`, and no mechanism reads them.

    Raises
    ------
    InputError
        For cells outside the domain, numbers that are negative or have fractions, shapes that do
        not belong together, or too many cells or records for exact sums.

    Examples
    --------
    >>> trips = TripMatrix.from_coordinates([[0, 0, 3, 3], [0, 0, 3, 3], [1, 2, 0, 1]], [4, 4])
    >>> trips.count([[0, 0, 0, 0]], [[1, 1, 4, 4]]).tolist()
    [2]
    >>> trips.prepare().marginal(0).total  # where they begin
    3
    """

    #: Whose records these are, for the ledger; no part of `key`. See `points.populations`.
    populations: tuple[str, ...] = ()

    def __init__(
        self,
        cells: ArrayLike,
        multiplicities: ArrayLike,
        domain: Domain,
        contribution_bound: int = 1,
        unit: str = "point",
        lattice: int = 1,
        *,
        unclipped: TripMatrix | None = None,
    ) -> None:
        shape = tuple(domain.shape)
        if math.prod(shape) > MOST_CELLS:
            raise InputError("This domain has more than 2^60 cells: declare a coarser one.")
        where, number = _whole(cells, "cells"), _whole(multiplicities, "multiplicities")
        if where.size == 0:
            where = where.reshape(0, len(shape))
        if where.ndim != 2 or where.shape[1] != len(shape) or number.shape != where.shape[:1]:
            raise InputError(
                f"The cells have shape {where.shape} and the multiplicities {number.shape}: give "
                f"(m, {len(shape)}) cells, one number for each axis, and (m,) multiplicities."
            )
        if np.any(where < 0) or np.any(where >= shape):
            raise InputError(
                f"Some cells lie outside the domain of {' x '.join(map(str, shape))} cells: leave "
                "such records out, or declare a larger domain."
            )
        if np.any(number < 0):
            raise InputError("A multiplicity is negative: give counts of 0 or more.")
        contribution_bound = whole_bound(contribution_bound, lattice)
        if unit not in UNITS_OF_PRIVACY or (unit == "point" and contribution_bound > 1):
            raise InputError(
                f"The unit of privacy is {unit!r} with {contribution_bound} records: a point gives "
                "1 record, a user or client any number."
            )
        if lattice < 1 or contribution_bound % lattice:
            raise InputError(
                f"The lattice is {lattice!r} units a record and the bound {contribution_bound}: "
                "give a bound of whole records, in those units."
            )
        self.domain = domain
        self.contribution_bound = int(contribution_bound)
        self.unit = unit
        self.lattice = int(lattice)
        self.unclipped = unclipped
        self._grids: tuple[Grid, ...] = ()
        if isinstance(domain, TripDomain | Grid):
            self._grids = (domain,) if isinstance(domain, Grid) else tuple(domain.grids)
        self._tables: dict[int, Ints] = {}
        self.cells, self._places, self.multiplicities = _together(where, number, shape)
        self.cells.flags.writeable = self.multiplicities.flags.writeable = False

    @classmethod
    def from_coordinates(
        cls,
        coordinates: ArrayLike,
        shapes: Sequence[int | tuple[int, int]],
        contribution_bound: int = 1,
    ) -> TripMatrix:
        """Count m records of k places that lie nowhere on earth.

        Parameters
        ----------
        coordinates : (m, 2 k) whole numbers
            Row and column of every place of a record in turn.
        shapes : sequence of k shapes, each an int of 1 or more or a tuple (rows, cols)
            One shape makes a map, two or more make `TripDomain`; both are measured in cells.
        contribution_bound : int, 1 or more
            Above 1 the unit of privacy is a user.

        Returns
        -------
        TripMatrix

        Raises
        ------
        InputError
            For shapes that no grid has, or see the class.
        """
        if len(shapes) == 0:
            raise InputError("There are no shapes: give rows and columns of every place.")
        grids = tuple(Grid.cells(shape) for shape in shapes)
        domain: Domain = grids[0] if len(grids) == 1 else TripDomain(grids)
        where = _whole(coordinates, "coordinates")
        multiplicities = np.ones(len(where) if where.ndim else 0, dtype=np.int64)
        unit = "point" if contribution_bound == 1 else "user"
        return cls(where, multiplicities, domain, contribution_bound, unit)

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells along every axis, (d,)."""
        return tuple(self.domain.shape)

    @cached_property
    def total(self) -> int:
        """The exact number of records, in units of the lattice (curator only: not private)."""
        return int(self.multiplicities.sum())

    @property
    def people(self) -> float:
        """N_eff = sum of min(n_u, k) / k over users u of n_u records each, k the bound.

        How many users who give all they may would weigh as much; for single records their number.
        Exact, for the curator alone.
        """
        return self.total / self.contribution_bound

    @cached_property
    def key(self) -> str:
        """SHA-256 of the counts and their domain: names the data set in the ledger."""
        # A new name is no new data set.
        digest = hashlib.sha256(repr(_nameless(kinds.to_plain(self.domain))).encode())
        digest.update(self._places.astype("<i8").tobytes())
        digest.update(self.multiplicities.astype("<i8").tobytes())
        return digest.hexdigest()

    @cached_property
    def index(self) -> Index:
        """The cells as sums over boxes need them."""
        return Index.of(self.cells, self.multiplicities, self.shape)

    def prepare(self) -> TripMatrix:
        """Build index and tables and compile what they run, so that questions wait for nothing.

        Returns
        -------
        TripMatrix
            Itself.
        """
        for place in range(len(self._grids)):
            self._table(place)
        lower = np.zeros((1, len(self.shape)), dtype=np.int64)
        upper = lower + 1
        self._one_by_one(lower, upper)
        self.index.count(lower, upper), self.index.spread(lower, upper)
        count_nested(self.cells[:1], self.multiplicities[:1], lower, upper)
        first = np.zeros(1, dtype=np.int64)
        self.slab_costs(lower, upper, 0, first, first[np.newaxis], upper[:, :1])
        return self

    def made_up(self) -> TripMatrix:
        """Invented trips over as many axes of 8 cells, most of them in one corner."""
        axes = len(self.shape)
        diagonal = np.repeat(np.arange(8), [5000] + [20] * 7)
        return TripMatrix.from_coordinates(np.tile(diagonal[:, None], axes), [8] * (axes // 2))

    def count(self, lower: Ints, upper: Ints) -> Ints:
        """Exact counts of n boxes, any boxes: `lower`, `upper` are (n, d), half open.

        Boxes in the order of their cuts, such as all parts of a grid, are counted in one pass over
        the occupied cells; boxes that are whole but on one place by a table of that place; boxes
        of repeated halves by binary search; others by a walk through the index. The counts are
        the same whichever way is taken.
        """
        lower = np.ascontiguousarray(lower, dtype=np.int64)
        upper = np.ascontiguousarray(upper, dtype=np.int64)
        counts = count_nested(self.cells, self.multiplicities, lower, upper)
        return self._one_by_one(lower, upper) if counts is None else counts

    def _one_by_one(self, lower: Ints, upper: Ints) -> Ints:
        """`count` for boxes that are in no order: by the table of a place, or the index."""
        if not self._grids:
            return self.index.count(lower, upper)
        counts = np.empty(len(lower), dtype=np.int64)
        # The place on which a box is not whole, the first for one that is whole; -1 for several.
        cut = (
            ((lower > 0) | (upper < self.shape))
            .reshape(len(lower), len(self._grids), 2)
            .any(axis=2)
        )
        only = np.where(cut.sum(axis=1) > 1, -1, cut.argmax(axis=1))
        for place, grid in enumerate(self._grids):
            there = np.flatnonzero(only == place)
            if len(there) < _FEW_BOXES and place not in self._tables:
                only[there] = -1
                continue
            axes = slice(2 * place, 2 * place + 2)
            low = np.clip(lower[there, axes], 0, grid.shape)
            high = np.maximum(np.clip(upper[there, axes], 0, grid.shape), low)
            counts[there] = box_sums(self._table(place), low, high)
        others = np.flatnonzero(only < 0)
        counts[others] = self.index.count(lower[others], upper[others])
        return counts

    def count_parts_of_cells(self, boxes: Floats) -> Floats:
        """Exact counts of n boxes, cells that a box cuts through by the part inside: curator only.

        Cell by cell of those that hold records: the work grows with the axes, not with their power.

        Parameters
        ----------
        boxes : (n, 2, d) float64
            Lower and upper in cells, fractions allowed.

        Returns
        -------
        (n,) float64, in units of the lattice

        Raises
        ------
        InputError
            For boxes of another number of axes.

        Examples
        --------
        >>> trips = TripMatrix.from_coordinates([[0, 0, 1, 1]], [2, 2])
        >>> trips.count_parts_of_cells(np.array([[[0, 0, 0, 0], [0.5, 2, 2, 2]]])).tolist()
        [0.5]
        """
        if boxes.ndim != 3 or boxes.shape[1:] != (2, len(self.shape)):
            raise InputError(f"Boxes in cells have shape {boxes.shape}; give (n, 2, axes).")
        counts = np.empty(len(boxes))
        for number, (lower, upper) in enumerate(boxes):
            cells, inside = self.cells, self.multiplicities.astype(np.float64)
            for axis, (low, high) in enumerate(zip(lower, upper, strict=True)):
                at = cells[:, axis]
                part = np.clip(np.minimum(at + 1, high) - np.maximum(at, low), 0.0, 1.0)
                cells, inside = cells[part > 0], (inside * part)[part > 0]
            counts[number] = inside.sum()
        return counts

    def marginal(self, place: int) -> FrequencyMatrix:
        """Exact counts of one place, wherever the others are, (rows, cols): the curator's alone.

        Parameters
        ----------
        place : int
            From 0, in the order of the domain.

        Returns
        -------
        FrequencyMatrix

        Raises
        ------
        InputError
            For a place that the domain does not have.
        """
        self._refuse_place(place)
        if self.lattice > 1:
            raise InputError(
                "These trips count by weights, which are no whole counts of a map: ask "
                "place_counts, or count them with weights=False."
            )
        sums = self._table(place)
        counts = np.diff(np.diff(sums, axis=0), axis=1)
        grid, bound = self._grids[place], self.contribution_bound
        unclipped = None if self.unclipped is None else self.unclipped.marginal(place)
        map_ = FrequencyMatrix(counts, grid, bound, self.unit, unclipped=unclipped)
        return of_people(map_, self.populations)

    def place_counts(self, place: int, within: NDArray[np.float64] | None = None) -> Floats:
        """Exact count per cell of one place, of records whose other places lie in a box.

        The curator's alone. Parameters and result are as of `releases.places.place_counts`; a cell
        of another place that the box cuts through counts by the part of it that is inside.
        """
        self._refuse_place(place)
        rows, cols = self._grids[place].shape
        weight = self.multiplicities.astype(np.float64)
        for axis in range(len(self.shape)) if within is not None else ():
            if axis // 2 == place:
                continue
            low, high = within[:, axis]  # type: ignore[index]
            if low > 0 or high < self.shape[axis]:
                at = np.arange(self.shape[axis])
                part = np.clip(np.minimum(at + 1, high) - np.maximum(at, low), 0.0, 1.0)
                weight *= part[self.cells[:, axis]]
        flat = self.cells[:, 2 * place] * cols + self.cells[:, 2 * place + 1]
        counts: Floats = np.bincount(flat, weight, rows * cols) / self.lattice
        return counts.reshape(rows, cols)

    def _refuse_place(self, place: int) -> None:
        if not 0 <= place < len(self._grids):
            raise InputError(
                f"There is no place {place}: these counts have {len(self._grids)}, from 0 on."
            )

    def _table(self, place: int) -> Ints:
        """Summed-area table of one place, made when it is first needed."""
        if place not in self._tables:
            counts = np.zeros(self._grids[place].shape, dtype=np.int64)
            np.add.at(
                counts, tuple(self.cells[:, 2 * place : 2 * place + 2].T), self.multiplicities
            )
            self._tables[place] = summed(counts)
        return self._tables[place]

    def split_costs(self, lower: Ints, upper: Ints, axis: Ints, cut: Ints) -> Ints:
        """Objective of one cut for each of n boxes, (n,), see `points.split_costs`."""
        rows = np.arange(len(lower))
        first, last = np.array(lower, dtype=np.int64), np.array(upper, dtype=np.int64)
        first[rows, axis] = last[rows, axis] = cut
        return self.index.spread(lower, last) + self.index.spread(first, upper)

    def all_split_costs(self, lower: Ints, upper: Ints, axis: Ints) -> tuple[Ints, Ints]:
        """Objectives of all cuts of n boxes: flat, and (n + 1,) offsets of each box in them."""
        return homogeneity.all_split_costs(self.split_costs, lower, upper, axis)

    def all_imbalances(self, lower: Ints, upper: Ints, axis: Ints) -> tuple[Ints, Ints]:
        """|below - above| of all cuts of n boxes: flat, and (n + 1,) offsets."""
        return homogeneity.all_imbalances(self.count, lower, upper, axis)

    def slab_costs(
        self, lower: Ints, upper: Ints, axis: int, owner: Ints, start: Ints, stop: Ints
    ) -> Ints:
        """How far cells of slabs lie from their means, (p, m), see `privacy.counts.Sliced`."""
        return slab_costs(self.index, lower, upper, axis, owner, start, stop)

    def __repr__(self) -> str:
        # No count in it: a repr ends up in logs and notebooks.
        return f"TripMatrix({' x '.join(map(str, self.shape))} cells, unit of privacy: {self.unit})"

    def _repr_html_(self) -> str:
        sides = " x ".join(map(str, self.shape))
        return exact_card("Counts of trips", {"cells": sides, "unit of privacy": self.unit})


def _whole(values: ArrayLike, name: str) -> Ints:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(f"The {name} are not a rectangular table: give equal rows.") from error
    if array.size == 0:
        return np.zeros(array.shape, dtype=np.int64)
    if array.dtype.kind not in "iuf":
        raise InputError(f"The {name} are not numbers: give whole numbers.")
    if array.dtype.kind == "f" and not np.all(array == np.floor(array)):
        raise InputError(f"The {name} have fractions or NaN: give whole numbers.")
    if array.max() > _MOST_NUMBER or array.min() < -_MOST_NUMBER:
        raise InputError(f"The {name} hold a number beyond 2^53: give smaller ones.")
    return array.astype(np.int64)


def _together(where: Ints, number: Ints, shape: tuple[int, ...]) -> tuple[Ints, Ints, Ints]:
    """The occupied cells, each once, in order, their row-major places, and their records."""
    if float(number.sum(dtype=np.float64)) > _MOST_RECORDS:
        raise InputError("The counts add up to more than 100 billion: give a smaller data set.")
    occupied = number > 0
    if not occupied.all():
        where, number = where[occupied], number[occupied]
    # Row-major places fit an int64: there are at most 2^60 cells.
    flat = np.ravel_multi_index(tuple(where.T), shape).astype(np.int64, copy=False)
    places, records = merged(flat, number)
    if len(places) * int(records.sum()) > _MOST_PRODUCT:
        raise InputError("These are too many records in too many cells: declare a coarser domain.")
    if places is not flat:
        where = np.stack(np.unravel_index(places, shape), axis=1).astype(np.int64, copy=False)
    # In one order always: kernels are compiled once.
    return np.ascontiguousarray(where), places, records


def merged(flat: Ints, number: Ints) -> tuple[Ints, Ints]:
    """Each place once, in order, and its records."""
    if np.all(flat[1:] > flat[:-1]):
        return flat, number
    if number.min() == number.max() == 1:
        # One record each: only places need sorting.
        flat = np.sort(flat)
        first = np.flatnonzero(np.concatenate([[True], flat[1:] != flat[:-1]]))
        return flat[first], np.diff(first, append=len(flat))
    rank = np.argsort(flat)
    flat = flat[rank]
    first = np.flatnonzero(np.concatenate([[True], flat[1:] != flat[:-1]]))
    return flat[first], np.add.reduceat(number[rank], first)


def _nameless(plain: Any) -> Any:
    """A description without what its parts are called."""
    if isinstance(plain, dict):
        return {k: _nameless(v) for k, v in plain.items() if k not in ("name", "names")}
    return [_nameless(part) for part in plain] if isinstance(plain, list | tuple) else plain
