"""Which cells are worth dividing: a threshold from the unevenness that the sums themselves show.

Cells of a leaf of A finest cells carry noise sigma^2 / A and an error 4 H Y^2 / A of spreading
its count Y evenly, H = sum over its quarters of (share - 1/4)^2; after a split they carry
16 sigma^2 / A in place of both. So dividing pays if and only if

    4 H Y^2 > 15 sigma^2 + 3 Y,

sigma the noise of the next sums and 3 Y what sampling adds. The paper's k = 2 (Eq. 6) is that rule
at H = .75, right only if everybody sits in one quarter; H = .1 asks for k = 6, .01 for 19. Streets
are uneven and worth dividing, parks are not. (Our own; figures in the build note of heatmaps.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.releases.quarters import KeyTree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

UNKNOWN = 0.3
"""H where no group of siblings was measured at this level or above."""
LEAST, MOST = 1e-4, 0.75
"""What H may come out as; everybody in one quarter is .75."""
FURTHEST = 3
"""How many levels a node may be divided by at once."""


def unevenness(tree: KeyTree, sums: Floats, sd: float) -> Floats:
    """H of every level, (depth + 1,), pooled over complete groups of four measured siblings.

        H_l = sum_g [sum_c (y_c - P/4)^2 - 3 (sd^2 + P+/4)] / sum_g max(P^2 - 4 sd^2 - P+, 0),

    P the sum of a group's four y_c and P+ that or 0: numerator and denominator without what noise
    and sampling add on average. A level without any has the H of the level above it.
    """
    keys, level = tree.keys[tree.open], tree.level[tree.open]
    first = np.flatnonzero(
        (keys[:-3] & 3 == 0) & (keys[3:] == keys[:-3] + 3) if len(keys) > 3 else np.zeros(0, bool)
    )
    group = sums[first[:, np.newaxis] + np.arange(4)]
    whole = group.sum(axis=1)
    count = np.maximum(whole, 0.0)
    apart = ((group - whole[:, np.newaxis] / 4) ** 2).sum(axis=1) - 3 * (sd**2 + count / 4)
    scale = np.maximum(whole**2 - 4 * sd**2 - count, 0.0)
    size = tree.depth + 1
    above = np.bincount(level[first], apart, size)
    below = np.bincount(level[first], scale, size)
    result = np.full(size, UNKNOWN)
    for at in range(size):
        if below[at] > 0:
            result[at] = np.clip(above[at] / below[at], LEAST, MOST)
        elif at > 0:
            result[at] = result[at - 1]
    return result


def expected(measured: Floats) -> Floats:
    """H of the quarters of nodes of every level, (depth + 1,): the trend of two levels goes on.

    H_l clip(H_l / H_(l-1), 1/4, 1): what grows more even from level to level goes on doing so.
    """
    trend = np.ones_like(measured)
    trend[1:] = np.clip(measured[1:] / measured[:-1], 0.25, 1.0)
    return measured * trend


def levels_down(
    tree: KeyTree,
    sums: Floats,
    sd: float,
    next_counts: Floats,
    next_sd: float,
    furthest: int = FURTHEST,
) -> Ints:
    """By how many levels to divide each open node, (v,), 0 to leave it.

    In turn for j = 1, 2, 3, with f = Y / 4^(j-1): j levels if 4 H f^2 > 15 next_sd^2 + 3 f, and
    y > 2 sd for j = 1, y / 4^(j-1) > sd for more. H is that of the level, see `expected`; y are the
    noisy `sums` (v,), Y the `next_counts` (v,), what the next sums will be about.
    """
    level = tree.level[tree.open]
    h = expected(unevenness(tree, sums, sd))[level]
    down = np.zeros(tree.v, dtype=np.int64)
    for j in range(1, furthest + 1):
        part = 4.0 ** (j - 1)
        f = next_counts / part
        clear = sums > 2 * sd if j == 1 else sums / part > sd
        pays = (4 * h * f**2 > 15 * next_sd**2 + 3 * f) & clear & (level + j <= tree.depth)
        down[pays & (down == j - 1)] = j
    return down
