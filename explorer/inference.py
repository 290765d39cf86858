"""Inference: the best counts that a transcript allows. Post-processing only, it costs nothing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
from numba import njit

from explorer.privacy.transcript import Floats, Transcript


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


def least_squares(transcript: Transcript, stages: Collection[str] | None = None) -> Estimate:
    """Weighted least squares over a tree: all noisy counts made consistent.

    Minimises sum_v w_v (y_v - x_v)^2 over counts x that add up along the tree, w_v being the
    precision of the node's own draw y_v. Two passes solve it exactly: upwards the best estimate of
    a node from its own subtree, z_v = V (w_v y_v + sum z_c / sum V_c) with
    1/V = w_v + 1 / sum V_c; downwards x_c = z_c + V_c / sum V_c (x_v - sum z_c). (Hay et al. 2010
    with uneven variances and any fan-out; on two levels it is AG's inference with erratum 19.)

    Every leaf needs a draw; inner nodes need none.
    """
    noisy, precision = transcript.counts(stages)
    return _solve(transcript, noisy, precision)


def _solve(transcript: Transcript, noisy: Floats, precision: Floats) -> Estimate:
    if np.any(precision[transcript.is_leaf] <= 0):
        raise ValueError("a leaf was never measured")
    value = np.empty(len(transcript))
    _two_passes(transcript.parent, transcript.is_leaf, noisy, precision, value)
    return Estimate(transcript, value, precision)


@njit(cache=True, nogil=True)
def _two_passes(parent, is_leaf, noisy, precision, value):  # type: ignore[no-untyped-def]
    n = len(parent)
    z = np.zeros(n)
    variance = np.zeros(n)
    below = np.zeros(n)
    below_variance = np.zeros(n)
    for i in range(n - 1, -1, -1):
        if is_leaf[i]:
            z[i] = noisy[i]
            variance[i] = 1.0 / precision[i]
        elif precision[i] > 0.0:
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
