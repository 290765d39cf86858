"""The panel on thresholds: noise against count by level, and why parks are not divided."""

from __future__ import annotations

import html

import numpy as np
import panel as pn

from explorer.app.curator.panel import ReleasePanel
from explorer.app.curator.parts import PageParts
from explorer.app.curator.screen import Screen
from explorer.app.curator.stepped import follow
from explorer.app.federated.levels import Judged, Level, LevelsJob, judge
from explorer.app.federated.round_sentences import several
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.prose import chart_pane, pane
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.views.protocol import LEVEL_LEGEND, LevelChart
from explorer.views.tables import Cell, number, table
from explorer.views.teaching.frame import legend


class ThresholdsPanel(ReleasePanel[Judged]):
    """Every level's largest count, threshold and noise, as a chart and as a table."""

    def __init__(self, parts: PageParts) -> None:
        super().__init__(judge, parts)
        self._wanted = 0
        self.round = ui.IntSlider(
            label="After round",
            start=1,
            end=2,
            value=1,
            size="small",
            margin=(0, 12),
            styles={"max-width": "360px"},
            sizing_mode="stretch_width",
        )
        ui.bind(self.round, self._slid, self._refused)
        self.chart = LevelChart()
        self._said, self._table = (html_pane(margin=(4, 0)) for _ in range(2))
        self._chart = chart_pane(self.chart.figure)
        self._legend = pane(legend(LEVEL_LEGEND))
        self.view = pn.Column(self._said, sizing_mode="stretch_width", margin=(4, 0))

    def show(self, screen: Screen) -> None:
        """Look at another screen; of another release at its last decision."""
        if not self._known(screen):
            self._wanted, self.found = 0, None
        super().show(screen)

    def _question(self, screen: Screen) -> LevelsJob:
        return LevelsJob(screen, self._wanted)

    def _slid(self, number: int) -> None:
        if not self.round.start <= number <= self.round.end:
            raise InputError(f"After round: choose from 1 to {self.round.end}.")
        if self.found is not None and number != self.found.number:
            self._wanted = number
            self._draw()

    def _failed(self, sentence: str) -> None:
        """There is nothing to show: the sentence is in its place."""
        self._drawing = False
        self._fill(f'<p class="summary" role="status">{html.escape(sentence)}</p>', "", False)

    def _fill(self, text: str, rows: str, there: bool) -> None:
        put(self._said, text)
        put(self._table, rows)
        # Not before it is known where the slider is: a browser that still builds a new slider
        # does not hear that it has moved.
        objects = [self.round, self._said, self._legend, self._chart, self._table]
        if there != (len(self.view) > 1):
            self.view.objects = objects if there else [self._said]

    def _show(self, judged: Judged) -> None:
        self.found = judged
        follow(self.round, judged.number, judged.last - 1)
        self.round.disabled = judged.last < 3
        spoken = sentence(judged)
        levels = judged.levels
        self.chart.show(
            [level.number for level in levels],
            np.array([level.largest for level in levels]),
            np.array([level.threshold for level in levels]),
            judged.noise,
            spoken,
        )
        text = f'<p class="summary" role="status">{html.escape(spoken)}</p>'
        self._fill(text, levels_table(judged), True)


def sentence(judged: Judged) -> str:
    """Why some cells are divided and some are not, with this round's own figures."""
    divided = sum(level.divided for level in judged.levels)
    text = f"After round {judged.number}, {several(divided, 'cell was', 'cells were')} divided. "
    if judged.printed:
        every = judged.levels[0]
        limit = f"{number(every.threshold)} people"
        if judged.fixed:
            return f"{text}Whatever holds more than {limit} is divided, however large the noise is."
        return (
            f"{text}The paper divides whatever holds more than {_times(every.factor)} the noise of "
            f"what is left ({limit}), however evenly its people are spread."
        )
    uneven = max(judged.levels, key=lambda level: level.unevenness)
    even = min(judged.levels, key=lambda level: level.unevenness)
    text += (
        "Dividing pays where people crowd in one quarter of a cell, as along streets, and not "
        "where all quarters are alike, as in parks: there it brings noise and nothing new."
    )
    if even.number == uneven.number:
        return text
    few, many = number(uneven.factor, 2), number(even.factor, 2)
    return (
        f"{text} Unevenness H is {uneven.unevenness:.2g} at level {uneven.number}, where {few} "
        f"times the coming noise is enough, and {even.unevenness:.2g} at level {even.number}, "
        f"where it takes {many} times."
    )


def _times(factor: float) -> str:
    return "twice" if abs(factor - 2) < 1e-9 else f"{number(factor, 2)} times"


def levels_table(judged: Judged) -> str:
    """A row for each level."""
    columns = [
        ("level", "0 is the whole map; each level halves the sides"),
        ("cell side", "of its cells"),
        ("cells", "that were asked about"),
        ("H", "unevenness to be expected in their quarters: 0 all alike, .75 all people in one"),
        ("times the noise", "threshold over the noise of the next sums, sqrt(15 / 4 H)"),
        ("threshold", "people in a sum above which its cell is divided"),
        ("median", "of the sums"),
        ("largest", "of the sums"),
        ("divided", "cells after this round"),
    ]
    rows = [_row(level, judged) for level in judged.levels]
    caption = (
        f"Round {judged.number} of {judged.last}; noise of a sum ±{number(judged.noise)} people, "
        f"of the next ±{number(judged.next_noise)}."
    )
    return table(caption, columns, rows)


def _row(level: Level, judged: Judged) -> list[Cell]:
    grid: Grid = judged.screen.data.grid
    side = 1 << (max(grid.shape) - 1).bit_length()
    wide = grid.cell_width * side / 2**level.number
    return [
        Cell(str(level.number)),
        Cell(f"{wide:,.0f} m" if grid.unit == "m" else f"{wide:g}"),
        Cell(f"{level.cells:,}"),
        Cell("–" if judged.printed else f"{level.unevenness:.2g}"),
        Cell(number(level.factor, 2)),
        Cell(number(level.threshold)),
        Cell(_people(level.median)),
        Cell(_people(level.largest)),
        Cell(f"{level.divided:,}", best=level.divided > 0),
    ]


def _people(value: float) -> str:
    return f"{round(value):,}".replace("-", "−")
