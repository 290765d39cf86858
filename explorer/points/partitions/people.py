"""Records by person and atom, over batches, files and workers: who is who by 128 bits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.points.clipping import Clipped, Pairs, PersonCells, added_up, starts

Ints = NDArray[np.int64]

_FIRST = 2**12


@dataclass(frozen=True, eq=False)
class Held:
    """Records of persons, added up by atom. Exact: for the curator alone.

    Attributes
    ----------
    identity : (p, 2) int64
        Of each person, see `clipping.identities`.
    sums : sequence of (person, atom, records), (m,) each
        Places in ``identity``, and how many records they have in an atom, 1 or more; a pair may be
        in several of them.
    """

    identity: Ints
    sums: Sequence[Sequence[NDArray[np.integer]]] = ()

    @classmethod
    def none(cls) -> Held:
        """No person."""
        return cls(np.empty((0, 2), np.int64))

    def wide(self) -> Iterator[Pairs]:
        """The sums in 64 bits."""
        for person, atom, records in self.sums:
            yield person.astype(np.int64), atom.astype(np.int64), records.astype(np.int64)

    def joined(self) -> Pairs:
        """Each pair once."""
        return added_up(list(self.wide()))

    def packed(self) -> Held:
        """The same added up, in 32 bits where that is enough: what a worker sends."""
        return Held(self.identity, [[_small(values) for values in self.joined()]])


def _small(values: Ints) -> NDArray[np.integer]:
    return values.astype(np.uint32) if values.max(initial=0) < 2**32 else values


class People:
    """Adds up records by person and atom.

    Examples
    --------
    >>> people = People()
    >>> people.add(np.array([[7, 0], [9, 0], [7, 0]]), np.array([4, 4, -1]), None)
    >>> people.held().identity[:, 0].tolist(), [each.tolist() for each in people.held().joined()]
    ([7, 9], [[0, 1], [4, 4], [1, 1]])
    """

    def __init__(self) -> None:
        self._numbers, self._cells = Numbers(), PersonCells()

    def add(self, identity: Ints, atom: Ints, records: Ints | None) -> None:
        """Add (n,) rows that represent one record each, or for ``records``; atom -1 is none."""
        self._cells.add(self._numbers.of(identity), atom, records)

    def add_held(self, held: Held) -> None:
        """Add what was added up elsewhere."""
        number = self._numbers.of(held.identity)
        for person, atom, records in held.wide():
            self._cells.add_pairs((number[person], atom, records))

    def held(self) -> Held:
        """All that was added."""
        return Held(self._numbers.identities, self._cells.sums)

    def clipped(self, bound: int, size: int) -> Clipped:
        """Counts of ``size`` atoms under a contribution bound."""
        return self._cells.clipped(bound, lambda p: starts(self._numbers.identities[p]), size)


class Numbers:
    """A table of people: 0, 1, 2 .. for identities in the order in which they come."""

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
        found = np.empty(len(identity), np.int64)
        start = 0
        while start < len(identity):
            start, self._used = _number(
                identity, start, self._place, self._identities, self._used, found
            )
            if start < len(identity):
                known, size = self.identities.copy(), 4 * len(self._place)
                self._used, self._place = 0, np.full(size, -1)
                self._identities = np.empty((size, 2), np.int64)
                self.of(known)
        return found


@njit(cache=True, nogil=True)
def _number(identity, start, place, identities, used, found):  # type: ignore[no-untyped-def]
    """Open addressing at most half full; returns where it stopped for want of space, and how full.

    People often come in a row, so that the one before is looked at first.
    """
    mask = place.size - 1
    last = -1
    for i in range(start, found.size):
        a, b = identity[i, 0], identity[i, 1]
        if last >= 0 and identities[last, 0] == a and identities[last, 1] == b:
            found[i] = last
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
        last = found[i] = place[at]
    return found.size, used
