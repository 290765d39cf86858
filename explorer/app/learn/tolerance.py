"""Tolerable error to epsilon: bisection over previews, with its uncertainty."""

from __future__ import annotations

from typing import Any

import numpy as np

from explorer.app.kit.prose import text_table
from explorer.app.kit.words import sentence
from explorer.app.learn.experiment import StartedExperiment, explained
from explorer.mechanisms import mechanism
from explorer.teaching.places import on_map, people_in
from explorer.teaching.previews import taught
from explorer.teaching.tolerance import LADDER, SmallestEpsilon, for_box
from explorer.views.figures import FIRST, SECOND, TRUTH
from explorer.views.lesson_charts import SharesChart
from explorer.views.markup import figures_strip
from explorer.views.tables import details


class ToleranceExperiment(StartedExperiment):
    """A box, an error, a button: the smallest epsilon that keeps it."""

    title = "From a tolerable error to epsilon"
    WORK = "Bisection over previews"

    def build(self) -> None:
        """Controls, map, chart."""
        controls = self.controls
        self.where = self.choose(box=True)
        self.chart = SharesChart(LADDER[0], LADDER[-1])
        plot = explained(
            [
                (FIRST, "dot", "share of previews within the error, with 95 % bounds"),
                (TRUTH, "dash", "95 in 100"),
                (SECOND, "line", "smallest epsilon"),
                (SECOND, "area", "its 95 % interval"),
            ],
            self.chart.figure,
        )
        row = [
            controls.mechanism(),
            controls.number("percent", 200),
            controls.select("runs", {f"{number:,}": number for number in (100, 200, 400)}, 190),
            self.run_buttons(self.button("Find the smallest epsilon", self.start, strong=True)),
        ]
        self.lay_results_out(self.where.view, [row], plot=plot)

    def start(self) -> None:
        """Search with the present settings."""
        data, settings = self.ready(), self.settings.copy()
        box = on_map(settings.box, data.grid)

        def work(progress: Any, cancel: Any) -> tuple[Any, SmallestEpsilon]:
            tolerance = for_box(
                lambda epsilon: taught(settings.mechanism, epsilon),
                *(data.matrix, box, settings.percent, settings.runs),
                cancel=cancel,
                progress=progress,
            )
            return settings, tolerance

        self.running.start(work)

    def before(self) -> str:
        """The truth, and how far off an answer may be."""
        true, percent = people_in(self.ready().matrix, self.settings.box), self.settings.percent
        return (
            f"Truly {true:,.0f} people are in the box: within {percent:g} % means "
            f"off by at most {percent / 100 * true:,.1f}."
        )

    def show(self, result: tuple[Any, SmallestEpsilon]) -> None:
        """Show the smallest epsilon and every one that was tried, found with these settings."""
        settings, tolerance = result
        steps, smallest = tolerance.steps, tolerance.epsilon
        heading = "The smallest epsilon"
        if smallest is None:
            heading = "Not within the tolerance"
        elif smallest == LADDER[0]:
            heading = "Within the tolerance at once"
        spoken = sentence(
            *("learn", heading),
            title=mechanism(settings.mechanism).title,
            last=steps[-1],
            goal=f"within {settings.percent:g} %, 95 times in 100",
            found=smallest,
            least=LADDER[0],
            largest=LADDER[-1],
            interval=_interval(tolerance),
        )
        points: Any = (
            np.array([getattr(step, name) for step in steps])
            for name in ("epsilon", "share", "low", "high")
        )
        interval = tolerance.low, tolerance.high
        self.chart.show(tuple(points), tolerance.share, smallest, interval, spoken)
        figures = figures_strip(
            [
                (
                    "Smallest epsilon",
                    f"above {LADDER[-1]:g}" if smallest is None else f"{smallest:g}",
                ),
                ("95 % interval", _interval(tolerance)),
                ("Previews at each epsilon", f"{steps[0].runs:,}" if steps else "–"),
                ("Epsilons tried", f"{len(steps)}"),
            ]
        )
        self.result(spoken, figures, details("Numbers of the chart", _table(tolerance)))


def _interval(tolerance: SmallestEpsilon) -> str:
    low, high = tolerance.low, tolerance.high
    if low is None:
        return f"above {LADDER[-1]:g}"
    return f"{low:g} to {high:g}" if high is not None else f"{low:g} or more"


def _table(tolerance: SmallestEpsilon) -> str:
    rows = [
        [f"{s.epsilon:g}", f"{s.hits} of {s.runs}", f"{s.low:.0%} to {s.high:.0%}"]
        for s in tolerance.steps
    ]
    columns = {
        "epsilon": "that was tried",
        "within the error": "previews whose answer was",
        "share, 95 % bounds": "Clopper and Pearson's interval",
    }
    return text_table("Previews within the tolerated error", columns, rows)
