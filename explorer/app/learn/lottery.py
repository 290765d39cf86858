"""Blind cuts: what the trips paper's private choice of cuts has to choose from, and sees."""

from __future__ import annotations

from typing import Any

import numpy as np

from explorer.app.curator.setting_fields import EPSILONS
from explorer.app.kit import ui
from explorer.app.kit.html import put
from explorer.app.kit.prose import pane
from explorer.app.learn.experiment import explained
from explorer.app.learn.lottery_look import Played, play
from explorer.app.learn.lottery_sentences import (
    AXES,
    by_cut,
    candidates,
    figures,
    gain_sentence,
    sentence,
)
from explorer.app.learn.travels import TripsExperiment
from explorer.views.tables import details
from explorer.views.teaching.frame import FIRST, SECOND, TRUTH
from explorer.views.teaching.lots import LEAST, CostsChart, LevelsChart, WinsChart


class LotteryExperiment(TripsExperiment):
    """Sliders, the candidates of one box, who wins how often, and all cuts in one chart."""

    title = "One choice of cuts, played many times"
    ANOTHER = "Another box"
    look = staticmethod(play)

    def build(self) -> None:
        """Controls and charts."""
        controls = self.controls
        self.costs, self.wins, self.levels = CostsChart(), WinsChart(), LevelsChart(len(AXES))
        self.notes, self.figures, self.gain = (pane(margin=(4, 0)) for _ in range(3))
        self.by_cut, self.twin = pane(margin=(6, 0)), pane()
        cuts = {f"{i + 1}: {axis}": i + 1 for i, axis in enumerate(AXES)}
        self._pair = ui.wrapping(
            _half(
                [
                    (FIRST, "dot", "true cost"),
                    (SECOND, "dot", "with noise, one draw"),
                    (TRUTH, "dot", "ring: it wins this time"),
                ],
                self.costs.figure,
            ),
            _half(
                [
                    (SECOND, "area", "the paper's choice"),
                    (LEAST, "area", "noisy-min"),
                    (TRUTH, "dash", "a lottery"),
                ],
                self.wins.figure,
            ),
            gap="8px 24px",
        )
        self._rest = explained(
            [
                (FIRST, "dot", "range of the true costs: median, and middle half of boxes"),
                (SECOND, "line", "noise on each cost, the paper"),
                (LEAST, "line", "noise of noisy-min"),
            ],
            self.levels.figure,
            margin=(10, 0, 0, 0),
        )
        # Nothing is drawn before there is something to be seen.
        self._pair.visible = self._rest.visible = False
        self.lay_out(
            None,
            [
                [controls.steps("epsilon", EPSILONS), controls.steps("q"), controls.steps("p")],
                [controls.select("cut", cuts, 270), *self.buttons()],
            ],
            [
                self.notes,
                self.said,
                self.figures,
                self._pair,
                self.gain,
                self._rest,
                self.by_cut,
                self.twin,
            ],
        )

    def show(self, result: Played) -> None:
        """Show the candidates of one box and who wins, if there are any, and all cuts."""
        text = sentence(result)
        self.say(text)
        put(self.notes, result.notes)
        chosen = result.level is not None
        self._pair.visible = chosen
        put(self.figures, figures(result) if chosen else "")
        put(self.gain, f'<p class="finding">{gain_sentence(result)}</p>' if chosen else "")
        put(self.twin, details("Numbers of the candidates", candidates(result)) if chosen else "")
        if chosen:
            self.costs.show(result.true, result.noisy, f"True and noisy costs. {text}")
            self.wins.show(result.paper, result.least, f"Who wins how often. {text}")
        self._rest.visible = True
        at = [i for i, level in enumerate(result.seen.levels) if level is not None]
        there = [level for level in result.seen.levels if level is not None]
        ranges = np.array(
            [np.quantile(level_seen.ranges, [0.25, 0.5, 0.75]) for level_seen in there]
        )
        self.levels.show(
            [i + 1 for i in at],
            ranges.reshape(-1, 3).T,
            np.array([level_seen.noise for level_seen in there]),
            np.array([level_seen.noise_of_least for level_seen in there]),
            f"Range of true costs and noise by cut. {text}",
        )
        put(self.by_cut, by_cut(result))


def _half(entries: list[tuple[str, str, str]], figure: Any) -> Any:
    part = explained(entries, figure)
    part.styles = {"flex": "1 1 360px", "min-width": "0"}
    return part
