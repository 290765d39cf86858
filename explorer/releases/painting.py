"""Boxes of cells painted on a map, each with a number of its own."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def paint(lower, upper, values, image):  # type: ignore[no-untyped-def]
    """Write `values` (n,) into the cells of n boxes, (n, 2) half open, of `image` (rows, cols).

    What of a box is behind the last row or column is left out.
    """
    for k in range(len(values)):
        for i in range(lower[k, 0], min(upper[k, 0], len(image))):
            image[i, lower[k, 1] : upper[k, 1]] = values[k]
