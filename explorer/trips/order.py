"""Cells of many axes in one order, in which every box of repeated halves is one run.

Places take turns; each in its turn halves its longer side (rows first), as trees over trips do,
and one of a single row every second time, so that all axes of square places get on alike. A cell's
key is its path in these cuts, 0 for the lower half and 1 for the upper. Boxes that such
cuts make are prefixes of keys, so their cells follow one another once cells are sorted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

#: Bits of a key, so that the end of a run is an int64, too. Cuts beyond are not in the order.
KEY_BITS = 62
#: Rows and columns of all axes that there is space for; a `Grid` has far fewer.
_MOST_EDGES = 2**24


@dataclass(frozen=True, eq=False)
class Order:
    """The keys of all cells of a domain, axis by axis: a cell's key is the sum of its axes' bits.

    Attributes
    ----------
    length : bits of a key
    begin : (d,) where an axis begins in ``bits``; in ``ready`` it begins ``axis`` later
    bits : (sum of sides,) what a row or column adds to a key
    ready : (sum of sides + d,) cuts, in order, after which an axis is cut below a row or column;
        0 at both ends, ``length`` + 1 where it never is
    """

    length: int
    begin: Ints
    bits: Ints
    ready: Ints

    @classmethod
    def of(cls, shape: tuple[int, ...]) -> Order:
        """The order of a domain; axes belong together in pairs if their number is even.

        A domain of more than 2^24 rows and columns gets none: its keys are 0, and no box is a run.
        """
        if sum(shape) > _MOST_EDGES:
            nothing = np.empty(0, dtype=np.int64)
            return cls(0, np.zeros(len(shape), dtype=np.int64), nothing, nothing)
        return _order(tuple(map(int, shape)))

    def keys(self, cells: Ints) -> Ints:
        """Keys of m cells (m, d), (m,) int64."""
        keys = np.zeros(len(cells), dtype=np.int64)
        if len(self.bits):
            for axis, begin in enumerate(self.begin):
                keys += self.bits[begin + cells[:, axis]]
        return keys


@lru_cache(maxsize=8)
def _order(shape: tuple[int, ...]) -> Order:
    turns = _turns(shape)[:KEY_BITS]
    length = len(turns)
    begin = np.concatenate([[0], np.cumsum(shape)[:-1]]).astype(np.int64)
    bits, ready = [], []
    for axis, side in enumerate(shape):
        path, depth = _path(side)
        axis_bits = [length - 1 - turn for turn, of in enumerate(turns) if of == axis]
        of_axis = np.zeros(side, dtype=np.int64)
        for level, bit in enumerate(axis_bits):
            of_axis |= ((path >> (depth - 1 - level)) & 1) << bit
        differ = of_axis[1:] ^ of_axis[:-1]
        # The highest bit in which neighbours differ is the cut between them.
        cut = np.full(len(differ), length + 1, dtype=np.int64)
        for bit in reversed(axis_bits):
            cut[differ >> bit > 0] = length - bit
        bits.append(of_axis)
        ready.append(np.concatenate([[0], cut, [0]]))
    parts = np.concatenate(bits), np.concatenate(ready).astype(np.int64)
    return Order(length, begin, *parts)


def _turns(shape: tuple[int, ...]) -> list[int]:
    """The axis of every cut in order; the places take turns, each cuts its longer side."""
    together = 2 if len(shape) % 2 == 0 else 1
    sides, turns, rounds = list(shape), list[int](), 0
    while max(sides) > 1:
        for first in range(0, len(shape), together):
            place_axes = range(first, first + together)
            axis = max(place_axes, key=sides.__getitem__)
            # A place of one row is cut every second time: as often as either axis of others.
            waits = (
                rounds % 2 == 1 and together == 2 and min(shape[axis] for axis in place_axes) == 1
            )
            if sides[axis] > 1 and not waits:
                sides[axis] = -(-sides[axis] // 2)
                turns.append(axis)
        rounds += 1
    return turns


def _path(side: int) -> tuple[Ints, int]:
    """Paths of the cells of one axis, cut at floor(length / 2) each, and how long they are."""
    depth = (side - 1).bit_length()
    where, length = np.arange(side), np.full(side, side)
    path = np.zeros(side, dtype=np.int64)
    for _ in range(depth):
        half = length // 2
        is_upper = (where >= half) & (length > 1)
        path = path << 1 | is_upper
        where = where - half * is_upper
        length = np.where(is_upper | (length == 1), length - half, half)
    return path, depth
