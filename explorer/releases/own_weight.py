"""Draws that decide how much they weigh: what to move them by, so that estimates stay unbiased.

A noisy count y that is high buys its region finer counts, whose sum is noisier, so y weighs more in
their average, and the region comes out too full: E[s(y) (y - N)] > 0 for a weight s that grows.

For the two-sided geometric distribution P(k) = (1 - q) / (1 + q) q^|k| the expected pull has an
unbiased estimate in y alone: the transform of k P(k) is that of a central difference times the
square of P's, so E[s(y) (y - N)] = c E[f(y + 1) - f(y - 1)] with c = q / (1 - q)^2 and f, s
smoothed by P. (Our own; figures in notebooks/design/2026-11-25-adaptive-grids-without-bias.md.)
"""

from __future__ import annotations

import numpy as np
from numba import njit

from explorer.releases.nodes import Ints
from explorer.releases.transcript import Floats


def ratio_of(variance: float) -> float:
    """The q of a two-sided geometric distribution of this variance, 2 q / (1 - q)^2; 0 for none."""
    if variance <= 0.0:
        return 0.0
    # 1 - q first: for wide noise q itself is 1 to many places.
    return float(1.0 - 2.0 / (1.0 + np.sqrt(1.0 + 2.0 * variance)))


def without_own_pull(draws: Floats, thresholds: Ints, weights: Floats, variance: float) -> Floats:
    """The draws, each moved so that it weighs in without bias whatever it decides.

    Parameters
    ----------
    draws : (n,) noisy counts y, whole
    thresholds : (k,) increasing; a draw of at least ``thresholds[i]`` has the weight after it
    weights : (k + 1,) of y in the average, above 0 and at most 1
    variance : of the noise of every draw

    Returns
    -------
    (n,) y - c (f(y + 1) - f(y - 1)) / s(y), to be averaged with weight s(y) as before
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
