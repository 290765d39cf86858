"""Where to cut a region, privately: Algorithm 1 of htf-2022 and what it is compared with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from explorer.releases.nodes import Ints

Evaluate = Callable[[Ints, Ints, int], Ints]
"""(regions (m,), cuts (m,), draw number) -> noisy costs (m,)."""


def window(length: Ints, rule: str) -> tuple[Ints, Ints]:
    """Sentinels l < k < r of the cuts a rule may choose among, for sides of `length` cells.

    Cuts are 1..length-1, counted in cells left of the cut (erratum 2). "middle half" allows a
    quarter to three quarters, "middle quarter" three to five eighths; the middle is always allowed.
    Both are public restrictions.
    """
    numerator = {"middle half": 2, "middle quarter": 3}.get(rule, 0)
    half = length >> 1
    low = np.minimum(length * numerator >> 3, half - 1)
    return low, np.maximum(length - low, half + 1)


def search(low: Ints, high: Ints, rounds: int, evaluate: Evaluate) -> Ints:
    """Algorithm 1 of htf-2022 for n regions at once: a noisy search for a locally best cut.

    Departures, all from the list of errata: indices keep their offset (1), sentinels are never
    evaluated (2), the noisy value moves with k and is never drawn again (3, 4), a candidate that
    collapses into its neighbour is skipped (4).

    Parameters
    ----------
    low, high : (n,) sentinels with at least one cut between them
    rounds : T, the number of times the interval is narrowed
    evaluate : draws the noisy objective, at most 2 T + 1 times a region

    Returns
    -------
    (n,) cuts, low < k < high
    """
    low, high = low.copy(), high.copy()
    everyone = np.arange(len(low))
    k = low + (high - low) // 2
    best = evaluate(everyone, k, 0).astype(np.float64)
    for step in range(rounds):
        k1, k2 = (low + k) // 2, (k + high) // 2
        left, right = np.full((2, len(k)), np.inf)
        can_left, can_right = np.flatnonzero(k1 > low), np.flatnonzero(k2 > k)
        left[can_left] = evaluate(can_left, k1[can_left], 2 * step + 1)
        right[can_right] = evaluate(can_right, k2[can_right], 2 * step + 2)
        go_left = (left < best) & (left <= right)
        go_right = (right < best) & ~go_left
        stay = ~go_left & ~go_right
        high = np.where(go_left, k, np.where(stay & (k2 > k), k2, high))
        low = np.where(go_right, k, np.where(stay, k1, low))
        k = np.where(go_left, k1, np.where(go_right, k2, k))
        best = np.minimum(best, np.minimum(left, right))
        if not len(can_left) and not len(can_right):
            break
    return k
