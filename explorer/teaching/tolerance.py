"""From an error that can be tolerated to epsilon: the smallest that keeps it, by bisection.

For R previews at each epsilon, with the same seeds at all of them, the number of answers within the
tolerance rises with epsilon. The estimate is the smallest epsilon of a fixed ladder at which the
wanted share of them is. At the true smallest epsilon the number is binomial with R and the share;
with k the 2.5 % and K the 97.5 % quantile of that distribution, the truth is, 95 times in 100,
between the smallest epsilon with k hits or more and the smallest with more than K. That holds if
more epsilon never does worse.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.evaluate.runs import Flag
from explorer.mechanisms import Mechanism
from explorer.points.matrix import FrequencyMatrix
from explorer.points.truth import exact
from explorer.privacy.audit.bounds import clopper_pearson
from explorer.privacy.epsilon_range import MAX_EPSILON
from explorer.teaching.previews import Progress, answers

Floats = NDArray[np.float64]

#: Twenty steps to a factor of ten, from 0.01 to 10, as on the slider of epsilon.
LADDER = tuple(
    epsilon
    for epsilon in (float(f"{10 ** (step / 20):.2g}") for step in range(-40, 21))
    if epsilon <= MAX_EPSILON
)


@dataclass(frozen=True)
class Step:
    """One epsilon that was tried: the hits among its previews, and 95 % bounds of the share."""

    epsilon: float
    hits: int
    runs: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """Part of the previews within the tolerance."""
        return self.hits / self.runs


@dataclass(frozen=True)
class SmallestEpsilon:
    """The smallest epsilon for a tolerated error.

    Attributes
    ----------
    epsilon : the estimate; None if even the largest epsilon misses the share
    low, high : 95 % interval of the true smallest epsilon; None beyond the ladder's end
    share : the wanted part of the answers, 0 to 1
    steps : what was tried, by epsilon
    """

    epsilon: float | None
    low: float | None
    high: float | None
    share: float
    steps: tuple[Step, ...]


def smallest_epsilon(
    hits: Callable[[float], int],
    runs: int,
    share: float = 0.95,
    ladder: Sequence[float] = LADDER,
) -> SmallestEpsilon:
    """Bisect a ladder of epsilons, increasing.

    Parameters
    ----------
    hits : how many of the previews at an epsilon are within the tolerance; called once for each
    runs : previews at each epsilon
    share : wanted part of them, above 0 and below 1
    """
    from scipy.stats import binom

    tried: dict[float, int] = {}

    def found(step: int) -> int:
        epsilon = ladder[step]
        if epsilon not in tried:
            tried[epsilon] = hits(epsilon)
        return tried[epsilon]

    def smallest(needed: int) -> float | None:
        if needed > runs:
            return None
        at = bisect_left(range(len(ladder)), needed, key=found)
        return ladder[at] if at < len(ladder) else None

    # A share of a float such as 0.95 times 100 must not ask for the 96th.
    middle = smallest(math.ceil(share * runs - 1e-9))
    low = smallest(max(int(binom.ppf(0.025, runs, share)), 1))
    high = smallest(int(binom.ppf(0.975, runs, share)) + 1)
    steps = tuple(
        Step(epsilon, number, runs, *clopper_pearson(number, runs, 0.05))
        for epsilon, number in sorted(tried.items())
    )
    return SmallestEpsilon(middle, low, high, share, steps)


def for_box(
    make: Callable[[float], Mechanism],
    matrix: FrequencyMatrix,
    box: Floats,
    percent: float,
    runs: int,
    share: float = 0.95,
    *,
    seed: int = 0,
    cancel: Flag | None = None,
    progress: Progress | None = None,
) -> SmallestEpsilon:
    """The smallest epsilon that answers a box (4,) within ``percent`` of the truth.

    Parameters
    ----------
    make : the mechanism at an epsilon
    runs : previews at each epsilon; below 93 the interval has no upper end for a share of 95 %

    Raises
    ------
    InputError
        For a box without points, where an error has no percentage.
    Cancelled
        When the flag is set.
    """
    (true,) = exact(matrix, [box])
    if true <= 0:
        raise InputError(
            "No point lies in this box, so an error in percent cannot be computed: choose a box "
            "with more points."
        )
    previews = 3 * math.ceil(math.log2(len(LADDER)))
    seeds = np.random.default_rng([0x70E5, seed]).integers(2**62, size=runs).tolist()
    done = 0

    def hits(epsilon: float) -> int:
        nonlocal done

        def tell(part: float) -> None:
            if progress is not None:
                progress(min((done + part) / previews, 1.0))

        values = answers(make(epsilon), matrix, [box], seeds, cancel=cancel, progress=tell)[:, 0]
        done += 1
        return int(np.count_nonzero(np.abs(values - true) <= percent / 100 * true))

    return smallest_epsilon(hits, runs, share)
