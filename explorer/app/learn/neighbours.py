"""Neighbours: one person more or less, and what comes out on either data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.app.curator.data import CityData
from explorer.app.curator.setting_fields import actions
from explorer.app.kit.html import put
from explorer.app.kit.prose import pane, signed
from explorer.app.learn.experiment import explained
from explorer.app.learn.live import LiveExperiment
from explorer.app.learn.running import Running
from explorer.mechanisms import mechanism
from explorer.points import truth as queries
from explorer.teaching import neighbours
from explorer.teaching.experiments import RUNS
from explorer.teaching.neighbours import Distributions
from explorer.teaching.places import cell_of, cells_of
from explorer.teaching.previews import answers, taught
from explorer.views import palette
from explorer.views.markup import figures_strip
from explorer.views.tables import Cell, details, number, table
from explorer.views.teaching.distributions import DistributionsChart
from explorer.views.teaching.frame import FIRST, SECOND


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
    matrix, cell = data.matrix, cell_of(settings.place, data.grid)
    other = neighbours.neighbour(matrix, cell, 1 if settings.change == "add" else -1)
    mechanism = taught(settings.mechanism, settings.epsilon)
    release = mechanism.release(matrix, rng=0)
    if settings.target == "leaf":
        cells = neighbours.leaf_at(release, cell)
    else:
        cells = cells_of(settings.box, data.grid)
    box = data.grid.from_cells(cells[None])
    true = round(queries.exact(matrix, box)[0]), round(queries.exact(other, box)[0])
    if curves is None and mechanism.has_known_distribution:
        units = neighbours.draws_inside(release, cells)
        if units is not None:
            curves = neighbours.exact_distributions(units, matrix.contribution_bound, *true)
    return Asked(data, settings, cells, true, curves)


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
        self.lay_out(
            self.where.view,
            [
                [
                    controls.mechanism(),
                    controls.number("epsilon"),
                    controls.select("change", {"Add": "add", "Remove": "remove"}, 150),
                    controls.select("target", ways, 210),
                    controls.select("runs", {f"{number:,}": number for number in RUNS}, 110),
                    actions(self.draw, self.running.cancel_button),
                ]
            ],
            [self.running.status, self.said, self.plot, self.figures, self.odds, self.twin],
        )

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
            question = ask(data, settings)
            other = neighbours.neighbour(
                data.matrix,
                cell_of(settings.place, data.grid),
                1 if settings.change == "add" else -1,
            )
            box = data.grid.from_cells(question.cells[None])
            mechanism = taught(settings.mechanism, settings.epsilon)
            # Random noise that the two sides shared would make their difference exact.
            seeds = np.random.default_rng(0x2E16).integers(2**62, size=(2, settings.runs))

            def seen(side: int) -> np.ndarray:
                return answers(
                    mechanism,
                    (data.matrix, other)[side],
                    box,
                    seeds[side].tolist(),
                    cancel=cancel,
                    progress=lambda part: progress((side + part) / 2),
                )[:, 0]

            return ask(data, settings, neighbours.histograms(seen(0), seen(1)))

        self.running.start(work)

    def show(self, result: Asked) -> None:
        """Show what comes out on either data set, or why it takes previews to know."""
        settings, curves = result.settings, result.curves
        title = mechanism(settings.mechanism).title
        box = result.data.grid.from_cells(result.cells[None])[0]
        leaf = settings.target == "leaf"
        self.where.further([(box, palette.HOVER, True)] if leaf else [])
        self.where.show_box(not leaf)
        exact = taught(settings.mechanism, settings.epsilon).has_known_distribution
        self.draw.disabled = False
        self.plot.visible = curves is not None
        factor = neighbours.odds_factor(settings.epsilon)
        even = neighbours.belief_after(0.5, settings.epsilon)
        put(
            self.odds,
            f'<p class="finding">Whatever somebody believed before, seeing the map changes the '
            f"odds by a factor of at most e<sup>epsilon</sup> = <b>{factor:,.2f}</b>. Who thought "
            f"“fifty-fifty that this record is on it” thinks at most <b>{even:.0%}</b> "
            "afterwards. Of somebody with several records on the map every one counts: k records, "
            "k times epsilon.</p>",
        )
        if curves is None:
            why = "this box cuts through leaves" if exact else "its cuts depend on the data"
            self.say(
                f"There is no exact curve for {title} here ({why}): draw previews of both data "
                "sets to compare histograms."
            )
            put(self.figures, "")
            put(self.twin, "")
            return
        what = "leaf" if leaf else "box"
        spoken = _sentence(curves, title, what, result.true, settings.epsilon)
        self.say(spoken)
        self.chart.show(
            curves.edges,
            curves.first,
            curves.second,
            curves.ratio,
            curves.error,
            settings.epsilon,
            spoken,
        )
        put(self.figures, _figures(curves, result.true, settings.epsilon))
        put(self.twin, details("Numbers of the charts", _table(curves)))


def _sentence(
    curves: Distributions, title: str, what: str, true: tuple[int, int], epsilon: float
) -> str:
    counts = f"truly {true[0]:,} people, {true[1]:,} with the change"
    if curves.exact:
        return (
            f"{title}, this {what} ({counts}): the largest log-ratio of the two distributions is "
            f"{curves.largest:.3g}, and epsilon is {epsilon:g}."
        )
    if np.isnan(curves.largest):
        return f"{title}, this {what} ({counts}): the answers hardly overlap; draw more previews."
    at = int(np.nanargmax(np.abs(curves.ratio)))
    proved = (
        "they do not prove any difference"
        if curves.bound <= 0
        else f"with 95 % confidence they prove a loss of at least {curves.bound:.2g}"
    )
    return (
        f"{title}, this {what} ({counts}): over {curves.runs:,} previews a side the largest "
        f"log-ratio of two bins is {curves.largest:.2g} ± {curves.error[at]:.2g}, and epsilon is "
        f"{epsilon:g}. Part of that is chance: {proved}."
    )


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
    rows = [
        [
            Cell(f"{middle[i]:,.0f}"),
            Cell(number(float(curves.first[i]))),
            Cell(number(float(curves.second[i]))),
            Cell("–" if np.isnan(curves.ratio[i]) else signed(float(curves.ratio[i]), 3)),
        ]
        for i in at
    ]
    columns = [
        ("published answer", "middle of the bin, people"),
        ("as they are", "probability"),
        ("one person changed", "probability"),
        ("log-ratio", "logarithm of the second probability over the first"),
    ]
    return table("Probabilities of the published answer", columns, rows)
