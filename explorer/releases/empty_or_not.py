"""Inference that knows of empty parts: how likely each node is to hold no one, and how many else.

A map is mostly empty, and counts of its parts are noisy. So two things are carried up a tree: an
estimate z of variance V of a node's count if it holds someone, and l, the log-likelihood of "it
holds no one" (of all draws below it, as z and V are). Two parts of a node hold all of it with one
of them with the prior probability `ALONE` each, or share it in any ratio. See `two_parts`.

Shrunk estimates are biased, and biases of many small parts add up. So least squares is carried up
next to them, and on each level estimates move back to it as far as they are off by more than their
variances explain (James and Stein's rule).

More than two children are halved again and again. (Our own; notebooks/design, mosaic for every
size.)
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.releases.nodes import Ints
from explorer.releases.transcript import Floats
from explorer.releases.two_parts import (
    L1,
    NEVER,
    ROOM,
    V1,
    V2,
    WORK,
    Z1,
    Z2,
    T,
    certain,
    evident,
    lay,
    log_empty_of_certain,
    parted,
    together,
)

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
    """Counts of all nodes, 0 or more; those of children add up to their parent's.

    Parameters
    ----------
    parent : (n,) parents before children, children of a node side by side; -1 for the root
    depth : (n,) cuts above every node
    noisy, precision : (n,) own draws and 1 / their variance, 0 where there is none; above 0 at
        leaves; written over
    shrunk, shrunk_variance : (leaves,) what is believed of leaves, after their neighbours

    Returns
    -------
    (n,)
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
