"""Adding up atoms: a vector of counts where they are few, a table of those that occur where not."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]

#: Up to so many atoms are counted in one vector, 134 MB; a grid never has more cells.
DENSE = 2**24
_NO_WEIGHT = np.empty(0, np.int64)
_FIRST = 2**12


class Tally:
    """Counts of atoms 0 to size - 1, as whole numbers.

    Examples
    --------
    >>> tally = Tally(2**40)
    >>> tally.add(np.array([7, 2**39, -1, 7]))
    >>> tally.sparse()
    (array([           7, 549755813888]), array([2, 1]))
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._numbers = None if size <= DENSE else Numbers()
        self._counts = np.zeros(size if size <= DENSE else 0, np.int64)

    def add(self, atoms: Ints, records: Ints | None = None) -> None:
        """Count (n,) atoms, each once or ``records`` times; -1 is none."""
        if self._numbers is not None:
            atoms = self._numbers.of(np.column_stack([atoms, np.zeros_like(atoms)]))
            more = len(self._numbers.identities)
            if more > len(self._counts):
                self._counts = np.concatenate([self._counts, np.zeros(more, np.int64)])
        _add(atoms, _NO_WEIGHT if records is None else records, self._counts)

    def sparse(self) -> tuple[Ints, Ints]:
        """Atoms that occurred, ascending, and their counts, (m,) each."""
        there = np.flatnonzero(self._counts)
        if self._numbers is None:
            return there, self._counts[there]
        atoms = self._numbers.identities[there, 0]
        # What was nowhere, -1, is first.
        order = np.argsort(atoms)[np.count_nonzero(atoms < 0) :]
        return atoms[order], self._counts[there[order]]

    def dense(self) -> Ints:
        """The counts of all atoms, (size,); not to be asked of a tally of very many."""
        if self._numbers is None:
            return self._counts
        counts = np.zeros(self.size, np.int64)
        np.put(counts, *self.sparse())
        return counts


@njit(cache=True, nogil=True)
def _add(atoms, records, counts):  # type: ignore[no-untyped-def]
    for i in range(atoms.size):
        if atoms[i] >= 0:
            counts[atoms[i]] += records[i] if records.size else 1


class Numbers:
    """A table of 128 bits, such as of people: 0, 1, 2 .. in the order in which they come."""

    def __init__(self) -> None:
        self._used = 0
        self._place = np.full(_FIRST, -1)
        self._identities = np.empty((_FIRST, 2), np.int64)

    @property
    def identities(self) -> Ints:
        """Of each number, (p, 2)."""
        return self._identities[: self._used]

    def of(self, identity: Ints) -> Ints:
        """The number of each of n people, (n, 2): (n,)."""
        numbers = np.empty(len(identity), np.int64)
        start = 0
        while start < len(identity):
            start, self._used = _number(
                identity, start, self._place, self._identities, self._used, numbers
            )
            if start < len(identity):
                previous, size = self.identities.copy(), 4 * len(self._place)
                self._used, self._place = 0, np.full(size, -1)
                self._identities = np.empty((size, 2), np.int64)
                self.of(previous)
        return numbers


@njit(cache=True, nogil=True)
def _number(identity, start, place, identities, used, numbers):  # type: ignore[no-untyped-def]
    """Open addressing at most half full; returns where it stopped for want of space, and how full.

    Equal ones often come in a row, so that the one before is looked at first.
    """
    mask = place.size - 1
    last = -1
    for i in range(start, numbers.size):
        a, b = identity[i, 0], identity[i, 1]
        if last >= 0 and identities[last, 0] == a and identities[last, 1] == b:
            numbers[i] = last
            continue
        mixed = np.uint64(a) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= np.uint64(b) * np.uint64(0xC2B2AE3D27D4EB4F)
        at = int(mixed >> np.uint64(24)) & mask
        while place[at] >= 0 and not (
            identities[place[at], 0] == a and identities[place[at], 1] == b
        ):
            at = (at + 1) & mask
        if place[at] < 0:
            if 2 * used >= place.size:
                return i, used
            place[at] = used
            identities[used, 0], identities[used, 1] = a, b
            used += 1
        last = numbers[i] = place[at]
    return numbers.size, used
