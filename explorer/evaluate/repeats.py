"""What if we had released again? The same settings on the same people, with other random noise.

What a release is off by differs from draw to draw; its mean, the bias, comes back in every draw: a
leaf's count is in it otherwise than the release says.

Every run is a preview: reproducible, free of charge, and not private. To draw real releases again
and again would cost epsilon each time, and their average would close in on the truth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.evaluate.ranking import standard_error
from explorer.evaluate.results import label
from explorer.grid.range_queries import RangeQueries
from explorer.mechanisms import Mechanism
from explorer.privacy.counts import Counts
from explorer.releases.release import Release

if TYPE_CHECKING:
    import pandas as pd

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


@dataclass(frozen=True, eq=False)
class ErrorParts:
    """What answers to n boxes were off by in many draws on the same records.

    Attributes
    ----------
    bias : (n,) mean of the private answers less the true one
    sd : (n,) standard deviation of the answers from draw to draw
    runs : number of draws; bias is itself off by about sd / sqrt(runs)
    """

    bias: Floats
    sd: Floats
    runs: int

    @classmethod
    def of(cls, answers: ArrayLike, true: ArrayLike) -> ErrorParts:
        """From answers (runs, n) as `repeats` gives them, two runs or more, and true ones (n,).

        Raises
        ------
        InputError
            For a single run.
        """
        private = np.asarray(answers, dtype=np.float64)
        if private.ndim != 2 or len(private) < 2:
            raise InputError("Bias and spread need two runs or more: repeat the release.")
        bias = private.mean(axis=0) - np.asarray(true, dtype=np.float64)
        return cls(bias, private.std(axis=0, ddof=1), len(private))

    @property
    def squared_bias(self) -> Floats:
        """bias^2 without what chance adds to it in so few runs, sd^2 / runs; 0 or more, (n,)."""
        result: Floats = np.maximum(self.bias**2 - self.sd**2 / self.runs, 0.0)
        return result

    @property
    def share(self) -> Floats:
        """Part of the mean squared error that is bias, 0 to 1, (n,); 0 where there is none."""
        whole = self.squared_bias + self.sd**2
        part: Floats = np.divide(
            self.squared_bias, whole, where=whole > 0, out=np.zeros_like(whole)
        )
        return part


def biases(table: pd.DataFrame) -> pd.DataFrame:
    """Biases in the results of an evaluation.

    Parameters
    ----------
    table : as `evaluate` returns it

    Returns
    -------
    DataFrame
        Columns label, city, epsilon, workload; `bias`, the mean over seeds of the workload's mean
        signed error, in records; its standard `error`; `sd`, the standard deviation of that mean
        signed error from seed to seed; `bias_in_sd`; `seeds`. On "total" they are those of the
        whole map's count.
    """
    import pandas as pd

    rows = table[table.metric == "bias"].assign(label=label(table))
    results = []
    for key, group in rows.groupby(["label", "city", "epsilon", "workload"], sort=False):
        values = group.value.to_numpy()
        sd = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
        mean = float(values.mean())
        results.append(
            (*key, mean, standard_error(values), sd, mean / sd if sd else 0.0, len(values))
        )
    columns = ["label", "city", "epsilon", "workload", "bias", "error", "sd", "bias_in_sd", "seeds"]
    return pd.DataFrame(results, columns=columns)
