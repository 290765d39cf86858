"""Post-processing: non-negativity, rounding, consistency, and the bias of a large region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.app.curator.setting_fields import actions
from explorer.app.kit.prose import signed
from explorer.app.learn.experiment import explained
from explorer.app.learn.started import StartedExperiment
from explorer.mechanisms import mechanism
from explorer.releases.answers import Z95
from explorer.teaching.experiments import Postprocessing
from explorer.teaching.places import cells_of, people_in
from explorer.teaching.postprocessing import TREATMENTS, Effect, Treatment, effects, treatable
from explorer.views.markup import figures_strip
from explorer.views.tables import Cell, number, table
from explorer.views.teaching.biases import BiasChart
from explorer.views.teaching.frame import FIRST, SECOND, TRUTH

SWITCHES = ("consistent", "non_negative", "rounded")


@dataclass(frozen=True)
class Found:
    """The effects of all treatments, with the settings that they belong to."""

    settings: Any
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
        self.where = self.choose(box=True)
        self.chart = BiasChart()
        self.found: Found | None = None
        self.plot = explained(
            [
                (SECOND, "dot", "as the switches stand, with its 95 % interval"),
                (FIRST, "dot", "the other ways"),
                (TRUTH, "dash", "no bias"),
            ],
            self.chart.figure,
        )
        self.lay_out(
            self.where.view,
            [
                [
                    controls.mechanism(treatable()),
                    controls.number("epsilon"),
                    controls.select(
                        "runs", {f"{number:,}": number for number in (50, 100, 200, 400)}, 190
                    ),
                    actions(
                        self.button("Draw the previews", self.start, strong=True),
                        self.running.cancel_button,
                    ),
                ],
                [controls.flag(name) for name in SWITCHES],
            ],
            [self.running.status, self.said, self.plot, self.figures, self.twin],
        )
        settings.param.watch(lambda *_: self._switched(), list(SWITCHES))

    def start(self) -> None:
        """Draw previews and treat each in all eight ways."""
        data, settings = self.ready(), self.settings.copy()
        true = people_in(data.matrix, settings.box)

        def work(progress: Any, cancel: Any) -> Found:
            instance = mechanism(settings.mechanism)(epsilon=settings.epsilon)
            cells = cells_of(settings.box, data.grid)
            drawn: Any = np.random.default_rng(0xB1A5).integers(2**62, size=settings.runs)
            seeds = [int(seed) for seed in drawn]
            treated = effects(instance, data.matrix, cells, seeds, cancel=cancel, progress=progress)
            return Found(settings, true, treated)

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
        spoken = sentence(result, effect)
        names = [title(outcome.treatment) for outcome in result.effects]
        self.chart.show(
            names,
            np.array([outcome.bias for outcome in result.effects]),
            np.array([outcome.error for outcome in result.effects]),
            at,
            spoken,
        )
        figures = figures_strip(
            [
                ("True count", f"{result.true:,.0f}"),
                ("Bias", signed(effect.bias)),
                ("Standard error", f"{effect.error:,.0f}"),
                ("Mean error of a leaf", number(effect.leaf_error)),
            ]
        )
        self.result(spoken, figures, _table(result, at))


def title(treatment: Treatment) -> str:
    """A treatment in a few words."""
    names = [
        str(Postprocessing.param[name].label).lower()
        for name in SWITCHES
        if getattr(treatment, name)
    ]
    return " + ".join(names) if names else "nothing"


def sentence(result: Found, effect: Effect) -> str:
    """What the chosen treatment does to the region and to single leaves, in words."""
    plain = result.effects[0]
    share = (
        f" ({signed(100 * effect.bias / result.true, 1)} % of the truth)" if result.true > 0 else ""
    )
    sure = abs(effect.bias) > Z95 * effect.error
    kind = (
        "more than chance explains"
        if sure
        else "no more than chance explains: no bias has been found"
    )
    leaf = f"A leaf's count is off by {number(effect.leaf_error)} on average"
    if effect is not plain:
        leaf += f", by {number(plain.leaf_error)} with nothing done"
    done = "with " + title(effect.treatment)
    if effect is plain:
        done = "with nothing done to the counts"
    return (
        f"Over {result.settings.runs:,} previews {done}, the region comes "
        f"out {signed(effect.bias)} people off on average{share}, ± {effect.error:,.0f} (standard "
        f"error): {kind}. {leaf}."
    )


def _table(result: Found, at: int) -> str:
    rows = [
        [
            Cell(title(effect.treatment), best=i == at),
            Cell(signed(effect.bias), f"± {effect.error:,.0f}"),
            Cell(f"{effect.sd:,.0f}"),
            Cell(number(effect.leaf_error)),
        ]
        for i, effect in enumerate(result.effects)
    ]
    columns = [
        ("done to the counts", "in this order"),
        ("bias of the region", "mean of private minus true, with its standard error"),
        ("spread", "standard deviation of the region's answer"),
        ("error of a leaf", "mean absolute error of a leaf's count"),
    ]
    return table("All ways on the same previews", columns, rows)
