"""Two parts of a node of which one may be empty: what they say of the node, and it of them.

Of each part an estimate z of variance V is known, which holds if it is not empty, and l, the
log-likelihood of "it is empty". All of the node lies in one of them with the prior probability
`ALONE` each; else they share it in any ratio. With t = E[x | x > 0], x ~ N(z1 + z2, V1 + V2), and

    m = (z1 V2 + (t - z2) V1) / (V1 + V2),   s = sqrt(V1 V2 / (V1 + V2)),
    A = Phi((t - m)/s) - Phi(-m/s)

the three cases weigh

    w1 = ALONE e^l2 Phi(z1/sd1),   w2 = ALONE e^l1 Phi(z2/sd2),
    w3 = (1 - 2 ALONE) A/t Phi(z3/sd3),   z3 = z1 + z2, V3 = V1 + V2;

the node's z and V are mean and variance of the mixture of N(z1, V1), N(z2, V2), N(z3, V3), and
l = l1 + l2 - ln(w1 + w2 + w3) + ln Phi(z/sd). On the way down every part of a known total t gets
its count if it is not empty, X, and the probability Q of that; X Q is what is released.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

ALONE = 0.15
"""Prior probability that all of a node lies in one of two parts, for each of them; upwards."""
ALONE_BELOW = 0.25
"""The same on the way down, where the node is known not to be empty."""

_CERTAIN = 8.0  # standard deviations above 0
_CERTAIN_2 = _CERTAIN * _CERTAIN
NEVER = -1e4
"""The least log-likelihood of "empty" that is told apart."""
_SURE = -80.0  # log-likelihood of "empty" below which nothing else makes up for it
_DENSITY = 1.0 / math.sqrt(2.0 * math.pi)
_LEAST = 1e-12  # of a probability
_LOG_BOTH = math.log(1.0 - 2.0 * ALONE)
_PIECES = 256  # of a standard deviation
_AT = np.arange(-_CERTAIN * _PIECES, _CERTAIN * _PIECES + 1) / _PIECES
_PHI = np.array([0.5 * math.erfc(-x / math.sqrt(2.0)) for x in _AT])
_SLOPES = _DENSITY * np.exp(-0.5 * _AT**2) / _PIECES


@njit(cache=True, nogil=True)
def phi(x):  # type: ignore[no-untyped-def]
    """Phi(x) for x from -8 to 8 by cubic pieces: to 1e-8 of itself, a third of erfc's time."""
    at = (x + _CERTAIN) * _PIECES
    k = min(int(at), len(_PHI) - 2)
    f, p, rise = at - k, _PHI[k], _PHI[k + 1] - _PHI[k]
    d0, d1 = _SLOPES[k], _SLOPES[k + 1]
    return p + f * (d0 + f * (3.0 * rise - 2.0 * d0 - d1 + f * (d0 + d1 - 2.0 * rise)))


@njit(cache=True, nogil=True)
def _below(x):  # type: ignore[no-untyped-def]
    """Phi(x), the probability of less than x, held above `_LEAST`."""
    if x > _CERTAIN:
        return 1.0
    if x < -7.04:
        return _LEAST
    return max(phi(x), _LEAST)


@njit(cache=True, nogil=True)
def _between(low, high):  # type: ignore[no-untyped-def]
    """Phi(high) - Phi(low), of the tail that loses no digits."""
    if high < -low:
        low, high = -high, -low
    if low > _CERTAIN:
        return 0.0
    part = phi(-low) if low > -_CERTAIN else 1.0
    return part if high > _CERTAIN else part - phi(-high)


@njit(cache=True, nogil=True)
def _above_zero(z, sd, above):  # type: ignore[no-untyped-def]
    """E[x | x > 0] of N(z, sd^2), of which the part `above` is above 0."""
    a = z / sd
    if a > _CERTAIN:
        return z
    if a < -6.0:
        # The ratio of two tiny numbers, as a series.
        b = 1.0 / (a * a)
        return sd / -a * (1.0 - 2.0 * b + 10.0 * b * b)
    return z + sd * _DENSITY * math.exp(-0.5 * a * a) / above


@njit(cache=True, nogil=True)
def together(z1, v1, l1, z2, v2, l2):  # type: ignore[no-untyped-def]
    """z, V and l of a node of two parts."""
    z3, v3 = z1 + z2, v1 + v2
    if z1 > 0.0 and z2 > 0.0 and z1 * z1 > _CERTAIN_2 * v1 and z2 * z2 > _CERTAIN_2 * v2:
        # The count itself could not bring l back above the least that is told apart.
        if l1 + l2 < NEVER - 1e3:
            return z3, v3, NEVER
        return z3, v3, max(l1 + l2 - _LOG_BOTH + math.log(z3), NEVER)
    sd1, sd2, sd3 = math.sqrt(v1), math.sqrt(v2), math.sqrt(v3)
    above = _below(z3 / sd3)
    t = _above_zero(z3, sd3, above)
    m = (z1 * v2 + (t - z2) * v1) / v3
    s = sd1 * sd2 / sd3
    both = (1.0 - 2.0 * ALONE) * above * max(_between(-m / s, (t - m) / s), _LEAST) / t
    if l1 < _SURE and l2 < _SURE and both > 1e-16:
        # Neither part is empty.
        return z3, v3, max(l1 + l2 + math.log(above / both), NEVER)
    # The likelihoods of "empty" are e^l: as parts of the largest, they leave no numbers.
    most = max(l1, l2, 0.0)
    p1 = ALONE * math.exp(l2 - most) * _below(z1 / sd1)
    p2 = ALONE * math.exp(l1 - most) * _below(z2 / sd2)
    p3 = both * math.exp(-most) if most > 0.0 else both
    whole = p1 + p2 + p3
    z = (p1 * z1 + p2 * z2 + p3 * z3) / whole
    # About the mean: differences of squares would lose the small ones.
    spread = p1 * (v1 + (z1 - z) ** 2) + p2 * (v2 + (z2 - z) ** 2) + p3 * (v3 + (z3 - z) ** 2)
    v = spread / whole
    log_empty = l1 + l2 - most + math.log(_below(z / math.sqrt(v)) / whole)
    return z, v, max(log_empty, NEVER)


@njit(cache=True, nogil=True)
def parted(z1, v1, l1, z2, v2, l2, t):  # type: ignore[no-untyped-def]
    """Of a total t in two parts: counts if not empty and probabilities of that, X1, Q1, X2, Q2."""
    if t <= 1e-9:
        return 0.5 * t, 1.0, 0.5 * t, 1.0
    v3 = v1 + v2
    m = (z1 * v2 + (t - z2) * v1) / v3
    s = math.sqrt(v1 * (v2 / v3))
    low, high = m / s, (t - m) / s
    if low > _CERTAIN and high > _CERTAIN:
        return m, 1.0, t - m, 1.0
    a = _between(-low, high)
    w1, w2 = l2 - 0.5 * (t - z1) ** 2 / v1, l1 - 0.5 * (t - z2) ** 2 / v2
    w3 = -0.5 * (t - z1 - z2) ** 2 / v3 if a > _LEAST else -1e5
    most = max(w1, w2, w3)
    # What the three have in common is left out.
    p1 = ALONE_BELOW * math.exp(w1 - most) / math.sqrt(v1)
    p2 = ALONE_BELOW * math.exp(w2 - most) / math.sqrt(v2)
    p3 = (1.0 - 2.0 * ALONE_BELOW) * math.exp(w3 - most) / math.sqrt(v3)
    inside = m
    if a > _LEAST:
        p3 *= a / t
        slope = math.exp(-0.5 * low * low) - math.exp(-0.5 * high * high)
        inside += s * slope * _DENSITY / a
    inside = min(max(inside, 0.0), t)
    whole = p1 + p2 + p3
    p1, p2, p3 = p1 / whole, p2 / whole, p3 / whole
    q1, q2 = p1 + p3, p2 + p3
    x1 = (p1 * t + p3 * inside) / q1 if q1 > 0.0 else 0.0
    x2 = (p2 * t + p3 * (t - inside)) / q2 if q2 > 0.0 else 0.0
    return x1, q1, x2, q2
