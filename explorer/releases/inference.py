"""Inference: the best counts that a transcript allows. Post-processing only, it costs nothing."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.releases import empty_or_not as weighing
from explorer.releases.nodes import Ints, count_leaves, inner_end
from explorer.releases.place_maps import PlaceMaps
from explorer.releases.transcript import Floats, Transcript

MOST_PRECISE = 1e12
"""Precision of a draw beyond which no inference needs to tell it from an exact count."""


@dataclass(frozen=True)
class Estimate:
    """What a release publishes of a pass.

    Attributes
    ----------
    transcript : the tree and the noisy counts
    value : (n,) inferred count of every node; children add up to their parent
    precision : (n,) 1 / noise variance of the node's own measurement as the inference used it,
        0 where it used none. It fixes the noise of every answer, see `Release.answer`.
    linear : whether `value` is a linear function of the draws, so that its noise has a closed form
    haar_variance : variance of every Haar coefficient when the counts come from those (Privlet)
    facts : what the plan chose from noisy figures alone, by name ("height", "grid size", ...)
    tested : (n,) the released figure that decided about a node where that is no draw of its own,
        else NaN; None where there are none
    maps : of all places, which say how counts are spread inside leaves; None where there are none
    """

    transcript: Transcript
    value: Floats
    precision: Floats
    facts: dict[str, float] = field(default_factory=dict)
    linear: bool = True
    haar_variance: float | None = None
    tested: Floats | None = None
    maps: PlaceMaps | None = None


def leaves(transcript: Transcript, stages: Collection[str]) -> Estimate:
    """Publish the leaves' own draws of the given stages; parents are the sums of their leaves."""
    value, precision = transcript.counts(stages)
    if not _add_leaves(transcript.parent, transcript.is_leaf, value, precision):
        raise ValueError("a leaf was never measured")
    return Estimate(transcript, value, precision)


def least_squares(
    transcript: Transcript,
    stages: Collection[str] | None = None,
    largest_share: Floats | None = None,
) -> Estimate:
    """Weighted least squares over a tree: all noisy counts made consistent.

    Minimises sum_v w_v (y_v - x_v)^2 over counts x that add up along the tree, w_v being the
    precision of the node's own draw y_v. Two passes solve it exactly: upwards the best estimate of
    a node from its own subtree, z_v = V (w_v y_v + sum z_c / sum V_c) with
    1/V = w_v + 1 / sum V_c; downwards x_c = z_c + V_c / sum V_c (x_v - sum z_c). (Hay et al. 2010
    with uneven variances and any fan-out; on two levels it is AG's inference with erratum 19.)

    Every leaf needs a draw; inner nodes need none.

    Parameters
    ----------
    transcript : Transcript
    stages : which draws to use, by default all
    largest_share : (n,) 0 to 1, optional
        The most that an inner node's own draw may weigh in z_v, see `balanced_shares`. Its
        precision is lowered to that, so the noise of answers comes out slightly too large.
    """
    noisy, precision = transcript.counts(stages)
    return _solve(transcript, noisy, precision, largest_share)


def non_negative(transcript: Transcript, stages: Collection[str] | None = None) -> Estimate:
    """Least squares upwards, then every node's count shared among its children without negatives.

    The children's estimates z_c of variances V_c are moved to the nearest counts, in
    sum (x_c - z_c)^2 / V_c, that are 0 or more and add up to their parent's. Clipping alone would
    make the sum of many small areas too large. `precision` is that of the least squares underneath.
    """
    noisy, precision = transcript.counts(stages)
    return _solve(transcript, noisy, precision, way_down="projected")


def split(
    transcript: Transcript,
    stages: Collection[str] | None = None,
    largest_share: Floats | None = None,
    masses: Floats | None = None,
    anchored: bool = False,
) -> Estimate:
    """Split inference: least squares upwards, then shares that cannot be negative downwards.

    Every node's count is divided among its children by the posterior mean of the share, see
    `sharing.share`. All counts come out at 0 or more and add up at every node. They are not linear
    in the draws, so the noise of answers has no closed form: `precision` is that of the least
    squares underneath.

    Parameters
    ----------
    transcript, stages, largest_share : as of `least_squares`
    masses : (n,) above 0, optional
        What is expected of nodes, in any unit, such as the mass of a map in them; by default all
        children are expected to hold alike.
    anchored : bool
        Whether the root keeps its own draw, or 0 if that is negative. Where draws decided what was
        counted below, the best estimate from all of them is too high; this one is not.
    """
    noisy, precision = transcript.counts(stages)
    return _solve(transcript, noisy, precision, largest_share, "shared", masses, anchored)


def empty_or_not(
    transcript: Transcript,
    stages: Collection[str] | None = None,
    near: NDArray[np.bool_] | None = None,
    axes: Sequence[int] = (0, 1),
) -> Estimate:
    """Counts by how likely each part is to hold no one, see `releases.empty_or_not`.

    All counts come out at 0 or more and add up at every node. They are not linear in the draws, so
    the noise of answers has no closed form: `precision` is that of the least squares underneath.

    Parameters
    ----------
    transcript, stages : as of `least_squares`
    near : (n,) nodes whose own draw was in doubt when it let them be cut into the leaves below;
        it keeps the weight that it would have had as a leaf's, see `balanced_shares`
    axes : those that are cut; where they are two, leaves are seen in their surroundings
    """
    noisy, precision = transcript.counts(stages)
    if not _all_measured(transcript.is_leaf, precision):
        raise ValueError("a leaf was never measured")
    if near is not None and near.any():
        below = np.zeros(inner_end(transcript.parent), np.float64)
        count_leaves(transcript.parent, below)
        # All behind these are leaves.
        weaker = near[: len(below)]
        precision[: len(below)][weaker] /= below[weaker]
    capped_precision = np.empty(len(transcript), np.float64)
    number = int(np.count_nonzero(transcript.is_leaf))
    leaves = np.empty(number, np.int64)
    believed, variance = (np.empty(number, np.float64) for _ in range(2))
    _read_leaves(transcript.is_leaf, noisy, precision, capped_precision, leaves, believed, variance)
    if len(axes) == 2 and len(leaves) > 1:
        lower, upper = transcript.lower, transcript.upper
        if len(axes) < lower.shape[1]:
            lower, upper = (corners.take(list(axes), axis=1) for corners in (lower, upper))
        believed, variance = weighing.shrunk(
            lower, upper, leaves, believed, variance, tuple(upper[0].tolist())
        )
    value = weighing.infer(
        transcript.parent, transcript.depth, noisy, capped_precision, believed, variance
    )
    return Estimate(transcript, value, precision, linear=False)


def balanced_shares(
    transcript: Transcript, limit: int, test: str, cut: str, near: NDArray[np.bool_]
) -> Floats:
    """Largest shares that keep least squares unbiased when draws decided where the tree stops.

    A node's test draw y both decides whether it becomes a leaf and estimates its count. The
    estimate (1 - share) z + share y is unbiased if the share is the same whichever way the
    decision falls; plain least squares gives y far more weight where the node went on, so nodes
    that were overestimated weigh more and the map comes out too full. A leaf's share is fixed:
    e^2 / (e^2 + R^2), with e the test's budget and R the rest that its second draw got. So an
    inner node whose decision was in doubt is held to the share it would have had as a leaf.
    (Our own; figures in notebooks/design/2026-11-20-least-squares-without-bias.md.)

    Parameters
    ----------
    transcript : Transcript
    limit : the budget of every path, in units of 10^-12 epsilon
    test, cut : stages of the deciding draw and of what an inner node paid after it
    near : (n,) nodes whose draw lay near enough to the threshold for doubt, see `in_doubt`

    Returns
    -------
    (n,) shares for `least_squares` and `split`, 1 where nothing is held back
    """
    paid = transcript.spent.sum(axis=1)
    path = np.zeros(len(transcript), dtype=np.int64)
    add_down(transcript.parent, paid, path)
    decided = near & ~transcript.is_leaf
    e = _column(transcript, test)[decided].astype(np.float64)
    rest = (limit - path + _column(transcript, cut))[decided].astype(np.float64)
    shares = np.ones(len(transcript))
    shares[decided] = e**2 / (e**2 + rest**2)
    return shares


def in_doubt(transcript: Transcript, test: str, thresholds: Floats) -> NDArray[np.bool_]:
    """Nodes whose test draw is within sixteen noise scales above their threshold, (n,).

    Further up the other outcome has a probability below e^-16.
    """
    noisy, precision = transcript.counts([test])
    tested = precision > 0
    scale = np.sqrt(0.5 / np.where(tested, precision, 1.0))
    doubtful: NDArray[np.bool_] = tested & (noisy < thresholds + 16 * scale)
    return doubtful


def _column(transcript: Transcript, stage: str) -> Ints:
    if stage not in transcript.stages:
        return np.zeros(len(transcript), dtype=np.int64)
    return transcript.spent[:, transcript.stages.index(stage)]


@njit(cache=True, nogil=True)
def add_down(parent, values, total):  # type: ignore[no-untyped-def]
    """Sum `values` (n,) from the root down to every node into `total` (n,)."""
    for i in range(len(parent)):
        total[i] = values[i] + (total[parent[i]] if parent[i] >= 0 else 0)


def _solve(
    transcript: Transcript,
    noisy: Floats,
    precision: Floats,
    largest_share: Floats | None = None,
    way_down: str = "",
    masses: Floats | None = None,
    anchored: bool = False,
) -> Estimate:
    if not _all_measured(transcript.is_leaf, precision):
        raise ValueError("a leaf was never measured")
    if anchored and precision[0] <= 0:
        raise ValueError("the root was never measured")
    shares = np.ones(0) if largest_share is None else largest_share
    root = noisy[0]
    inner = inner_end(transcript.parent)
    below, below_variance = np.zeros((2, inner), np.float64)
    # Leaves that no way down asks for are left out.
    variance = np.empty(len(transcript) if way_down else inner, np.float64)
    _upwards(
        transcript.parent,
        transcript.is_leaf,
        noisy,
        precision,
        shares,
        variance,
        below,
        below_variance,
    )
    # `noisy` has become the best estimates from below; what comes next is written over it too.
    value = noisy
    if way_down == "projected":
        value = np.empty(len(transcript), np.float64)
        _project_downwards(transcript.parent, noisy, variance, value)
    elif way_down:
        value = np.empty(len(transcript), np.float64)
        expected = np.ones(0) if masses is None else masses
        noisy[0] = root if anchored else noisy[0]
        _share_downwards(transcript.parent, noisy, variance, expected, value)
    else:
        _downwards(transcript.parent, precision, variance, below, below_variance, value)
    # Held-back shares make the stated noise an upper bound, split inference has no closed form.
    return Estimate(transcript, value, precision, linear=not way_down and bool(np.all(shares == 1)))


@njit(cache=True, nogil=True)
def _read_leaves(is_leaf, noisy, precision, capped_precision, leaves, draws, variance):  # type: ignore[no-untyped-def]
    """Fill in which nodes are leaves, their draws and the variances of these.

    `capped_precision` are precisions that inference can reckon with.
    """
    number = 0
    for i in range(len(is_leaf)):
        # With hardly any noise at all squares of its inverse would leave the numbers.
        capped_precision[i] = min(precision[i], MOST_PRECISE)
        if is_leaf[i]:
            leaves[number], draws[number], variance[number] = i, noisy[i], 1.0 / capped_precision[i]
            number += 1


@njit(cache=True, nogil=True)
def _all_measured(is_leaf, precision):  # type: ignore[no-untyped-def]
    """Whether all leaves were measured."""
    measured = True
    for i in range(len(is_leaf)):
        measured &= precision[i] > 0.0 or not is_leaf[i]
    return measured


@njit(cache=True, nogil=True)
def _add_leaves(parent, is_leaf, value, precision):  # type: ignore[no-untyped-def]
    """Make the value of every inner node the sum of its children's, and its precision 0.

    Returns whether all leaves were measured.
    """
    measured = True
    for i in range(len(parent)):
        if is_leaf[i]:
            measured &= precision[i] > 0.0
        else:
            value[i] = precision[i] = 0.0
    total, owner = 0.0, -1
    # Children come after their parents, and mostly side by side.
    for i in range(len(parent) - 1, 0, -1):
        if parent[i] != owner:
            owner = parent[i]
            total = value[owner]
        total += value[i]
        value[owner] = total
    return measured


@njit(cache=True, nogil=True)
def _upwards(  # type: ignore[no-untyped-def]
    parent, is_leaf, z, precision, shares, variance, below, below_variance
):
    """Turn draws `z` into the best estimates from every node's own subtree.

    Lowers `precision` to the shares; no `shares` at all hold nothing back. What is said of children
    may end behind the last node that has any, and `variance` anywhere after that.
    """
    has_shares = len(shares) > 0
    last_precision, inverse = 1.0, 1.0
    sum_z, sum_variance, owner = 0.0, 0.0, -1
    # Children come after their parents, and mostly side by side.
    for i in range(len(parent) - 1, -1, -1):
        if is_leaf[i]:
            # Neighbours mostly have the same.
            if precision[i] != last_precision:
                last_precision = precision[i]
                inverse = 1.0 / last_precision
            own_variance = inverse
        elif precision[i] > 0.0 and not (has_shares and shares[i] <= 0.0):
            if has_shares and shares[i] < 1.0:
                limit = shares[i] / ((1.0 - shares[i]) * below_variance[i])
                precision[i] = min(precision[i], limit)
            own_variance = 1.0 / (precision[i] + 1.0 / below_variance[i])
            z[i] = own_variance * (precision[i] * z[i] + below[i] / below_variance[i])
        else:
            own_variance = below_variance[i]
            z[i] = below[i]
        if i < len(variance):
            variance[i] = own_variance
        if parent[i] != owner:
            owner = parent[i]
            sum_z, sum_variance = 0.0, 0.0
            if owner >= 0:
                sum_z, sum_variance = below[owner], below_variance[owner]
        sum_z += z[i]
        sum_variance += own_variance
        if owner >= 0:
            below[owner], below_variance[owner] = sum_z, sum_variance


@njit(cache=True, nogil=True)
def _downwards(  # type: ignore[no-untyped-def]
    parent, precision, variance, below, below_variance, value
):
    """Hand every parent's discrepancy to its children in proportion to their variances."""
    last_precision, inverse = 1.0, 1.0
    for i in range(1, len(parent)):
        p = parent[i]
        if i < len(variance):
            own_variance = variance[i]
        else:
            if precision[i] != last_precision:
                last_precision = precision[i]
                inverse = 1.0 / last_precision
            own_variance = inverse
        value[i] += own_variance / below_variance[p] * (value[p] - below[p])


# How a node's count is shared among its children when no share may be negative.
#
# Two children hold x and t - x of a known total t. Their noisy estimates z1, z2 with variances V1,
# V2 say about x what one Gaussian observation m of variance V says:
#
#     V = V1 V2 / (V1 + V2),   m = (z1 V2 + (t - z2) V1) / (V1 + V2).
#
# Maps are full of empty halves, so the prior is a mixture: all of t with the first child (2 SPIKE
# rho), all of it with the other (2 SPIKE (1 - rho)), or anything between evenly. rho is the part
# of t that is expected of the first child, 1/2 where nothing is known of them. With s = sqrt V, a
# = m/s, b = (t - m)/s, phi and Phi the normal density and distribution, F = Phi(b) - Phi(-a) and c
# = (1 - 2 SPIKE)/t the posterior mean is
#
#     x = [2 SPIKE rho phi(b)/s t + c (m F + s (phi(a) - phi(b)))]
#         / [2 SPIKE ((1 - rho) phi(a) + rho phi(b))/s + c F].
#
# More than two children are shared by halving their row again and again.


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
def _share_downwards(parent, z, variance, masses, value):  # type: ignore[no-untyped-def]
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


# Draws that decide how much they weigh: what to move them by, so that estimates stay unbiased.
#
# A noisy count y that is high buys its region finer counts, whose sum is noisier, so y weighs more
# in their average, and the region comes out too full: E[s(y) (y - N)] > 0 for a weight s that
# grows.
#
# For the two-sided geometric distribution P(k) = (1 - q) / (1 + q) q^|k| the expected pull has an
# unbiased estimate in y alone: the transform of k P(k) is that of a central difference times the
# square of P's, so E[s(y) (y - N)] = c E[f(y + 1) - f(y - 1)] with c = q / (1 - q)^2 and f, s
# smoothed by P. (Our own; figures in notebooks/design/2026-11-25-adaptive-grids-without-bias.md.)


def ratio_of(variance: float) -> float:
    """The q of a two-sided geometric distribution of this variance, 2 q / (1 - q)^2; 0 for none."""
    if variance <= 0.0:
        return 0.0
    # 1 - q first: for wide noise q itself is 1 to many places.
    return float(1.0 - 2.0 / (1.0 + np.sqrt(1.0 + 2.0 * variance)))


def without_own_pull(draws: Floats, thresholds: Ints, weights: Floats, variance: float) -> Floats:
    """The draws y, each moved so that it weighs in without bias whatever it decides, (n,).

    A draw of at least ``thresholds[i]``, (k,) increasing, has the weight ``weights[i + 1]``, (k +
    1,)
    above 0 to 1, with noise of this variance. The result, y - c (f(y + 1) - f(y - 1)) / s(y), is
    averaged with weight s(y) as before.
    """
    moved = np.empty(len(draws))
    _move(draws, thresholds, weights, ratio_of(variance), moved)
    return moved


@njit(cache=True, nogil=True)
def _move(draws, thresholds, weights, q, moved):  # type: ignore[no-untyped-def]
    """Add up the steps of the weight, each as far as the noise reaches: q^|t - y| falls to 0."""
    log_q = np.log(q) if q > 0.0 else -np.inf
    # c times (1 - q) / (1 + q): a step smoothed by P rises by P's own probabilities.
    scale = q / ((1.0 - q) * (1.0 + q))
    far = -40.0 / log_q
    for i in range(len(draws)):
        y = draws[i]
        pull = 0.0
        for j in range(np.searchsorted(thresholds, y - far), len(thresholds)):
            away = thresholds[j] - y
            if away > far + 1.0:
                break
            near = np.exp(log_q * abs(away)) + np.exp(log_q * abs(away - 1))
            pull += (weights[j + 1] - weights[j]) * near
        at = np.searchsorted(thresholds, y, side="right")
        moved[i] = y - scale * pull / weights[at]


# Counts without negative ones: the nearest that still add up.


@njit(cache=True, nogil=True)
def project(z, variance, total, x):  # type: ignore[no-untyped-def]
    """Write into `x` (k,) what minimises sum (x - z)^2 / variance with x >= 0 and sum x = total.

    x = max(z - a variance, 0) with one a for all, found by leaving out what comes out below 0
    until nothing does. A total of 0 or less makes all of them 0.
    """
    for i in range(len(z)):
        x[i] = 0.0
    if total <= 0.0:
        return
    active = np.ones(len(z), dtype=np.bool_)
    while True:
        above, room = -total, 0.0
        for i in range(len(z)):
            if active[i]:
                above += z[i]
                room += variance[i]
        least = 0.0
        for i in range(len(z)):
            if active[i]:
                x[i] = z[i] - above / room * variance[i]
                least = min(least, x[i])
        if least >= 0.0:
            return
        for i in range(len(z)):
            if active[i] and x[i] < 0.0:
                active[i], x[i] = False, 0.0


@njit(cache=True, nogil=True)
def _project_downwards(parent, z, variance, value):  # type: ignore[no-untyped-def]
    """Give every node's children counts of 0 or more that add up to its own, into `value` (n,).

    `z`, `variance` (n,) are best estimates from every node's own subtree, and their variances.
    """
    value[0] = max(z[0], 0.0)
    begin = 1
    while begin < len(parent):
        end = begin
        while end < len(parent) and parent[end] == parent[begin]:
            end += 1
        total = value[parent[begin]]
        project(z[begin:end], variance[begin:end], total, value[begin:end])
        begin = end
