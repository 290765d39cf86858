"""Tolerable error to epsilon: bisection over previews, with its uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.app.curator.data import CityData
from explorer.app.curator.place_picker import Where
from explorer.app.curator.setting_fields import actions
from explorer.app.kit.html import put
from explorer.app.kit.prose import chart_pane, pane
from explorer.app.kit.words import words
from explorer.app.learn.experiment import Experiment
from explorer.app.learn.running import Running
from explorer.mechanisms import mechanism
from explorer.points import truth as queries
from explorer.teaching.places import on_map
from explorer.teaching.previews import taught
from explorer.teaching.tolerance import LADDER, SmallestEpsilon, for_box
from explorer.views.markup import figures_strip
from explorer.views.tables import Cell, details, table
from explorer.views.teaching.frame import FIRST, SECOND, TRUTH, legend
from explorer.views.teaching.shares import SharesChart


@dataclass(frozen=True)
class Found:
    """An answer with the question that it belongs to."""

    settings: Any
    true: float
    tolerance: SmallestEpsilon


class ToleranceExperiment(Experiment):
    """A box, an error, a button: the smallest epsilon that keeps it."""

    title = "From a tolerable error to epsilon"

    def build(self) -> None:
        """Controls, map, chart."""
        settings, controls = self.settings, self.controls
        self.where = Where(settings, self.refused, box=True, phone=self.phone)
        self.chart = SharesChart(LADDER[0], LADDER[-1])
        self.running = Running(self._show, self.refused, "Bisection over previews")
        self.figures, self.twin = pane(), pane()
        self._chart = chart_pane(self.chart.figure)
        self._chart.visible = False
        self._key = pane(
            legend(
                [
                    (FIRST, "dot", "share of previews within the error, with 95 % bounds"),
                    (TRUTH, "dash", "95 in 100"),
                    (SECOND, "line", "smallest epsilon"),
                    (SECOND, "area", "its 95 % interval"),
                ]
            ),
            visible=False,
        )
        self.lay_out(
            self.where.view,
            [
                [
                    controls.mechanism(),
                    controls.number("percent", 200),
                    controls.select("runs", {f"{each:,}": each for each in (100, 200, 400)}, 190),
                    actions(
                        self.button("Find the smallest epsilon", self.start, strong=True),
                        self.running.cancel_button,
                    ),
                ]
            ],
            [
                self.running.status,
                self.said,
                self.figures,
                self._key,
                self._chart,
                self.twin,
            ],
        )
        settings.param.watch(lambda *_: self._clear(), settings.settings())

    def use(self, data: CityData) -> None:
        """Begin anew on another city."""
        super().use(data)
        self.where.use(data)
        self._clear()

    def close(self) -> None:
        """Stop searching."""
        self.running.close()

    def start(self) -> None:
        """Search with the present settings."""
        data, settings = self.ready(), self.settings.copy()
        box = on_map(settings.box, data.grid)
        true = float(queries.exact(data.matrix, [box])[0])

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
            return Found(settings, true, tolerance)

        self.running.start(work)

    def _clear(self) -> None:
        if self.data is None:
            return
        self.running.reset()
        box = on_map(self.settings.box, self.data.grid)
        true = float(queries.exact(self.data.matrix, [box])[0])
        allowed = self.settings.percent / 100 * true
        self.say(
            f"Truly {true:,.0f} people are in the box: within {self.settings.percent:g} % means "
            f"off by at most {allowed:,.1f}."
        )
        self._chart.visible = self._key.visible = False
        put(self.figures, "")
        put(self.twin, "")

    def _show(self, found: Found) -> None:
        tolerance = found.tolerance
        spoken = sentence(found)
        self.say(spoken)
        steps = tolerance.steps
        points = tuple(
            np.array([getattr(each, name) for each in steps])
            for name in ("epsilon", "share", "low", "high")
        )
        self.chart.show(
            points,  # type: ignore[arg-type]
            tolerance.share,
            tolerance.epsilon,
            (tolerance.low, tolerance.high),
            spoken,
        )
        self._chart.visible = self._key.visible = True
        put(
            self.figures,
            figures_strip(
                [
                    ("Smallest epsilon", _epsilon(tolerance.epsilon)),
                    ("95 % interval", _interval(tolerance)),
                    ("Previews at each epsilon", f"{steps[0].runs:,}" if steps else "–"),
                    ("Epsilons tried", f"{len(steps)}"),
                ]
            ),
        )
        put(self.twin, details("Numbers of the chart", _table(tolerance)))


def sentence(found: Found) -> str:
    """What the search found, with its uncertainty, in words."""
    tolerance, settings = found.tolerance, found.settings
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
            Cell(f"{each.epsilon:g}"),
            Cell(f"{each.hits} of {each.runs}"),
            Cell(f"{each.low:.0%} to {each.high:.0%}"),
        ]
        for each in tolerance.steps
    ]
    columns = [
        ("epsilon", "that was tried"),
        ("within the error", "previews whose answer was"),
        ("share, 95 % bounds", "Clopper and Pearson's interval"),
    ]
    return table("Previews within the tolerated error", columns, rows)
