"""Inside leaves: a smooth density rebuilt from released neighbours, post-processing only.

A leaf's count need not be spread evenly inside it: where its neighbour to the north is fuller, its
northern half probably is too. On a pyramid of square blocks (sides of 1, 2, 4, ... cells) a block
that is inside a single leaf, with mass d and with up, down, right, left the masses of the blocks
next to it on the same level (its own mass at the edge of the map), has the slopes

    gx = SLOPE (down - up) / 8,   gy = SLOPE (right - left) / 8

over rows and columns, both scaled so that |gx| + |gy| <= d keeps every quarter at 0 or more; its
quarters get (d -+ gx -+ gy) / 4. Blocks that several leaves share keep what was released. The
coarsest blocks go first, so finer ones see neighbours that are already smooth. Every block keeps
its mass, hence every leaf its count, however the leaf is shaped.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

SLOPE = 0.6
"""How much of the neighbours' difference is believed; 0 keeps the leaf even."""


def interpolate(
    even: NDArray[np.float64], leaf: NDArray[np.int32], slope: float = SLOPE
) -> NDArray[np.float64]:
    """Rebuild a density inside leaves.

    Parameters
    ----------
    even : (rows, cols) released count per cell, even inside every leaf
    leaf : (rows, cols) which leaf a cell belongs to
    slope : 0 to 1, how much of the neighbours' difference is believed

    Returns
    -------
    (rows, cols) with the same sum in every leaf
    """
    finest = _padded(even, mode="edge")
    # Written over, in the end; who asks keeps the even one.
    masses = [finest.copy() if finest is even else finest]
    inside = [_padded(leaf, constant_values=-1)]
    while masses[-1].shape[0] > 1:
        mass, owner = _coarser(masses[-1], inside[-1])
        masses.append(mass)
        inside.append(owner)
    smooth = masses[-1]
    for level in range(len(masses) - 2, -1, -1):
        finer = masses[level]
        _refine(smooth, inside[level + 1], slope, finer)
        smooth = finer
    return np.ascontiguousarray(smooth[: even.shape[0], : even.shape[1]])


def _padded(cells, **how):  # type: ignore[no-untyped-def]
    """Grow to the next square whose side is a power of two, see `numpy.pad`; the same if it is."""
    side = 1 << (max(cells.shape) - 1).bit_length()
    if cells.shape == (side, side):
        return cells
    return np.pad(cells, [(0, side - length) for length in cells.shape], **how)


@njit(cache=True, nogil=True)
def _coarser(fine, owner):  # type: ignore[no-untyped-def]
    """Of blocks of 2 x 2 their masses, and the leaf that all four quarters are in, or -1."""
    side = fine.shape[0] // 2
    mass = np.empty((side, side), dtype=fine.dtype)
    common = np.empty((side, side), dtype=owner.dtype)
    for i in range(side):
        for j in range(side):
            north, west = 2 * i, 2 * j
            south, east = north + 1, west + 1
            both = fine[north, west] + fine[south, west]
            mass[i, j] = both + fine[north, east] + fine[south, east]
            first = owner[north, west]
            same = (
                owner[south, west] == first
                and owner[north, east] == first
                and owner[south, east] == first
            )
            common[i, j] = first if same else -1
    return mass, common


@njit(cache=True, nogil=True)
def _refine(coarse, owner, slope, fine):  # type: ignore[no-untyped-def]
    """Give the quarters of every block that one leaf owns their masses; the others stay."""
    side = coarse.shape[0]
    for i in range(side):
        for j in range(side):
            if owner[i, j] < 0:
                continue
            d = coarse[i, j]
            up = coarse[i - 1, j] if i > 0 else d
            down = coarse[i + 1, j] if i + 1 < side else d
            left = coarse[i, j - 1] if j > 0 else d
            right = coarse[i, j + 1] if j + 1 < side else d
            gx = slope * (down - up) / 8.0
            gy = slope * (right - left) / 8.0
            steep = abs(gx) + abs(gy)
            limit = max(d, 0.0)
            if steep > limit:
                gx *= limit / steep
                gy *= limit / steep
            fine[2 * i, 2 * j] = (d - gx - gy) / 4.0
            fine[2 * i, 2 * j + 1] = (d - gx + gy) / 4.0
            fine[2 * i + 1, 2 * j] = (d + gx - gy) / 4.0
            fine[2 * i + 1, 2 * j + 1] = (d + gx + gy) / 4.0
