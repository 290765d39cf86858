"""Memory that large arrays have given up, kept for the next.

The system clears a page when it is first written to, and takes it back when an array goes. Previews
follow each other and need the same arrays again: for the largest trees a fifth of the time went
into pages. What is kept is bounded, and `forget` gives it back.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEAST, MOST = 2**18, 2**26
"""Bytes of arrays whose memory is kept."""
MOST_KEPT = 5 * 2**25
"""Bytes that lie ready at most: what a preview of a million leaves leaves behind."""
LINE = 64
"""Bytes of a line of the cache."""
LARGE_PAGE = 2**21
"""Bytes that Linux gives to a large array in one piece. What lies before the first and after the
last whole piece comes in pages of 4 kB, which take about eight times as long."""

# Four sizes to each doubling: a fifth is left over at most. No size comes or goes later, so nothing
# here needs a lock: lists are asked one question at a time.
_DOUBLINGS = range(LEAST.bit_length() - 3, MOST.bit_length() - 3)
_SIZES = (*(part << bits for bits in _DOUBLINGS for part in (4, 5, 6, 7)), MOST)
_kept: dict[int, list[NDArray[np.uint8]]] = {size: [] for size in _SIZES}
_last_taken = dict.fromkeys(_SIZES, 0)
_turn = itertools.count(1)


class _Room:
    """Memory of one array and all its views; goes back when the last of them is gone."""

    __slots__ = ("__array_interface__", "_memory", "_size")

    def __init__(self, memory: NDArray[np.uint8], size: int) -> None:
        self._memory, self._size = memory, size
        begin = memory.__array_interface__["data"][0]
        begin += -begin % line(size)
        self.__array_interface__: dict[str, Any] = {
            "data": (begin, False),
            "shape": (size,),
            "typestr": "|u1",
            "version": 3,
        }

    def __del__(self) -> None:
        _keep(self._memory, self._size)


def line(size: int) -> int:
    """Where an array of so many bytes may begin: at multiples of this many."""
    return LARGE_PAGE if size >= LARGE_PAGE and sys.platform == "linux" else LINE


def room(size: int) -> NDArray[np.uint8]:
    """So many bytes, `LEAST` to `MOST`, that hold anything and begin at a `line`."""
    place = next(each for each in _SIZES if each >= size)
    _last_taken[place] = next(_turn)
    try:
        memory = _kept[place].pop()
    except IndexError:
        memory = np.empty(place + line(place), dtype=np.uint8)
    return np.asarray(_Room(memory, place))[:size]


def forget() -> None:
    """Give back what lies ready."""
    for kept in _kept.values():
        kept.clear()


def kept_bytes() -> int:
    """How much lies ready."""
    return sum(size * len(_kept[size]) for size in _SIZES)


def _keep(memory: NDArray[np.uint8], size: int) -> None:
    over = kept_bytes() + size - MOST_KEPT
    # What was taken longest ago makes place.
    for other in sorted(_SIZES, key=_last_taken.__getitem__) if over > 0 else ():
        while over > 0 and other != size and _kept[other]:
            _drop(other)
            over -= other
    if over <= 0:
        _kept[size].append(memory)


def _drop(size: int) -> None:
    # Another thread may have taken the last one.
    with contextlib.suppress(IndexError):
        _kept[size].pop()
