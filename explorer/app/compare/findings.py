"""From finished runs to what the charts, tables and sentences of a sweep show: pure functions."""

from __future__ import annotations

import html
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from explorer.app.compare.sweep import COMPARED, SHORT, Kept, Result, Series, quantile_metric
from explorer.evaluate import Task, Workload, plan, scores, verdict
from explorer.evaluate.metrics import QUANTILES
from explorer.evaluate.ranking import Score
from explorer.points.matrix import FrequencyMatrix
from explorer.scenario.choices import METRICS, WORKLOADS
from explorer.views.charts import Curve, Stick
from explorer.views.series import swatch
from explorer.views.tables import Cell, number, table

Floats = NDArray[np.float64]
#: Results of one series: by (epsilon, seed).
Results = dict[tuple[float, int], Result]
Basis = tuple[Any, ...]


@dataclass(frozen=True)
class Question:
    """What the visitor looks at.

    Attributes
    ----------
    series : all that may have results
    epsilons, seeds : of the sweep; seeds are 0 .. seeds - 1
    workload : None when nothing can be asked (no box has been drawn)
    metric : of the curves
    at : epsilon of candlesticks and ranking
    """

    matrix: FrequencyMatrix
    series: Sequence[Series]
    epsilons: Sequence[float]
    seeds: int
    workload: Workload | None
    metric: str
    at: float


@dataclass(frozen=True)
class Rank:
    """One row of the ranking: scores and places by metric, in the order of `SHORT`.

    ``biases`` (seeds,) are the mean signed errors of an answer, in points.
    """

    series: Series
    scores: dict[str, Score]
    places: dict[str, int]
    leaves: float
    seconds: float
    biases: Floats


@dataclass(frozen=True)
class Findings:
    """What is known so far.

    Attributes
    ----------
    curves : median and quartiles over seeds, in the order of the series
    sticks : at one epsilon, best first
    ranks : at that epsilon, best by the chosen metric first
    here, overall : sentences about the ranking at that epsilon, and over all of them
    seeds : how many seeds every curve has at every epsilon
    basis, basis_overall : what the ranking and ``overall`` were worked out from
    """

    question: Question
    curves: list[Curve]
    sticks: list[Stick]
    ranks: list[Rank]
    here: str
    overall: str
    seeds: int
    basis: Basis
    basis_overall: Basis


def find(question: Question, cache: Kept, last: Findings | None = None) -> Findings:
    """Gather what ``cache`` has for a question.

    Rankings take most of the time. They are taken over from the ``last`` findings where they rest
    on the same releases: another metric, or a release more, need not wait for them.
    """
    results = {line.name: _results(question, line, cache) for line in question.series}
    with_results = [line for line in question.series if results[line.name]]
    at = {line.name: _at(results[line.name], question.at) for line in with_results}
    present = [line for line in with_results if at[line.name]]
    # The seeds that every series has.
    common = [{seed for _, seed in at[line.name]} for line in present]
    seeds = sorted(set.intersection(*common)) if common else []
    every = _complete(question, with_results, results)
    basis = _basis(question, present, seeds, question.at)
    basis_overall = _basis(question, with_results, every, None)
    if last is not None and last.basis == basis:
        ranks, here = last.ranks, last.here
    else:
        ranks = _ranks(question, present, at, seeds)
        table = _table(present, at, [question.at], seeds)
        here = _verdict(table, [question.at]) if seeds else ""
    if last is not None and last.basis_overall == basis_overall:
        overall = last.overall
    else:
        overall = _overall(question, with_results, results, every) if every else ""
    sticks = [_stick(question.metric, line, at[line.name]) for line in present]
    return Findings(
        question,
        [_curve(question, line, results[line.name]) for line in with_results],
        sorted(sticks, key=lambda stick: stick.mean),
        sorted(ranks, key=lambda rank: rank.places[question.metric]),
        here,
        overall,
        len(every),
        basis,
        basis_overall,
    )


def _basis(
    question: Question, series: Sequence[Series], seeds: Sequence[int], at: float | None
) -> Basis:
    """The releases and questions that a ranking rests on; errors follow from them."""
    workload_key = None if question.workload is None else question.workload.key
    named = [(line.name, line.key) for line in series]
    matrix = question.matrix
    return matrix.key, matrix.contribution_bound, workload_key, at, tuple(named), tuple(seeds)


def _results(question: Question, series: Series, cache: Kept) -> Results:
    if question.workload is None:
        return {}
    tasks: list[Task] = plan([series.mechanism], question.epsilons, question.seeds)
    stored = {
        (task.epsilon, task.seed): cache.find(question.matrix, task, question.workload)
        for task in tasks
    }
    return {place: result for place, result in stored.items() if result is not None}


def _at(results: Results, epsilon: float) -> Results:
    return {place: result for place, result in results.items() if place[0] == epsilon}


def _complete(
    question: Question, series: Sequence[Series], results: dict[str, Results]
) -> list[int]:
    """The seeds that every series has at every epsilon."""
    return [
        seed
        for seed in range(question.seeds)
        if series
        and all((e, seed) in results[line.name] for line in series for e in question.epsilons)
    ]


def _curve(question: Question, series: Series, results: Results) -> Curve:
    rows = []
    for epsilon in sorted({place[0] for place in results}):
        values = [r.figures[question.metric] for r in _at(results, epsilon).values()]
        rows.append((epsilon, *np.quantile(values, [0.5, 0.25, 0.75])))
    x, middle, low, high = np.array(rows, dtype=np.float64).T
    return Curve(series.name, series.style, x, middle, low, high)


def _stick(metric: str, series: Series, results: Results) -> Stick:
    """Quantiles over the queries, averaged over the seeds."""
    base = quantile_metric(metric)
    mean = {
        part: float(np.mean([r.figures[name] for r in results.values()]))
        for part, name in {"mean": base, **{q: f"{base} {q}" for q in QUANTILES}}.items()
    }
    return Stick(series.name, series.style, **mean)


def _ranks(
    question: Question, series: Sequence[Series], results: dict[str, Results], seeds: list[int]
) -> list[Rank]:
    if not seeds:
        return []
    table = _table(series, results, [question.at], seeds)
    ranked = {
        metric: {score.label: (score, i) for i, score in enumerate(scores(table, metric), 1)}
        for metric in SHORT
    }
    drawn = {(line.name, s): results[line.name][question.at, s] for line in series for s in seeds}
    return [
        Rank(
            line,
            {metric: by_name[line.name][0] for metric, by_name in ranked.items()},
            {metric: by_name[line.name][1] for metric, by_name in ranked.items()},
            float(np.median([drawn[line.name, seed].leaves for seed in seeds])),
            float(np.median([drawn[line.name, seed].seconds for seed in seeds])),
            np.array([drawn[line.name, seed].figures["bias"] for seed in seeds]),
        )
        for line in series
    ]


def _table(
    series: Sequence[Series], results: dict[str, Results], epsilons: list[float], seeds: list[int]
) -> pd.DataFrame:
    """The columns that a ranking reads, under the names of the page."""
    rows = [
        (line.name, epsilon, seed, metric, results[line.name][epsilon, seed].figures[metric])
        for line in series
        for epsilon in epsilons
        for seed in seeds
        for metric in SHORT
    ]
    table = pd.DataFrame(rows, columns=["mechanism", "epsilon", "seed", "metric", "value"])
    return table.assign(parameters="{}", city="", workload="")


def _overall(
    question: Question, series: Sequence[Series], results: dict[str, Results], seeds: list[int]
) -> str:
    """The ranking over all epsilons where no one is exact: an error of 0 has no geometric mean."""
    table = _table(series, results, list(question.epsilons), seeds)
    compared = table[table.metric.isin(COMPARED)]
    exact = set(compared[compared.value <= 0].epsilon)
    left = [epsilon for epsilon in question.epsilons if epsilon not in exact]
    return _verdict(table[table.epsilon.isin(left)], left) if len(left) > 1 else ""


def _verdict(table: pd.DataFrame, epsilons: Sequence[float]) -> str:
    """Who is first, and whether that turns round with the metric, at some epsilons."""
    text = verdict(table, COMPARED)
    if len(epsilons) == 1:
        where = f"At epsilon {epsilons[0]:g}"
    else:
        where = f"Over epsilon {epsilons[0]:g} to {epsilons[-1]:g}"
    if text.startswith("By "):
        return f"{where}, b{text[1:]}"
    return f"{where}: {text}"


#: How `explorer.evaluate.verdict` begins the list of those who change places.
_TURNS = " The ranking turns round with the metric: "
NOTHING = "Nothing has been drawn yet: start the sweep."


def about_curves(findings: Findings) -> str:
    """Who is lowest where, with the figures."""
    curves = findings.curves
    if not curves:
        return NOTHING
    question = findings.question
    workload = WORKLOADS[question.workload.name] if question.workload is not None else "nothing"
    orders = [(epsilon, _order(curves, epsilon)) for epsilon in question.epsilons]
    parts = []
    for epsilon, order in _turning([(epsilon, order) for epsilon, order in orders if order]):
        best, worst = order[0], order[-1]
        text = f"at epsilon {epsilon:g} {best[1]} is lowest with {number(best[0])}"
        if len(order) > 1:
            text += f" and {worst[1]} highest with {number(worst[0])}"
        parts.append(text)
    times = f"{findings.seeds} repetitions" if findings.seeds else "as far as it has been drawn"
    return f"{METRICS[question.metric]}, {workload}, {times}: {'; '.join(parts)}."


def about_sticks(findings: Findings) -> str:
    """The best and the worst at one epsilon: half of the answers, most of them, and the mean."""
    sticks = findings.sticks
    if not sticks:
        return f"Nothing has been drawn at epsilon {findings.question.at:g} yet."
    best, worst = sticks[0], sticks[-1]
    text = (
        f"At epsilon {findings.question.at:g}, half of the answers by {best.name} are within "
        f"{number(best.median)} and 95 % within {number(best.p95)}, the mean is {number(best.mean)}"
    )
    if len(sticks) > 1:
        text += (
            f"; by {worst.name} half are within {number(worst.median)}, 95 % within "
            f"{number(worst.p95)}, mean {number(worst.mean)}"
        )
    return f"{text}."


def curve_title(findings: Findings) -> str:
    """Label of the axis of errors."""
    return METRICS[findings.question.metric].split(" (")[0]


def stick_title(findings: Findings) -> str:
    """Label of the axis of errors of single answers."""
    base = quantile_metric(findings.question.metric)
    return "Absolute error of an answer, points" if base == "mae" else "Relative error of an answer"


def curve_table(findings: Findings) -> str:
    """Median over the repetitions and quartiles, mechanism by epsilon."""
    epsilons = findings.question.epsilons
    columns = [("mechanism", ""), *((f"epsilon {epsilon:g}", "") for epsilon in epsilons)]
    rows = []
    for curve in findings.curves:
        row = [Cell(curve.name, before=swatch(curve.style))]
        values = zip(curve.middle, curve.low, curve.high, strict=True)
        at = dict(zip(map(float, curve.x), values, strict=True))
        for epsilon in epsilons:
            if epsilon in at:
                middle, low, high = at[epsilon]
                row.append(Cell(number(middle), f"{number(low)}–{number(high)}"))
            else:
                row.append(Cell("–"))
        rows.append(row)
    caption = (
        f"{METRICS[findings.question.metric]}: median over the repetitions, quartiles beside it"
    )
    return table(caption, columns, rows)


def stick_table(findings: Findings) -> str:
    """The numbers of the candlesticks."""
    columns = [(name, "") for name in ("mechanism", "25 %", "median", "75 %", "95 %", "mean")]
    rows = [
        [
            Cell(stick.name, before=swatch(stick.style)),
            *(Cell(number(v)) for v in (stick.p25, stick.median, stick.p75, stick.p95, stick.mean)),
        ]
        for stick in findings.sticks
    ]
    caption = (
        f"{stick_title(findings)} at epsilon {findings.question.at:g}: quantiles over the answers"
    )
    return table(caption, columns, rows)


def ranking_table(findings: Findings) -> str:
    """Score, standard error and place of every mechanism by every metric."""
    columns = [("mechanism", "best by the chosen metric first")]
    columns += [(short, METRICS[metric]) for metric, short in SHORT.items()]
    columns += [("leaves", "median over the repetitions"), ("seconds", "processor time of one map")]
    rows = []
    for rank in findings.ranks:
        row = [Cell(rank.series.name, rank.series.settings, swatch(rank.series.style))]
        for metric, score in rank.scores.items():
            error = f"±{number(score.error, 2)}" if np.isfinite(score.error) else ""
            place = rank.places[metric]
            badge = f'<span class="place">{place}</span> '
            row.append(Cell(number(score.value), error, badge, best=place == 1))
        row += [Cell(f"{rank.leaves:,.0f}"), Cell(f"{rank.seconds:.2f}")]
        rows.append(row)
    caption = f"Places and scores at epsilon {findings.question.at:g}; smaller is better"
    return table(caption, columns, rows)


def bias_table(findings: Findings) -> str:
    """Mean signed error of an answer: what no number of questions averages away."""
    about = "mean over answers and repetitions; ± standard error"
    columns = [("mechanism", ""), ("bias, points", about)]
    columns += [("bias / spread", "bias over its standard deviation from one release to the next")]
    rows = []
    for rank in findings.ranks:
        bias, several = float(rank.biases.mean()), len(rank.biases) > 1
        spread = float(rank.biases.std(ddof=1)) if several else 0.0
        signed_bias = f"{'−' if bias < 0 else '+'}{number(abs(bias))}"
        error = f"±{number(spread / np.sqrt(len(rank.biases)), 2)}" if several else ""
        name = Cell(rank.series.name, before=swatch(rank.series.style))
        rows.append(
            [name, Cell(signed_bias, error), Cell(f"{bias / spread:+.2f}" if spread else "–")]
        )
    caption = (
        f"Mean signed error of an answer at epsilon {findings.question.at:g}; above 0 the map says "
        "too much. Ask the squares of 10 % for the bias of large regions"
    )
    return table(caption, columns, rows)


def about_ranking(findings: Findings) -> str:
    """Who is first and who changes places with the metric, as HTML: sentences and a list."""
    parts = []
    for sentence in filter(None, (findings.here, findings.overall)):
        # The names that the columns have.
        sentence = sentence.replace("mreRho median", "median").replace(" mae", " MAE")
        leader, _, turned = sentence.partition(_TURNS)
        text = html.escape(leader if not turned else f"{leader}{_TURNS.rstrip()}")
        parts.append(f'<p class="summary">{text}</p>')
        if turned:
            items = "".join(f"<li>{html.escape(part)}</li>" for part in turned.split("; "))
            parts.append(f'<ul class="turns">{items}</ul>')
    return "".join(parts) or f'<p class="summary">{NOTHING}</p>'


def _order(curves: list[Curve], epsilon: float) -> list[tuple[float, str]]:
    """(error, name) at an epsilon, lowest first."""
    at = [(curve, np.flatnonzero(curve.x == epsilon)) for curve in curves]
    return sorted((float(curve.middle[i[0]]), curve.name) for curve, i in at if i.size)


Said = list[tuple[float, list[tuple[float, str]]]]


def _turning(orders: Said) -> Said:
    """The first epsilon, each where another one becomes lowest (at most two), and the last."""
    if len(orders) < 3:
        return orders
    turns = [
        later
        for earlier, later in itertools.pairwise(orders[:-1])
        if later[1][0][1] != earlier[1][0][1]
    ]
    return [orders[0], *turns[:2], orders[-1]]
