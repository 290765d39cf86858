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
from numpy.typing import ArrayLike

from explorer.errors import InputError
from explorer.grid import kinds
from explorer.grid.domain import Domain
from explorer.grid.grid import Grid
from explorer.grid.places import Places
from explorer.points import split_costs as homogeneity
from explorer.releases.units import UNITS_OF_PRIVACY
from explorer.trips import profile
from explorer.trips.index import Index, Ints
from explorer.trips.routing import count_nested

_MOST_CELLS = 2**53  # as many as `Places` may have
_MOST_RECORDS = 10**11
_MOST_PRODUCT = 2**61  # of records and occupied cells: twice that is still an int64


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
        The public space, such as `Places`.
    contribution_bound : int, 1 or more
        The most records that one unit of privacy contributes.
    unit : {"point", "user", "client"}
        What adding or removing one of makes two data sets neighbours.

    Attributes
    ----------
    cells : (m, d) int64, unique, in row-major order; read-only
    multiplicities : (m,) int64, 1 or more; read-only

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
    """

    def __init__(
        self,
        cells: ArrayLike,
        multiplicities: ArrayLike,
        domain: Domain,
        contribution_bound: int = 1,
        unit: str = "point",
    ) -> None:
        shape = tuple(domain.shape)
        if math.prod(shape) > _MOST_CELLS:
            raise InputError("This domain has more than 2^53 cells: declare a coarser one.")
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
        whole = isinstance(contribution_bound, int | np.integer)
        if not whole or isinstance(contribution_bound, bool) or contribution_bound < 1:
            raise InputError(
                f"The contribution bound is {contribution_bound!r}: give a whole number, 1 or more."
            )
        if unit not in UNITS_OF_PRIVACY or (unit == "point" and contribution_bound > 1):
            raise InputError(
                f"The unit of privacy is {unit!r} with {contribution_bound} records: a point gives "
                "1 record, a user or client any number."
            )
        self.domain = domain
        self.contribution_bound = int(contribution_bound)
        self.unit = unit
        self._places, self.multiplicities = _together(where, number, shape)
        self.cells = np.stack(np.unravel_index(self._places, shape), axis=1).astype(np.int64)
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
        shapes : k shapes, each (rows, cols) or one number for both
            One shape makes a map, two or more make `Places`; both are measured in cells.
        contribution_bound : int, 1 or more
            Above 1 the unit of privacy is a user.

        Raises
        ------
        InputError
            For shapes that no grid has, or see the class.
        """
        if len(shapes) == 0:
            raise InputError("There are no shapes: give rows and columns of every place.")
        grids = tuple(Grid.cells(shape) for shape in shapes)
        domain: Domain = grids[0] if len(grids) == 1 else Places(grids)
        where = _whole(coordinates, "coordinates")
        each = np.ones(len(where) if where.ndim else 0, dtype=np.int64)
        unit = "point" if contribution_bound == 1 else "user"
        return cls(where, each, domain, contribution_bound, unit)

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells along every axis, (d,)."""
        return tuple(self.domain.shape)

    @cached_property
    def total(self) -> int:
        """The exact number of records (curator only: it is not private)."""
        return int(self.multiplicities.sum())

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
        """Build the index and compile what it runs, so that questions wait for nothing."""
        lower = np.zeros((1, len(self.shape)), dtype=np.int64)
        upper = np.array([self.shape], dtype=np.int64)
        self.index.count(lower, upper), self.index.spread(lower, upper)
        count_nested(self.index.cells[:1], self.index.number[:1], lower, upper)
        first = np.zeros(1, dtype=np.int64)
        self.slab_costs(lower, upper, 0, first, first[np.newaxis], upper[:, :1])
        return self

    def made_up(self) -> TripMatrix:
        """Invented trips over as many axes of 8 cells, most of them in one corner."""
        axes = len(self.shape)
        diagonal = np.repeat(np.arange(8), [5000] + [20] * 7)
        return TripMatrix.from_coordinates(np.tile(diagonal[:, None], axes), [8] * (axes // 2))

    def count(self, lower: Ints, upper: Ints) -> Ints:
        """Exact counts of n boxes, any boxes: `lower`, `upper` are (n, d), half open."""
        found = count_nested(self.index.cells, self.index.number, lower, upper)
        return self.index.count(lower, upper) if found is None else found

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
        return profile.slab_costs(self.index, lower, upper, axis, owner, start, stop)

    def __repr__(self) -> str:
        # No count in it: a repr ends up in logs and notebooks.
        return f"TripMatrix({' x '.join(map(str, self.shape))} cells, unit of privacy: {self.unit})"


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
    if np.abs(array.astype(np.float64)).max() > _MOST_CELLS:
        raise InputError(f"The {name} hold a number beyond 2^53: give smaller ones.")
    return array.astype(np.int64)


def _together(where: Ints, number: Ints, shape: tuple[int, ...]) -> tuple[Ints, Ints]:
    """Row-major places of the occupied cells, each once, in order, and their records."""
    if float(number.sum(dtype=np.float64)) > _MOST_RECORDS:
        raise InputError("The counts add up to more than 100 billion: give a smaller data set.")
    occupied = number > 0
    flat = np.ravel_multi_index(tuple(where[occupied].T), shape)
    places, owner = np.unique(flat, return_inverse=True)
    records = np.zeros(len(places), dtype=np.int64)
    np.add.at(records, owner.reshape(-1), number[occupied])
    if len(places) * int(records.sum()) > _MOST_PRODUCT:
        raise InputError("These are too many records in too many cells: declare a coarser domain.")
    return places.astype(np.int64), records


def _nameless(plain: Any) -> Any:
    """A description without what its parts are called."""
    if isinstance(plain, dict):
        return {k: _nameless(v) for k, v in plain.items() if k not in ("name", "names")}
    return [_nameless(each) for each in plain] if isinstance(plain, list | tuple) else plain
