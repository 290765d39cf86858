"""Arrays that begin where a line of the cache does, or a large page of memory."""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Kind = TypeVar("Kind", bound=np.generic)

_CACHE_LINE = 64
#: What Linux gives to a large array in one piece. The rest of it, up to the first and from the last
#: of these pieces, comes in pages of 4 kB, each as slow as a tenth of a piece.
_LARGE_PAGE = 2**21
_FEW = _LARGE_PAGE // 8


def aligned(shape: int | tuple[int, ...], dtype: type[Kind] | np.dtype[Kind]) -> NDArray[Kind]:
    """An array of that shape that is not filled in; numpy's begin anywhere."""
    size = np.dtype(dtype).itemsize * math.prod(shape if isinstance(shape, tuple) else (shape,))
    line = _LARGE_PAGE if size >= _LARGE_PAGE else _CACHE_LINE
    room = np.empty(size + line, dtype=np.uint8)
    begin = -room.__array_interface__["data"][0] % line
    return room[begin : begin + size].view(dtype).reshape(shape)


def roomy(shape: int | tuple[int, ...], dtype: type[Kind] | np.dtype[Kind]) -> NDArray[Kind]:
    """The same, but for small ones as quick as numpy's: those come by the thousand."""
    cells = shape if isinstance(shape, int) else math.prod(shape)
    return np.empty(shape, dtype) if cells < _FEW else aligned(shape, dtype)
