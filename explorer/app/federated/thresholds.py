"""Thresholds: noise against count by level, and why parks are not divided."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass

import numpy as np
import panel as pn
from numpy.typing import NDArray

from explorer.app.curator.panel import ReleasePanel, follow
from explorer.app.curator.parts import PageParts
from explorer.app.curator.screen import Screen
from explorer.app.federated.rounds import several
from explorer.app.federated.screen import chosen, refines, released
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.prose import chart_pane, pane
from explorer.errors import InputError
from explorer.federated import calibration
from explorer.federated.refine import expected, unevenness
from explorer.federated.rounds import threshold_of
from explorer.grid.grid import Grid
from explorer.releases.distributed import ONCE, DistributedRelease
from explorer.releases.quarters import level_of
from explorer.releases.rounds import Heard
from explorer.views.figures import legend
from explorer.views.lesson_charts import LEVEL_LEGEND, LevelChart
from explorer.views.tables import Cell, number, table

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Level:
    """Cells of one level in one round, in people of that round's sums.

    Attributes
    ----------
    number : 0 is the whole map
    cells, divided : open cells, and how many of them were divided
    unevenness : H, measured; NaN where no four quarters were
    factor : threshold over the noise of the next sums, of what `sigma` says where it is printed
    threshold : a sum above it is divided
    largest, median : of the sums
    """

    number: int
    cells: int
    divided: int
    unevenness: float
    factor: float
    threshold: float
    largest: float
    median: float


@dataclass(frozen=True, eq=False)
class Judged:
    """One round's decisions, level by level.

    Attributes
    ----------
    number, last : the round, and how many there are
    noise, next_noise : of a sum of this round, and of the next one in people of this round
    printed : whether the threshold is that of the paper, the same for all levels
    fixed : whether someone chose that threshold, whatever the noise
    """

    screen: Screen
    number: int
    last: int
    noise: float
    next_noise: float
    printed: bool
    fixed: bool
    levels: tuple[Level, ...]


@dataclass(frozen=True, eq=False)
class LevelsJob:
    """Which round of a screen; 0 for the last one after which something was decided."""

    screen: Screen
    number: int


def judge(job: LevelsJob) -> Judged:
    """The thresholds of a round, as the server computed them from its sums.

    Raises
    ------
    InputError
        Where an algorithm refines nothing, or there was one round only.
    """
    release = released(job.screen)
    rounds = [entry for entry in release.heard if isinstance(entry, Heard)]
    if not refines(release):
        raise InputError("This algorithm divides nothing by a threshold: choose people or paper.")
    if len(rounds) < 2:
        raise InputError("There was one round only, so nothing was divided: ask more people.")
    last = len(rounds)
    number = min(job.number, last - 1) if job.number else last - 1
    received = rounds[number - 1]
    sd, scale, several = _next(release, number)
    mechanism = chosen(job.screen)
    if mechanism.algorithm != "paper":
        levels = _levels(received, sd, scale)
        return Judged(job.screen, number, last, received.noise, sd / scale, False, False, levels)
    fixed = mechanism.threshold is not None
    threshold, noise = threshold_of(received.noise, sd, several, **mechanism.options())
    levels = _levels(received, sd, scale, (threshold, threshold / noise))
    return Judged(job.screen, number, last, received.noise, noise, True, fixed, levels)


def _next(release: DistributedRelease, number: int) -> tuple[float, float, float]:
    """What a round's decisions look ahead to.

    Returns
    -------
    noise of the next sums, how much larger those are than these, noise of theirs over one shard's
    """
    rounds = release.heard
    parameters = release.parameters
    people = int(release.facts["asked"])
    size = min(parameters["shard"], people)
    spread = calibration.honest(size, parameters["dropped"], parameters["corrupt"]) / size
    if release.paying == ONCE:
        left = sum(row.people for row in rounds[number:])
        several = math.sqrt(calibration.shards(left, parameters["shard"]) / spread)
        return (
            calibration.sigma(release.epsilon) * several,
            left / max(rounds[number - 1].answered, 1),
            several,
        )
    remaining = sum(row.epsilon for row in rounds[number:])
    several = math.sqrt(calibration.shards(people, parameters["shard"]) / spread)
    return calibration.sigma(remaining) * several, 1.0, several


def _levels(
    received: Heard, sd: float, scale: float, printed: tuple[float, float] | None = None
) -> tuple[Level, ...]:
    """Every level that has open cells.

    A cell with sum y is divided if f = y scale has 4 H f^2 > 15 sd^2 + 3 f, and y > 2 noise; or
    above the printed threshold, given with its factor.
    """
    level = received.tree.level[received.tree.open]
    measured = unevenness(received.tree, received.sums, received.noise)
    ahead = expected(measured)
    split = np.bincount(level_of(received.split), minlength=received.tree.depth + 1)
    results = []
    for depth in np.unique(level).tolist():
        sums = received.sums[level == depth]
        h = float(ahead[depth])
        if printed is not None:
            threshold, factor = printed
        else:
            factor = math.sqrt(15 / (4 * h))
            f = (3 + math.sqrt(9 + 240 * h * sd**2)) / (8 * h)
            threshold = max(f / scale, 2 * received.noise)
        results.append(
            Level(
                number=depth,
                cells=len(sums),
                divided=int(split[depth]),
                unevenness=h,
                factor=factor,
                threshold=threshold,
                largest=float(sums.max()),
                median=float(np.median(sums)),
            )
        )
    return tuple(results)


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
