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
        self._is_dense = size <= DENSE
        self._keys = np.empty(0, np.int64) if self._is_dense else np.full(_FIRST, -1)
        self._counts = np.zeros(size if self._is_dense else _FIRST, np.int64)
        self._used = 0

    def add(self, atoms: Ints, records: Ints | None = None) -> None:
        """Count (n,) atoms, each once or ``records`` times; -1 is none."""
        records = _NO_WEIGHT if records is None else records
        if self._is_dense:
            _add(atoms, records, self._counts)
            return
        start = 0
        while start < atoms.size:
            start, self._used = _add_to_table(
                atoms, records, start, self._keys, self._counts, self._used
            )
            if start < atoms.size:
                self._grow()

    def sparse(self) -> tuple[Ints, Ints]:
        """Atoms that occurred, ascending, and their counts, (m,) each."""
        there = np.flatnonzero(self._counts)
        if self._is_dense:
            return there, self._counts[there]
        there = there[np.argsort(self._keys[there])]
        return self._keys[there], self._counts[there]

    def dense(self) -> Ints:
        """The counts of all atoms, (size,); not to be asked of a tally of very many."""
        if self._is_dense:
            return self._counts
        found = np.zeros(self.size, np.int64)
        atoms, counts = self.sparse()
        found[atoms] = counts
        return found

    def _grow(self) -> None:
        keys, counts = self._keys, self._counts
        self._keys, self._used = np.full(4 * keys.size, -1), 0
        self._counts = np.zeros(self._keys.size, np.int64)
        there = np.flatnonzero(keys >= 0)
        _, self._used = _add_to_table(
            keys[there], counts[there], 0, self._keys, self._counts, self._used
        )


@njit(cache=True, nogil=True)
def _add(atoms, records, counts):  # type: ignore[no-untyped-def]
    for i in range(atoms.size):
        if atoms[i] >= 0:
            counts[atoms[i]] += records[i] if records.size else 1


@njit(cache=True, nogil=True)
def _add_to_table(atoms, records, start, keys, counts, used):  # type: ignore[no-untyped-def]
    """Open addressing at most half full; returns where it stopped for want of space, and how full.

    The place of an atom begins at the upper bits of its product with 2^64 / the golden ratio.
    """
    mask = keys.size - 1
    for i in range(start, atoms.size):
        atom = atoms[i]
        if atom < 0:
            continue
        at = int((np.uint64(atom) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(24)) & mask
        while keys[at] != atom and keys[at] != -1:
            at = (at + 1) & mask
        if keys[at] == -1:
            if 2 * used >= keys.size:
                return i, used
            keys[at] = atom
            used += 1
        counts[at] += records[i] if records.size else 1
    return atoms.size, used
