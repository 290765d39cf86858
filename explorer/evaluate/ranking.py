"""Rankings: who comes first by a metric, how sure that is, and whether another metric agrees.

A cell is one city, workload and epsilon. With v_cs the metric of a mechanism in cell c with seed s
and m_c its mean over the seeds, the score is the geometric mean of m_c over the cells, so that no
cell outweighs another. To first order its logarithm moves with the seed by
u_s = mean over c of v_cs / m_c, and the standard error of log score is sd(u) / sqrt(seeds). Two
mechanisms ran with the same seeds: the error of their difference comes from u_s - u'_s.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.evaluate.metrics import check
from explorer.evaluate.results import figure, label

if TYPE_CHECKING:
    import pandas as pd

COMPARED = ("mre20", "mreRho", "mae")
"""The metrics that `verdict` holds against each other."""
SURE = 0.02275
"""Chance, on each side, of a difference that is none: that of two standard deviations."""

_CELL = ["city", "workload", "epsilon"]


@dataclass(frozen=True)
class Score:
    """What one mechanism did by one metric.

    Attributes
    ----------
    label : str
    log : float
        Natural logarithm of the geometric mean over the cells.
    moves : (seeds,) u_s as in the module's text
    """

    label: str
    log: float
    moves: NDArray[np.float64]

    @property
    def value(self) -> float:
        """The geometric mean over the cells."""
        return float(np.exp(self.log))

    @property
    def error(self) -> float:
        """Its standard error over the seeds; NaN with one seed."""
        return self.value * standard_error(self.moves)


def standard_error(values: NDArray[np.float64]) -> float:
    """Standard error of a mean; NaN for fewer than two values."""
    if len(values) < 2:
        return float("nan")
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def may_differ(error: float, other_error: float, other: float, floor: float) -> float:
    """How far two means may differ and still agree.

    Three standard errors of their difference, or ``floor`` times the ``other`` mean where that is
    more: standard errors of a few draws are themselves known to a third or so.
    """
    return max(3.0 * float(np.hypot(error, other_error)), floor * other)


def critical_value(seeds: int) -> float:
    """Standard errors beyond which a difference counts: 2, more for few seeds.

    Student's t for seeds - 1 degrees of freedom.

    >>> [round(critical_value(seeds), 1) for seeds in (3, 5, 10, 1000)]
    [4.5, 2.9, 2.3, 2.0]
    """
    from scipy import stats

    return float(stats.t.isf(SURE, seeds - 1)) if seeds > 1 else float("inf")


def scores(table: pd.DataFrame, metric: str) -> list[Score]:
    """Scores of every mechanism (and setting, in a sweep) by a metric, best first.

    Parameters
    ----------
    table : as `evaluate` returns it
    metric : a name of `metrics.names`; smaller is better

    Raises
    ------
    InputError
        When mechanisms were not all run in the same cells with the same seeds.
    """
    if check(metric).startswith("bias"):
        raise InputError(
            "Mechanisms cannot be ranked by bias, because it may be negative: choose another "
            "measure."
        )
    rows = table[table.metric == metric].assign(label=label(table))
    # An error of exactly 0 has no logarithm.
    rows = rows.assign(value=rows.value.clip(lower=np.finfo(np.float64).tiny))
    results = []
    shape = None
    for name, group in rows.groupby("label", sort=False):
        cells = group.pivot_table(index=_CELL, columns="seed", values="value", aggfunc="mean")
        place = (cells.index.to_list(), cells.columns.to_list())
        if cells.isna().to_numpy().any() or shape not in (None, place):
            raise InputError(
                "The mechanisms were not all run with the same cities, epsilons and seeds: finish "
                "the evaluation, or rank a part of it."
            )
        shape = place
        figures = cells.to_numpy()
        means = figures.mean(axis=1, keepdims=True)
        moves = (figures / means).mean(axis=0)
        results.append(Score(str(name), float(np.log(means).mean()), moves))
    return sorted(results, key=lambda score: score.log)


def ranking(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The ranking by a metric as a table.

    Returns
    -------
    DataFrame
        Index `label`, best first. Columns: one for each epsilon (geometric mean over cities and
        workloads), `score` over all of them, its standard `error`, and `times_best`.
    """
    import pandas as pd

    order = scores(table, metric)
    if not order:
        raise InputError("There are no finished runs to rank.")
    by_epsilon = {
        epsilon: {score.label: score.value for score in scores(part, metric)}
        for epsilon, part in _with_labels(table).groupby("epsilon")
    }
    rows = [
        {
            "label": score.label,
            **{epsilon: values[score.label] for epsilon, values in by_epsilon.items()},
            "score": score.value,
            "error": score.error,
            "times_best": float(np.exp(score.log - order[0].log)),
        }
        for score in order
    ]
    return pd.DataFrame(rows).set_index("label")


def verdict(table: pd.DataFrame, metrics: tuple[str, ...] = COMPARED) -> str:
    """One or two sentences that say whether the ranking turns round with the metric.

    Two mechanisms change places when each is ahead by one of the metrics by more standard
    errors of the difference than `critical_value` of the difference.
    """
    by_metric = {
        metric: {score.label: score for score in scores(table, metric)} for metric in metrics
    }
    first = next(iter(by_metric.values()))
    if len(first) < 2:
        return "One mechanism alone cannot be ranked."
    seeds = len(next(iter(first.values())).moves)
    if seeds < 2:
        return "With one seed there is no telling chance from merit: give two or more."
    best = {metric: next(iter(ranked)) for metric, ranked in by_metric.items()}
    turned = []
    sure = critical_value(seeds)
    for one, two in itertools.combinations(first, 2):
        ahead = {m: _lead(ranked[one], ranked[two]) for m, ranked in by_metric.items()}
        if max(ahead.values()) > sure and min(ahead.values()) < -sure:
            turned.append(_turn(one, two, ahead, by_metric, sure))
    first_by: dict[str, list[str]] = {}
    for metric, name in best.items():
        first_by.setdefault(name, []).append(metric)
    leader = "; ".join(f"by {_list(by)} {name} comes first" for name, by in first_by.items())
    leader = leader[0].upper() + leader[1:]
    if not turned:
        return f"{leader}. No two change places with the metric by more than chance."
    more = f", and {len(turned) - 3} more pairs" if len(turned) > 3 else ""
    return f"{leader}. The ranking turns round with the metric: {'; '.join(turned[:3])}{more}."


def _turn(
    one: str,
    two: str,
    ahead: dict[str, float],
    by_metric: dict[str, dict[str, Score]],
    sure: float,
) -> str:
    sides = []
    for winner, loser, sign in ((one, two, 1), (two, one, -1)):
        won = [metric for metric, lead in ahead.items() if sign * lead > sure]
        figures = by_metric[won[0]]
        pair = f"{figure(figures[winner].value)} against {figure(figures[loser].value)}"
        sides.append(f"{winner} is ahead of {loser} by {_list(won)} ({pair})")
    return " but ".join(sides)


def _lead(one: Score, two: Score) -> float:
    """How far ahead (smaller) the first is, in standard errors of the difference of logs."""
    gap = two.log - one.log
    error = standard_error(one.moves - two.moves)
    if error == 0:
        return float(np.sign(gap) * np.inf) if gap else 0.0
    return gap / error


def _with_labels(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(label=label(table))


def _list(words: tuple[str, ...] | list[str]) -> str:
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} and {words[-1]}"
