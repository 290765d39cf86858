"""What the charts of a sweep show, in one sentence each that states the numbers, and as tables."""

from __future__ import annotations

import html
import itertools

import numpy as np

from explorer.app.compare.findings import Findings
from explorer.app.state.measures import SHORT, quantile_metric
from explorer.scenario.choices import METRICS, WORKLOADS
from explorer.views.charts import Curve
from explorer.views.series import swatch
from explorer.views.tables import Cell, number, table

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
    orders = []
    for epsilon in question.epsilons:
        order = _order(curves, epsilon)
        if order:
            orders.append((epsilon, order))
    parts = []
    for epsilon, order in _turning(orders):
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
        at = {float(x): i for i, x in enumerate(curve.x)}
        row = [_name(curve)]
        for epsilon in epsilons:
            i = at.get(epsilon)
            if i is None:
                row.append(Cell("–"))
            else:
                band = f"{number(curve.low[i])}–{number(curve.high[i])}"
                row.append(Cell(number(curve.middle[i]), band))
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


def _name(curve: Curve) -> Cell:
    return Cell(curve.name, before=swatch(curve.style))


def _order(curves: list[Curve], epsilon: float) -> list[tuple[float, str]]:
    """(error, name) at an epsilon, lowest first."""
    results = []
    for curve in curves:
        at = np.flatnonzero(curve.x == epsilon)
        if at.size:
            results.append((float(curve.middle[at[0]]), curve.name))
    return sorted(results)


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
