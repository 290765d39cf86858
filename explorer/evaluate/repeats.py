"""What if we had released again? The same settings on the same people, with other random noise.

Every run is a preview: reproducible, free of charge, and not private. To draw real releases again
and again would cost epsilon each time, and their average would close in on the truth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid.range_queries import RangeQueries
from explorer.mechanisms import Mechanism
from explorer.privacy.counts import Counts
from explorer.releases.release import Release

Floats = NDArray[np.float64]

MOST_RUNS = 10_000
_OWN_SEEDS = 0x4E75  # makes these seeds differ from all others that are made of small numbers


def seed_of(run: int) -> int:
    """The seed of the ``run``-th repetition, from 0; never one that a person would type."""
    return int(np.random.default_rng([_OWN_SEEDS, run]).integers(2**32, 2**62))


def one_run(counts: Counts, mechanism: Mechanism, run: int, inside: str | None = None) -> Release:
    """The ``run``-th repetition, from 0, with counts spread ``inside`` leaves in another way."""
    release = mechanism.release(counts, rng=seed_of(run))
    return release if inside in (None, release.inside) else release.spread(str(inside))


def repeats(
    counts: Counts,
    made: Mechanism,
    rectangles: ArrayLike | RangeQueries,
    runs: int,
    inside: str | None = None,
) -> Iterator[Floats]:
    """Draw previews one after the other and ask each the same questions.

    Parameters
    ----------
    counts : FrequencyMatrix, or counts of any number of axes
    made : the mechanism with its settings
    rectangles : boxes as in `Release.answer`, (n, 4) x0, y0, x1, y1 of a map
    runs : 1 to 10,000
    inside : how counts are spread inside leaves, see `Release.spread`; the mechanism's way without

    Yields
    ------
    (n,) answers of one run

    Raises
    ------
    InputError
        For a number of runs out of bounds, or rectangles that are none.
    """
    if not 1 <= runs <= MOST_RUNS:
        raise InputError(f"The number of runs is {runs}: give 1 to {MOST_RUNS:,}.")
    for run in range(runs):
        yield one_run(counts, made, run, inside).answer(rectangles).value


@dataclass(frozen=True, eq=False)
class Spread:
    """How the answers to n rectangles vary from run to run, all (n,).

    Attributes
    ----------
    median : of the runs
    low, high : quantiles 2.5 % and 97.5 % of the runs
    within_5, within_10 : part of the runs, 0 to 1, off by at most 5 or 10 % of the true answer;
        NaN where that is 0
    """

    median: Floats
    low: Floats
    high: Floats
    within_5: Floats
    within_10: Floats

    @classmethod
    def of(cls, answers: ArrayLike, true: ArrayLike) -> Spread:
        """From answers (runs, n), at least one run, and true answers (n,)."""
        private = np.asarray(answers, dtype=np.float64)
        truth = np.asarray(true, dtype=np.float64)
        low, median, high = np.quantile(private, [0.025, 0.5, 0.975], axis=0)
        five, ten = (_within(private, truth, share) for share in (0.05, 0.10))
        return cls(median, low, high, five, ten)


def _within(private: Floats, truth: Floats, share: float) -> Floats:
    close = np.abs(private - truth) <= share * truth
    part: Floats = np.where(truth > 0, close.mean(axis=0), np.nan)
    return part
