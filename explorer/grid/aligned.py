"""Arrays that begin where a line of the cache does, or a large page of memory."""

from __future__ import annotations

import math
import sys
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Kind = TypeVar("Kind", bound=np.generic)

_CACHE_LINE = 64
#: Bytes that Linux gives to a large array in one piece. What lies before the first and after the
#: last whole piece comes in pages of 4 kB, which take about eight times as long.
_LARGE_PAGE = 2**21


def aligned(shape: int | tuple[int, ...], dtype: type[Kind] | np.dtype[Kind]) -> NDArray[Kind]:
    """An array that is not filled in, of which the first number begins a line or a large page.

    Parameters
    ----------
    shape, dtype : as of `numpy.empty`

    Returns
    -------
    shape, in rows
        It holds on to up to a line, or 2 MB, of room before and behind it.
    """
    size = _bytes(shape, dtype)
    large = size >= _LARGE_PAGE and sys.platform == "linux"
    line = _LARGE_PAGE if large else _CACHE_LINE
    room = np.empty(size + line, dtype=np.uint8)
    begin = -room.__array_interface__["data"][0] % line
    return room[begin : begin + size].view(dtype).reshape(shape)


def roomy(shape: int | tuple[int, ...], dtype: type[Kind] | np.dtype[Kind]) -> NDArray[Kind]:
    """See `aligned`; but small ones are as quick as numpy's: those come by the thousand."""
    small = _bytes(shape, dtype) < _LARGE_PAGE
    return np.empty(shape, dtype) if small else aligned(shape, dtype)


def _bytes(shape: int | tuple[int, ...], dtype: type[Kind] | np.dtype[Kind]) -> int:
    cells = math.prod(shape) if isinstance(shape, tuple) else int(shape)
    return cells * np.dtype(dtype).itemsize
