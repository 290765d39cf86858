"""Inference that knows of empty parts: how likely each node is to hold no one, and how many else.

A map is mostly empty, and counts of its parts are noisy. So two things are carried up a tree: an
estimate z of variance V of a node's count if it holds someone, and l, the log-likelihood of "it
holds no one" (of all draws below it, as z and V are). Two parts of a node hold all of it with one
of them with the prior probability `ALONE` each, or share it in any ratio. See below.

Shrunk estimates are biased, and biases of many small parts add up. So least squares is carried up
next to them, and on each level estimates move back to it as far as they are off by more than their
variances explain (James and Stein's rule).

More than two children are halved again and again. (Our own; notebooks/design, mosaic for every
size.)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from explorer.releases.nodes import Ints
from explorer.releases.transcript import Floats

Levels = tuple[Ints, Ints]
"""Nodes from the top to the lowest level, and behind which of these each level ends."""
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
    """Counts of all nodes, 0 or more, (n,); those of children add up to their parent's.

    `noisy`, `precision` (n,) are own draws and 1 / their variance, 0 where there is none, above 0
    at
    leaves; they are written over. `shrunk`, `shrunk_variance` (leaves,) are what is believed of
    leaves,
    after their neighbours.
    """
    n = len(parent)
    # What is first of no one is never asked for.
    first, fan_out = np.empty((2, n), np.int32)
    _families(parent, first, fan_out)
    levels, families = _by_level(depth, fan_out)
    # Of nodes, then of segments of siblings, see `_where`.
    z, v, log_empty = np.empty((3, 2 * n), np.float64)
    _put_leaves(fan_out, noisy, precision, shrunk, shrunk_variance, z, v, log_empty)
    _upwards(*levels, *families, first, fan_out, noisy, precision, z, v, log_empty)
    # Fresh arrays cost more than what is reckoned in them.
    value = noisy
    _downwards(*families, parent, first, fan_out, z, v, log_empty, value)
    return value


def _by_level(depth: Ints, fan_out: NDArray[np.int32]) -> tuple[Levels, Levels]:
    """All nodes, and those that have children."""
    behind = np.zeros((2, int(depth.max()) + 1), dtype=np.int64)
    order, inner = (
        np.empty(len(depth), np.int64),
        np.empty(np.count_nonzero(fan_out), dtype=np.int64),
    )
    _sort_by_level(depth, fan_out, order, inner, *behind)
    return (order, behind[0]), (inner, behind[1])


@njit(cache=True, nogil=True)
def _sort_by_level(depth, fan_out, order, inner, behind, inner_behind):  # type: ignore[no-untyped-def]
    """Fill in `Levels` of all nodes and of those with children; ends are zeros at first."""
    for i in range(len(depth)):
        behind[depth[i]] += 1
        inner_behind[depth[i]] += fan_out[i] > 0
    begin, inner_begin = 0, 0
    for level in range(len(behind)):
        # Where the level begins: it moves to its end while the nodes are put in.
        begin, behind[level] = begin + behind[level], begin
        inner_begin, inner_behind[level] = inner_begin + inner_behind[level], inner_begin
    for i in range(len(depth)):
        level = depth[i]
        order[behind[level]] = i
        behind[level] += 1
        if fan_out[i] > 0:
            inner[inner_behind[level]] = i
            inner_behind[level] += 1


@njit(cache=True, nogil=True)
def _families(parent, first, fan_out):  # type: ignore[no-untyped-def]
    fan_out[:] = 0
    owner, begin = -1, 0
    for i in range(1, len(parent)):
        if parent[i] != owner:
            if owner >= 0:
                fan_out[owner] = i - begin
            owner, begin = parent[i], i
            first[owner] = i
    if owner >= 0:
        fan_out[owner] = len(parent) - begin


@njit(cache=True, nogil=True)
def _put_leaves(fan_out, noisy, precision, shrunk, shrunk_variance, z, v, log_empty):  # type: ignore[no-untyped-def]
    """Fill z, V and l of leaves, and turn their precisions into variances."""
    leaf, paid, variance, e, log_half = 0, -1.0, 0.0, 0.0, 0.0
    for i in range(len(fan_out)):
        if fan_out[i] == 0:
            if precision[i] != paid:
                # Neighbours mostly have the same.
                paid = precision[i]
                variance, e = 1.0 / paid, math.sqrt(2.0 * paid)
                log_half = math.log(0.5 * e)
            z[i], v[i], precision[i] = shrunk[leaf], shrunk_variance[leaf], variance
            log_empty[i] = max(log_half - e * abs(noisy[i]), NEVER)
            leaf += 1


@njit(nogil=True, inline="always")
def _halvings(fan_out):  # type: ignore[no-untyped-def]
    """How often so many children are halved until each is alone."""
    number = 0
    while 1 << number < fan_out:
        number += 1
    return number


@njit(nogil=True, inline="always")
def _segment(low, high, halving, number):  # type: ignore[no-untyped-def]
    """From where to where the segment with this number reaches after so many halvings."""
    for bit in range(halving - 1, -1, -1):
        middle = (low + high) >> 1
        if number >> bit & 1:
            low = middle
        else:
            high = middle
    return low, high


@njit(nogil=True, inline="always")
def _where(low, high, n):  # type: ignore[no-untyped-def]
    """Where the siblings from `low` up to `high` are: one at its own place, more by their middle.

    No two segments are halved at the same child.
    """
    return low if high - low == 1 else n + ((low + high) >> 1)


@njit(cache=True, nogil=True)
def _gather(nodes, first, fan_out, z, v, log_empty, work, where):  # type: ignore[no-untyped-def]
    """z, V and l of all segments of nodes' children, from the shortest to the longest."""
    n, widest = len(first), 0
    for i in nodes:
        widest = max(widest, fan_out[i])
    for halving in range(_halvings(widest) - 1, -1, -1):
        waiting = 0
        for i in nodes:
            if fan_out[i] <= 1 << halving:
                continue
            for number in range(1 << halving):
                low, high = _segment(first[i], first[i] + fan_out[i], halving, number)
                if high - low < 2:
                    continue
                middle = (low + high) >> 1
                a, b = _where(low, middle, n), _where(middle, high, n)
                if certain(z[a], v[a], z[b], v[b]):
                    both, sum_z = n + middle, z[a] + z[b]
                    z[both], v[both] = sum_z, v[a] + v[b]
                    log_empty[both] = log_empty_of_certain(sum_z, log_empty[a] + log_empty[b])
                    continue
                lay(work, waiting, z, v, log_empty, a, b)
                where[waiting] = n + middle
                waiting += 1
                if waiting == ROOM:
                    _keep_together(z, v, log_empty, work, where, waiting)
                    waiting = 0
        _keep_together(z, v, log_empty, work, where, waiting)


@njit(cache=True, nogil=True)
def _keep_together(z, v, log_empty, work, where, number):  # type: ignore[no-untyped-def]
    together(work, number)
    for j in range(number):
        both = where[j]
        z[both], v[both], log_empty[both] = work[Z1 + j], work[V1 + j], work[L1 + j]


@njit(cache=True, nogil=True)
def _upwards(  # type: ignore[no-untyped-def]
    order, behind, inner, inner_behind, first, fan_out, noisy, precision, zt, vt, log_empty
):
    """Fill z, V and l of inner nodes and segments, level by level from the lowest.

    Draws and their precisions become what least squares makes of them, and the variances of that.
    """
    n, z, v = len(order), noisy, precision
    work, where = np.zeros(WORK), np.empty(ROOM, dtype=np.int64)
    for level in range(len(behind) - 1, -1, -1):
        begin, end = inner_behind[level - 1] if level > 0 else 0, inner_behind[level]
        _gather(inner[begin:end], first, fan_out, zt, vt, log_empty, work, where)
        for i in inner[begin:end]:
            own_precision, draw, behind_last = precision[i], noisy[i], first[i] + fan_out[i]
            sum_z, sum_v = 0.0, 0.0
            for child in range(first[i], behind_last):
                sum_z += z[child]
                sum_v += v[child]
            below = _where(first[i], behind_last, n)
            zt[i], vt[i], log_empty[i] = zt[below], vt[below], log_empty[below]
            z[i], v[i] = sum_z, sum_v
            if own_precision > 0.0:
                v[i] = 1.0 / (own_precision + 1.0 / sum_v)
                z[i] = v[i] * (own_precision * draw + sum_z / sum_v)
                of_draw = 1.0 / own_precision
                both = vt[i] + of_draw
                ratio = 0.5 * (math.log(both * own_precision) - draw**2 * own_precision)
                ratio += 0.5 * (draw - zt[i]) ** 2 / both
                log_empty[i] = max(log_empty[i] + ratio, NEVER)
                zt[i] = (zt[i] * of_draw + draw * vt[i]) / both
                vt[i] = vt[i] * of_draw / both
        begin, end = behind[level - 1] if level > 0 else 0, behind[level]
        _move_back(order[begin:end], z, v, zt, vt)


@njit(cache=True, nogil=True, error_model="numpy")
def _move_back(nodes, z, v, zt, vt):  # type: ignore[no-untyped-def]
    """Move shrunk estimates of a level back to least squares, as far as they are off together."""
    distance, moved = 0.0, 0
    for i in nodes:
        gap, off = v[i] - vt[i], z[i] - zt[i]
        # Without a branch: which nodes are shrunk cannot be foreseen.
        shrunk = gap > 0.001 * v[i]
        distance += min(off * off / gap, 25.0) if shrunk else 0.0
        moved += shrunk
    back = 1.0 - (moved + STEADY) / (distance + STEADY)
    if back <= 0.0:
        return
    for i in nodes:
        gap = v[i] - vt[i]
        part = back if gap > 0.001 * v[i] else 0.0
        zt[i] += part * (z[i] - zt[i])
        vt[i] += part * gap


@njit(cache=True, nogil=True)
def _hand_down(nodes, first, fan_out, z, v, log_empty, work, where, chance):  # type: ignore[no-untyped-def]
    """X and Q of nodes' children, written over z and V of these; the nodes have theirs there."""
    n, widest = len(first), 0
    for i in nodes:
        widest = max(widest, fan_out[i])
        whole = _where(first[i], first[i] + fan_out[i], n)
        z[whole], v[whole] = z[i], v[i]
    for halving in range(_halvings(widest)):
        waiting = 0
        for i in nodes:
            if fan_out[i] <= 1 << halving:
                continue
            for number in range(1 << halving):
                low, high = _segment(first[i], first[i] + fan_out[i], halving, number)
                if high - low < 2:
                    continue
                middle = (low + high) >> 1
                t, q = z[n + middle], v[n + middle]
                a, b = _where(low, middle, n), _where(middle, high, n)
                plain, x1, x2 = evident(z[a], v[a], z[b], v[b], t)
                if plain:
                    z[a], v[a], z[b], v[b] = x1, q, x2, q
                    continue
                lay(work, waiting, z, v, log_empty, a, b)
                work[T + waiting] = t
                where[waiting, 0], where[waiting, 1], chance[waiting] = a, b, q
                waiting += 1
                if waiting == ROOM:
                    _keep_parted(z, v, work, where, chance, waiting)
                    waiting = 0
        _keep_parted(z, v, work, where, chance, waiting)


@njit(cache=True, nogil=True)
def _keep_parted(z, v, work, where, chance, number):  # type: ignore[no-untyped-def]
    parted(work, number)
    for j in range(number):
        a, b, q = where[j, 0], where[j, 1], chance[j]
        z[a], v[a] = work[Z1 + j], q * work[V1 + j]
        z[b], v[b] = work[Z2 + j], q * work[V2 + j]


@njit(cache=True, nogil=True)
def _downwards(inner, behind, parent, first, fan_out, z, v, log_empty, value):  # type: ignore[no-untyped-def]
    """Hand X and Q down to the leaves; what these hold is added up again into `value`."""
    work = np.zeros(WORK)
    where, chance = np.empty((ROOM, 2), dtype=np.int64), np.empty(ROOM)
    z[0], v[0] = max(z[0], 0.0), 1.0
    for level in range(len(behind)):
        begin, end = behind[level - 1] if level > 0 else 0, behind[level]
        _hand_down(inner[begin:end], first, fan_out, z, v, log_empty, work, where, chance)
    for i in range(len(parent)):
        value[i] = z[i] * v[i] if fan_out[i] == 0 else 0.0
    total, owner = 0.0, -1
    for i in range(len(parent) - 1, 0, -1):
        # Children of a node are side by side.
        if parent[i] != owner:
            owner, total = parent[i], 0.0
        total += value[i]
        value[owner] = total


# Two parts of a node of which one may be empty: what they say of the node, and it of them.
#
# Of each part an estimate z of variance V is known, which holds if it is not empty, and l, the
# log-likelihood of "it is empty". All of the node is in one of them with the prior probability
# `ALONE` each; else they share it in any ratio. With t = E[x | x > 0], x ~ N(z1 + z2, V1 + V2), and
#
#     m = (z1 V2 + (t - z2) V1) / (V1 + V2),   s = sqrt(V1 V2 / (V1 + V2)),
#     A = Phi((t - m)/s) - Phi(-m/s)
#
# the three cases weigh
#
#     w1 = ALONE e^l2 Phi(z1/sd1),   w2 = ALONE e^l1 Phi(z2/sd2),
#     w3 = (1 - 2 ALONE) A/t Phi(z3/sd3),   z3 = z1 + z2, V3 = V1 + V2;
#
# the node's z and V are mean and variance of the mixture of N(z1, V1), N(z2, V2), N(z3, V3), and
# l = l1 + l2 - ln(w1 + w2 + w3) + ln Phi(z/sd). On the way down every part of a known total t gets
# its count if it is not empty, X, and the probability Q of that; X Q is what is released.
#
# Many pairs are worked on at once, each step for all of them, in loops without branches: then a
# processor runs several at a time. Where both parts are certain to hold someone nothing is weighed,
# and callers ask for that first (`certain`, `evident`).


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


# Exponentials and logarithms in plain arithmetic, so that loops over them run several at a time.
#
# A compiler makes one call of the system's library for each number, and a loop with calls in it is
# never run four or eight numbers at once. Both are series after a power of two is split off; the
# bits of a double hold that power, so they are read and written as a whole number. Against the
# system's own: within 2 parts in 10^16 (exponentials) and 5 in 10^16 (logarithms).
#
# Callers compile with ``error_model="numpy"``: a check for divisors of 0 is a branch.


_TO_WHOLE = 1.5 * 2.0**52
"""Added to a number up to 2^51 it leaves the nearest whole one in the lowest bits."""
_FRACTION_BITS = 52
_BIAS = 1023
_RAISED = 1024
"""Added to exponents, so that none is negative."""
_ROOT_HALF = 0x3FE6A09E667F3BCD
"""The bits of sqrt(1/2): fractions are taken from there to sqrt(2)."""
_LN2 = 6.93147180369123816490e-01
"""The first 32 bits of ln 2, so that whole multiples are exact."""
_LN2_REST = 1.90821492927058770002e-10
_LEAST_EXPONENT = -708.0  # below it are numbers of fewer digits
_A2, _A3, _A4, _A5, _A6, _A7, _A8, _A9, _A10, _A11, _A12, _A13 = (
    1.0 / math.factorial(n) for n in range(2, 14)
)
_B3, _B5, _B7, _B9, _B11, _B13, _B15, _B17, _B19, _B21, _B23 = (1.0 / n for n in range(3, 24, 2))


def _to_bits(_typing: Any, _number: Any) -> Any:
    """The 64 bits of a double as a whole number."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), build


def _to_double(_typing: Any, _bits: Any) -> Any:
    """The double that has these 64 bits."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), build


# Numba gives the first argument itself, which the types of a decorator do not say.
_bits: Any = intrinsic(_to_bits)
_double: Any = intrinsic(_to_double)


@njit(nogil=True, error_model="numpy", inline="always")
def exp(x):  # type: ignore[no-untyped-def]
    """e^x of x up to 709; 0 below -708, and for what is no number.

    x = k ln 2 + r, |r| <= ln 2 / 2: Taylor's series of e^r to r^13 / 13! (the next is below
    5e-18), times 2^k.
    """
    whole = x * (1.0 / math.log(2.0)) + _TO_WHOLE
    k = whole - _TO_WHOLE
    r = (x - k * _LN2) - k * _LN2_REST
    r2 = r * r
    r4 = r2 * r2
    # In pairs: long chains would wait for each step before.
    low = (_A2 + _A3 * r) + (_A4 + _A5 * r) * r2
    middle = (_A6 + _A7 * r) + (_A8 + _A9 * r) * r2
    high = (_A10 + _A11 * r) + (_A12 + _A13 * r) * r2
    series = 1.0 + (r + r2 * (low + (middle + high * r4) * r4))
    result = series * _double((_bits(whole) + _BIAS) << _FRACTION_BITS)
    return result if x >= _LEAST_EXPONENT else 0.0


@njit(nogil=True, error_model="numpy", inline="always")
def log(x):  # type: ignore[no-untyped-def]
    """Natural logarithm of normal numbers above 0.

    x = 2^k m, sqrt(1/2) <= m < sqrt(2), s = (m - 1) / (m + 1):
    ln x = k ln 2 + 2 (s + s^3 / 3 + ... + s^23 / 23), the next of which is below 1e-20.
    """
    bits = _bits(x) - _ROOT_HALF
    raised = ((bits + (_RAISED << _FRACTION_BITS)) >> _FRACTION_BITS) & 0xFFF
    # The bits of 2^52 + k + 1024: processors convert whole numbers one at a time.
    k = _double(raised | 0x4330000000000000) - (2.0**52 + _RAISED)
    m = _double((bits & ((1 << _FRACTION_BITS) - 1)) + _ROOT_HALF)
    s = (m - 1.0) / (m + 1.0)
    q = s * s
    q2 = q * q
    q4 = q2 * q2
    low = (_B3 + _B5 * q) + (_B7 + _B9 * q) * q2
    middle = (_B11 + _B13 * q) + (_B15 + _B17 * q) * q2
    high = (_B19 + _B21 * q) + _B23 * q2
    series = low + (middle + high * q4) * q4
    return k * _LN2 + (2.0 * s + (2.0 * s * q * series + k * _LN2_REST))


# What the surroundings of a leaf say of it: neighbours' draws, pooled over leaves alike.
#
# A leaf's own draw y has noise of scale 1/e, e = sqrt(2 / variance). Its surroundings expect lam =
# beta . F of y e: F are the means of three rings round it (to 1, 3 and 7 of its own sides beyond
# it), and beta is fitted by least squares over all leaves of its size. Leaves of one size that
# expect alike are a class, and in a class the draws themselves say how far to believe what is
# expected (James and Stein's rule): the part
#
#     s = max(0, 1 - 2 (n + 5) / (sum (y e - lam)^2 + 10))
#
# of a leaf's distance from lam is its own, the rest is taken for noise. Nothing is read but draws.
# (Our own; notebooks/design, mosaic for every size.)


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
    """What is believed of leaves after their surroundings: estimates and variances, (n,) each.

    `lower`, `upper` (m, 2) are of all nodes, `leaves` (n,) tile the map of this shape; `draws` and
    `variance` (n,) are their noisy counts and the variance of the noise.
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
