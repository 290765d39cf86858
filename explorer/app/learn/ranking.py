"""One set of runs under two smoothings: does the order turn round?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from explorer.app.kit.prose import chart_pane, text_table
from explorer.app.kit.words import sentence
from explorer.app.learn.experiment import StartedExperiment
from explorer.evaluate import workload
from explorer.mechanisms import all_mechanisms, mechanism
from explorer.teaching.judging import METRICS, Judged, Verdict, judge, measured
from explorer.views.lesson_charts import Slope, SlopeChart
from explorer.views.series import style_of, swatch
from explorer.views.tables import Cell, number

QUESTIONS = {
    "2,000 random rectangles": "random",
    "2,000 squares of 2 %": "sq2",
    "2,000 squares of 6 %": "sq6",
    "2,000 squares of 10 %": "sq10",
    "every cell": "cells",
}


@dataclass(frozen=True)
class Found:
    """A verdict with the settings and the city that it belongs to."""

    settings: Any
    place: str
    verdict: Verdict


class RankingExperiment(StartedExperiment):
    """Mechanisms to tick, a button, two rankings with lines between them."""

    title = "The same runs, judged twice"
    WORK = "Runs of all mechanisms"

    def build(self) -> None:
        """Controls, chart, table."""
        controls = self.controls
        self.chart = SlopeChart(tuple(f"floor {name}" for name in METRICS.values()))  # type: ignore[arg-type]
        plot = chart_pane(self.chart.figure)
        plot.styles = {"max-width": "760px"}
        titles = {mechanism.title: key for key, mechanism in all_mechanisms().items()}
        row = [
            controls.number("epsilon"),
            controls.select("questions", QUESTIONS, 240),
            controls.whole("seeds", 110),
            self.run_buttons(self.button("Run and judge twice", self.start, strong=True)),
        ]
        self.lay_results_out(None, [[controls.several("mechanisms", titles)], row], plot=plot)

    def start(self) -> None:
        """Run all mechanisms with the same random noise and judge them."""
        data, settings = self.ready(), self.settings.copy()

        def work(progress: Any, cancel: Any) -> Found:
            kinds = [mechanism(key)(epsilon=settings.epsilon) for key in settings.mechanisms]
            questions = workload(settings.questions, data.matrix.shape)
            told = {"cancel": cancel, "progress": progress}
            runs = measured(data.matrix, kinds, questions, settings.seeds, **told)
            return Found(settings, data.title, judge(runs))

        self.running.start(work)

    def before(self) -> str:
        """What an error is a part of, by either metric."""
        return sentence("learn", "Two floors", total=self.ready().matrix.total)

    def show(self, result: Found) -> None:
        """Show both orders."""
        rows, verdict = result.verdict.rows, result.verdict
        turned, sure = (
            [[mechanism(key).title for key in pair] for pair in pairs]
            for pairs in (verdict.turned, verdict.sure)
        )
        settings = {"place": result.place, "settings": result.settings}
        heading = "The order turns round" if turned else "The order stays"
        spoken = sentence("learn", heading, turned=turned, sure=sure, **settings)
        slopes = [
            Slope(
                style_of(mechanism(row.key)),
                row.places,
                tuple(  # type: ignore[arg-type]
                    f"{mechanism(row.key).title}  {number(100 * error)} %" for error in row.errors
                ),
            )
            for row in rows
        ]
        self.chart.show(slopes, spoken)
        self.result(spoken, "", _table(rows))


def _table(rows: tuple[Judged, ...]) -> str:
    body = []
    for row in rows:
        kind = mechanism(row.key)
        cells = [Cell(kind.title, before=swatch(style_of(kind)))]
        for error, doubt, at in zip(row.errors, row.doubts, row.places, strict=True):
            place = f'<span class="place">{at}</span>'
            cells.append(
                Cell(f"{number(100 * error)} %", f"± {number(100 * doubt, 2)}", place, at == 1)
            )
        body.append(cells)
    columns = {"mechanism": "with its own settings"} | {
        f"floor {floor}": f"mean relative error {name}, standard error over the repetitions"
        for name, floor in METRICS.items()
    }
    return text_table("Places and mean relative errors by both metrics", columns, body)
