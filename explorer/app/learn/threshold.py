"""Thresholding is not privacy: hide small counts, and subtract them back."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.palettes import Cividis256
from numpy.typing import NDArray

from explorer.app.curator.place_picker import PIXELS
from explorer.app.kit.html import put
from explorer.app.kit.prose import pane
from explorer.app.kit.words import words
from explorer.app.learn.live import LiveExperiment
from explorer.app.learn.threshold_look import Foiled, foil
from explorer.teaching.places import part_of
from explorer.views import palette
from explorer.views.markup import figures_strip
from explorer.views.series import SKY, VIOLET
from explorer.views.tables import Cell, table

#: A hidden cell is striped: no colour alone is unlike all those of the scale, whose middle is grey.
HIDDEN = ("#2b323a", "#aeb8c4")
#: Pixels from stripe to stripe.
STRIPE = 6
COLOURS = (*HIDDEN, *Cividis256[2:])
LARGER, SMALLER = SKY, VIOLET


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
        ways = {"Two overlapping boxes": "overlap", "Two days": "days"}
        sides = {f"{number} × {number}": number for number in (16, 32, 64, 128)}
        self.lay_out(
            self.where.view,
            [
                [
                    controls.whole("k", 130),
                    controls.select("cells", sides, 150),
                    controls.select("attack", ways, 220),
                    controls.number("epsilon", 180, "Epsilon of the private map"),
                    self.button("Another hidden cell", self.pick, strong=True),
                ]
            ],
            [self.said, self.figures, self.tables, self.contrast],
        )

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
        settings = result.settings
        spoken = (
            f"Threshold map of {result.data.title}: {result.hidden:,} of {result.counts.size:,} "
            f"cells are hidden because they hold fewer than {settings.k}"
        )
        self.where.map.show(_picture(result), spoken, COLOURS)
        put(
            self.where.caption,
            f'<p class="quiet">Striped cells are hidden: fewer than {settings.k} people.</p>',
        )
        put(
            self.figures,
            figures_strip(
                [
                    ("Cells", f"{result.counts.size:,}"),
                    ("Hidden", f"{result.hidden:,}"),
                    ("Given away all the same", f"{result.given_away:,}"),
                    ("True count of this cell", f"{result.counts[result.cell]:,}"),
                ]
            ),
        )
        boxes, sentence, table = _overlap(result) if settings.attack == "overlap" else _days(result)
        self.where.further(boxes)
        self.say(sentence)
        put(self.tables, table)
        put(self.contrast, _contrast(result) if settings.attack == "overlap" else _promise(result))


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
    rows, cols = result.data.grid.shape
    # As many pixels as the screen has: stripes of blurred pixels would be grey.
    fine = [(np.arange(PIXELS) + 0.5) / PIXELS * side for side in (rows, cols)]
    at = np.searchsorted(result.row_edges, fine[0], "right") - 1
    to = np.searchsorted(result.col_edges, fine[1], "right") - 1
    top = np.log1p(max(float(result.counts.max()), 1.0))
    level = 2 + 253 * np.log1p(np.nan_to_num(result.shown)) / top
    published = level.astype(np.uint8)[np.ix_(at, to)]
    y, x = np.indices(published.shape)
    stripes = ((x + y) % STRIPE < STRIPE // 3).astype(np.uint8)
    return np.where(np.isnan(result.shown)[np.ix_(at, to)], stripes, published)


def _overlap(result: Foiled) -> tuple[list[Any], str, str]:
    """Boxes for the map, sentence, and table of the overlapping boxes."""
    k, true = result.settings.k, int(result.counts[result.cell])
    cell_box = (result.of_cell(result.cell), palette.HOVER, False)
    pair = result.difference
    if pair is None:
        sentence = (
            "No two strips beside this cell are published, so subtraction does not find it: too "
            "few people live around it. Choose another cell."
        )
        return [cell_box], sentence, ""
    boxes = [
        (result.box(pair.larger), LARGER, False),
        (result.box(pair.smaller), SMALLER, True),
        cell_box,
    ]
    hidden = np.isnan(result.shown[result.cell])
    kind = "hidden" if hidden else "published anyway"
    sentence = (
        f"The cell is {kind}. Two boxes that are both published differ by it alone: "
        f"{pair.answers[0]:,.0f} − {pair.answers[1]:,.0f} = {pair.count:,}, exactly the true count "
        f"of {true:,}."
    )
    size = [int(np.prod(box[1] - box[0])) for box in (pair.larger, pair.smaller)]
    rows = [
        [Cell("Box with the cell"), Cell(f"{size[0]:,}"), Cell(f"{pair.answers[0]:,.0f}")],
        [Cell("Box without it"), Cell(f"{size[1]:,}"), Cell(f"{pair.answers[1]:,.0f}")],
        [
            Cell("The cell itself"),
            Cell("1"),
            Cell(f"{true:,}" if not hidden else f"hidden (below {k})"),
        ],
        [Cell("Difference"), Cell("1"), Cell(f"{pair.count:,}", best=True)],
    ]
    columns = [
        ("asked", "boxes on the map"),
        ("cells", "in the box"),
        ("published", "by the threshold map"),
    ]
    return boxes, sentence, table("What the threshold map says", columns, rows)


def _days(result: Foiled) -> tuple[list[Any], str, str]:
    """Boxes for the map, sentence, and table of two days."""
    days = result.days
    if days is None:
        return [(result.of_cell(result.cell), palette.HOVER, False)], result.no_days, ""
    boxes = [
        (result.of_cell(days.start), palette.HOVER, False),
        (result.of_cell(days.end), LARGER, False),
    ]
    k = result.settings.k
    text = words("learn")
    if days.hidden is not None:
        true = int(result.counts[days.start]) - 1
        sentence = text["Vanished overnight"].format(hidden=days.hidden, k=k, true=true)
    elif np.isnan(days.before[0]):
        sentence = text["Hidden both days"].format(k=k)
    else:
        size = f"{result.counts.size:,}"
        sentence = text["Published both days"].format(changed=days.changed, cells=size)
    rows = [
        [Cell(name), Cell(_said(one, k)), Cell(_said(other, k))]
        for name, one, other in (
            ("This cell", days.before[0], days.after[0]),
            ("The cell moved to", days.before[1], days.after[1]),
        )
    ]
    columns = [
        ("cell", "yellow and blue on the map"),
        ("yesterday", "published"),
        ("today", "published"),
    ]
    return boxes, sentence, table("Two daily maps", columns, rows)


def _contrast(result: Foiled) -> str:
    larger, smaller, sd = result.private
    if result.difference is None:
        return ""
    return (
        '<p class="finding">A private map of the same cells (noise on each, epsilon '
        f"{result.settings.epsilon:g}) answers the same two boxes with {larger:,.0f} and "
        f"{smaller:,.0f}. Their difference is <b>{larger - smaller:,.0f}</b>, and the noise of one "
        f"cell has a standard deviation of {sd:,.1f}: subtracting takes no noise away.</p>"
    )


def _promise(result: Foiled) -> str:
    epsilon = result.settings.epsilon
    return (
        f'<p class="finding">A private map of the second day with epsilon {epsilon:g} cannot tell '
        f"a night with the move from one without by odds of more than e<sup>{2 * epsilon:g}</sup> "
        f"= <b>{np.exp(2 * epsilon):,.2f}</b>: a move is one person less in a cell and one more in "
        "another.</p>"
    )


def _said(count: float, k: int) -> str:
    return f"hidden (below {k})" if np.isnan(count) else f"{count:,.0f}"
