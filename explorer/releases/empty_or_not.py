"""Inference that knows of empty parts: how likely each node is to hold nobody, and how many else.

A map is mostly empty, and counts of its parts are noisy. So two things are carried up a tree: an
estimate z of variance V of a node's count if it holds somebody, and l, the log-likelihood of "it
holds nobody" (of all draws below it, as z and V are). Two parts of a node hold all of it with one
of them with the prior probability `ALONE` each, or share it in any ratio. With t = E[x | x > 0],
x ~ N(z1 + z2, V1 + V2), and

    m = (z1 V2 + (t - z2) V1) / (V1 + V2),   s = sqrt(V1 V2 / (V1 + V2)),
    A = Phi((t - m)/s) - Phi(-m/s)

the three cases weigh

    w1 = ALONE e^l2 Phi(z1/sd1),   w2 = ALONE e^l1 Phi(z2/sd2),
    w3 = (1 - 2 ALONE) A/t Phi(z3/sd3),   z3 = z1 + z2, V3 = V1 + V2;

the node's z and V are mean and variance of the mixture of N(z1, V1), N(z2, V2), N(z3, V3), and
l = l1 + l2 - ln(w1 + w2 + w3) + ln Phi(z/sd). On the way down every part of a known total t gets
its count if it is not empty, X, and the probability Q of that; X Q is what is released.

Shrunk estimates are biased, and biases of many small parts add up. So least squares is carried up
beside them, and on each level estimates move back to it as far as they are off by more than their
variances explain (James and Stein's rule).

More than two children are halved again and again. (Our own; notebooks/design, mosaic for every
size.)
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from explorer.releases.nodes import Ints
from explorer.releases.transcript import Floats

ALONE = 0.15
"""Prior probability that all of a node lies in one of two parts, for each of them; upwards."""
ALONE_BELOW = 0.25
"""The same on the way down, where the node is known not to be empty."""
STEADY = 300.0
"""Nodes' worth of prior belief that estimates of a level are not biased."""

_CERTAIN = 8.0  # standard deviations above 0
_NEVER = -1e4
_ROOT_2 = math.sqrt(2.0)
_LOG_2_PI = math.log(2.0 * math.pi)
_LEAST = 1e-12  # of a probability
_LOG_LEAST = math.log(_LEAST)
_LOG_ALONE, _LOG_BOTH = math.log(ALONE), math.log(1.0 - 2.0 * ALONE)
_LOG_ALONE_BELOW, _LOG_BOTH_BELOW = math.log(ALONE_BELOW), math.log(1.0 - 2.0 * ALONE_BELOW)


def infer(
    parent: Ints,
    depth: Ints,
    noisy: Floats,
    precision: Floats,
    shrunk: Floats,
    shrunk_variance: Floats,
) -> Floats:
    """Counts of all nodes, 0 or more; those of children add up to their parent's.

    Parameters
    ----------
    parent : (n,) parents before children, children of a node side by side; -1 for the root
    depth : (n,) cuts above every node
    noisy, precision : (n,) own draws and 1 / their variance, 0 where there is none; above 0 at
        leaves
    shrunk, shrunk_variance : (n,) what is believed of leaves, after their neighbours

    Returns
    -------
    (n,)
    """
    n = len(parent)
    first, fan_out = np.zeros((2, n), dtype=np.int64)
    order = np.argsort(depth, kind="stable")
    behind = np.cumsum(np.bincount(depth))
    zt, vt, log_empty = shrunk.copy(), shrunk_variance.copy(), np.empty(n)
    half_z, half_v, half_l = np.empty((3, n))
    _families(parent, first, fan_out)
    _upwards(
        order,
        behind,
        first,
        fan_out,
        noisy,
        precision,
        (zt, vt, log_empty),
        (half_z, half_v, half_l),
    )
    value = np.zeros(n)
    _downwards(parent, first, fan_out, (zt, vt, log_empty), (half_z, half_v, half_l), value)
    return value


@njit(cache=True, nogil=True)
def _families(parent, first, fan_out):  # type: ignore[no-untyped-def]
    for i in range(len(parent) - 1, 0, -1):
        first[parent[i]] = i
        fan_out[parent[i]] += 1


@njit(cache=True, nogil=True)
def _log_above(x):  # type: ignore[no-untyped-def]
    """Log of Phi(x), which is held above `_LEAST`."""
    if x > _CERTAIN:
        return 0.0
    if x < -7.04:
        return _LOG_LEAST
    return max(math.log(0.5 * math.erfc(-x / _ROOT_2)), _LOG_LEAST)


@njit(cache=True, nogil=True)
def _between(low, high):  # type: ignore[no-untyped-def]
    """Phi(high) - Phi(low), of the tail that loses no digits."""
    if low > 0.0:
        return 0.5 * (math.erfc(low / _ROOT_2) - math.erfc(high / _ROOT_2))
    return 0.5 * (math.erfc(-high / _ROOT_2) - math.erfc(-low / _ROOT_2))


@njit(cache=True, nogil=True)
def _above_zero(z, sd):  # type: ignore[no-untyped-def]
    """E[x | x > 0] of N(z, sd^2)."""
    a = z / sd
    if a > _CERTAIN:
        return z
    if a < -6.0:
        # The ratio of two tiny numbers, as a series.
        b = 1.0 / (a * a)
        return sd / -a * (1.0 - 2.0 * b + 10.0 * b * b)
    mean = math.exp(-0.5 * a * a - 0.5 * _LOG_2_PI) / (0.5 * math.erfc(-a / _ROOT_2))
    return z + sd * mean


@njit(cache=True, nogil=True)
def together(z1, v1, l1, z2, v2, l2):  # type: ignore[no-untyped-def]
    """z, V and l of a node of two parts."""
    z3, v3 = z1 + z2, v1 + v2
    sd1, sd2, sd3 = math.sqrt(v1), math.sqrt(v2), math.sqrt(v3)
    if z1 > _CERTAIN * sd1 and z2 > _CERTAIN * sd2:
        if l1 + l2 < 2.0 * _NEVER + 1e3:
            return z3, v3, _NEVER
        return z3, v3, max(l1 + l2 - _LOG_BOTH + math.log(z3), _NEVER)
    t = _above_zero(z3, sd3)
    m = (z1 * v2 + (t - z2) * v1) / v3
    s = sd1 * sd2 / sd3
    a = max(_between(-m / s, (t - m) / s), _LEAST)
    w1 = _LOG_ALONE + l2 + _log_above(z1 / sd1)
    w2 = _LOG_ALONE + l1 + _log_above(z2 / sd2)
    w3 = _LOG_BOTH + math.log(a / t) + _log_above(z3 / sd3)
    most = max(w1, w2, w3)
    p1, p2, p3 = math.exp(w1 - most), math.exp(w2 - most), math.exp(w3 - most)
    whole = p1 + p2 + p3
    z = (p1 * z1 + p2 * z2 + p3 * z3) / whole
    # About the mean: differences of squares would lose the small ones.
    spread = p1 * (v1 + (z1 - z) ** 2) + p2 * (v2 + (z2 - z) ** 2) + p3 * (v3 + (z3 - z) ** 2)
    v = spread / whole
    log_empty = l1 + l2 - most - math.log(whole) + _log_above(z / math.sqrt(v))
    return z, v, max(log_empty, _NEVER)


@njit(cache=True, nogil=True)
def _gathered(begin, end, z, v, log_empty, half, segments):  # type: ignore[no-untyped-def]
    """z, V and l of all children together; what halves say stays in `half`, at their middles."""
    if end - begin == 1:
        return z[begin], v[begin], log_empty[begin]
    half_z, half_v, half_l = half
    # Halves after what they are halves of, so backwards they come before it.
    segments[0, 0], segments[0, 1] = begin, end
    number, looked = 1, 0
    while looked < number:
        low, high = segments[looked, 0], segments[looked, 1]
        middle = (low + high) // 2
        if middle - low > 1:
            segments[number, 0], segments[number, 1] = low, middle
            number += 1
        if high - middle > 1:
            segments[number, 0], segments[number, 1] = middle, high
            number += 1
        looked += 1
    for at in range(number - 1, -1, -1):
        low, high = segments[at, 0], segments[at, 1]
        middle = (low + high) // 2
        if middle - low > 1:
            one = (low + middle) // 2
            z1, v1, l1 = half_z[one], half_v[one], half_l[one]
        else:
            z1, v1, l1 = z[low], v[low], log_empty[low]
        if high - middle > 1:
            one = (middle + high) // 2
            z2, v2, l2 = half_z[one], half_v[one], half_l[one]
        else:
            z2, v2, l2 = z[middle], v[middle], log_empty[middle]
        found = together(z1, v1, l1, z2, v2, l2)
        half_z[middle], half_v[middle], half_l[middle] = found
    middle = (begin + end) // 2
    return half_z[middle], half_v[middle], half_l[middle]


@njit(cache=True, nogil=True)
def _upwards(order, behind, first, fan_out, noisy, precision, shrunk, half):  # type: ignore[no-untyped-def]
    """Fill z, V and l of all nodes, level by level from the lowest, into `shrunk`."""
    zt, vt, log_empty = shrunk
    n = len(order)
    z = np.empty(n)
    v = np.empty(n)
    segments = np.empty((max(fan_out.max(), 1), 2), dtype=np.int64)
    for level in range(len(behind) - 1, -1, -1):
        begin, end = behind[level - 1] if level > 0 else 0, behind[level]
        distance, moved = 0.0, 0
        for at in range(begin, end):
            i = order[at]
            if fan_out[i] == 0:
                z[i], v[i] = noisy[i], 1.0 / precision[i]
                e = math.sqrt(2.0 * precision[i])
                log_empty[i] = max(math.log(0.5 * e) - e * abs(noisy[i]), _NEVER)
            else:
                own, behind_last = precision[i], first[i] + fan_out[i]
                sum_z, sum_v = 0.0, 0.0
                for child in range(first[i], behind_last):
                    sum_z += z[child]
                    sum_v += v[child]
                found = _gathered(first[i], behind_last, zt, vt, log_empty, half, segments)
                zt[i], vt[i], log_empty[i] = found
                z[i], v[i] = sum_z, sum_v
                if own > 0.0:
                    v[i] = 1.0 / (own + 1.0 / sum_v)
                    z[i] = v[i] * (own * noisy[i] + sum_z / sum_v)
                    draw = 1.0 / own
                    both = vt[i] + draw
                    ratio = 0.5 * (math.log(both * own) - noisy[i] ** 2 * own)
                    ratio += 0.5 * (noisy[i] - zt[i]) ** 2 / both
                    log_empty[i] = max(log_empty[i] + ratio, _NEVER)
                    zt[i] = (zt[i] * draw + noisy[i] * vt[i]) / both
                    vt[i] = vt[i] * draw / both
            gap = v[i] - vt[i]
            if gap > 0.001 * v[i]:
                distance += min((z[i] - zt[i]) ** 2 / gap, 25.0)
                moved += 1
        back = 1.0 - (moved + STEADY) / (distance + STEADY)
        if back > 0.0:
            for at in range(begin, end):
                i = order[at]
                gap = v[i] - vt[i]
                if gap > 0.001 * v[i]:
                    zt[i] += back * (z[i] - zt[i])
                    vt[i] += back * gap


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
    # What the three have in common, -ln(2 pi) / 2, is left out.
    w1 = _LOG_ALONE_BELOW - 0.5 * (math.log(v1) + (t - z1) ** 2 / v1) + l2
    w2 = _LOG_ALONE_BELOW - 0.5 * (math.log(v2) + (t - z2) ** 2 / v2) + l1
    if a <= _LEAST:
        inside, w3 = min(max(m, 0.0), t), -1e5
    else:
        slope = math.exp(-0.5 * low * low) - math.exp(-0.5 * high * high)
        inside = m + s * slope * math.exp(-0.5 * _LOG_2_PI) / a
        inside = min(max(inside, 0.0), t)
        w3 = _LOG_BOTH_BELOW + math.log(a / t)
        w3 -= 0.5 * (math.log(v3) + (t - z1 - z2) ** 2 / v3)
    most = max(w1, w2, w3)
    p1, p2, p3 = math.exp(w1 - most), math.exp(w2 - most), math.exp(w3 - most)
    whole = p1 + p2 + p3
    p1, p2, p3 = p1 / whole, p2 / whole, p3 / whole
    q1, q2 = p1 + p3, p2 + p3
    x1 = (p1 * t + p3 * inside) / q1 if q1 > 0.0 else 0.0
    x2 = (p2 * t + p3 * (t - inside)) / q2 if q2 > 0.0 else 0.0
    return x1, q1, x2, q2


@njit(cache=True, nogil=True)
def _downwards(parent, first, fan_out, shrunk, half, value):  # type: ignore[no-untyped-def]
    """Hand X and Q down to the leaves; what these hold is added up again into `value`, zeros."""
    z, v, log_empty = shrunk
    half_z, half_v, half_l = half
    n = len(parent)
    x = np.empty(n)
    q = np.empty(n)
    x[0], q[0] = max(z[0], 0.0), 1.0
    begin = np.empty(64, dtype=np.int64)
    end = np.empty(64, dtype=np.int64)
    count = np.empty(64)
    chance = np.empty(64)
    for i in range(n):
        if fan_out[i] == 0:
            value[i] = x[i] * q[i]
            continue
        waiting = 1
        begin[0], end[0], count[0], chance[0] = first[i], first[i] + fan_out[i], x[i], q[i]
        while waiting > 0:
            waiting -= 1
            low, high, t, p = begin[waiting], end[waiting], count[waiting], chance[waiting]
            if high - low == 1:
                x[low], q[low] = t, p
                continue
            middle = (low + high) // 2
            if middle - low > 1:
                one = (low + middle) // 2
                z1, v1, l1 = half_z[one], half_v[one], half_l[one]
            else:
                z1, v1, l1 = z[low], v[low], log_empty[low]
            if high - middle > 1:
                one = (middle + high) // 2
                z2, v2, l2 = half_z[one], half_v[one], half_l[one]
            else:
                z2, v2, l2 = z[middle], v[middle], log_empty[middle]
            x1, q1, x2, q2 = parted(z1, v1, l1, z2, v2, l2, t)
            begin[waiting], end[waiting], count[waiting], chance[waiting] = low, middle, x1, p * q1
            waiting += 1
            begin[waiting], end[waiting], count[waiting], chance[waiting] = middle, high, x2, p * q2
            waiting += 1
    for i in range(n - 1, 0, -1):
        value[parent[i]] += value[i]
