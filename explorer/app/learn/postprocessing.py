"""Post-processing: non-negativity, rounding, consistency, and the bias of a large region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.app.curator.data import CityData
from explorer.app.curator.place_picker import Where
from explorer.app.curator.setting_fields import actions
from explorer.app.kit.html import put
from explorer.app.kit.prose import chart_pane, pane, signed
from explorer.app.learn.experiment import Experiment
from explorer.app.learn.running import Running
from explorer.mechanisms import mechanism
from explorer.points import truth as queries
from explorer.releases.answers import Z95
from explorer.teaching.experiments import Postprocessing
from explorer.teaching.places import cells_of, on_map
from explorer.teaching.postprocessing import TREATMENTS, Effect, Treatment, effects, treatable
from explorer.views.markup import figures_strip
from explorer.views.tables import Cell, number, table
from explorer.views.teaching.biases import BiasChart
from explorer.views.teaching.frame import FIRST, SECOND, TRUTH, legend

SWITCHES = ("consistent", "non_negative", "rounded")


@dataclass(frozen=True)
class Found:
    """The effects of all treatments, with the settings that they belong to."""

    settings: Any
    true: float
    effects: tuple[Effect, ...]


class PostprocessingExperiment(Experiment):
    """Three switches; a chart and a table of all eight ways."""

    title = "After the noise"

    def build(self) -> None:
        """Controls, map, chart."""
        settings, controls = self.settings, self.controls
        self.where = Where(settings, self.refused, box=True, phone=self.phone)
        self.chart = BiasChart()
        self.running = Running(self._finished, self.refused, "Previews")
        self.found: Found | None = None
        self.figures, self.twin = pane(), pane()
        self._chart = chart_pane(self.chart.figure)
        self._key = pane(
            legend(
                [
                    (SECOND, "dot", "as the switches stand, with its 95 % interval"),
                    (FIRST, "dot", "the other ways"),
                    (TRUTH, "dash", "no bias"),
                ]
            )
        )
        self.lay_out(
            self.where.view,
            [
                [
                    controls.mechanism(treatable()),
                    controls.number("epsilon"),
                    controls.select(
                        "runs", {f"{each:,}": each for each in (50, 100, 200, 400)}, 190
                    ),
                    actions(
                        self.button("Draw the previews", self.start, strong=True),
                        self.running.cancel_button,
                    ),
                ],
                [controls.flag(name) for name in SWITCHES],
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
        others = [name for name in settings.settings() if name not in SWITCHES]
        settings.param.watch(lambda *_: self._clear(), others)
        settings.param.watch(lambda *_: self._show(), list(SWITCHES))

    def use(self, data: CityData) -> None:
        """Begin anew on another city."""
        super().use(data)
        self.where.use(data)
        self._clear()

    def close(self) -> None:
        """Stop drawing."""
        self.running.close()

    def start(self) -> None:
        """Draw previews and treat each in all eight ways."""
        data, settings = self.ready(), self.settings.copy()
        true = self._true()

        def work(progress: Any, cancel: Any) -> Found:
            made = mechanism(settings.mechanism)(epsilon=settings.epsilon)
            cells = cells_of(settings.box, data.grid)
            drawn: Any = np.random.default_rng(0xB1A5).integers(2**62, size=settings.runs)
            seeds = [int(each) for each in drawn]
            found = effects(made, data.matrix, cells, seeds, cancel=cancel, progress=progress)
            return Found(settings, true, found)

        self.running.start(work)

    def _true(self) -> float:
        data = self.ready()
        return float(queries.exact(data.matrix, [on_map(self.settings.box, data.grid)])[0])

    def _clear(self) -> None:
        if self.data is None:
            return
        self.running.reset()
        self.found = None
        self._chart.visible = self._key.visible = False
        put(self.figures, "")
        put(self.twin, "")
        self.say(f"Truly {self._true():,.0f} people are in the region.")

    def _finished(self, found: Found) -> None:
        self.found = found
        self._show()

    def _show(self) -> None:
        found = self.found
        if found is None:
            return
        chosen = Treatment(*(bool(getattr(self.settings, name)) for name in SWITCHES))
        at = TREATMENTS.index(chosen)
        effect = found.effects[at]
        spoken = sentence(found, effect)
        self.say(spoken)
        names = [title(each.treatment) for each in found.effects]
        self.chart.show(
            names,
            np.array([each.bias for each in found.effects]),
            np.array([each.error for each in found.effects]),
            at,
            spoken,
        )
        self._chart.visible = self._key.visible = True
        put(
            self.figures,
            figures_strip(
                [
                    ("True count", f"{found.true:,.0f}"),
                    ("Bias", signed(effect.bias)),
                    ("Standard error", f"{effect.error:,.0f}"),
                    ("Mean error of a leaf", number(effect.leaf_error)),
                ]
            ),
        )
        put(self.twin, _table(found, at))


def title(treatment: Treatment) -> str:
    """A treatment in a few words."""
    names = [
        str(Postprocessing.param[name].label).lower()
        for name in SWITCHES
        if getattr(treatment, name)
    ]
    return " + ".join(names) if names else "nothing"


def sentence(found: Found, effect: Effect) -> str:
    """What the chosen treatment does to the region and to single leaves, in words."""
    plain = found.effects[0]
    share = (
        f" ({signed(100 * effect.bias / found.true, 1)} % of the truth)" if found.true > 0 else ""
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
        f"Over {found.settings.runs:,} previews {done}, the region comes "
        f"out {signed(effect.bias)} people off on average{share}, ± {effect.error:,.0f} (standard "
        f"error): {kind}. {leaf}."
    )


def _table(found: Found, at: int) -> str:
    rows = [
        [
            Cell(title(each.treatment), best=i == at),
            Cell(signed(each.bias), f"± {each.error:,.0f}"),
            Cell(f"{each.sd:,.0f}"),
            Cell(number(each.leaf_error)),
        ]
        for i, each in enumerate(found.effects)
    ]
    columns = [
        ("done to the counts", "in this order"),
        ("bias of the region", "mean of private minus true, with its standard error"),
        ("spread", "standard deviation of the region's answer"),
        ("error of a leaf", "mean absolute error of a leaf's count"),
    ]
    return table("All ways on the same previews", columns, rows)
