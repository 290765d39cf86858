"""What the surroundings of a leaf say of it: neighbours' draws, pooled over leaves alike.

A leaf's own draw y has noise of scale 1/e, e = sqrt(2 / variance). Its surroundings expect
lam = beta . F of y e: F are the means of three rings round it (to 1, 3 and 7 of its own sides
beyond it), and beta is fitted by least squares over all leaves of its size. Leaves of one size that
expect alike are a class, and in a class the draws themselves say how far to believe what is
expected (James and Stein's rule): the part

    s = max(0, 1 - 2 (n + 5) / (sum (y e - lam)^2 + 10))

of a leaf's distance from lam is its own, the rest is taken for noise. Nothing is read but draws.
(Our own; notebooks/design, mosaic for every size.)
"""

from __future__ import annotations

import numpy as np
from numba import njit

from explorer.releases.nodes import Ints
from explorer.releases.transcript import Floats

EDGES = np.array(
    [-0.4, -0.15, 0, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.4, 1.9, 2.5, 3.2, 4, 5, 6, 7, 8.5, 10, 12, 15,
     20, 30]
)  # fmt: skip
"""Of the classes of lam."""
PRIOR = np.array([0.5, 0.35, 0.15])
"""beta before any leaf was looked at; worth `RIDGE` leaves."""
RIDGE = 30.0
OUTWARDS = np.array([0, 1, 3, 7])
"""How many of its own sides the windows extend beyond a leaf."""
OWN = 0.6
"""A class whose own part is larger is not shrunk at all."""
SPARSE = 0.75
"""Classes that expect less are not shrunk: there the likelihood of "empty" does it."""


def shrunk(
    lower: Ints,
    upper: Ints,
    leaves: Ints,
    draws: Floats,
    variance: Floats,
    shape: tuple[int, int],
) -> tuple[Floats, Floats]:
    """What is believed of leaves after their surroundings.

    Parameters
    ----------
    lower, upper : (m, 2) half open, of all nodes of a tree
    leaves : (n,) those that tile the map
    draws, variance : (n,) their noisy counts and the variance of the noise
    shape : rows and columns of the map

    Returns
    -------
    Estimates and their variances, (n,) each
    """
    sums = np.empty((shape[0] + 1, shape[1] + 1), np.float64)
    _paint(lower, upper, leaves, draws, sums)
    group, rings = np.empty(len(draws), np.int64), np.empty((len(draws), 3), np.float64)
    _look_round(lower, upper, leaves, variance, sums, group, rings)
    estimate, believed = (np.empty(len(draws), np.float64) for _ in range(2))
    _shrink(group, draws, variance, rings, estimate, believed)
    return estimate, believed


@njit(cache=True, nogil=True)
def _paint(lower, upper, leaves, draws, sums):  # type: ignore[no-untyped-def]
    """Spread counts over cells and add up from the corner, into (rows + 1, cols + 1)."""
    sums[0, :] = 0.0
    sums[:, 0] = 0.0
    flat, line = sums.reshape(-1), sums.shape[1]
    for i in range(len(leaves)):
        leaf = leaves[i]
        r0, r1, c0, c1 = lower[leaf, 0], upper[leaf, 0], lower[leaf, 1], upper[leaf, 1]
        height, width = r1 - r0, c1 - c0
        # Positions are used without a sign: none counts from the end.
        at, density = (r0 + 1) * line + c0 + 1, draws[i]
        if height * width == 1:
            # Most leaves of a full map: loops and a division would be most of their work.
            flat[np.uint64(at)] = density
            continue
        density /= height * width
        for _ in range(height):
            for c in range(width):
                flat[np.uint64(at + c)] = density
            at += line
    _add_up(sums)


@njit(cache=True, nogil=True)
def _add_up(sums):  # type: ignore[no-untyped-def]
    """Turn cells into sums from the corner; the first row and column are zeros."""
    rows, cols = sums.shape
    r = 1
    # Four rows side by side: along one of them every sum waits for the one before.
    while r + 4 <= rows:
        along, along_1, along_2, along_3 = 0.0, 0.0, 0.0, 0.0
        for c in range(1, cols):
            along += sums[r, c]
            along_1 += sums[r + 1, c]
            along_2 += sums[r + 2, c]
            along_3 += sums[r + 3, c]
            total = sums[r - 1, c] + along
            sums[r, c] = total
            total += along_1
            sums[r + 1, c] = total
            total += along_2
            sums[r + 2, c] = total
            sums[r + 3, c] = total + along_3
        r += 4
    while r < rows:
        along = 0.0
        for c in range(1, cols):
            along += sums[r, c]
            sums[r, c] = sums[r - 1, c] + along
        r += 1


@njit(cache=True, nogil=True, error_model="numpy")
def _look_round(lower, upper, leaves, variance, sums, group, rings):  # type: ignore[no-untyped-def]
    """What every leaf would hold at the density of each ring, in units of its noise's scale.

    Leaves of about as many cells are a group: 1, 2, 4, ...
    """
    rows, cols = sums.shape[0] - 1, sums.shape[1] - 1
    flat, line = sums.reshape(-1), sums.shape[1]
    area, last_variance, per_cell, size_group = -1, -1.0, 0.0, 0
    for i in range(len(leaves)):
        at = leaves[i]
        top, bottom, left, right = lower[at, 0], upper[at, 0], lower[at, 1], upper[at, 1]
        height, width = bottom - top, right - left
        # Neighbours mostly have the same.
        if height * width != area:
            area = height * width
            size_group = int(np.floor(np.log2(area) + 0.5))
        if variance[i] != last_variance:
            last_variance = variance[i]
            per_cell = np.sqrt(2.0 / last_variance)
        group[i] = size_group
        scale = area * per_cell
        previous, cells = 0.0, 0
        for x in range(len(OUTWARDS)):
            away = OUTWARDS[x]
            r0, r1 = max(top - away * height, 0), min(bottom + away * height, rows)
            c0, c1 = max(left - away * width, 0), min(right + away * width, cols)
            # Positions without a sign: none counts from the end.
            above, below = r0 * line, r1 * line
            within = flat[np.uint64(below + c1)] - flat[np.uint64(above + c1)]
            within = within - flat[np.uint64(below + c0)] + flat[np.uint64(above + c0)]
            size = (r1 - r0) * (c1 - c0)
            if x > 0:
                if size > cells:
                    rings[i, x - 1] = (within - previous) / (size - cells) * scale
                else:
                    rings[i, x - 1] = rings[i, x - 2] if x > 1 else previous / cells * scale
            previous, cells = within, size


@njit(cache=True, nogil=True)
def _shrink(group, draws, variance, rings, estimate, believed):  # type: ignore[no-untyped-def]
    """Fit beta for each size, then the part that is a leaf's own for each class of it."""
    n, groups, classes = len(draws), group.max() + 1, len(EDGES) + 1
    matrix = np.zeros((groups, 3, 3))
    right = np.zeros((groups, 3))
    for g in range(groups):
        for x in range(3):
            matrix[g, x, x] = RIDGE
            right[g, x] = RIDGE * PRIOR[x]
    last_variance, scale = -1.0, 0.0
    for i in range(n):
        f0, f1, f2 = rings[i, 0], rings[i, 1], rings[i, 2]
        if variance[i] != last_variance:
            # Neighbours mostly have the same.
            last_variance = variance[i]
            scale = np.sqrt(2.0 / last_variance)
        # In units of the noise's scale, here and below.
        estimate[i] = draws[i] * scale
        mean = (max(f0, 0.0) + max(f1, 0.0) + max(f2, 0.0)) / 3.0
        if mean > 40.0:
            continue
        g, weight = group[i], 1.0 / (1.0 + mean) ** 2
        y = min(estimate[i], 60.0)
        right[g, 0] += weight * f0 * y
        right[g, 1] += weight * f1 * y
        right[g, 2] += weight * f2 * y
        matrix[g, 0, 0] += weight * f0 * f0
        matrix[g, 0, 1] += weight * f0 * f1
        matrix[g, 0, 2] += weight * f0 * f2
        matrix[g, 1, 1] += weight * f1 * f1
        matrix[g, 1, 2] += weight * f1 * f2
        matrix[g, 2, 2] += weight * f2 * f2
    beta = np.empty((groups, 3))
    for g in range(groups):
        for x in range(3):
            for other in range(x):
                matrix[g, x, other] = matrix[g, other, x]
        beta[g] = np.linalg.solve(matrix[g], right[g])
    number = np.zeros(groups * classes)
    distance = np.zeros(groups * classes)
    for i in range(n):
        g = group[i]
        lam = beta[g, 0] * rings[i, 0] + beta[g, 1] * rings[i, 1] + beta[g, 2] * rings[i, 2]
        believed[i] = lam
        if lam > SPARSE:
            group[i] = g * classes + _class(lam)
            number[group[i]] += 1.0
            distance[group[i]] += (estimate[i] - lam) ** 2
    own_part = np.maximum(0.0, 1.0 - 2.0 * (number + 5.0) / (distance + 10.0))
    last_variance = -1.0
    for i in range(n):
        if variance[i] != last_variance:
            last_variance = variance[i]
            scale = np.sqrt(last_variance / 2.0)
        lam, y = believed[i], estimate[i]
        own_share = own_part[group[i]] if lam > SPARSE else 1.0
        if own_share > OWN:
            own_share = 1.0
        estimate[i] = draws[i]
        if own_share < 1.0:
            estimate[i] = (y + (1.0 - own_share) * (lam - y)) * scale
        believed[i] = max(2.0 * own_share, 0.05) * variance[i] / 2.0


@njit(cache=True, nogil=True)
def _class(lam):  # type: ignore[no-untyped-def]
    """Position among `EDGES`."""
    # Compared with all of them: which way a search turns cannot be foreseen.
    position = 0
    for edge in EDGES:
        position += lam > edge
    return position
