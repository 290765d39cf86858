"""How a node's count is shared among its children when no share may be negative.

Two children hold x and t - x of a known total t. Their noisy estimates z1, z2 with variances V1, V2
say about x what one Gaussian observation m of variance V says:

    V = V1 V2 / (V1 + V2),   m = (z1 V2 + (t - z2) V1) / (V1 + V2).

Maps are full of empty halves, so the prior is a mixture: all of t with the first child (2 SPIKE
rho), all of it with the other (2 SPIKE (1 - rho)), or anything between evenly. rho is the part of
t that is expected of the first child, 1/2 where nothing is known of them. With s = sqrt V,
a = m/s, b = (t - m)/s, phi and Phi the normal density and distribution, F = Phi(b) - Phi(-a) and
c = (1 - 2 SPIKE)/t the posterior mean is

    x = [2 SPIKE rho phi(b)/s t + c (m F + s (phi(a) - phi(b)))]
        / [2 SPIKE ((1 - rho) phi(a) + rho phi(b))/s + c F].

More than two children are shared by halving their row again and again.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

SPIKE = 0.25
"""Prior probability that all of a node is on one side, for each side where rho = 1/2."""

_ROOT_2 = math.sqrt(2.0)
_PHI_0 = 1.0 / math.sqrt(2.0 * math.pi)


@njit(cache=True, nogil=True)
def share(z1, v1, z2, v2, t, spike, rho=0.5):  # type: ignore[no-untyped-def]
    """Posterior mean of the first child's count, between 0 and t."""
    if t <= 1e-6:
        return rho * t
    m = (z1 * v2 + (t - z2) * v1) / (v1 + v2)
    s = math.sqrt(v1 * v2 / (v1 + v2))
    a = m / s
    b = (t - m) / s
    # Far from both ends the prior says nothing; far beyond one the answer is that end.
    if a > 6.5 and b > 6.5:
        return m
    if a < -7.0:
        return 0.0
    if b < -7.0:
        return t
    at_0 = _PHI_0 * math.exp(-0.5 * a * a)
    at_t = _PHI_0 * math.exp(-0.5 * b * b)
    inside = 0.5 * (math.erf(b / _ROOT_2) + math.erf(a / _ROOT_2))
    c = (1.0 - 2.0 * spike) / t
    # Multiplied in this order, rho = 1/2 moves no bit.
    above = 2.0 * spike * rho * at_t / s * t + c * (m * inside + s * (at_0 - at_t))
    below = 2.0 * spike * ((1.0 - rho) * at_0 + rho * at_t) / s + c * inside
    return min(max(above / below, 0.0), t)


@njit(cache=True, nogil=True)
def downwards(parent, z, variance, masses, value):  # type: ignore[no-untyped-def]
    """Fill `value` (n,) from the root: children share their parent's count.

    `z`, `variance` (n,) are the best estimates of the nodes from their own subtrees; the children
    of a node are side by side. `masses` (n,) are what is expected of nodes, in any unit; none at
    all (0,) expects alike of all halves.
    """
    n = len(parent)
    first = np.zeros(n, dtype=np.int64)
    children = np.zeros(n, dtype=np.int64)
    for i in range(n - 1, 0, -1):
        first[parent[i]] = i
        children[parent[i]] += 1
    sums = np.zeros(n + 1)
    spreads = np.zeros(n + 1)
    for i in range(n):
        sums[i + 1] = sums[i] + z[i]
        spreads[i + 1] = spreads[i] + variance[i]
    begin = np.empty(64, dtype=np.int64)
    end = np.empty(64, dtype=np.int64)
    mass = np.empty(64)
    value[0] = max(z[0], 0.0)
    for i in range(n):
        if children[i] == 0:
            continue
        waiting = 1
        begin[0], end[0], mass[0] = first[i], first[i] + children[i], value[i]
        while waiting > 0:
            waiting -= 1
            low, high, t = begin[waiting], end[waiting], mass[waiting]
            if high - low == 1:
                value[low] = t
                continue
            middle = (low + high) // 2
            z1, z2 = sums[middle] - sums[low], sums[high] - sums[middle]
            v1, v2 = spreads[middle] - spreads[low], spreads[high] - spreads[middle]
            rho = 0.5
            if len(masses) > 0:
                # Added up one by one: differences of running sums would lose the small ones.
                first_mass, both = 0.0, 0.0
                for child in range(low, high):
                    both += masses[child]
                    if child < middle:
                        first_mass += masses[child]
                rho = first_mass / both if both > 0.0 else 0.5
            x = share(z1, v1, z2, v2, t, SPIKE, rho)
            begin[waiting], end[waiting], mass[waiting] = low, middle, x
            begin[waiting + 1], end[waiting + 1], mass[waiting + 1] = middle, high, t - x
            waiting += 2
