"""Weights: every record of a person counts, all of them together as much as the bound allows.

A person with n records inside and a bound of k gives each a weight of about min(1, k / n), so that
no choice among them is made and the most that one person moves any sum is k. Weights are whole
numbers of a lattice, 1 / `LATTICE` of a record, and one person's add up to min(n, k) exactly:
sums and their sensitivity k `LATTICE` are whole numbers, as budgeted measurements need them.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]

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


def weights(user: Ints, bound: int) -> Ints:
    """The weight of every record in units of the lattice, (m,).

    Of T = `LATTICE` min(n, bound) units a person's record j = 0 .. n - 1, in the order of the file,
    gets floor((j + 1) T / n) - floor(j T / n): they differ by one unit at most, evenly spread, and
    depend on that person's records alone.

    Parameters
    ----------
    user : (m,) codes of persons, 0 or more, of records that lie inside
    bound : k, 1 or more

    Examples
    --------
    >>> weights(np.array([0, 1, 1, 1]), 2).tolist()
    [4096, 2730, 2731, 2731]
    """
    _, code = np.unique(user, return_inverse=True)
    found = np.empty(len(user), dtype=np.int64)
    of_user = np.bincount(code).astype(np.int64)
    _weigh(code.astype(np.int64), of_user, np.zeros_like(of_user), bound, found)
    return found


@njit(cache=True, nogil=True)
def _weigh(user, of_user, seen, bound, found):  # type: ignore[no-untyped-def]
    for i in range(len(user)):
        n, j = of_user[user[i]], seen[user[i]]
        units = LATTICE * min(n, bound)
        found[i] = (j + 1) * units // n - j * units // n
        seen[user[i]] = j + 1
