"""Weights: every record of a person counts, all of them together as much as the bound allows.

A person with n records inside and a bound of k gives each a weight of about min(1, k / n), so that
no choice among them is made and the most that one person moves any sum is k. Weights are whole
numbers of a lattice, 1 / `LATTICE` of a record, and one person's add up to min(n, k) exactly:
sums and their sensitivity k `LATTICE` are whole numbers, as budgeted measurements need them.
`clipping` gives each of a person's cells its part of them, whatever the order of the records.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

#: Units of weight that make one record.
LATTICE = 4096


@runtime_checkable
class Weighted(Protocol):
    """Counts that are no whole records but units of a lattice."""

    @property
    def lattice(self) -> int:
        """Units that make one record, 1 or more."""


def lattice_of(counts: object) -> int:
    """Units of these counts that make one record; 1 for whole records."""
    return counts.lattice if isinstance(counts, Weighted) else 1
