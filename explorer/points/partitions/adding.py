"""What counting a part gives, and what parts add up to, each of them once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.points.cleaning import FINE, left_out, sentences
from explorer.points.partitions.kept import Kept, Takers
from explorer.points.tally import Tally

Ints = NDArray[np.int64]

#: Rows without a user are counted after the reasons of `cleaning`.
NOBODY, JUDGED = 7, 8


@dataclass(frozen=True, eq=False)
class Counted:
    """What parts hold. Exact: for the curator alone.

    Attributes
    ----------
    atoms : (m,) int64
        Atoms that occurred, ascending.
    counts : (m,) int64
        Records in each, 1 or more.
    judged : (8,) int64
        Rows by reason (`cleaning`), and those without a user.
    kept : Kept
        Under a contribution bound the records of a part that may count; its atoms are empty.
    """

    atoms: NDArray[np.integer]
    counts: NDArray[np.integer]
    judged: Ints
    kept: Kept

    @property
    def meant(self) -> int:
        """Records that might have counted, wherever they lie."""
        return int(self.judged[FINE])

    def dense(self, size: int) -> Ints:
        """The counts of all atoms, (size,)."""
        found = np.zeros(size, np.int64)
        found[self.atoms] = self.counts
        return found

    def packed(self) -> Counted:
        """The same in 32 bits where that is enough: what a worker sends."""
        largest = max(self.atoms.max(initial=0), self.counts.max(initial=0))
        if largest >= 2**32:
            return self
        small = self.atoms.astype(np.uint32), self.counts.astype(np.uint32)
        return Counted(*small, self.judged, self.kept)

    def sentences(self) -> list[str]:
        """How many rows were left out and why, with exact numbers."""
        said = sentences(self.judged[:NOBODY])
        nobody = int(self.judged[NOBODY])
        return [*said, left_out(nobody, "without a user")] if nobody else said


class Sum:
    """What parts add up to, each of them once.

    Under a contribution bound parts are added in the order of the files: who comes early waits.

    Parameters
    ----------
    size : how many atoms there may be
    bound : records of each user at most, or None
    order : the keys of all parts in the order of the files
    """

    def __init__(self, size: int, bound: int | None, order: Sequence[str]) -> None:
        self.added: set[str] = set()
        self._tally, self._judged = Tally(size), np.zeros(JUDGED, np.int64)
        self._takers = None if bound is None else Takers(bound)
        self._order, self._waiting = order, dict[str, Counted]()

    def add(self, key: str, counted: Counted) -> None:
        """Add a part; one that was added before changes nothing."""
        if key in self.added:
            return
        if self._takers is None:
            self._add(key, counted)
            return
        self._waiting[key] = counted
        # What is added is a beginning of the order.
        while (at := len(self.added)) < len(self._order) and self._order[at] in self._waiting:
            self._add(self._order[at], self._waiting.pop(self._order[at]))

    def _add(self, key: str, counted: Counted) -> None:
        self.added.add(key)
        self._tally.add(counted.atoms.astype(np.int64), counted.counts.astype(np.int64))
        self._judged += counted.judged
        if self._takers is not None:
            kept = self._takers.first(counted.kept.user, counted.kept.atom, counted.kept.records)
            self._tally.add(kept.atom, kept.records)

    def total(self) -> Counted:
        """All that was added."""
        return Counted(*self._tally.sparse(), self._judged.copy(), Kept.none())

    def users(self) -> tuple[Ints, Ints]:
        """Users (u, 2) and how many records each has given (u,); none without a bound."""
        none = np.empty((0, 2), np.int64), np.empty(0, np.int64)
        return none if self._takers is None else self._takers.saved()

    def restore(self, added: set[str], total: Counted, user: Ints, taken: Ints) -> None:
        """Go on from what was added before."""
        self.added |= added
        self._tally.add(total.atoms.astype(np.int64), total.counts.astype(np.int64))
        self._judged += total.judged
        if self._takers is not None:
            self._takers.restore(user, taken)
