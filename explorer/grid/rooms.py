"""Memory of large arrays, used again once nobody has the array any more.

The system clears a page when it is first written to, and takes it back when an array goes. Previews
follow each other and need the same arrays again: for the largest trees a fifth of the time went
into pages. Whether an array is still in use numpy's own count of references says.

What lies in such memory is whatever was there before, exact counts too, as in any array that is not
filled in: nothing beyond an array's own cells may be saved or sent.
"""

from __future__ import annotations

import itertools
import sys
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

LEAST, MOST = 2**18, 2**26
"""Bytes of arrays whose memory is used again."""
MOST_KEPT = 2**28
"""Bytes that are kept at most: what a preview of a million leaves needs beside the one before."""
LINE = 64
"""Bytes of a line of the cache."""
LARGE_PAGE = 2**21
"""Bytes that Linux gives to a large array in one piece. What lies before the first and after the
last whole piece comes in pages of 4 kB, which take about eight times as long."""

# Four sizes to each doubling: a fifth is left over at most.
_DOUBLINGS = range(LEAST.bit_length() - 3, MOST.bit_length() - 3)
_SIZES = (*(part << bits for bits in _DOUBLINGS for part in (4, 5, 6, 7)), MOST)

_OfSize = dict[int, list[tuple[int, Bytes]]]
"""Turn and memory of those of each size, in the order in which they were taken."""


class Rooms:
    """Memory that was taken lately, in use or not.

    Parameters
    ----------
    most_kept : bytes; what was taken longest ago is not kept beyond that, and goes like any memory
    """

    def __init__(self, most_kept: int) -> None:
        self._most_kept = most_kept
        self._of_size = _none()
        self._turns = itertools.count()
        self._lock = threading.Lock()

    def take(self, size: int) -> Bytes:
        """Memory that holds anything, of a new array or of one that nobody has any more.

        Parameters
        ----------
        size : bytes, `LEAST` to `MOST`

        Returns
        -------
        (size,) beginning at a line of the cache, on Linux from `LARGE_PAGE` on at a large page
        """
        place = _place(size)
        # Whoever finds somebody else here does not wait: garbage that is collected in the middle
        # of this may come back to it.
        if not self._lock.acquire(blocking=False):
            return fresh(place)[:size]
        try:
            of_size = self._of_size
            rooms = of_size[place]
            free = [at for at in range(len(rooms)) if _count(rooms[at]) == _ALONE]
            # The last one is the likeliest to be in the cache still.
            memory = rooms.pop(free[-1])[1] if free else _new(place)
            rooms.append((next(self._turns), memory))
            if not free:
                self._let_go(of_size)
            return _begun(memory, place)[:size]
        finally:
            self._lock.release()

    def forget(self) -> None:
        """Keep nothing: what is in use goes when it is not, what is not goes now."""
        # Another dictionary: whoever is in the middle of `take` has the old one to the end.
        self._of_size = _none()

    @property
    def ready(self) -> int:
        """Bytes that nobody uses."""
        return sum(
            size * sum(_count(room) == _ALONE for room in rooms)
            for size, rooms in self._of_size.items()
        )

    def _let_go(self, of_size: _OfSize) -> None:
        over = sum(size * len(rooms) for size, rooms in of_size.items()) - self._most_kept
        while over > 0:
            oldest = min((rooms[0][0], size) for size, rooms in of_size.items() if rooms)[1]
            of_size[oldest].pop(0)
            over -= oldest


def fresh(size: int) -> Bytes:
    """Memory of so many bytes, (size,), that begins as `Rooms.take` says and is not kept."""
    return _begun(_new(size), size)


def _line(size: int) -> int:
    """Where an array of so many bytes may begin: at multiples of this many."""
    return LARGE_PAGE if size >= LARGE_PAGE and sys.platform == "linux" else LINE


def _none() -> _OfSize:
    return {size: [] for size in _SIZES}


def _place(size: int) -> int:
    """The least of `_SIZES` that is not below."""
    bits = max((size - 1).bit_length() - 3, 0)
    return -(-size >> bits) << bits


def _new(size: int) -> Bytes:
    return np.empty(size + _line(size), dtype=np.uint8)


def _begun(memory: Bytes, size: int) -> Bytes:
    begin = -memory.__array_interface__["data"][0] % _line(size)
    return memory[begin : begin + size]


def _count(room: tuple[int, Any]) -> int:
    return sys.getrefcount(room[1])


_ALONE = _count((0, np.empty(0)))
"""What is counted where the memory has no array on it."""
_shared = Rooms(MOST_KEPT)
take, forget = _shared.take, _shared.forget
