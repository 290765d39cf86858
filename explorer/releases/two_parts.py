"""Two parts of a node of which one may be empty: what they say of the node, and it of them.

Of each part an estimate z of variance V is known, which holds if it is not empty, and l, the
log-likelihood of "it is empty". All of the node is in one of them with the prior probability
`ALONE` each; else they share it in any ratio. With t = E[x | x > 0], x ~ N(z1 + z2, V1 + V2), and

    m = (z1 V2 + (t - z2) V1) / (V1 + V2),   s = sqrt(V1 V2 / (V1 + V2)),
    A = Phi((t - m)/s) - Phi(-m/s)

the three cases weigh

    w1 = ALONE e^l2 Phi(z1/sd1),   w2 = ALONE e^l1 Phi(z2/sd2),
    w3 = (1 - 2 ALONE) A/t Phi(z3/sd3),   z3 = z1 + z2, V3 = V1 + V2;

the node's z and V are mean and variance of the mixture of N(z1, V1), N(z2, V2), N(z3, V3), and
l = l1 + l2 - ln(w1 + w2 + w3) + ln Phi(z/sd). On the way down every part of a known total t gets
its count if it is not empty, X, and the probability Q of that; X Q is what is released.

Many pairs are worked on at once, each step for all of them, in loops without branches: then a
processor runs several at a time. Where both parts are certain to hold someone nothing is weighed,
and callers ask for that first (`certain`, `evident`).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from explorer.releases.elementary import exp, log

ALONE = 0.15
"""Prior probability that all of a node is in one of two parts, for each of them; upwards."""
ALONE_BELOW = 0.25
"""The same on the way down, where the node is known not to be empty."""

ROOM = 128
"""Pairs that are worked on at once."""
Z1, V1, L1, Z2, V2, L2, T, _A, _B, _C, _D, _E = range(0, 12 * ROOM, ROOM)
"""Where the rows of a work array begin: what is known of both parts, a total, and working space."""
WORK = 12 * ROOM
"""Numbers in a work array. One array with rows at known places: no compiler fears overlaps."""

_CERTAIN = 8.0  # standard deviations above 0
_CERTAIN_2 = _CERTAIN * _CERTAIN
NEVER = -1e4
"""The least log-likelihood of "empty" that is distinguished."""
_SURE = -80.0  # log-likelihood of "empty" below which nothing else makes up for it
_DENSITY = 1.0 / math.sqrt(2.0 * math.pi)
_LEAST = 1e-12  # of a probability
_BOTH, _BOTH_BELOW = 1.0 - 2.0 * ALONE, 1.0 - 2.0 * ALONE_BELOW
_LOG_BOTH = math.log(_BOTH)
_PIECES = 256  # of a standard deviation


def _cubics() -> np.ndarray:
    """Coefficients of Phi between the ends of each piece from -8 to 8, four of each, in a row."""
    at = np.arange(-_CERTAIN * _PIECES, _CERTAIN * _PIECES + 1) / _PIECES
    value = np.array([0.5 * math.erfc(-x / math.sqrt(2.0)) for x in at])
    slope = _DENSITY * np.exp(-0.5 * at**2) / _PIECES
    rise, d0, d1 = np.diff(value), slope[:-1], slope[1:]
    return np.stack([value[:-1], d0, 3.0 * rise - 2.0 * d0 - d1, d0 + d1 - 2.0 * rise], 1).ravel()


_CUBICS = _cubics()
_LAST = 2.0 * _CERTAIN * _PIECES - 2.0**-30  # just inside the last piece


@njit(nogil=True, error_model="numpy", inline="always")
def phi(x):  # type: ignore[no-untyped-def]
    """Phi(x) by cubic pieces: from -8 to 8 to 1e-8 of itself, 0 and 1 beyond."""
    at = (x + _CERTAIN) * _PIECES
    # No number at all fails both comparisons, and must not name a place either.
    at = (at if at < _LAST else _LAST) if at > 0.0 else 0.0
    # 32 bits are turned several at a time; without a sign no place counts from the end.
    piece = np.int32(at)
    f, first = at - piece, np.uint64(piece) * np.uint64(4)
    c0, c1 = _CUBICS[first], _CUBICS[first + np.uint64(1)]
    c2, c3 = _CUBICS[first + np.uint64(2)], _CUBICS[first + np.uint64(3)]
    result = c0 + f * (c1 + f * (c2 + f * c3))
    return 1.0 if x > _CERTAIN else (0.0 if x < -_CERTAIN else result)


@njit(cache=True, nogil=True, error_model="numpy")
def _look_up(work, row, n):  # type: ignore[no-untyped-def]
    """Turn a row of x into Phi(x). Separate from other steps: what finds a place is done singly."""
    for j in range(row, row + n):
        work[j] = phi(work[j])


@njit(nogil=True, error_model="numpy", inline="always")
def certain(z1, v1, z2, v2):  # type: ignore[no-untyped-def]
    """Whether both parts are `_CERTAIN` to hold someone."""
    # In one: whether parts are full cannot be foreseen, so four branches would be four guesses.
    positive = (z1 > 0.0) & (z2 > 0.0)
    return positive & (z1 * z1 > _CERTAIN_2 * v1) & (z2 * z2 > _CERTAIN_2 * v2)


@njit(nogil=True, error_model="numpy", inline="always")
def log_empty_of_certain(z, log_empty):  # type: ignore[no-untyped-def]
    """What l is of two certain parts that hold z and have the sum `log_empty` of l."""
    # The count itself could not bring l back above the least that is distinguished.
    if log_empty < NEVER - 1e3:
        return NEVER
    return max(log_empty - _LOG_BOTH + math.log(z), NEVER)


@njit(nogil=True, inline="always")
def lay(work, at, z, v, log_empty, one, other):  # type: ignore[no-untyped-def]
    """Put what is known of two parts, by their places, into a work array as the pair `at`."""
    work[Z1 + at], work[V1 + at], work[L1 + at] = z[one], v[one], log_empty[one]
    work[Z2 + at], work[V2 + at], work[L2 + at] = z[other], v[other], log_empty[other]


@njit(cache=True, nogil=True, error_model="numpy")
def together(work, n):  # type: ignore[no-untyped-def]
    """z, V and l of nodes of two parts, n pairs; written over those of the first parts."""
    for j in range(n):
        z1, v1, z2, v2 = work[Z1 + j], work[V1 + j], work[Z2 + j], work[V2 + j]
        work[_A + j] = z1 / math.sqrt(v1)
        work[_B + j] = z2 / math.sqrt(v2)
        work[_C + j] = work[T + j] = (z1 + z2) / math.sqrt(v1 + v2)
    _look_up(work, _A, n)
    _look_up(work, _B, n)
    _look_up(work, _C, n)
    for j in range(n):
        z1, v1, z2, v2 = work[Z1 + j], work[V1 + j], work[Z2 + j], work[V2 + j]
        z3, v3, a, above = z1 + z2, v1 + v2, work[T + j], max(work[_C + j], _LEAST)
        sd3 = math.sqrt(v3)
        # E[x | x > 0]; far below 0 the ratio of two tiny numbers, as a series.
        b = 1.0 / (a * a)
        far = sd3 / -a * (1.0 - 2.0 * b + 10.0 * b * b)
        t = z3 + sd3 * _DENSITY * exp(-0.5 * a * a) / above
        t = z3 if a > _CERTAIN else (far if a < -6.0 else t)
        m = (z1 * v2 + (t - z2) * v1) / v3
        s = math.sqrt(v1 * (v2 / v3))
        low, high = m / s, (t - m) / s
        work[T + j] = t
        # Phi(high) - Phi(-low), of the tail that loses no digits.
        work[_D + j] = min(low, high)
        work[_E + j] = -max(low, high)
    _look_up(work, _D, n)
    _look_up(work, _E, n)
    for j in range(n):
        z1, v1, l1 = work[Z1 + j], work[V1 + j], work[L1 + j]
        z2, v2, l2 = work[Z2 + j], work[V2 + j], work[L2 + j]
        z3, v3, above = z1 + z2, v1 + v2, max(work[_C + j], _LEAST)
        both = _BOTH * above * max(work[_D + j] - work[_E + j], _LEAST) / work[T + j]
        # The likelihoods of "empty" are e^l: as parts of the largest of e^l1, e^l2 and 1, they
        # leave no numbers. That one needs no exponential.
        more, less = max(l1, l2), min(l1, l2)
        limit = max(more, 0.0)
        second, third = exp(-abs(more)), exp(less - limit)
        of_more, of_none = (second, 1.0) if more < 0.0 else (1.0, second)
        e1, e2 = (third, of_more) if l1 < l2 else (of_more, third)
        p1 = ALONE * e2 * max(work[_A + j], _LEAST)
        p2 = ALONE * e1 * max(work[_B + j], _LEAST)
        p3 = both * of_none
        whole = p1 + p2 + p3
        z = (p1 * z1 + p2 * z2 + p3 * z3) / whole
        # About the mean: differences of squares would lose the small ones.
        d1, d2, d3 = z1 - z, z2 - z, z3 - z
        v = (p1 * (v1 + d1 * d1) + p2 * (v2 + d2 * d2) + p3 * (v3 + d3 * d3)) / whole
        neither = (l1 < _SURE) & (l2 < _SURE) & (both > 1e-16)
        work[_A + j] = both if neither else whole
        work[_B + j] = l1 + l2 if neither else l1 + l2 - limit
        work[_C + j] = above if neither else -1.0
        z, v = (z3, v3) if neither else (z, v)
        work[Z1 + j] = z
        work[V1 + j] = v
        work[_D + j] = z / math.sqrt(v)
    _look_up(work, _D, n)
    for j in range(n):
        above = work[_C + j]
        above = max(work[_D + j], _LEAST) if above < 0.0 else above
        work[L1 + j] = max(work[_B + j] + log(above / work[_A + j]), NEVER)


@njit(nogil=True, error_model="numpy", inline="always")
def evident(z1, v1, z2, v2, t):  # type: ignore[no-untyped-def]
    """Whether nothing is in doubt of a total t, and then what the two parts of it are."""
    if t <= 1e-9:
        return True, 0.5 * t, 0.5 * t
    v3 = v1 + v2
    m, v = (z1 * v2 + (t - z2) * v1) / v3, v1 * (v2 / v3)
    return certain(m, v, t - m, v), m, t - m


@njit(cache=True, nogil=True, error_model="numpy")
def parted(work, n):  # type: ignore[no-untyped-def]
    """Of totals t in two parts: counts if not empty and probabilities of that, X and Q.

    n totals above 1e-9; X and Q are written over z and V of both parts.
    """
    for j in range(n):
        z1, v1, z2, v2, t = work[Z1 + j], work[V1 + j], work[Z2 + j], work[V2 + j], work[T + j]
        v3 = v1 + v2
        m = (z1 * v2 + (t - z2) * v1) / v3
        s = math.sqrt(v1 * (v2 / v3))
        low, high = m / s, (t - m) / s
        work[_A + j], work[_B + j] = min(low, high), -max(low, high)
        slope = exp(-0.5 * low * low) - exp(-0.5 * high * high)
        work[_C + j], work[_D + j] = m, s * slope * _DENSITY
    _look_up(work, _A, n)
    _look_up(work, _B, n)
    for j in range(n):
        z1, v1, l1 = work[Z1 + j], work[V1 + j], work[L1 + j]
        z2, v2, l2, t = work[Z2 + j], work[V2 + j], work[L2 + j], work[T + j]
        v3, a = v1 + v2, work[_A + j] - work[_B + j]
        share = a > _LEAST
        d1, d2, d3 = t - z1, t - z2, t - z1 - z2
        w1, w2 = l2 - 0.5 * d1 * d1 / v1, l1 - 0.5 * d2 * d2 / v2
        w3 = -0.5 * d3 * d3 / v3 if share else -1e5
        limit = max(w1, w2, w3)
        # One of the three is the largest and needs no exponential.
        first, second = w1 == limit, w2 == limit
        one = exp((w3 if first else w1) - limit)
        other = exp((w3 if second else w2) - limit)
        e1 = 1.0 if first else one
        e2 = 1.0 if second else other
        e3 = one if first else (other if second else 1.0)
        # What the three have in common is left out.
        p1 = ALONE_BELOW * e1 / math.sqrt(v1)
        p2 = ALONE_BELOW * e2 / math.sqrt(v2)
        p3 = _BOTH_BELOW * e3 / math.sqrt(v3) * (a / t if share else 1.0)
        m = work[_C + j]
        inside = min(max(m + work[_D + j] / a if share else m, 0.0), t)
        q1, q2, whole = p1 + p3, p2 + p3, p1 + p2 + p3
        x1, x2 = (p1 * t + p3 * inside) / q1, (p2 * t + p3 * (t - inside)) / q2
        work[Z1 + j], work[V1 + j] = (x1 if q1 > 0.0 else 0.0), q1 / whole
        work[Z2 + j], work[V2 + j] = (x2 if q2 > 0.0 else 0.0), q2 / whole
