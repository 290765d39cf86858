"""Lower bounds on epsilon from what two neighbours published, for tests and lessons.

On one half of the runs an event is chosen that distinguishes the neighbours; on the other half its
probabilities are bounded (Clopper, Pearson 1934), so the choice costs no confidence. If an event
has a probability of at least p on one and at most p' on the other, epsilon is at least ln(p / p').
Single draws are so few numbers that this has power; on whole releases it has none (see
notebooks/design/2026-11-25-audit-without-black-box.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.noise import NoiseSource
from explorer.releases.units import to_units

Floats = NDArray[np.float64]
_VALUES = 24
"""How many values of a feature are tried as events."""


def primitive_bounds(
    source: NoiseSource, draws: int, choices: int, alpha: float
) -> dict[str, float]:
    """Lower bounds on epsilon from single draws of each kind of noise; in truth it is 1.

    `draws` counts of 0 or 2 with sensitivity 2, as many decisions whether they pass 1, and
    `choices` selections among costs that move by 1.
    """
    keys = np.arange(2 * draws, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    units = np.full(draws, to_units(1))
    offsets = np.arange(choices + 1) * 3
    counts: list[NDArray[Any]] = []
    decisions: list[NDArray[Any]] = []
    chosen: list[NDArray[Any]] = []
    for value, costs, names in ((0, [1, 2, 0], keys[:draws]), (2, [0, 3, 1], keys[draws:])):
        exact = np.full(draws, value)
        counts.append(source.laplace(exact, 2, units, names, "counts"))
        decisions.append(source.above(exact, 1, 2, units, names, "decisions"))
        tiled = np.tile(costs, choices)
        picked = source.lowest(tiled, offsets, 1, units[:choices], names[:choices], "choices")
        chosen.append(picked)
    kinds = {"counts": counts, "decisions": decisions, "choices": chosen}
    return {
        kind: epsilon_bound(one[:, None].astype(float), other[:, None].astype(float), alpha)
        for kind, (one, other) in kinds.items()
    }


def clopper_pearson(hits: int, runs: int, alpha: float) -> tuple[float, float]:
    """Bounds on a probability that hold together but for a chance of alpha.

    >>> [round(bound, 4) for bound in clopper_pearson(0, 100, 0.05)]
    [0.0, 0.0362]
    """
    from scipy.stats import binomtest

    interval = binomtest(hits, runs).proportion_ci(1 - alpha, method="exact")
    return float(interval.low), float(interval.high)


def epsilon_bound(one: Floats, other: Floats, alpha: float) -> float:
    """A lower bound on epsilon from what two neighbours published, too high at most in alpha.

    Parameters
    ----------
    one, other : (runs, features) numbers that runs on D and on D' published
    alpha : how often the bound may be too high
    """
    half = len(one) // 2
    event = _telling_event(one[:half], other[:half])
    hits, other_hits = event.hits(one[half:]), event.hits(other[half:])
    if event.swapped:
        hits, other_hits = other_hits, hits
    runs = len(one) - half
    low, _ = clopper_pearson(hits, runs, alpha)
    _, high = clopper_pearson(other_hits, runs, alpha)
    return max(0.0, math.log(low / high)) if low > 0 else 0.0


@dataclass(frozen=True)
class _Event:
    """A feature is above, below or equal to a value; `swapped` when D' shows it more often."""

    feature: int
    compare: Callable[..., NDArray[np.bool_]]
    value: float
    swapped: bool

    def hits(self, observed: Floats) -> int:
        return int(np.count_nonzero(self.compare(observed[:, self.feature], self.value)))


def _telling_event(one: Floats, other: Floats) -> _Event:
    """The event with the best ratio, each probability taken one standard deviation for the worse.

    Without that, rare events would win: they promise much and hold little.
    """
    best, chosen = -math.inf, _Event(0, np.greater, 0.0, False)
    for feature in range(one.shape[1]):
        mine, theirs = one[:, feature], other[:, feature]
        together = np.concatenate([mine, theirs])
        values = np.unique(np.quantile(together, np.linspace(0, 1, _VALUES), method="lower"))
        for compare in (np.greater, np.less, np.equal):
            hits = compare(mine[:, None], values).sum(axis=0)
            other_hits = compare(theirs[:, None], values).sum(axis=0)
            for swapped, a, b in ((False, hits, other_hits), (True, other_hits, hits)):
                ratio = (a - np.sqrt(a)) / (b + np.sqrt(b) + 1.0)
                at = int(np.argmax(ratio))
                if ratio[at] > best:
                    best = float(ratio[at])
                    chosen = _Event(feature, compare, float(values[at]), swapped)
    return chosen
