"""Arrays that begin where a line of the cache does, or a large page of memory."""

from __future__ import annotations

import math
import sys
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Kind = TypeVar("Kind", bound=np.generic)

_CACHE_LINE = 64
#: What Linux gives to a large array in one piece. The rest of it, up to the first and from the last
#: of these pieces, comes in pages of 4 kB, each as slow as a tenth of a piece.
_LARGE_PAGE = 2**21


def aligned(shape: int | tuple[int, ...], dtype: type[Kind] | np.dtype[Kind]) -> NDArray[Kind]:
    """An array of that shape that is not filled in; numpy's begin anywhere."""
    size = _bytes(shape, dtype)
    large = size >= _LARGE_PAGE and sys.platform == "linux"
    line = _LARGE_PAGE if large else _CACHE_LINE
    room = np.empty(size + line, dtype=np.uint8)
    begin = -room.__array_interface__["data"][0] % line
    return room[begin : begin + size].view(dtype).reshape(shape)


def roomy(shape: int | tuple[int, ...], dtype: type[Kind] | np.dtype[Kind]) -> NDArray[Kind]:
    """The same, but for small ones as quick as numpy's: those come by the thousand."""
    small = _bytes(shape, dtype) < _LARGE_PAGE
    return np.empty(shape, dtype) if small else aligned(shape, dtype)


def _bytes(shape: int | tuple[int, ...], dtype: type[Kind] | np.dtype[Kind]) -> int:
    cells = math.prod(shape) if isinstance(shape, tuple) else int(shape)
    return cells * np.dtype(dtype).itemsize
