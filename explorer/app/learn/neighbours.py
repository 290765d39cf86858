"""Neighbours: one person more or less, and what comes out on either data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.app.curator.data import CityData
from explorer.app.curator.setting_fields import actions
from explorer.app.kit.html import put
from explorer.app.kit.numbers import signed
from explorer.app.kit.prose import pane, text_table
from explorer.app.kit.words import sentence
from explorer.app.learn.experiment import LiveExperiment, Running, explained
from explorer.mechanisms import mechanism
from explorer.points import truth as queries
from explorer.points.matrix import FrequencyMatrix
from explorer.teaching import neighbours
from explorer.teaching.experiments import RUNS
from explorer.teaching.neighbours import Distributions
from explorer.teaching.places import cell_of, cells_of
from explorer.teaching.previews import answers, taught
from explorer.views import palette
from explorer.views.figures import FIRST, SECOND
from explorer.views.lesson_charts import DistributionsChart
from explorer.views.markup import figures_strip
from explorer.views.tables import details, number


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked on both data sets: cells, true counts, both distributions where known."""

    data: CityData
    settings: Any
    cells: NDArray[np.int64]
    true: tuple[int, int]
    curves: Distributions | None


def ask(data: CityData, settings: Any, curves: Distributions | None = None) -> Asked:
    """Find the leaf or box and, where it is known, the distribution of its answer."""
    matrix, other = data.matrix, _other(data, settings)
    mechanism = taught(settings.mechanism, settings.epsilon)
    release = mechanism.release(matrix, rng=0)
    if settings.target == "leaf":
        cells = neighbours.leaf_at(release, cell_of(settings.place, data.grid))
    else:
        cells = cells_of(settings.box, data.grid)
    box = data.grid.from_cells(cells[None])
    true = round(queries.exact(matrix, box)[0]), round(queries.exact(other, box)[0])
    if curves is None and mechanism.has_known_distribution:
        units = neighbours.draws_inside(release, cells)
        if units is not None:
            curves = neighbours.exact_distributions(units, matrix.contribution_bound, *true)
    return Asked(data, settings, cells, true, curves)


def _other(data: CityData, settings: Any) -> FrequencyMatrix:
    change = 1 if settings.change == "add" else -1
    return neighbours.neighbour(data.matrix, cell_of(settings.place, data.grid), change)


class NeighboursExperiment(LiveExperiment):
    """A map to choose a person, two distributions, the largest ratio, the odds."""

    title = "With and without one person"
    APART = ("runs",)
    look = staticmethod(ask)

    def build(self) -> None:
        """Controls, map, charts."""
        controls = self.controls
        self.where = self.choose(box=True, place=True)
        self.chart = DistributionsChart()
        self.running = Running(self._show, self.refused, "Previews of both data sets")
        self.figures, self.odds, self.twin = pane(), pane(margin=(6, 0)), pane()
        self.plot = explained(
            [
                (FIRST, "line", "the data as they are"),
                (SECOND, "line", "one person changed"),
                (FIRST, "dash", "epsilon, the limit of the ratio"),
            ],
            *self.chart.figures,
        )
        self.draw = self.button("Draw previews of both", self.start, strong=True)
        ways = {"the leaf of this place": "leaf", "the box": "box"}
        row = [
            controls.mechanism(),
            controls.number("epsilon"),
            controls.select("change", {"Add": "add", "Remove": "remove"}, 150),
            controls.select("target", ways, 210),
            controls.select("runs", {f"{number:,}": number for number in RUNS}, 110),
            actions(self.draw, self.running.cancel_button),
        ]
        result = [self.running.status, self.said, self.plot, self.figures, self.odds, self.twin]
        self.lay_out(self.where.view, [row], result)

    def begin(self) -> None:
        """Forget the previews, and ask anew."""
        self.running.reset()
        super().begin()

    def close(self) -> None:
        """Stop both workers."""
        self.running.close()
        super().close()

    def start(self) -> None:
        """Draw previews of both data sets, with random noise of their own."""
        data, settings = self.ready(), self.settings.copy()

        def work(progress: Any, cancel: Any) -> Asked:
            box = data.grid.from_cells(ask(data, settings).cells[None])
            mechanism = taught(settings.mechanism, settings.epsilon)
            # Random noise that the two sides shared would make their difference exact.
            seeds = np.random.default_rng(0x2E16).integers(2**62, size=(2, settings.runs))

            def seen(side: int, matrix: FrequencyMatrix) -> np.ndarray:
                def tell(part: float) -> None:
                    progress((side + part) / 2)

                told = {"cancel": cancel, "progress": tell}
                return answers(mechanism, matrix, box, seeds[side].tolist(), **told)[:, 0]

            both = seen(0, data.matrix), seen(1, _other(data, settings))
            return ask(data, settings, neighbours.histograms(*both))

        self.running.start(work)

    def show(self, result: Asked) -> None:
        """Show what comes out on either data set, or why it takes previews to know."""
        settings, curves, epsilon = result.settings, result.curves, result.settings.epsilon
        box = result.data.grid.from_cells(result.cells[None])[0]
        leaf = settings.target == "leaf"
        self.where.further([(box, palette.HOVER, True)] if leaf else [])
        self.where.show_box(not leaf)
        self.draw.disabled = False
        self.plot.visible = curves is not None
        factor, even = neighbours.odds_factor(epsilon), neighbours.belief_after(0.5, epsilon)
        odds = sentence("learn", "Odds", factor=factor, even=100 * even)
        put(self.odds, f'<p class="finding">{odds}</p>')
        values = {"title": mechanism(settings.mechanism).title, "epsilon": epsilon}
        if curves is None:
            exact = taught(settings.mechanism, epsilon).has_known_distribution
            spoken = sentence("learn", "No exact curve", exact=exact, **values)
        else:
            values |= {"what": settings.target, "truth": result.true, "curves": curves}
            spoken = sentence("learn", "Two distributions", **values)
        self.say(spoken)
        put(self.figures, "" if curves is None else _figures(curves, result.true, epsilon))
        put(self.twin, "" if curves is None else details("Numbers of the charts", _table(curves)))
        if curves is not None:
            bars = curves.edges, curves.first, curves.second, curves.ratio, curves.error
            self.chart.show(*bars, epsilon, spoken)


def _figures(curves: Distributions, true: tuple[int, int], epsilon: float) -> str:
    largest = "–" if np.isnan(curves.largest) else f"{curves.largest:.3g}"
    return figures_strip(
        [
            ("True count", f"{true[0]:,}"),
            ("With the change", f"{true[1]:,}"),
            ("Largest log-ratio", largest),
            ("Epsilon", f"{epsilon:g}"),
            ("The distributions", "exact" if curves.exact else f"{curves.runs:,} previews"),
        ]
    )


def _table(curves: Distributions) -> str:
    """At most 25 rows, evenly over what is drawn."""
    at = np.unique(np.linspace(0, len(curves.first) - 1, 25).round().astype(int))
    middle = (curves.edges[:-1] + curves.edges[1:]) / 2
    values = zip(middle[at], curves.first[at], curves.second[at], curves.ratio[at], strict=True)
    rows = [
        [
            *(f"{answer:,.0f}", number(float(first)), number(float(second))),
            "–" if np.isnan(ratio) else signed(float(ratio), 3),
        ]
        for answer, first, second, ratio in values
    ]
    columns = {
        "published answer": "middle of the bin, people",
        "as they are": "probability",
        "one person changed": "probability",
        "log-ratio": "logarithm of the second probability over the first",
    }
    return text_table("Probabilities of the published answer", columns, rows)
