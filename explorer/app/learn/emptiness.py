"""Empty cells: how many of a trip matrix nobody is in, and what noise does there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import panel as pn
from numpy.typing import NDArray

from explorer.app.curator.data import CityData
from explorer.app.curator.setting_fields import EPSILONS
from explorer.app.kit.html import put
from explorer.app.kit.prose import chart_pane, column, pane
from explorer.app.kit.words import words
from explorer.app.learn.experiment import Experiment
from explorer.app.learn.travels import counts_of, journeys_of, notes_of
from explorer.app.work.document import when_loaded
from explorer.app.work.job import Job
from explorer.teaching.emptiness import (
    Growing,
    Occupancy,
    Slice,
    box_about,
    growing,
    slice_of,
    some_trip,
)
from explorer.views.markup import figures_strip
from explorer.views.tables import Cell, table
from explorer.views.teaching.frame import FIRST, SECOND, TRUTH, legend
from explorer.views.teaching.growing import GrowingChart
from explorer.views.teaching.kept import KeptChart
from explorer.views.teaching.slices import SlicePair

PLACES = {"one place": 1, "from, to": 2, "from, via, to": 3}
#: How many false cells a table may keep, row by row.
ALLOWED = (1, 10, 100, 1000)
_FROM = {
    1: ("Where trips begin", "the same with noise on every cell"),
    2: ("Where trips from one cell go", "the same with noise on every cell"),
    3: ("Where trips from one cell via another go", "the same with noise on every cell"),
}


@dataclass(frozen=True, eq=False)
class Looked:
    """What the settings lead to."""

    data: CityData
    settings: Any
    notes: str
    places: int
    occupancy: Occupancy
    cell: tuple[int, ...]
    boxes: Growing
    slice: Slice
    noisy: NDArray[np.int64]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    side: int


def look(data: CityData, settings: Any, trip: int, seed: int) -> Looked:
    """Count the cells, choose a trip, grow boxes about it, put noise on its slice."""
    matrix = counts_of(data.city[0], settings.places, settings.cells)
    cell = some_trip(matrix, trip)
    part, side = slice_of(matrix, cell), min(settings.wide, settings.cells)
    lower, upper = box_about(matrix, cell, side)
    return Looked(
        data,
        settings,
        notes_of(journeys_of(data.city[0]), settings.places),
        len(cell) // 2,
        Occupancy.of(matrix),
        cell,
        growing(matrix, cell),
        part,
        part.noisy(settings.epsilon, seed),
        lower,
        upper,
        side,
    )


class EmptinessExperiment(Experiment):
    """Sliders, two maps of the same cells, two charts, a table of thresholds."""

    title = "Noise in cells that nobody is in"

    def build(self) -> None:
        """Controls, maps, charts."""
        settings, controls = self.settings, self.controls
        self._trip = self._seed = 0
        self.worker = Job(
            lambda asked: look(*asked),
            self._show,
            self.refused,
            take=lambda: (self.ready(), settings.copy(), self._trip, self._seed),
        )
        self.pair, self.kept, self.boxes = SlicePair(), KeptChart(), GrowingChart()
        self.figures, self.notes, self.box, self.alone = (pane(margin=(4, 0)) for _ in range(4))
        self.twin = pane()
        self._titles = [pane(margin=(0, 0, 2, 0)), pane(margin=(8, 0, 2, 0))]
        maps = [
            pn.pane.Bokeh(each, sizing_mode="scale_width", aspect_ratio=1, margin=0)
            for each in self.pair.figures
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
        counts = _explained(
            [
                (SECOND, "line", "empty cells that show so much, expected"),
                (FIRST, "line", "cells with trips"),
                (TRUTH, "dash", "the highest empty cell"),
            ],
            self.kept.figure,
        )
        sums = _explained(
            [
                (SECOND, "line", "noise in the box (standard deviation)"),
                (FIRST, "line", "trips in the box"),
                (TRUTH, "dash", "the pink box"),
            ],
            self.boxes.figure,
        )
        self._pictures = self._maps, counts, sums
        self._look(visible=False)
        self.lay_out(
            self._maps,
            [
                [
                    controls.select("places", PLACES, 250),
                    controls.steps("cells"),
                    controls.steps("epsilon", EPSILONS),
                ],
                [
                    controls.steps("wide"),
                    self.button("Another trip", self.another, strong=True),
                    self.button("New noise", self.again),
                ],
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
        settings.param.watch(lambda *_: self._changed(), settings.settings())

    def use(self, data: CityData) -> None:
        """Count the city's trips."""
        super().use(data)
        self.say("The trips are being counted.")
        when_loaded(self.worker.ask)

    def close(self) -> None:
        """Stop the worker."""
        self.worker.close()

    def another(self) -> None:
        """Look at another trip."""
        self._trip += 1
        self._changed()

    def again(self) -> None:
        """Draw other noise."""
        self._seed += 1
        self._changed()

    def _changed(self) -> None:
        if self.data is not None:
            self.worker.ask()

    def _show(self, found: Looked) -> None:
        if found.data is not self.data:
            return
        said = sentence(found)
        self.say(said)
        put(self.notes, found.notes)
        put(self.figures, _figures(found))
        box = box_sentence(found)
        put(self.box, f'<p class="finding">{box}</p>')
        for shown, text in zip(self._titles, _FROM[found.places], strict=True):
            part = "" if found.slice.whole else ", part of the map"
            put(shown, f'<p class="quiet">{text}{part}</p>')
        self._look(visible=True)
        self._show_maps(found)
        self._show_charts(found, said, box)
        put(self.twin, thresholds(found))
        occupancy = found.occupancy
        words_ = words("learn")["Noise on occupied cells alone"]
        told = words_.format(occupied=big(occupancy.occupied), single=big(occupancy.single))
        put(self.alone, f"<p>{told}</p>")

    def _look(self, *, visible: bool) -> None:
        """Nothing is drawn before there is something to be seen."""
        for each in self._pictures:
            each.visible = visible

    def _show_maps(self, found: Looked) -> None:
        true, corner = found.slice.true, np.array(found.slice.corner)
        size = np.array(true.shape)
        place = (np.array(found.cell[-2:]) - corner + 0.5) / size
        low, high = ((edge[-2:] - corner) / size for edge in (found.lower, found.upper))
        occupied = int((true > 0).sum())
        first, second = _FROM[found.places]
        spoken = (
            f"{first}: {occupied:,} of {true.size:,} cells are occupied",
            f"{second}: {int((found.noisy > 0).sum()):,} of them show more than 0",
        )
        self.pair.show(
            true,
            found.noisy,
            (float(place[1]), float(place[0])),
            (float(low[1]), float(low[0]), float(high[1]), float(high[0])),
            spoken,
        )

    def _show_charts(self, found: Looked, said: str, box: str) -> None:
        epsilon, occupancy = found.settings.epsilon, found.occupancy
        highest = occupancy.highest_false(epsilon)
        last = max(1.6 * highest, 1.2 * occupancy.largest, 10)
        k = np.unique(np.geomspace(1, last, 90).round())
        self.kept.show(
            k,
            occupancy.false_from(k, epsilon),
            occupancy.true_from(k, epsilon),
            highest,
            said,
        )
        boxes = found.boxes
        self.boxes.show(boxes.sides, boxes.trips, boxes.noise(epsilon), found.side, box)


def _explained(entries: list[tuple[str, str, str]], figure: Any) -> Any:
    """A chart below what its colours stand for."""
    return column(pane(legend(entries)), chart_pane(figure))


def big(number: float) -> str:
    """A number as people read it: 16,777,216, and from 10^10 on 1.1 × 10¹².

    >>> big(16777216), big(2**40)
    ('16,777,216', '1.1 × 10¹²')
    """
    if number < 1e10:
        return f"{number:,.0f}"
    digits, power = f"{number:.1e}".split("e+")
    raised = str(int(power)).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{digits} × 10{raised}"


def sentence(found: Looked) -> str:
    """Cells, those with trips, and how high noise reaches, in words."""
    occupancy, epsilon = found.occupancy, found.settings.epsilon
    highest = occupancy.highest_false(epsilon)
    above = occupancy.standing_above(highest)
    return words("learn")["Empty cells"].format(
        cells=big(occupancy.cells),
        occupied=big(occupancy.occupied),
        oneof=big(occupancy.cells / max(occupancy.occupied, 1)),
        epsilon=f"{epsilon:g}",
        highest=f"{highest:,}",
        above=big(above) if above else "None",
    )


def box_sentence(found: Looked) -> str:
    """What the chosen box holds of trips and of noise, in words."""
    at = int(np.searchsorted(found.boxes.sides, found.side))
    noise = float(found.boxes.noise(found.settings.epsilon)[at])
    trips = int(found.boxes.trips[at])
    # Three standard deviations are rarely passed by noise alone.
    verdict = "the noise drowns them" if noise > trips else "they hardly show"
    if trips > 3 * noise:
        verdict = "the trips show through"
    return words("learn")["A box about one trip"].format(
        side=found.side,
        cells=big(float(found.boxes.cells[at])),
        trips=f"{trips:,}",
        noise=f"{noise:,.0f}" if noise >= 10 else f"{noise:.1f}",
        verdict=verdict,
    )


def _figures(found: Looked) -> str:
    occupancy, epsilon = found.occupancy, found.settings.epsilon
    highest = occupancy.highest_false(epsilon)
    low, high = (occupancy.highest_false(epsilon, at) for at in (0.025, 0.975))
    return figures_strip(
        [
            ("Cells", big(occupancy.cells)),
            ("With trips", big(occupancy.occupied)),
            ("Highest empty cell", f"{highest:,}"),
            ("Highest, 95 in 100 draws", f"{low:,} to {high:,}"),
            ("ln(n) / epsilon", f"{np.log(max(occupancy.empty, 1)) / epsilon:,.0f}"),
            ("Fullest true cell", f"{occupancy.largest:,}"),
            ("True cells above", big(occupancy.standing_above(highest))),
        ]
    )


def thresholds(found: Looked) -> str:
    """What is left if cells are published from a noisy count on, as a table."""
    occupancy, epsilon = found.occupancy, found.settings.epsilon
    rows = []
    for false in ALLOWED:
        k = occupancy.threshold(false, epsilon)
        true, trips = (
            float(each(k, epsilon)) for each in (occupancy.true_from, occupancy.trips_from)
        )
        rows.append(
            [
                Cell(f"{k:,} or more"),
                Cell(f"{float(occupancy.false_from(k, epsilon)):,.1f}"),
                Cell(f"{true:,.1f}", f"of {big(occupancy.occupied)}"),
                Cell(f"{100 * trips / max(occupancy.trips, 1):,.1f} %"),
            ]
        )
    columns = [
        ("only noisy counts of", "what is published"),
        ("empty cells kept", "expected"),
        ("cells with trips kept", "expected"),
        ("trips in them", "of all trips"),
    ]
    return table("A table that leaves small noisy counts out", columns, rows)
