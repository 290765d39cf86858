"""The same runs judged twice: does the order of mechanisms turn round with the metric?"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from explorer.evaluate import Workload, plan, runs, scores, tidy
from explorer.evaluate.metrics import RHO, SMOOTHING
from explorer.evaluate.ranking import Score, critical_value, standard_error
from explorer.evaluate.runs import Flag
from explorer.mechanisms import Mechanism
from explorer.points.matrix import FrequencyMatrix
from explorer.teaching.previews import Cancelled, Progress

#: The two smoothings of the relative error, and what an error is divided by at least.
METRICS = {"mre20": f"{SMOOTHING:g} people", "mreRho": f"{RHO:.1%} of all people"}


@dataclass(frozen=True)
class Judged:
    """One mechanism under both smoothings, in the order of `METRICS`.

    Attributes
    ----------
    key : name of the mechanism
    errors : mean relative errors, fractions
    doubts : their standard errors over the seeds
    places : 1 is first
    """

    key: str
    errors: tuple[float, float]
    doubts: tuple[float, float]
    places: tuple[int, int]


@dataclass(frozen=True)
class Verdict:
    """The finding: all mechanisms by the first smoothing, and the pairs that change places.

    Attributes
    ----------
    rows : best by the first smoothing first
    turned : pairs whose order differs; the first named is ahead by the first smoothing
    sure : those of them where both orders are beyond chance
    """

    rows: tuple[Judged, ...]
    turned: tuple[tuple[str, str], ...]
    sure: tuple[tuple[str, str], ...]


def measured(
    matrix: FrequencyMatrix,
    mechanisms: Sequence[Mechanism],
    questions: Workload,
    seeds: int,
    *,
    cancel: Flag | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Runs of all mechanisms with the same seeds, as a table of results.

    Raises
    ------
    Cancelled
        When the flag is set before the last run.
    """
    tasks = plan(mechanisms, None, seeds)
    done = list(runs(matrix, tasks, [questions], jobs=1, cancel=cancel, progress=progress))
    if len(done) < len(tasks):
        raise Cancelled
    return tidy(done)


def judge(table: pd.DataFrame) -> Verdict:
    """Rank the runs of one map, epsilon and workload under both smoothings."""
    one, other = ({score.label: score for score in scores(table, name)} for name in METRICS)
    places = [{name: at + 1 for at, name in enumerate(ranked)} for ranked in (one, other)]
    rows = tuple(
        Judged(
            name,
            (one[name].value, other[name].value),
            (one[name].error, other[name].error),
            (places[0][name], places[1][name]),
        )
        for name in one
    )
    pairs = [(a, b) for a, b in itertools.combinations(one, 2) if places[1][a] > places[1][b]]
    sure = tuple((a, b) for a, b in pairs if _ahead(one[a], one[b]) and _ahead(other[b], other[a]))
    return Verdict(rows, tuple(pairs), sure)


def _ahead(first: Score, second: Score) -> bool:
    """Whether the first is better by more than chance, over paired seeds."""
    gap, error = second.log - first.log, standard_error(first.moves - second.moves)
    return gap > 0 and (error == 0 or gap / error > critical_value(len(first.moves)))
