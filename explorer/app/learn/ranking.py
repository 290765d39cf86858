"""One set of runs under two smoothings: does the order turn round?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from explorer.app.curator.setting_fields import actions
from explorer.app.kit.prose import chart_pane
from explorer.app.learn.started import StartedExperiment
from explorer.evaluate import workload
from explorer.mechanisms import all_mechanisms, mechanism
from explorer.teaching.judging import METRICS, Judged, Verdict, judge, measured
from explorer.views.series import style_of, swatch
from explorer.views.tables import Cell, number, table
from explorer.views.teaching.slopes import Slope, SlopeChart

QUESTIONS = {
    "2,000 random rectangles": "random",
    "2,000 squares of 2 %": "sq2",
    "2,000 squares of 6 %": "sq6",
    "2,000 squares of 10 %": "sq10",
    "every cell": "cells",
}


@dataclass(frozen=True)
class Found:
    """A verdict with the settings that it belongs to."""

    settings: Any
    place: str
    total: int
    verdict: Verdict


class RankingExperiment(StartedExperiment):
    """Mechanisms to tick, a button, two rankings with lines between them."""

    title = "The same runs, judged twice"
    WORK = "Runs of all mechanisms"

    def build(self) -> None:
        """Controls, chart, table."""
        controls = self.controls
        self.chart = SlopeChart(tuple(f"floor {name}" for name in METRICS.values()))  # type: ignore[arg-type]
        self.plot = chart_pane(self.chart.figure)
        self.plot.styles = {"max-width": "760px"}
        titles = {mechanism.title: key for key, mechanism in all_mechanisms().items()}
        self.lay_out(
            None,
            [
                [controls.several("mechanisms", titles)],
                [
                    controls.number("epsilon"),
                    controls.select("questions", QUESTIONS, 240),
                    controls.whole("seeds", 110),
                    actions(
                        self.button("Run and judge twice", self.start, strong=True),
                        self.running.cancel_button,
                    ),
                ],
            ],
            [self.running.status, self.said, self.plot, self.twin],
        )

    def start(self) -> None:
        """Run all mechanisms with the same random noise and judge them."""
        data, settings = self.ready(), self.settings.copy()

        def work(progress: Any, cancel: Any) -> Found:
            results = [mechanism(key)(epsilon=settings.epsilon) for key in settings.mechanisms]
            questions = workload(settings.questions, data.matrix.shape)
            runs = measured(
                data.matrix, results, questions, settings.seeds, cancel=cancel, progress=progress
            )
            return Found(settings, data.title, data.matrix.total, judge(runs))

        self.running.start(work)

    def before(self) -> str:
        """What an error is a part of, by either metric."""
        total = self.ready().matrix.total
        return (
            f"An error counts as a part of the true answer, but of no less than a floor: 20 people "
            f"for one metric, 0.1 % of all {total:,} = {total / 1000:,.0f} people for the other."
        )

    def show(self, result: Found) -> None:
        """Show both orders."""
        rows = result.verdict.rows
        spoken = sentence(result)
        slopes = [
            Slope(
                style_of(mechanism(row.key)),
                row.places,
                tuple(f"{_title(row)}  {number(error)} %" for error in _percents(row)),  # type: ignore[arg-type]
            )
            for row in rows
        ]
        self.chart.show(slopes, spoken)
        self.result(spoken, "", _table(rows))


def sentence(result: Found) -> str:
    """Whether the order turns round, and how sure that is, in words."""
    verdict, settings = result.verdict, result.settings
    where = f"On {result.place} at epsilon {settings.epsilon:g}, over {settings.seeds} repetitions"
    if not verdict.turned:
        return (
            f"{where}, the order of these mechanisms is the same by both metrics: here it does not "
            "turn round. Try another epsilon, other questions or other mechanisms."
        )
    titles = [[mechanism(key).title for key in pair] for pair in verdict.turned]
    pairs = "; ".join(
        f"{first} is ahead of {second} with a floor of 20 people, behind it with the other"
        for first, second in titles[:3]
    )
    more = f"; and {len(titles) - 3} more pairs" if len(titles) > 3 else ""
    if verdict.sure:
        names = ", ".join(
            " and ".join(mechanism(key).title for key in pair) for pair in verdict.sure
        )
        return f"{where}, the order turns round: {pairs}{more}. Beyond chance: {names}."
    return (
        f"{where}, the order turns round: {pairs}{more}. But no pair does so beyond chance: with "
        "other random noise it may come out otherwise."
    )


def _title(row: Judged) -> str:
    return mechanism(row.key).title


def _percents(row: Judged) -> tuple[float, float]:
    return 100 * row.errors[0], 100 * row.errors[1]


def _table(rows: tuple[Judged, ...]) -> str:
    body = []
    for row in rows:
        cells = [Cell(_title(row), before=swatch(style_of(mechanism(row.key))))]
        for side in (0, 1):
            value, doubt = 100 * row.errors[side], 100 * row.doubts[side]
            place = f'<span class="place">{row.places[side]}</span>'
            cells.append(
                Cell(f"{number(value)} %", f"± {number(doubt, 2)}", place, row.places[side] == 1)
            )
        body.append(cells)
    columns = [("mechanism", "with its own settings")] + [
        (f"floor {floor}", f"mean relative error {name}, standard error over the repetitions")
        for name, floor in METRICS.items()
    ]
    return table("Places and mean relative errors by both metrics", columns, body)
