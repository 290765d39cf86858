"""What counting a part gives, and what parts add up to, each of them once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from explorer.points.cleaning import FINE, REASONS, left_out, sentences
from explorer.points.identity import JOINED
from explorer.points.partitions.people import Held, People
from explorer.points.tally import Tally

Ints = NDArray[np.int64]

#: After the reasons of `cleaning`: rows without a user, and those whose id is spelled otherwise.
NOBODY, RESPELLED, JUDGED = REASONS, REASONS + 1, REASONS + 2


@dataclass(frozen=True, eq=False)
class Counted:
    """What parts hold. Exact: for the curator alone.

    Attributes
    ----------
    atoms : (m,) int64
        Atoms that occurred, ascending.
    counts : (m,) int64
        Records that count in each.
    judged : (10,) int64
        Rows by reason (`cleaning`), without a user, and with an id of another spelling.
    held : Held
        Under a contribution bound the records of each person in a part, which has no atoms itself.
    unclipped : (m,) int64 or None
        Under a contribution bound all records in each atom, once all parts are added up.
    """

    atoms: NDArray[np.integer]
    counts: NDArray[np.integer]
    judged: Ints
    held: Held
    unclipped: Ints | None = None

    @property
    def meant(self) -> int:
        """Records that might have counted, wherever they lie."""
        return int(self.judged[FINE])

    def dense(self, size: int) -> Ints:
        """The counts of all atoms, (size,)."""
        return dense(self.atoms, self.counts, size)

    def packed(self) -> Counted:
        """The same in 32 bits where that is enough: what a worker sends."""
        packed = replace(self, held=self.held.packed())
        largest = max(self.atoms.max(initial=0), self.counts.max(initial=0))
        if largest >= 2**32:
            return packed
        small = self.atoms.astype(np.uint32), self.counts.astype(np.uint32)
        return replace(packed, atoms=small[0], counts=small[1])

    def sentences(self) -> list[str]:
        """How many rows were left out and why, with exact numbers."""
        lines = sentences(self.judged[:NOBODY])
        nobody = int(self.judged[NOBODY])
        lines += [JOINED] if self.judged[RESPELLED] else []
        return [*lines, left_out(nobody, "without a user")] if nobody else lines


def dense(atoms: NDArray[np.integer], counts: NDArray[np.integer], size: int) -> Ints:
    """Counts (m,) of atoms (m,) as those of all atoms, (size,)."""
    found = np.zeros(size, np.int64)
    found[atoms] = counts
    return found


class Sum:
    """What parts add up to, each of them once, in any order.

    Parameters
    ----------
    size : how many atoms there may be
    bound : records of each user at most, or None
    """

    def __init__(self, size: int, bound: int | None) -> None:
        self.added: set[str] = set()
        self._size, self._bound = size, bound
        self._tally, self._judged = Tally(size), np.zeros(JUDGED, np.int64)
        self._people = People()

    def add(self, key: str, counted: Counted) -> None:
        """Add a part; one that was added before changes nothing."""
        if key not in self.added:
            self.restore({key}, counted)

    def restore(self, added: set[str], counted: Counted) -> None:
        """Add what several parts added up to before."""
        self.added |= added
        self._tally.add(counted.atoms.astype(np.int64), counted.counts.astype(np.int64))
        self._judged += counted.judged
        self._people.add_held(counted.held)

    def so_far(self) -> Counted:
        """All that was added, to be added to later."""
        return Counted(*self._tally.sparse(), self._judged.copy(), self._people.held())

    def total(self) -> Counted:
        """What all parts count to."""
        if self._bound is None:
            return self.so_far()
        atoms, counts, unclipped = self._people.clipped(self._bound, self._size)
        return Counted(atoms, counts, self._judged.copy(), Held.none(), unclipped)
