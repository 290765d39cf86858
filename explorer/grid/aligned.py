"""Arrays that begin where a line of the cache does, or a large page of memory."""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from explorer.grid import rooms

Kind = TypeVar("Kind", bound=np.generic)


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
    return rooms.fresh(_bytes(shape, dtype)).view(dtype).reshape(shape)


def roomy(shape: int | tuple[int, ...], dtype: type[Kind] | np.dtype[Kind]) -> NDArray[Kind]:
    """See `aligned`; but in memory that others have given up, see `rooms`.

    Small ones are as quick as numpy's: those come by the thousand.
    """
    size = _bytes(shape, dtype)
    if size < rooms.LEAST:
        return np.empty(shape, dtype)
    if size > rooms.MOST:
        return aligned(shape, dtype)
    return rooms.take(size).view(dtype).reshape(shape)


def cleared(shape: int | tuple[int, ...], dtype: type[Kind] | np.dtype[Kind]) -> NDArray[Kind]:
    """Zeros, as `roomy`."""
    zeros = roomy(shape, dtype)
    zeros.fill(0)
    return zeros


def _bytes(shape: int | tuple[int, ...], dtype: type[Kind] | np.dtype[Kind]) -> int:
    cells = math.prod(shape) if isinstance(shape, tuple) else int(shape)
    return cells * np.dtype(dtype).itemsize
