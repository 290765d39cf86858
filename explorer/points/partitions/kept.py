"""The first k records of each user across partitions: the k smallest row numbers.

What is kept of a user depends on that user's records alone: those inside the declared domain, in
the order of the files. So every part keeps at most k of each user it has seen, parts are merged in
any order and any number of times, and the result is that of reading all rows at once.
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


@dataclass(frozen=True, eq=False)
class Kept:
    """Records that count, by user and row.

    Attributes
    ----------
    user : (m, 2) int64
        Who: a whole number as it is, or 128 bits of a hash of anything else.
    row : (m,) int64
        Number of the row over all files, unique.
    atom : (m,) int64
        Where it lies, 0 or more.
    records : (m,) int64
        How many records it counts as, 1 or more.
    """

    user: Ints
    row: Ints
    atom: Ints
    records: Ints

    def __len__(self) -> int:
        return len(self.row)

    @classmethod
    def none(cls) -> Kept:
        """No record."""
        empty = np.empty(0, np.int64)
        return cls(np.empty((0, 2), np.int64), empty, empty, empty)

    @classmethod
    def of(cls, user: Ints, row: Ints, atom: Ints, records: Ints | None) -> Kept:
        """Those of some rows that lie somewhere and stand for a record at least."""
        records = np.ones(len(row), np.int64) if records is None else records
        there = np.flatnonzero((atom >= 0) & (records > 0))
        return cls(user[there], row[there], atom[there], records[there])

    def merged(self, other: Kept, bound: int) -> Kept:
        """The first ``bound`` records of each user in both, by row; a row in both counts once."""
        user = np.concatenate([self.user, other.user])
        row = np.concatenate([self.row, other.row])
        atom = np.concatenate([self.atom, other.atom])
        records = np.concatenate([self.records, other.records])
        order = np.lexsort((row, user[:, 1], user[:, 0]))
        user, row, records = user[order], row[order], records[order]
        _first(user, row, records, bound)
        stay = records > 0
        return Kept(user[stay], row[stay], atom[order][stay], records[stay])


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
def _first(user, row, records, bound):  # type: ignore[no-untyped-def]
    """Cut ``records``, sorted by user and row, where a user's sum would pass the bound."""
    taken = 0
    for i in range(row.size):
        same = i > 0 and user[i, 0] == user[i - 1, 0] and user[i, 1] == user[i - 1, 1]
        if not same:
            taken = 0
        elif row[i] == row[i - 1]:
            records[i] = 0
            continue
        records[i] = min(records[i], bound - taken)
        taken += records[i]
