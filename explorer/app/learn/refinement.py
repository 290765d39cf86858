"""Dividing cells: which of a level are worth it, by a chosen H, and by what sums show."""

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
from explorer.app.learn.experiment import ExamplesExperiment, explained, map_column, square_pane
from explorer.app.work.cache import Shelf
from explorer.releases.quarters import separate
from explorer.teaching.refinement import (
    DEEPEST,
    PAPER_K,
    SHALLOWEST,
    Asked,
    Level,
    as_map,
    ask,
    by_people,
    in_sds,
    threshold,
)
from explorer.views.figures import FIRST, SECOND, TRUTH
from explorer.views.lesson_charts import LEAST, LevelsChart, UnevennessChart
from explorer.views.markup import figures_strip
from explorer.views.small import CountsPair
from explorer.views.tables import Cell, number

Chosen = NDArray[np.bool_]
_ASKED: Shelf[Asked] = Shelf(12)
_TITLES = ("People, by quarters of cells", "What is released; pink: divided")
#: The rules of the table, and what each goes by.
_YOURS, _MEASURED, _PAPER, _BEST = "your H", "H as measured", "Eq. 6, paper", "those that gain"
_ABOUT = {_YOURS: "slider", _MEASURED: "from sums", _PAPER: "2 σ", _BEST: "unknown"}


@dataclass(frozen=True, eq=False)
class Refined:
    """One level of a city, which of its cells several rules divide, and one cell with a ring."""

    data: CityData
    h: float
    asked: Asked
    level: Level
    rules: dict[str, Chosen]
    example: int


def look(data: CityData, settings: Any, example: int, seed: int) -> Refined:
    """Ask about all levels, and divide the cells of one by several rules."""
    key = data.matrix.key, settings.people, settings.epsilon, seed
    answers = _ASKED.get(key, lambda: ask(data.matrix, settings.people, settings.epsilon, seed))
    level = answers.level(settings.level)
    nothing = np.zeros(len(level.true), dtype=np.bool_)
    rules = {
        _YOURS: level.by_h(settings.unevenness),
        _MEASURED: level.by_h(level.forecast),
        _PAPER: level.by_paper(),
        "none": nothing,
        "all": ~nothing,
        _BEST: level.best(),
    }
    return Refined(data, settings.unevenness, answers, level, rules, level.example(example))


class RefinementExperiment(ExamplesExperiment):
    """Sliders, two maps, H by level, noise against threshold by level, a table of rules."""

    title = "Cells of one level, divided or left whole"
    ANOTHER = "Another cell"
    COUNTING = "The people are being asked."
    look = staticmethod(look)

    def build(self) -> None:
        """Controls, maps, charts."""
        steps = self.controls.steps
        self.pair, self.unevenness = CountsPair(), UnevennessChart(DEEPEST)
        self.levels = LevelsChart(DEEPEST - 1, SHALLOWEST, "level of the cells", "people")
        self.figures, self.cell, self.measured = (pane(margin=(4, 0)) for _ in range(3))
        self.rules = pane(margin=(6, 0))
        above, below = (pane(quiet(title), margin=(4, 0, 2, 0)) for title in _TITLES)
        true, released = map(square_pane, self.pair.figures)
        about = pane(quiet("Ring: one cell. Dark: nobody, or below 0."), margin=(4, 0))
        maps = map_column(above, true, below, released, about)
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
        self.pictures = maps, h, levels
        sliders = [steps("people"), steps("epsilon", EPSILONS), steps("level"), steps("unevenness")]
        result = [self.said, self.figures, self.cell, self.rules, self.measured, h, levels]
        self.lay_out(maps, [sliders, [*self.buttons()]], result)

    def show(self, result: Refined) -> None:
        """Show both maps, both charts and what they say in words."""
        values = {"result": result, "level": result.level, "in_sds": in_sds, "needed": threshold}
        spoken = sentence("learn", "Divided by your H", **values)
        measured = sentence("learn", "Divided by the measured H", **values)
        self.say(spoken)
        put(self.figures, figures(result))
        put(self.cell, f'<p class="finding">{sentence("learn", "One cell", **values)}</p>')
        put(self.measured, f'<p class="finding">{measured}</p>')
        put(self.rules, rules(result))
        self._show_maps(result)
        self._show_charts(result, spoken, measured)

    def _show_maps(self, result: Refined) -> None:
        level, divided = result.level, result.rules[_YOURS]
        spread = np.repeat(level.noisy / 4, 4)
        released = np.where(np.repeat(divided, 4), result.asked.noisy[level.number + 1], spread)
        cols, rows = separate(np.flatnonzero(divided))
        col, row = separate(np.array([result.example]))
        side, cells = 2**level.number, len(divided)
        spoken = (
            f"{_TITLES[0]}: of {result.asked.people:,} people in {4 * cells:,} quarters",
            f"What is released: {int(divided.sum()):,} of {cells:,} cells are divided",
        )
        true = as_map(level.quarters.ravel()).astype(np.float64)
        self.pair.show(
            true,
            as_map(released).astype(np.float64),
            np.column_stack([cols, rows, cols + 1, rows + 1]) / side,
            (float(col[0] + 0.5) / side, float(row[0] + 0.5) / side),
            spoken,
            top=float(true.max()),
        )

    def _show_charts(self, result: Refined, spoken: str, measured: str) -> None:
        answers, at = result.asked, np.arange(1, result.asked.depth + 1)
        text = f"Unevenness by level. {spoken}"
        self.unevenness.show(at, answers.truth, answers.measured[1:], result.h, text)
        first = min(SHALLOWEST, answers.depth - 1)
        levels = [answers.level(number) for number in range(first, answers.depth)]
        # Weighted by people: in how full a cell they live.
        quantiles = [by_people(level.true, (0.25, 0.5, 0.75)) for level in levels]
        self.levels.show(
            [level.number for level in levels],
            np.array(quantiles).T,
            np.array([threshold(level.forecast, level.sd) for level in levels]),
            np.array([PAPER_K * level.sd for level in levels]),
            f"People of a cell and thresholds by level. {measured}",
        )


def figures(result: Refined) -> str:
    """Noise, H and thresholds, as a strip."""
    level = result.level
    return figures_strip(
        [
            ("People asked", f"{result.asked.people:,}"),
            ("Noise σ of a sum", number(level.sd)),
            ("Your H divides from", f"{number(threshold(result.h, level.sd))} people"),
            ("H measured", number(level.forecast, 2)),
            ("It divides from", f"{number(threshold(level.forecast, level.sd))} people"),
            ("Eq. 6 divides from", f"{number(2 * level.sd)} people"),
        ]
    )


def rules(result: Refined) -> str:
    """What each rule divides and errs by, as a table; the smallest error of a private one leads."""
    best = result.rules[_BEST]
    errors = {name: result.level.error(chosen) for name, chosen in result.rules.items()}
    least = min(error for name, error in errors.items() if name != _BEST)
    rows: list[list[str | Cell]] = [
        [
            Cell(name, _ABOUT.get(name, "")),
            f"{int(chosen.sum()):,}",
            f"{int((chosen & best).sum()):,}",
            Cell(number(errors[name]), best=errors[name] == least),
        ]
        for name, chosen in result.rules.items()
    ]
    columns = {
        "rule": "which cells are divided",
        "divided": "cells",
        "of them gain": "whose quarters truly err less for it",
        "error": "of a quarter: root of the mean square, in people asked, expected",
    }
    return text_table("Rules on the cells of this level", columns, rows)
