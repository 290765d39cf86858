"""What a curator needs of exact data, and nothing more."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.domain import Domain
from explorer.points.cost_tables import Tables

Ints = NDArray[np.int64]


class Counts(Protocol):
    """Exact counts over a domain of d dimensions; `FrequencyMatrix` is the dense case.

    Boxes are (n, d) `lower` and `upper`, half open, in cells. Costs are whole numbers in units of
    2^-LATTICE_BITS (see `points.split_costs`).
    """

    @property
    def domain(self) -> Domain:
        """The public space."""

    @property
    def unit(self) -> str:
        """The unit of privacy: "point", "user" or "client"."""

    @property
    def contribution_bound(self) -> int:
        """The most records that one unit of privacy contributes, 1 or more."""

    @property
    def key(self) -> str:
        """SHA-256 of the counts and their domain: names the data set in the ledger."""

    def count(self, lower: Ints, upper: Ints) -> Ints:
        """Exact counts of n boxes, (n,)."""

    def split_costs(self, lower: Ints, upper: Ints, axis: Ints, cut: Ints) -> Ints:
        """Objective of one cut for each of n boxes, (n,)."""

    def all_split_costs(self, lower: Ints, upper: Ints, axis: Ints) -> tuple[Ints, Ints]:
        """Objectives of all cuts of n boxes: flat, and (n + 1,) offsets of each box in them."""

    def all_imbalances(self, lower: Ints, upper: Ints, axis: Ints) -> tuple[Ints, Ints]:
        """|below - above| of all cuts of n boxes: flat, and (n + 1,) offsets."""


@runtime_checkable
class Dense(Protocol):
    """What some counts can also do: say the count of every cell at once."""

    def dense(self) -> Ints:
        """The count of every cell, an array of the domain's shape; not to be written to."""


@runtime_checkable
class Sliced(Protocol):
    """What some counts can also do: say how even the slabs of a box are."""

    def slab_costs(
        self, lower: Ints, upper: Ints, axis: int, owner: Ints, start: Ints, stop: Ints
    ) -> Ints:
        """Sum of |c - mu| over *all* cells of slabs, empty cells too, mu their mean.

        A slab is what is between two positions on one axis of a box. Over occupied cells alone
        the sum would move by up to the number of records when one comes or goes (erratum 51 of
        trips-2022); over all cells it moves by at most 2.

        Parameters
        ----------
        lower, upper : (n, d) boxes
        axis : the axis that slabs follow each other on
        owner : (m,) the box of each slab
        start, stop : (p, m) first cell of each slab, and first cell behind it; p lists of m slabs

        Returns
        -------
        (p, m) whole numbers in units of 2^-LATTICE_BITS, each rounded down
        """


@runtime_checkable
class Tabled(Protocol):
    """What some counts also have: tables of a map that answer any split cost."""

    @property
    def tables(self) -> Tables:
        """Exact counts, their sums and what is above thresholds, see `points.cost_tables`."""


@runtime_checkable
class Prepared(Protocol):
    """What some counts do before the first question: build tables, compile what they run."""

    def prepare(self) -> object:
        """Make everything ready; a release is paid for only afterwards."""


@runtime_checkable
class MadeUp(Protocol):
    """Counts that can make up others of their kind, for mechanisms that take no maps."""

    def made_up(self) -> Counts:
        """Invented counts over as many axes, which say nothing of these."""


def sliced(counts: Counts) -> Sliced:
    """Counts that can say how even slabs are; an InputError for others."""
    if not isinstance(counts, Sliced):
        raise InputError(
            "These counts cannot say how even the parts of a box are: choose a mechanism that "
            "does not choose its cuts."
        )
    return counts
