"""Empty cells: how many of a trip matrix no one is in, and what noise does there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.app.curator.data import CityData
from explorer.app.curator.setting_fields import EPSILONS
from explorer.app.kit.html import put
from explorer.app.kit.prose import pane, quiet, text_table
from explorer.app.kit.words import sentence
from explorer.app.learn.experiment import (
    ExamplesExperiment,
    counts_of,
    explained,
    journeys_of,
    map_column,
    notes_of,
    square_pane,
)
from explorer.teaching.emptiness import (
    Growing,
    Occupancy,
    Slice,
    box_about,
    growing,
    slice_of,
    some_trip,
)
from explorer.views.figures import FIRST, SECOND, TRUTH
from explorer.views.lesson_charts import GrowingChart, KeptChart
from explorer.views.markup import figures_strip
from explorer.views.small import CountsPair
from explorer.views.tables import Cell

#: How many false cells a table may keep, row by row.
ALLOWED = (1, 10, 100, 1000)
PLACES = {"one place": 1, "from, to": 2, "from, via, to": 3}
#: What the upper map shows, by the number of places of a trip.
_FROM = {
    1: "Where trips begin",
    2: "Where trips from one cell go",
    3: "Where trips from one cell via another go",
}
_NOISY = "the same with noise on every cell"
_ABOUT = "Ring: one trip. Pink: a box about it. Dark: 0 or less."


@dataclass(frozen=True, eq=False)
class Looked:
    """The cells, one trip, boxes about it, and noise on what goes the same way."""

    data: CityData
    epsilon: float
    notes: str
    cell: tuple[int, ...]
    occupancy: Occupancy
    boxes: Growing
    slice: Slice
    noisy: NDArray[np.int64]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    side: int


def look(data: CityData, settings: Any, trip: int, seed: int) -> Looked:
    """Count the cells, choose a trip, grow boxes about it, put noise on its slice."""
    city, epsilon = data.city[0], settings.epsilon
    matrix = counts_of(city, settings.places, settings.cells)
    cell, side = some_trip(matrix, trip), min(settings.wide, settings.cells)
    part = slice_of(matrix, cell)
    return Looked(
        *(data, epsilon, notes_of(journeys_of(city), settings.places), cell),
        *(Occupancy.of(matrix), growing(matrix, cell), part, part.noisy(epsilon, seed)),
        *(*box_about(matrix, cell, side), side),
    )


class EmptinessExperiment(ExamplesExperiment):
    """Sliders, two maps of the same cells, two charts, a table of thresholds."""

    title = "Noise in cells that nobody is in"
    ANOTHER = "Another trip"
    look = staticmethod(look)

    def build(self) -> None:
        """Controls, maps, charts."""
        controls = self.controls
        self.pair, self.kept, self.boxes = CountsPair(2), KeptChart(), GrowingChart()
        self.figures, self.notes, self.box, self.alone = (pane(margin=(4, 0)) for _ in range(4))
        self.twin = pane()
        self._titles = above, below = pane(margin=(0, 0, 2, 0)), pane(margin=(8, 0, 2, 0))
        true, noisy = map(square_pane, self.pair.figures)
        maps = map_column(above, true, below, noisy, pane(quiet(_ABOUT), margin=(4, 0)))
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
        self.pictures = maps, counts, sums
        places = controls.select("places", PLACES, 250)
        upper = [places, controls.steps("cells"), controls.steps("epsilon", EPSILONS)]
        head = [self.notes, self.said, self.figures, counts]
        rest = [self.box, sums, self.twin, self.alone]
        self.lay_out(maps, [upper, [controls.steps("wide"), *self.buttons()]], [*head, *rest])

    def show(self, result: Looked) -> None:
        """Show both maps, both charts and what they say in words."""
        occupancy, epsilon, boxes = result.occupancy, result.epsilon, result.boxes
        highest = occupancy.highest_false(epsilon)
        above = occupancy.standing_above(highest)
        spoken = sentence(
            *("learn", "Empty cells"),
            cells=big(occupancy.cells),
            occupied=big(occupancy.occupied),
            oneof=big(occupancy.cells / max(occupancy.occupied, 1)),
            epsilon=epsilon,
            highest=highest,
            above=big(above) if above else "None",
        )
        at = int(np.searchsorted(boxes.sides, result.side))
        noise, trips = float(boxes.noise(epsilon)[at]), int(boxes.trips[at])
        cells = big(float(boxes.cells[at]))
        measures = {"side": result.side, "cells": cells, "trips": trips, "noise": noise}
        box = sentence("learn", "A box about one trip", **measures)
        alone = {"occupied": big(occupancy.occupied), "single": big(occupancy.single)}
        self.say(spoken)
        put(self.notes, result.notes)
        put(self.figures, figures(occupancy, epsilon, highest))
        put(self.box, f'<p class="finding">{box}</p>')
        put(self.twin, thresholds(occupancy, epsilon))
        put(self.alone, f"<p>{sentence('learn', 'Noise on occupied cells alone', **alone)}</p>")
        self._show_maps(result)
        k = np.unique(np.geomspace(1, max(1.6 * highest, 1.2 * occupancy.largest, 10), 90).round())
        curves = occupancy.false_from(k, epsilon), occupancy.true_from(k, epsilon)
        self.kept.show(k, *curves, highest, spoken)
        self.boxes.show(boxes.sides, boxes.trips, boxes.noise(epsilon), result.side, box)

    def _show_maps(self, result: Looked) -> None:
        title = _FROM[len(result.cell) // 2]
        part = "" if result.slice.whole else ", part of the map"
        for head, text in zip(self._titles, (title, _NOISY), strict=True):
            put(head, quiet(f"{text}{part}"))
        true, corner = result.slice.true, np.array(result.slice.corner)
        place, low, high = (
            ((edge[-2:] - corner + more) / true.shape)[::-1].tolist()
            for edge, more in ((np.array(result.cell), 0.5), (result.lower, 0), (result.upper, 0))
        )
        spoken = (
            f"{title}: {int((true > 0).sum()):,} of {true.size:,} cells are occupied",
            f"{_NOISY}: {int((result.noisy > 0).sum()):,} of them show more than 0",
        )
        box, top = np.array([*low, *high]), max(int(true.max()), int(result.noisy.max()))
        self.pair.show(true, result.noisy, box, tuple(place), spoken, top=top)


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


def figures(occupancy: Occupancy, epsilon: float, highest: int) -> str:
    """Cells, the highest empty one and what is above it, as a strip."""
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


def thresholds(occupancy: Occupancy, epsilon: float) -> str:
    """What is left if cells are published from a noisy count on, as a table."""

    def row(allowed: float) -> list[str | Cell]:
        k = occupancy.threshold(allowed, epsilon)
        false, true = occupancy.false_from(k, epsilon), float(occupancy.true_from(k, epsilon))
        part = 100 * float(occupancy.trips_from(k, epsilon)) / max(occupancy.trips, 1)
        kept = Cell(f"{true:,.1f}", f"of {big(occupancy.occupied)}")
        return [f"{k:,} or more", f"{float(false):,.1f}", kept, f"{part:,.1f} %"]

    columns = {
        "only noisy counts of": "what is published",
        "empty cells kept": "expected",
        "cells with trips kept": "expected",
        "trips in them": "of all trips",
    }
    caption = "A table that leaves small noisy counts out"
    return text_table(caption, columns, map(row, ALLOWED))
