"""Empty cells: how many of a trip matrix no one is in, and what noise does there."""

from __future__ import annotations

import numpy as np
import panel as pn

from explorer.app.curator.setting_fields import EPSILONS
from explorer.app.kit.html import put
from explorer.app.kit.prose import column, pane
from explorer.app.learn.emptiness_look import Looked, look
from explorer.app.learn.emptiness_sentences import (
    alone_sentence,
    box_sentence,
    figures,
    sentence,
    thresholds,
)
from explorer.app.learn.experiment import explained
from explorer.app.learn.travels import TripsExperiment
from explorer.views.teaching.frame import FIRST, SECOND, TRUTH
from explorer.views.teaching.growing import GrowingChart
from explorer.views.teaching.kept import KeptChart
from explorer.views.teaching.slices import SlicePair

PLACES = {"one place": 1, "from, to": 2, "from, via, to": 3}
_FROM = {
    1: ("Where trips begin", "the same with noise on every cell"),
    2: ("Where trips from one cell go", "the same with noise on every cell"),
    3: ("Where trips from one cell via another go", "the same with noise on every cell"),
}


class EmptinessExperiment(TripsExperiment):
    """Sliders, two maps of the same cells, two charts, a table of thresholds."""

    title = "Noise in cells that nobody is in"
    ANOTHER = "Another trip"
    look = staticmethod(look)

    def build(self) -> None:
        """Controls, maps, charts."""
        controls = self.controls
        self.pair, self.kept, self.boxes = SlicePair(), KeptChart(), GrowingChart()
        self.figures, self.notes, self.box, self.alone = (pane(margin=(4, 0)) for _ in range(4))
        self.twin = pane()
        self._titles = [pane(margin=(0, 0, 2, 0)), pane(margin=(8, 0, 2, 0))]
        maps = [
            pn.pane.Bokeh(figure, sizing_mode="scale_width", aspect_ratio=1, margin=0)
            for figure in self.pair.figures
        ]
        about = '<p class="quiet">Ring: one trip. Pink: a box about it. Dark: 0 or less.</p>'
        self._maps = column(
            self._titles[0],
            maps[0],
            self._titles[1],
            maps[1],
            pane(about, margin=(4, 0)),
            margin=(0, 20, 8, 0),
            styles={"flex": "1 1 260px", "max-width": "300px"},
        )
        counts = explained(
            [
                (SECOND, "line", "empty cells that show so much, expected"),
                (FIRST, "line", "cells with trips"),
                (TRUTH, "dash", "the highest empty cell"),
            ],
            self.kept.figure,
        )
        sums = explained(
            [
                (SECOND, "line", "noise in the box (standard deviation)"),
                (FIRST, "line", "trips in the box"),
                (TRUTH, "dash", "the pink box"),
            ],
            self.boxes.figure,
        )
        self._pictures = self._maps, counts, sums
        self._picture(visible=False)
        self.lay_out(
            self._maps,
            [
                [
                    controls.select("places", PLACES, 250),
                    controls.steps("cells"),
                    controls.steps("epsilon", EPSILONS),
                ],
                [controls.steps("wide"), *self.buttons()],
            ],
            [
                self.notes,
                self.said,
                self.figures,
                counts,
                self.box,
                sums,
                self.twin,
                self.alone,
            ],
        )

    def show(self, result: Looked) -> None:
        """Show both maps, both charts and what they say in words."""
        spoken = sentence(result)
        self.say(spoken)
        put(self.notes, result.notes)
        put(self.figures, figures(result))
        box = box_sentence(result)
        put(self.box, f'<p class="finding">{box}</p>')
        for title, text in zip(self._titles, _FROM[result.places], strict=True):
            part = "" if result.slice.whole else ", part of the map"
            put(title, f'<p class="quiet">{text}{part}</p>')
        self._picture(visible=True)
        self._show_maps(result)
        self._show_charts(result, spoken, box)
        put(self.twin, thresholds(result))
        put(self.alone, f"<p>{alone_sentence(result)}</p>")

    def _picture(self, *, visible: bool) -> None:
        """Nothing is drawn before there is something to be seen."""
        for picture in self._pictures:
            picture.visible = visible

    def _show_maps(self, result: Looked) -> None:
        true, corner = result.slice.true, np.array(result.slice.corner)
        size = np.array(true.shape)
        place = (np.array(result.cell[-2:]) - corner + 0.5) / size
        low, high = ((edge[-2:] - corner) / size for edge in (result.lower, result.upper))
        occupied = int((true > 0).sum())
        first, second = _FROM[result.places]
        spoken = (
            f"{first}: {occupied:,} of {true.size:,} cells are occupied",
            f"{second}: {int((result.noisy > 0).sum()):,} of them show more than 0",
        )
        self.pair.show(
            true,
            result.noisy,
            (float(place[1]), float(place[0])),
            (float(low[1]), float(low[0]), float(high[1]), float(high[0])),
            spoken,
        )

    def _show_charts(self, result: Looked, text: str, box: str) -> None:
        epsilon, occupancy = result.settings.epsilon, result.occupancy
        highest = occupancy.highest_false(epsilon)
        last = max(1.6 * highest, 1.2 * occupancy.largest, 10)
        k = np.unique(np.geomspace(1, last, 90).round())
        self.kept.show(
            k,
            occupancy.false_from(k, epsilon),
            occupancy.true_from(k, epsilon),
            highest,
            text,
        )
        boxes = result.boxes
        self.boxes.show(boxes.sides, boxes.trips, boxes.noise(epsilon), result.side, box)
