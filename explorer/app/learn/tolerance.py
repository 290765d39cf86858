"""Tolerable error to epsilon: bisection over previews, with its uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.app.curator.setting_fields import actions
from explorer.app.kit.words import words
from explorer.app.learn.experiment import explained
from explorer.app.learn.started import StartedExperiment
from explorer.mechanisms import mechanism
from explorer.teaching.places import on_map, people_in
from explorer.teaching.previews import taught
from explorer.teaching.tolerance import LADDER, SmallestEpsilon, for_box
from explorer.views.markup import figures_strip
from explorer.views.tables import Cell, details, table
from explorer.views.teaching.frame import FIRST, SECOND, TRUTH
from explorer.views.teaching.shares import SharesChart


@dataclass(frozen=True)
class Found:
    """An answer with the question that it belongs to."""

    settings: Any
    tolerance: SmallestEpsilon


class ToleranceExperiment(StartedExperiment):
    """A box, an error, a button: the smallest epsilon that keeps it."""

    title = "From a tolerable error to epsilon"
    WORK = "Bisection over previews"

    def build(self) -> None:
        """Controls, map, chart."""
        controls = self.controls
        self.where = self.choose(box=True)
        self.chart = SharesChart(LADDER[0], LADDER[-1])
        self.plot = explained(
            [
                (FIRST, "dot", "share of previews within the error, with 95 % bounds"),
                (TRUTH, "dash", "95 in 100"),
                (SECOND, "line", "smallest epsilon"),
                (SECOND, "area", "its 95 % interval"),
            ],
            self.chart.figure,
        )
        self.lay_out(
            self.where.view,
            [
                [
                    controls.mechanism(),
                    controls.number("percent", 200),
                    controls.select(
                        "runs", {f"{number:,}": number for number in (100, 200, 400)}, 190
                    ),
                    actions(
                        self.button("Find the smallest epsilon", self.start, strong=True),
                        self.running.cancel_button,
                    ),
                ]
            ],
            [self.running.status, self.said, self.plot, self.figures, self.twin],
        )

    def start(self) -> None:
        """Search with the present settings."""
        data, settings = self.ready(), self.settings.copy()
        box = on_map(settings.box, data.grid)

        def work(progress: Any, cancel: Any) -> Found:
            tolerance = for_box(
                lambda epsilon: taught(settings.mechanism, epsilon),
                data.matrix,
                box,
                settings.percent,
                settings.runs,
                cancel=cancel,
                progress=progress,
            )
            return Found(settings, tolerance)

        self.running.start(work)

    def before(self) -> str:
        """The truth, and how far off an answer may be."""
        true = people_in(self.ready().matrix, self.settings.box)
        allowed = self.settings.percent / 100 * true
        return (
            f"Truly {true:,.0f} people are in the box: within {self.settings.percent:g} % means "
            f"off by at most {allowed:,.1f}."
        )

    def show(self, result: Found) -> None:
        """Show the smallest epsilon and every one that was tried."""
        tolerance = result.tolerance
        spoken = sentence(result)
        steps = tolerance.steps
        points = tuple(
            np.array([getattr(step, name) for step in steps])
            for name in ("epsilon", "share", "low", "high")
        )
        self.chart.show(
            points,  # type: ignore[arg-type]
            tolerance.share,
            tolerance.epsilon,
            (tolerance.low, tolerance.high),
            spoken,
        )
        figures = figures_strip(
            [
                ("Smallest epsilon", _epsilon(tolerance.epsilon)),
                ("95 % interval", _interval(tolerance)),
                ("Previews at each epsilon", f"{steps[0].runs:,}" if steps else "–"),
                ("Epsilons tried", f"{len(steps)}"),
            ]
        )
        self.result(spoken, figures, details("Numbers of the chart", _table(tolerance)))


def sentence(result: Found) -> str:
    """What the search found, with its uncertainty, in words."""
    tolerance, settings = result.tolerance, result.settings
    title = mechanism(settings.mechanism).title
    goal = f"within {settings.percent:g} %, 95 times in 100"
    last = tolerance.steps[-1]
    if tolerance.epsilon is None:
        return words("learn")["Not within the tolerance"].format(
            title=title, goal=goal, last=f"{LADDER[-1]:g}", hits=last.hits, runs=last.runs
        )
    if tolerance.epsilon == LADDER[0]:
        return (
            f"{title} answers this box {goal} at epsilon {LADDER[0]:g} already, the smallest that "
            "was tried: choose a smaller box or a smaller error."
        )
    return (
        f"{title} answers this box {goal} from epsilon {tolerance.epsilon:g} on; with "
        f"{last.runs:,} previews at each epsilon the true value lies in {_interval(tolerance)}, "
        "95 times in 100."
    )


def _epsilon(value: float | None) -> str:
    return f"above {LADDER[-1]:g}" if value is None else f"{value:g}"


def _interval(tolerance: SmallestEpsilon) -> str:
    low, high = tolerance.low, tolerance.high
    if low is None:
        return f"above {LADDER[-1]:g}"
    return f"{low:g} to {high:g}" if high is not None else f"{low:g} or more"


def _table(tolerance: SmallestEpsilon) -> str:
    rows = [
        [
            Cell(f"{step.epsilon:g}"),
            Cell(f"{step.hits} of {step.runs}"),
            Cell(f"{step.low:.0%} to {step.high:.0%}"),
        ]
        for step in tolerance.steps
    ]
    columns = [
        ("epsilon", "that was tried"),
        ("within the error", "previews whose answer was"),
        ("share, 95 % bounds", "Clopper and Pearson's interval"),
    ]
    return table("Previews within the tolerated error", columns, rows)
