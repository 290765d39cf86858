"""Dividing cells: which of a level are worth it, by a chosen H, and by what sums show."""

from __future__ import annotations

import numpy as np
import panel as pn

from explorer.app.curator.setting_fields import EPSILONS
from explorer.app.kit.html import put
from explorer.app.kit.prose import column, pane
from explorer.app.learn.examples import ExamplesExperiment
from explorer.app.learn.experiment import explained
from explorer.app.learn.refinement_look import Refined, look
from explorer.app.learn.refinement_sentences import (
    cell_sentence,
    figures,
    measured_sentence,
    rules,
    sentence,
)
from explorer.releases.quarters import separate
from explorer.teaching.refinement import (
    DEEPEST,
    PAPER_K,
    SHALLOWEST,
    as_map,
    by_people,
    threshold,
)
from explorer.views.teaching.frame import FIRST, SECOND, TRUTH
from explorer.views.teaching.lots import LEAST, LevelsChart
from explorer.views.teaching.refined import RefinedPair, UnevennessChart

_TITLES = ("People, by quarters of cells", "What is released; pink: divided")


class RefinementExperiment(ExamplesExperiment):
    """Sliders, two maps, H by level, noise against threshold by level, a table of rules."""

    title = "Cells of one level, divided or left whole"
    ANOTHER = "Another cell"
    COUNTING = "The people are being asked."
    look = staticmethod(look)

    def build(self) -> None:
        """Controls, maps, charts."""
        controls = self.controls
        self.pair, self.unevenness = RefinedPair(), UnevennessChart(DEEPEST)
        self.levels = LevelsChart(DEEPEST - 1, SHALLOWEST, "level of the cells", "people")
        self.figures, self.cell, self.measured = (pane(margin=(4, 0)) for _ in range(3))
        self.rules = pane(margin=(6, 0))
        maps = [
            part
            for figure, title in zip(self.pair.figures, _TITLES, strict=True)
            for part in (
                pane(f'<p class="quiet">{title}</p>', margin=(4, 0, 2, 0)),
                pn.pane.Bokeh(figure, sizing_mode="scale_width", aspect_ratio=1, margin=0),
            )
        ]
        self._maps = column(
            *maps,
            pane('<p class="quiet">Ring: one cell. Dark: nobody, or below 0.</p>', margin=(4, 0)),
            margin=(0, 20, 8, 0),
            styles={"flex": "1 1 260px", "max-width": "300px"},
        )
        h = explained(
            [
                (FIRST, "dot", "as it is"),
                (SECOND, "dot", "as the noisy sums show it"),
                (TRUTH, "dash", "your H"),
            ],
            self.unevenness.figure,
        )
        levels = explained(
            [
                (FIRST, "dot", "people of a cell: where the middle half of people live"),
                (SECOND, "line", "dividing pays from here on, by the measured H"),
                (LEAST, "line", "Eq. 6: 2 σ"),
            ],
            self.levels.figure,
        )
        self._pictures = self._maps, h, levels
        # Nothing is drawn before there is something to be seen.
        self._picture(visible=False)
        self.lay_out(
            self._maps,
            [
                [
                    controls.steps("people"),
                    controls.steps("epsilon", EPSILONS),
                    controls.steps("level"),
                    controls.steps("unevenness"),
                ],
                [*self.buttons()],
            ],
            [self.said, self.figures, self.cell, self.rules, self.measured, h, levels],
        )

    def show(self, result: Refined) -> None:
        """Show both maps, both charts and what they say in words."""
        text = sentence(result)
        self.say(text)
        put(self.figures, figures(result))
        put(self.cell, f'<p class="finding">{cell_sentence(result)}</p>')
        put(self.measured, f'<p class="finding">{measured_sentence(result)}</p>')
        put(self.rules, rules(result))
        self._picture(visible=True)
        self._show_maps(result)
        self._show_charts(result)

    def _picture(self, *, visible: bool) -> None:
        for picture in self._pictures:
            picture.visible = visible

    def _show_maps(self, result: Refined) -> None:
        level, divided = result.level, result.yours
        spread = np.repeat(level.noisy / 4, 4)
        released = np.where(np.repeat(divided, 4), result.asked.noisy[level.number + 1], spread)
        cols, rows = separate(np.flatnonzero(divided))
        col, row = separate(np.array([result.example]))
        side = 2**level.number
        number, cells = int(divided.sum()), len(divided)
        spoken = (
            f"{_TITLES[0]}: of {result.asked.people:,} people in {4 * cells:,} quarters",
            f"What is released: {number:,} of {cells:,} cells are divided",
        )
        self.pair.show(
            as_map(level.quarters.ravel()).astype(np.float64),
            as_map(released).astype(np.float64),
            np.column_stack([rows, cols]),
            side,
            (float(col[0] + 0.5) / side, float(row[0] + 0.5) / side),
            spoken,
        )

    def _show_charts(self, result: Refined) -> None:
        answers, h = result.asked, result.settings.unevenness
        at = np.arange(1, answers.depth + 1)
        self.unevenness.show(
            at, answers.truth, answers.measured[1:], h, f"Unevenness by level. {sentence(result)}"
        )
        levels = [
            answers.level(k) for k in range(min(SHALLOWEST, answers.depth - 1), answers.depth)
        ]
        # Weighted by people: in how full a cell they live.
        quantiles = [by_people(entry.true, (0.25, 0.5, 0.75)) for entry in levels]
        self.levels.show(
            [level.number for level in levels],
            np.array(quantiles).T,
            np.array([threshold(level.forecast, level.sd) for level in levels]),
            np.array([PAPER_K * level.sd for level in levels]),
            f"People of a cell and thresholds by level. {measured_sentence(result)}",
        )
