"""Inference: the best counts that a transcript allows. Post-processing only, it costs nothing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
from numba import njit

from explorer.privacy.transcript import Floats, Transcript
from explorer.regions import Ints


@dataclass(frozen=True)
class Estimate:
    """What a release publishes of a pass.

    Attributes
    ----------
    transcript : the tree and the noisy counts
    value : (n,) inferred count of every node; children add up to their parent
    precision : (n,) 1 / noise variance of the node's own measurement as the inference used it,
        0 where it used none. It fixes the noise of every answer, see `Release.answer`.
    facts : what the plan chose from noisy figures alone, by name ("height", "grid size", ...)
    """

    transcript: Transcript
    value: Floats
    precision: Floats
    facts: dict[str, float] = field(default_factory=dict)


def leaves(transcript: Transcript, stages: Collection[str]) -> Estimate:
    """Publish the leaves' own draws of the given stages; parents are the sums of their leaves."""
    noisy, precision = transcript.counts(stages)
    return _solve(transcript, noisy, np.where(transcript.is_leaf, precision, 0.0))


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


def balanced_shares(
    transcript: Transcript, limit: int, test: str, cut: str, thresholds: Floats
) -> Floats:
    """Largest shares that keep least squares unbiased when draws decided where the tree stops.

    A node's test draw y both decides whether it becomes a leaf and estimates its count. The
    estimate (1 - share) z + share y is unbiased if the share is the same whichever way the
    decision falls; plain least squares gives y far more weight where the node went on, so nodes
    that were overestimated weigh more and the map comes out too full. A leaf's share is fixed:
    e^2 / (e^2 + R^2), with e the test's budget and R the rest that its second draw got. So an
    inner node whose y lies within sixteen noise scales of its threshold is held to the share it
    would have had as a leaf; further up the decision was never in doubt. (Our own; figures in
    notebooks/design/2026-11-20-least-squares-without-bias.md.)

    Parameters
    ----------
    transcript : Transcript
    limit : the budget of every path, in units of 10^-12 epsilon
    test, cut : stages of the deciding draw and of what an inner node paid after it
    thresholds : (n,) count at or below which each node stopped

    Returns
    -------
    (n,) shares for `least_squares`, 1 where nothing is held back
    """
    paid = transcript.spent.sum(axis=1)
    path = np.zeros(len(transcript), dtype=np.int64)
    add_down(transcript.parent, paid, path)
    budget = _column(transcript, test)
    rest = (limit - path + _column(transcript, cut)).astype(np.float64)
    noisy, precision = transcript.counts([test])
    near = (precision > 0) & ~transcript.is_leaf
    near &= noisy < thresholds + 16 * np.sqrt(0.5 / np.where(near, precision, 1.0))
    shares = np.ones(len(transcript))
    e = budget[near].astype(np.float64)
    shares[near] = e**2 / (e**2 + rest[near] ** 2)
    return shares


def _column(transcript: Transcript, stage: str) -> Ints:
    if stage not in transcript.stages:
        return np.zeros(len(transcript), dtype=np.int64)
    return transcript.spent[:, transcript.stages.index(stage)]


@njit(cache=True, nogil=True)
def add_down(parent, own, total):  # type: ignore[no-untyped-def]
    """Sum `own` (n,) from the root down to every node into `total` (n,)."""
    for i in range(len(parent)):
        total[i] = own[i] + (total[parent[i]] if parent[i] >= 0 else 0)


def _solve(
    transcript: Transcript, noisy: Floats, precision: Floats, largest_share: Floats | None = None
) -> Estimate:
    if np.any(precision[transcript.is_leaf] <= 0):
        raise ValueError("a leaf was never measured")
    shares = np.ones(len(transcript)) if largest_share is None else largest_share
    value = np.empty(len(transcript))
    precision = precision.copy()
    _two_passes(transcript.parent, transcript.is_leaf, noisy, precision, shares, value)
    return Estimate(transcript, value, precision)


@njit(cache=True, nogil=True)
def _two_passes(parent, is_leaf, noisy, precision, shares, value):  # type: ignore[no-untyped-def]
    n = len(parent)
    z = np.zeros(n)
    variance = np.zeros(n)
    below = np.zeros(n)
    below_variance = np.zeros(n)
    for i in range(n - 1, -1, -1):
        if is_leaf[i]:
            z[i] = noisy[i]
            variance[i] = 1.0 / precision[i]
        elif precision[i] > 0.0 and shares[i] > 0.0:
            if shares[i] < 1.0:
                most = shares[i] / ((1.0 - shares[i]) * below_variance[i])
                precision[i] = min(precision[i], most)
            variance[i] = 1.0 / (precision[i] + 1.0 / below_variance[i])
            z[i] = variance[i] * (precision[i] * noisy[i] + below[i] / below_variance[i])
        else:
            variance[i] = below_variance[i]
            z[i] = below[i]
        if parent[i] >= 0:
            below[parent[i]] += z[i]
            below_variance[parent[i]] += variance[i]
    for i in range(n):
        p = parent[i]
        if p < 0:
            value[i] = z[i]
        else:
            value[i] = z[i] + variance[i] / below_variance[p] * (value[p] - below[p])
