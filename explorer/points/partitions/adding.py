"""What counting a part gives, and what parts add up to, each of them once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.points.cleaning import left_out, sentences
from explorer.points.partitions.kept import Kept
from explorer.points.partitions.tally import Tally

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
        Under a contribution bound the records that count; then atoms are empty until the end.
    """

    atoms: NDArray[np.integer]
    counts: NDArray[np.integer]
    judged: Ints
    kept: Kept

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
    """What parts add up to, each of them once."""

    def __init__(self, size: int, bound: int | None) -> None:
        self.seen: set[str] = set()
        self._tally, self._bound = Tally(size), bound
        self._judged, self._kept = np.zeros(JUDGED, np.int64), Kept.none()
        self._waiting: list[Kept] = []

    def add(self, key: str, counted: Counted) -> None:
        """Add a part; one that was added before changes nothing."""
        if key in self.seen:
            return
        self.seen.add(key)
        self._tally.add(counted.atoms.astype(np.int64), counted.counts.astype(np.int64))
        self._judged += counted.judged
        self._waiting.append(counted.kept)
        # Merging sorts all that is kept: only when as much again has come.
        if self._bound and sum(map(len, self._waiting)) > len(self._kept):
            self._merge()

    def total(self) -> Counted:
        """All of it so far, with what is kept of users still apart."""
        self._merge()
        return Counted(*self._tally.sparse(), self._judged.copy(), self._kept)

    def _merge(self) -> None:
        for more in self._waiting if self._bound else ():
            self._kept = self._kept.merged(more, self._bound or 0)
        self._waiting = []
