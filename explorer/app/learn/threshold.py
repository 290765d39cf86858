"""Thresholding is not privacy: hide small counts, and subtract them back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.palettes import Cividis256
from numpy.typing import NDArray

from explorer.app.curator.data import CityData
from explorer.app.curator.place_picker import PIXELS
from explorer.app.kit.html import put
from explorer.app.kit.prose import pane, quiet, text_table
from explorer.app.kit.words import sentence
from explorer.app.learn.experiment import LiveExperiment
from explorer.errors import InputError
from explorer.mechanisms import Identity
from explorer.points.matrix import FrequencyMatrix
from explorer.teaching import thresholds
from explorer.teaching.places import cell_of, part_of
from explorer.teaching.thresholds import Days, Difference
from explorer.views import palette
from explorer.views.markup import figures_strip
from explorer.views.series import SKY, VIOLET
from explorer.views.tables import Cell

#: A hidden cell is striped: no colour alone is unlike all those of the scale, whose middle is grey.
HIDDEN = ("#2b323a", "#aeb8c4")
#: Pixels from stripe to stripe.
STRIPE = 6
COLOURS = (*HIDDEN, *Cividis256[2:])
LARGER, SMALLER = SKY, VIOLET
WAYS = {"Two overlapping boxes": "overlap", "Two days": "days"}


@dataclass(frozen=True, eq=False)
class Foiled:
    """A threshold map and what subtracting gave away.

    Boxes are in cells of the coarse map; ``edges`` of its rows and columns lead back to the grid.
    """

    data: CityData
    settings: Any
    counts: NDArray[np.int64]
    edges: tuple[NDArray[np.int64], NDArray[np.int64]]
    shown: NDArray[np.float64]
    cell: tuple[int, int]
    hidden: int
    given_away: int
    difference: Difference | None
    days: Days | None
    no_days: str
    private: tuple[float, float, float]

    def box(self, cells: NDArray[np.int64]) -> NDArray[np.float64]:
        """A box of coarse cells, (2, 2) lower and upper, in the grid's unit, (4,)."""
        fine = np.stack([self.edges[0][cells[:, 0]], self.edges[1][cells[:, 1]]], axis=1)
        return self.data.grid.from_cells(fine[None])[0]

    def of_cell(self, cell: tuple[int, int]) -> NDArray[np.float64]:
        """One coarse cell in the grid's unit, (4,)."""
        return self.box(np.add([cell, cell], [[0], [1]]))


def foil(data: CityData, settings: Any) -> Foiled:
    """Publish the threshold map, attack it, and ask a private map the same."""
    counts, *edges = thresholds.coarse(data.matrix.counts, settings.cells)
    row, col = (
        int(np.searchsorted(along, at, "right")) - 1
        for along, at in zip(edges, cell_of(settings.place, data.grid), strict=True)
    )
    ask = thresholds.service(counts, settings.k)
    published = thresholds.published(ask, counts.shape)
    gone = np.isnan(published)
    away = np.isfinite(thresholds.differences(ask, counts.shape))
    difference = thresholds.difference(ask, counts.shape, (row, col))
    days, no_days = None, ""
    try:
        days = thresholds.two_days(counts, settings.k, (row, col))
    except InputError as error:
        no_days = str(error)
    return Foiled(
        *(data, settings, counts, (edges[0], edges[1]), published, (row, col)),
        *(int(gone.sum()), int((gone & away).sum()), difference, days, no_days),
        _private(counts, settings.epsilon, (row, col), difference),
    )


def _private(
    counts: NDArray[np.int64], epsilon: float, cell: tuple[int, int], difference: Difference | None
) -> tuple[float, float, float]:
    """Answers of a private map to the larger and the smaller box, and the noise of one cell."""
    release = Identity(epsilon=epsilon).release(FrequencyMatrix.from_array(counts), rng=1)
    cell_box = np.add([cell, cell], [[0], [1]])
    pair = [cell_box] * 2 if difference is None else [difference.larger, difference.smaller]
    answers = release.answer(release.grid.from_cells([*pair, cell_box]))
    return float(answers.value[0]), float(answers.value[1]), float(answers.sd[2])


class ThresholdExperiment(LiveExperiment):
    """A map with striped cells, two boxes on it, a subtraction, and a private map next to it."""

    title = "A map that hides small counts"
    look = staticmethod(foil)

    def build(self) -> None:
        """Controls, map, tables."""
        controls = self.controls
        self.where = self.choose(place=True)
        self.found: Foiled | None = None
        self.tables, self.figures, self.contrast = pane(), pane(margin=(4, 0)), pane(margin=(10, 0))
        self._picks = 0
        sides = {f"{number} × {number}": number for number in (16, 32, 64, 128)}
        row = [
            controls.whole("k", 130),
            controls.select("cells", sides, 150),
            controls.select("attack", WAYS, 220),
            controls.number("epsilon", 180, "Epsilon of the private map"),
            self.button("Another hidden cell", self.pick, strong=True),
        ]
        result = [self.said, self.figures, self.tables, self.contrast]
        self.lay_out(self.where.view, [row], result)

    def pick(self) -> None:
        """Go to another cell worth attacking: for two days, one that is just published."""
        if self.found is None:
            return
        self._picks += 1
        # By the settings as they are now: the picture of the last change may be on its way.
        place = good_place(self.found, self.settings, self._picks)
        if place is None:
            self.refused("There is no such cell on this map: choose another threshold.")
        else:
            self.settings.put(place=place)

    def show(self, result: Foiled) -> None:
        """Show the map with its hidden cells, and what subtracting gives away."""
        assert self.where.map is not None
        self.found = result
        k, hidden, size = result.settings.k, f"{result.hidden:,}", f"{result.counts.size:,}"
        spoken = (
            f"Threshold map of {result.data.title}: {hidden} of {size} "
            f"cells are hidden because they hold fewer than {k}"
        )
        self.where.map.show(_picture(result), spoken, COLOURS)
        put(self.where.caption, quiet(f"Striped cells are hidden: fewer than {k} people."))
        strip = [
            ("Cells", size),
            ("Hidden", hidden),
            ("Given away all the same", f"{result.given_away:,}"),
            ("True count of this cell", f"{result.counts[result.cell]:,}"),
        ]
        put(self.figures, figures_strip(strip))
        overlap = result.settings.attack == "overlap"
        boxes, text, table = _overlap(result) if overlap else _days(result)
        self.where.further(boxes)
        self.say(text)
        put(self.tables, table)
        contrast = ""
        if not overlap or result.difference is not None:
            heading = "A private map of two boxes" if overlap else "A private map of two days"
            epsilon = result.settings.epsilon
            values = {"epsilon": epsilon, "answers": result.private, "odds": np.exp(2 * epsilon)}
            contrast = f'<p class="finding">{sentence("learn", heading, **values)}</p>'
        put(self.contrast, contrast)


def good_place(result: Foiled, settings: Any, number: int) -> tuple[float, float] | None:
    """The place of a cell worth attacking, another for each number; None if there is none."""
    if settings.attack == "overlap":
        worth = (result.counts < settings.k) & (result.counts > 0)
    else:
        worth = result.counts == settings.k
    cells = np.argwhere(worth)
    if not len(cells):
        return None
    row, col = (int(cell) for cell in cells[number * 7919 % len(cells)])
    x0, y0, x1, y1 = result.of_cell((row, col))
    return part_of((x0 + x1) / 2, (y0 + y1) / 2, result.data.grid)


def _picture(result: Foiled) -> NDArray[np.uint8]:
    """Bytes of the published map, (pixels, pixels): 0 and 1 are stripes, then logarithmic."""
    # As many pixels as the screen has: stripes of blurred pixels would be grey.
    cells = np.ix_(
        *(
            np.searchsorted(edges, (np.arange(PIXELS) + 0.5) / PIXELS * side, "right") - 1
            for edges, side in zip(result.edges, result.data.grid.shape, strict=True)
        )
    )
    top = np.log1p(max(float(result.counts.max()), 1.0))
    level = 2 + 253 * np.log1p(np.nan_to_num(result.shown)) / top
    published = level.astype(np.uint8)[cells]
    y, x = np.indices(published.shape)
    stripes = ((x + y) % STRIPE < STRIPE // 3).astype(np.uint8)
    return np.where(np.isnan(result.shown)[cells], stripes, published)


def _overlap(result: Foiled) -> tuple[list[Any], str, str]:
    """Boxes for the map, sentence, and table of the overlapping boxes."""
    k, true = result.settings.k, int(result.counts[result.cell])
    cell_box = (result.of_cell(result.cell), palette.HOVER, False)
    pair = result.difference
    if pair is None:
        return [cell_box], sentence("learn", "No two strips"), ""
    boxes = [
        (result.box(pair.larger), LARGER, False),
        (result.box(pair.smaller), SMALLER, True),
        cell_box,
    ]
    hidden = np.isnan(result.shown[result.cell])
    values = {"hidden": hidden, "answers": pair.answers, "count": pair.count, "truth": true}
    sizes = [f"{int(np.prod(box[1] - box[0])):,}" for box in (pair.larger, pair.smaller)]
    with_cell, without = (f"{answer:,.0f}" for answer in pair.answers)
    rows: list[list[str | Cell]] = [
        ["Box with the cell", sizes[0], with_cell],
        ["Box without it", sizes[1], without],
        ["The cell itself", "1", f"hidden (below {k})" if hidden else f"{true:,}"],
        ["Difference", "1", Cell(f"{pair.count:,}", best=True)],
    ]
    columns = {
        "asked": "boxes on the map",
        "cells": "in the box",
        "published": "by the threshold map",
    }
    table = text_table("What the threshold map says", columns, rows)
    return boxes, sentence("learn", "Two published boxes", **values), table


def _days(result: Foiled) -> tuple[list[Any], str, str]:
    """Boxes for the map, sentence, and table of two days."""
    days, k = result.days, result.settings.k
    start = (result.of_cell(result.cell), palette.HOVER, False)
    if days is None:
        return [start], result.no_days, ""
    heading = "Published both days"
    if days.hidden is not None:
        heading = "Vanished overnight"
    elif np.isnan(days.before[0]):
        heading = "Hidden both days"
    true, size = int(result.counts[days.start]) - 1, result.counts.size
    text = sentence("learn", heading, days=days, k=k, truth=true, cells=size)
    rows = [
        [name, *(f"hidden (below {k})" if np.isnan(n) else f"{n:,.0f}" for n in counts)]
        for name, *counts in zip(
            ("This cell", "The cell moved to"), days.before, days.after, strict=True
        )
    ]
    columns = {
        "cell": "yellow and blue on the map",
        "yesterday": "published",
        "today": "published",
    }
    end = (result.of_cell(days.end), LARGER, False)
    return [start, end], text, text_table("Two daily maps", columns, rows)
