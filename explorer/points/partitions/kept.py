"""The first k records of each user across partitions: the k smallest row numbers.

What is kept of a user depends on that user's records alone: those inside the declared domain, in
the order of the files. Each part passes on the first k of every user it has seen; parts go through
one table of users in the order of the files, whatever order they were counted in. So the result is
that of reading all rows at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]

# Two keys give 128 bits: that two users of a billion share them has a chance below 10^-20.
_KEYS = ("explorer-users-1", "explorer-users-2")
_FIRST = 2**12


@dataclass(frozen=True, eq=False)
class Kept:
    """Records that count so far, in the order of their rows.

    Attributes
    ----------
    user : (m, 2) int64
        Who: a whole number as it is, or 128 bits of a hash of anything else.
    atom : (m,) int64
        Where it lies, 0 or more.
    records : (m,) int64
        How many records it counts as, 1 or more.
    """

    user: Ints
    atom: Ints
    records: Ints

    def __len__(self) -> int:
        return len(self.atom)

    @classmethod
    def none(cls) -> Kept:
        """No record."""
        empty = np.empty(0, np.int64)
        return cls(np.empty((0, 2), np.int64), empty, empty)

    @classmethod
    def joined(cls, parts: list[Kept]) -> Kept:
        """Those of several, one after the other."""
        parts = [cls.none(), *parts]
        return cls(
            np.concatenate([part.user for part in parts]),
            np.concatenate([part.atom for part in parts]),
            np.concatenate([part.records for part in parts]),
        )


class Takers:
    """A table of users and of how many records each has given, ``bound`` at most.

    Examples
    --------
    >>> takers = Takers(2)
    >>> ann, one = np.array([[7, 0]]), np.array([1])
    >>> [len(takers.first(ann, one, one)) for _ in range(3)]
    [1, 1, 0]
    """

    def __init__(self, bound: int) -> None:
        self._bound, self._used = bound, 0
        # None is taken where a place is free.
        self._users, self._taken = np.zeros((_FIRST, 2), np.int64), np.zeros(_FIRST, np.int64)

    def first(self, user: Ints, atom: Ints, records: Ints | None) -> Kept:
        """Which of (n,) records that come next count, and as how many; -1 is no atom."""
        number = np.ones(len(atom), np.int64) if records is None else records.copy()
        number[atom < 0] = 0
        start = 0
        while start < len(atom):
            start, self._used = _take(
                user, number, start, self._bound, self._users, self._taken, self._used
            )
            if start < len(atom):
                self._grow()
        there = np.flatnonzero(number)
        return Kept(user[there], atom[there], number[there])

    def saved(self) -> tuple[Ints, Ints]:
        """Users (u, 2) and how many records each has given (u,)."""
        there = np.flatnonzero(self._taken)
        return self._users[there], self._taken[there]

    def restore(self, user: Ints, taken: Ints) -> None:
        """Go on from what was saved."""
        self.first(user, np.zeros(len(user), np.int64), taken)

    def _grow(self) -> None:
        user, taken = self.saved()
        size = 4 * len(self._taken)
        self._users, self._taken = np.zeros((size, 2), np.int64), np.zeros(size, np.int64)
        self._used = 0
        self.restore(user, taken)


def identities(column: pa.Array) -> tuple[Ints, NDArray[np.bool_]]:
    """Who each row belongs to, (n, 2), equal in every file, and whether it says so, (n,)."""
    import pandas

    known = ~np.asarray(column.is_null(nan_is_null=True).to_numpy(zero_copy_only=False))
    found = np.zeros((len(column), 2), np.int64)
    if pa.types.is_integer(column.type):
        whole = column.fill_null(0).cast(pa.int64(), safe=False)
        found[:, 0] = whole.to_numpy(zero_copy_only=False)
        return found, known
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    values = column.dictionary.cast(pa.string()).to_numpy(zero_copy_only=False)
    index = column.indices.fill_null(0).to_numpy(zero_copy_only=False)
    for side, key in enumerate(_KEYS):
        if len(values):
            hashed = pandas.util.hash_array(values, hash_key=key, categorize=False)
            found[:, side] = hashed.view(np.int64)[index]
    return found, known


@njit(cache=True, nogil=True)
def _take(user, records, start, bound, users, given, used):  # type: ignore[no-untyped-def]
    """Cut ``records`` to what each user may still give; stops where the table is half full.

    Open addressing; returns where it stopped, and how full the table is.
    """
    mask = given.size - 1
    for i in range(start, records.size):
        if records[i] <= 0:
            continue
        mixed = np.uint64(user[i, 0]) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= np.uint64(user[i, 1]) * np.uint64(0xC2B2AE3D27D4EB4F)
        at = int(mixed >> np.uint64(24)) & mask
        while given[at] > 0 and not (users[at, 0] == user[i, 0] and users[at, 1] == user[i, 1]):
            at = (at + 1) & mask
        if given[at] == 0:
            if 2 * used >= given.size:
                return i, used
            users[at, 0], users[at, 1] = user[i, 0], user[i, 1]
            used += 1
        records[i] = min(records[i], bound - given[at])
        given[at] += records[i]
    return records.size, used
