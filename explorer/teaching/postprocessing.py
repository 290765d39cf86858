"""What is done to counts after the noise: free in privacy, not free of bias.

Consistency makes all draws of a tree agree by least squares, which is linear and leaves no bias.
Cutting negative counts off moves every empty leaf upwards on average, and a large region adds the
shifts of all its leaves up. Rounding moves single counts by at most a half.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.evaluate.ranking import standard_error
from explorer.evaluate.runs import Flag
from explorer.mechanisms import Mechanism, all_mechanisms
from explorer.points.matrix import FrequencyMatrix
from explorer.releases.release import Release
from explorer.teaching.previews import Progress, each_preview

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Treatment:
    """What is done to the counts, in this order."""

    consistent: bool = False
    non_negative: bool = False
    rounded: bool = False

    def apply(self, counts: Floats) -> Floats:
        """Counts (m,) of leaves after cutting off and rounding; consistency is the tree's."""
        if self.non_negative:
            counts = np.maximum(counts, 0.0)
        return np.rint(counts) if self.rounded else counts


#: Every combination, nothing first and everything last.
TREATMENTS = tuple(Treatment(*switches) for switches in itertools.product((False, True), repeat=3))


@dataclass(frozen=True, eq=False)
class Effect:
    """What one treatment does, from previews with the same random noise as the others.

    Attributes
    ----------
    treatment : Treatment
    bias, error : mean of private minus true for the region, and its standard error, in people
    sd : standard deviation of the region's answer
    leaf_error : mean absolute error of a leaf's count, in people
    """

    treatment: Treatment
    bias: float
    error: float
    sd: float
    leaf_error: float


def treatable() -> list[str]:
    """Names of the mechanisms whose draws can be made consistent or left alone."""
    return [
        key
        for key, mechanism in all_mechanisms().items()
        if "inference" in mechanism.param
        and {"leaves", "least squares"} <= set(mechanism.param["inference"].objects)
    ]


def effects(
    made: Mechanism,
    matrix: FrequencyMatrix,
    cells: Ints,
    seeds: Iterable[int],
    *,
    cancel: Flag | None = None,
    progress: Progress | None = None,
) -> tuple[Effect, ...]:
    """All `TREATMENTS` on the same draws.

    Parameters
    ----------
    made : a mechanism of `treatable`; its own inference does not matter
    cells : (2, 2) lower and upper of the region
    seeds : of the previews, two or more

    Raises
    ------
    Cancelled
        When the flag is set.
    """
    numbers = list(seeds)
    parts = []
    for half, inference in enumerate(("leaves", "least squares")):
        one = made.with_(inference=inference)
        mine = [treatment for treatment in TREATMENTS if treatment.consistent == bool(half)]

        def read(release: Release, mine: list[Treatment] = mine) -> Floats:
            return _errors(release, matrix, cells, mine)

        def tell(done: float, half: int = half) -> None:
            if progress is not None:
                progress((half + done) / 2)

        parts.append(each_preview(one, matrix, numbers, read, cancel=cancel, progress=tell))
    both = np.concatenate(parts, axis=1)  # (seeds, treatments, region and leaf)
    return tuple(
        Effect(
            treatment,
            float(both[:, i, 0].mean()),
            standard_error(both[:, i, 0]),
            float(both[:, i, 0].std(ddof=1)),
            float(both[:, i, 1].mean()),
        )
        for i, treatment in enumerate(TREATMENTS)
    )


def _errors(
    release: Release, matrix: FrequencyMatrix, cells: Ints, treatments: list[Treatment]
) -> Floats:
    """Error of the region and mean absolute error of a leaf, (treatments, 2)."""
    lower, upper = cells
    within = np.minimum(release.upper, upper) - np.maximum(release.lower, lower)
    covered = np.prod(np.maximum(within, 0), axis=1)
    share = covered / np.prod(release.upper - release.lower, axis=1)
    true = matrix.count(release.lower, release.upper)
    region = int(matrix.count(lower[None], upper[None])[0])
    results = []
    for treatment in treatments:
        counts = treatment.apply(release.counts)
        results.append((counts @ share - region, np.abs(counts - true).mean()))
    return np.array(results)
