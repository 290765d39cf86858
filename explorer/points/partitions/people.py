"""Records by person and atom, over batches, files and workers: who is who by 128 bits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.points.clipping import Clipped, Pairs, PersonCells, added_up, starts
from explorer.points.tally import Numbers

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Held:
    """Records of persons, added up by atom. Exact: for the curator alone.

    Attributes
    ----------
    identity : (p, 2) int64
        Of each person, see `explorer.points.identity`.
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

    def add_held(self, other: Held) -> None:
        """Add what was added up elsewhere."""
        number = self._numbers.of(other.identity)
        for person, atom, records in other.wide():
            self._cells.add_pairs((number[person], atom, records))

    def held(self) -> Held:
        """All that was added."""
        return Held(self._numbers.identities, self._cells.sums)

    def clipped(self, bound: int, size: int) -> Clipped:
        """Counts of ``size`` atoms under a contribution bound."""
        return self._cells.clipped(bound, lambda p: starts(self._numbers.identities[p]), size)
