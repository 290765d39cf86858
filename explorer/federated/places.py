"""Finest cells as Morton codes, and visits shared out among them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.grid.grid import Grid

Ints = NDArray[np.int64]
Whole = NDArray[np.integer]

_DEEPEST_INT32 = 15
_DEEPEST_TABLE = 11
_SPREADING = (
    (16, 0x0000FFFF0000FFFF),
    (8, 0x00FF00FF00FF00FF),
    (4, 0x0F0F0F0F0F0F0F0F),
    (2, 0x3333333333333333),
    (1, 0x5555555555555555),
)


def depth_of(grid: Grid) -> int:
    """Levels of the smallest square of a power of two that holds a grid."""
    return (max(grid.shape) - 1).bit_length()


def code_type(depth: int) -> type[np.signedinteger]:
    """The smallest type for Morton codes of a depth."""
    return np.int32 if depth <= _DEEPEST_INT32 else np.int64


def morton(cols: Whole, rows: Whole) -> Ints:
    """Morton codes of cells: bits of column and row in turn, the column's first.

    >>> bin(morton(np.array([12]), np.array([5]))[0])
    '0b10110001'
    """
    across, up = (np.asarray(side, dtype=np.int64) for side in (cols, rows))
    return _apart(across) << 1 | _apart(up)


def rounded(visits: Whole, starts: Ints, places: int, words: NDArray[np.uint64]) -> Ints:
    """Each person's shares of visits as whole numbers that add up to S: systematic rounding.

    With visits n_1..n_r of total t, cumulative C_j, and U uniform in 0..t-1:
    y_j = (S C_j + U) // t - (S C_(j-1) + U) // t. E y_j = S n_j / t and sum y_j = S, so the
    sensitivity is S, not the S + v of independent rounding (errata 32, 41).

    Parameters
    ----------
    visits : (p,) person by person
    starts : (m + 1,) where each person's begin
    places : S
    words : (m,) random words, of which U is made

    >>> rounded(np.array([3, 1]), np.array([0, 2]), 4, np.zeros(1, np.uint64)).tolist()
    [3, 1]
    """
    value = np.empty(len(visits), dtype=np.int64)
    _round(visits, starts, places, words, value)
    return value


@njit(cache=True, nogil=True)
def _round(visits, starts, places, words, value):  # type: ignore[no-untyped-def]
    for person in range(len(starts) - 1):
        total = 0
        for j in range(starts[person], starts[person + 1]):
            total += visits[j]
        if total == 0:
            continue  # A person of no place.
        # 53 bits of a word spread over 0..total-1: it is rounding, no privacy rests on it.
        u = np.int64(np.float64(words[person] >> np.uint64(11)) * 2.0**-53 * total)
        cumulative, before = 0, u // total
        for j in range(starts[person], starts[person + 1]):
            cumulative += visits[j]
            # Below 10^6 x 2^40: no int64 wraps.
            after = (places * cumulative + u) // total
            value[j] = after - before
            before = after


def _apart(bits: Ints) -> Ints:
    """A zero in front of every one of 31 bits."""
    for shift, mask in _SPREADING:
        bits = (bits | bits << shift) & mask
    return bits


def spread(first: Whole, behind: Whole) -> tuple[Ints, Ints]:
    """Positions of ranges and every index inside them, range by range."""
    length = behind - first
    position = np.repeat(np.arange(len(first)), length)
    at = np.arange(length.sum()) + np.repeat(first - (np.cumsum(length) - length), length)
    return position, at


@dataclass(frozen=True)
class Question:
    """Which counter every finest cell belongs to: runs of Morton codes."""

    starts: Ints  # (r,) first code of each run, rising from 0
    owners: Ints  # (r,) the counter of each run, 0 to counters - 1; -1 for none
    counters: int  # v, nodes that are counted
    depth: int  # of the finest cells, as of the people

    def __post_init__(self) -> None:
        starts, owners = self.starts, self.owners
        if len(starts) == 0 or len(starts) != len(owners) or starts[0] != 0:
            raise ValueError("runs begin at code 0 and each has one owner")
        if np.any(np.diff(starts) <= 0) or starts[-1] >= 4**self.depth:
            raise ValueError("runs rise and begin inside the square")
        if self.counters < 1 or owners.min() < -1 or owners.max() >= self.counters:
            raise ValueError("owners are counters of the question, or -1")

    @cached_property
    def _table(self) -> NDArray[np.int32]:
        ends = np.append(self.starts[1:], 4**self.depth)
        return np.repeat(self.owners.astype(np.int32), ends - self.starts)

    def owner(self, cells: Whole) -> Whole:
        """The counter of each cell, (n,); -1 for a place outside (-1) and for cells of none."""
        if self.depth <= _DEEPEST_TABLE:
            counter: Whole = self._table[cells]
        else:
            run = np.searchsorted(self.starts, cells, side="right") - 1
            counter = self.owners[np.maximum(run, 0)]
        return np.where(cells < 0, -1, counter) if np.any(cells < 0) else counter
