"""Post-processing: non-negativity, rounding, consistency, and the bias of a large region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.app.kit.numbers import signed
from explorer.app.kit.prose import text_table
from explorer.app.kit.words import sentence
from explorer.app.learn.experiment import StartedExperiment, explained
from explorer.mechanisms import mechanism
from explorer.releases.answers import Z95
from explorer.teaching.experiments import Postprocessing
from explorer.teaching.places import cells_of, people_in
from explorer.teaching.postprocessing import TREATMENTS, Effect, Treatment, effects, treatable
from explorer.views.figures import FIRST, SECOND, TRUTH
from explorer.views.lesson_charts import BiasChart
from explorer.views.markup import figures_strip
from explorer.views.tables import Cell, number

SWITCHES = ("consistent", "non_negative", "rounded")
RUNS = {f"{number:,}": number for number in (50, 100, 200, 400)}


@dataclass(frozen=True)
class Found:
    """The effects of all treatments over so many previews, and the true count of the region."""

    runs: int
    true: float
    effects: tuple[Effect, ...]


class PostprocessingExperiment(StartedExperiment):
    """Three switches; a chart and a table of all eight ways."""

    title = "After the noise"
    WORK = "Previews"
    APART = SWITCHES

    def build(self) -> None:
        """Controls, map, chart."""
        settings, controls = self.settings, self.controls
        self.where, self.chart = self.choose(box=True), BiasChart()
        self.found: Found | None = None
        plot = explained(
            [
                (SECOND, "dot", "as the switches stand, with its 95 % interval"),
                (FIRST, "dot", "the other ways"),
                (TRUTH, "dash", "no bias"),
            ],
            self.chart.figure,
        )
        row = [
            controls.mechanism(treatable()),
            controls.number("epsilon"),
            controls.select("runs", RUNS, 190),
            self.run_buttons(self.button("Draw the previews", self.start, strong=True)),
        ]
        switches = [controls.flag(name) for name in SWITCHES]
        self.lay_results_out(self.where.view, [row, switches], plot=plot)
        settings.param.watch(lambda *_: self._switched(), list(SWITCHES))

    def start(self) -> None:
        """Draw previews and treat each in all eight ways."""
        data, settings = self.ready(), self.settings.copy()
        true = people_in(data.matrix, settings.box)

        def work(progress: Any, cancel: Any) -> Found:
            kind = mechanism(settings.mechanism)(epsilon=settings.epsilon)
            cells = cells_of(settings.box, data.grid)
            drawn: Any = np.random.default_rng(0xB1A5).integers(2**62, size=settings.runs)
            seeds = drawn.tolist()
            told = {"cancel": cancel, "progress": progress}
            return Found(settings.runs, true, effects(kind, data.matrix, cells, seeds, **told))

        self.running.start(work)

    def begin(self) -> None:
        """Forget the previews."""
        super().begin()
        self.found = None

    def before(self) -> str:
        """The truth."""
        true = people_in(self.ready().matrix, self.settings.box)
        return f"Truly {true:,.0f} people are in the region."

    def _switched(self) -> None:
        if self.found is not None:
            self.show(self.found)

    def show(self, result: Found) -> None:
        """Show all ways, and what comes out with the switches as they are set."""
        self.found = result
        chosen = Treatment(*(bool(getattr(self.settings, name)) for name in SWITCHES))
        at = TREATMENTS.index(chosen)
        effect = result.effects[at]
        spoken = sentence(
            *("learn", "Bias of a region"),
            runs=result.runs,
            truth=result.true,
            effect=effect,
            done=title(chosen) if at else "",
            plain=result.effects[0],
            sure=abs(effect.bias) > Z95 * effect.error,
        )
        names = [title(outcome.treatment) for outcome in result.effects]
        bias, error = np.array([(way.bias, way.error) for way in result.effects]).T
        self.chart.show(names, bias, error, at, spoken)
        strip = [
            ("True count", f"{result.true:,.0f}"),
            ("Bias", signed(effect.bias)),
            ("Standard error", f"{effect.error:,.0f}"),
            ("Mean error of a leaf", number(effect.leaf_error)),
        ]
        self.result(spoken, figures_strip(strip), _table(result, at))


def title(treatment: Treatment) -> str:
    """A treatment in a few words."""
    names = [Postprocessing.param[n].label.lower() for n in SWITCHES if getattr(treatment, n)]
    return " + ".join(names) if names else "nothing"


def _table(result: Found, at: int) -> str:
    rows: list[list[str | Cell]] = [
        [
            Cell(title(effect.treatment), best=i == at),
            Cell(signed(effect.bias), f"± {effect.error:,.0f}"),
            f"{effect.sd:,.0f}",
            number(effect.leaf_error),
        ]
        for i, effect in enumerate(result.effects)
    ]
    columns = {
        "done to the counts": "in this order",
        "bias of the region": "mean of private minus true, with its standard error",
        "spread": "standard deviation of the region's answer",
        "error of a leaf": "mean absolute error of a leaf's count",
    }
    return text_table("All ways on the same previews", columns, rows)
