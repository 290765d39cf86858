"""Inference that knows of empty parts: how likely each node is to hold nobody, and how many else.

A map is mostly empty, and counts of its parts are noisy. So two things are carried up a tree: an
estimate z of variance V of a node's count if it holds somebody, and l, the log-likelihood of "it
holds nobody" (of all draws below it, as z and V are). Two parts of a node hold all of it with one
of them with the prior probability `ALONE` each, or share it in any ratio. See `two_parts`.

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
from explorer.releases.two_parts import NEVER, parted, together

STEADY = 300.0
"""Nodes' worth of prior belief that estimates of a level are not biased."""


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
    shrunk, shrunk_variance : (n,) what is believed of leaves, after their neighbours; written over

    Returns
    -------
    (n,)
    """
    n = len(parent)
    first, fan_out = np.zeros((2, n), dtype=np.int64)
    # So few bits that the sort counts them: linear in n.
    order = np.argsort(depth.astype(np.uint16), kind="stable")
    behind = np.cumsum(np.bincount(depth))
    zt, vt, log_empty = shrunk, shrunk_variance, np.empty(n)
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


@njit(cache=True, nogil=True, inline="always")
def _part(low, high, z, v, log_empty, half):  # type: ignore[no-untyped-def]
    """z, V and l of the children from `low` up to `high`: of one its own, else of their half."""
    if high - low == 1:
        return z[low], v[low], log_empty[low]
    half_z, half_v, half_l = half
    middle = (low + high) // 2
    return half_z[middle], half_v[middle], half_l[middle]


@njit(cache=True, nogil=True)
def _gathered(begin, end, z, v, log_empty, half, segments):  # type: ignore[no-untyped-def]
    """z, V and l of all children together; what halves say stays in `half`, at their middles."""
    half_z, half_v, half_l = half
    if end - begin == 4:
        # Quarters, written out: most nodes of most maps.
        b, c, d = begin + 1, begin + 2, begin + 3
        z1, v1, l1 = together(z[begin], v[begin], log_empty[begin], z[b], v[b], log_empty[b])
        z2, v2, l2 = together(z[c], v[c], log_empty[c], z[d], v[d], log_empty[d])
        half_z[b], half_v[b], half_l[b] = z1, v1, l1
        half_z[d], half_v[d], half_l[d] = z2, v2, l2
        return together(z1, v1, l1, z2, v2, l2)
    if end - begin == 1:
        return z[begin], v[begin], log_empty[begin]
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
        z1, v1, l1 = _part(low, middle, z, v, log_empty, half)
        z2, v2, l2 = _part(middle, high, z, v, log_empty, half)
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
    paid, e, log_half = -1.0, 0.0, 0.0
    for level in range(len(behind) - 1, -1, -1):
        begin, end = behind[level - 1] if level > 0 else 0, behind[level]
        distance, moved = 0.0, 0
        for at in range(begin, end):
            i = order[at]
            if fan_out[i] == 0:
                if precision[i] != paid:
                    # Neighbours mostly have the same.
                    paid = precision[i]
                    e = math.sqrt(2.0 * paid)
                    log_half = math.log(0.5 * e)
                z[i], v[i] = noisy[i], 1.0 / paid
                log_empty[i] = max(log_half - e * abs(noisy[i]), NEVER)
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
                    log_empty[i] = max(log_empty[i] + ratio, NEVER)
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
        if fan_out[i] == 4:
            a, c, halved = first[i], first[i] + 2, x[i]
            x1, q1, x2, q2 = parted(
                half_z[a + 1], half_v[a + 1], half_l[a + 1],
                half_z[c + 1], half_v[c + 1], half_l[c + 1], halved,
            )  # fmt: skip
            for begins, held, there in ((a, x1, q[i] * q1), (c, x2, q[i] * q2)):
                k = begins + 1
                one, p1, other, p2 = parted(
                    z[begins], v[begins], log_empty[begins], z[k], v[k], log_empty[k], held
                )
                x[begins], q[begins], x[k], q[k] = one, there * p1, other, there * p2
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
            z1, v1, l1 = _part(low, middle, z, v, log_empty, half)
            z2, v2, l2 = _part(middle, high, z, v, log_empty, half)
            x1, q1, x2, q2 = parted(z1, v1, l1, z2, v2, l2, t)
            begin[waiting], end[waiting], count[waiting], chance[waiting] = low, middle, x1, p * q1
            waiting += 1
            begin[waiting], end[waiting], count[waiting], chance[waiting] = middle, high, x2, p * q2
            waiting += 1
    for i in range(n - 1, 0, -1):
        value[parent[i]] += value[i]
