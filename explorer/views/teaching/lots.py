"""Candidates and their chances: true and noisy costs, who wins how often, noise by level."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker
from bokeh.plotting import figure
from numpy.typing import NDArray

from explorer.views.series import VIOLET
from explorer.views.teaching.frame import (
    FIRST,
    SECOND,
    TRUTH,
    chart,
    describe,
    limit,
    short_numbers,
)

Floats = NDArray[np.float64]

#: The better choice, which needs less noise.
LEAST = VIOLET


class CostsChart:
    """True cost of every candidate, and what one draw of noise makes of it."""

    def __init__(self) -> None:
        self.source = ColumnDataSource({"x": [], "true": [], "noisy": []})
        self.winner = ColumnDataSource({"x": [], "y": []})
        self.figure = fig = chart(220, x_range=(0, 11), y_range=(0, 1))
        fig.segment("x", "true", "x", "noisy", source=self.source, color=SECOND, alpha=0.45)
        fig.scatter("x", "noisy", source=self.source, color=SECOND, marker="diamond", size=11)
        fig.scatter("x", "true", source=self.source, color=FIRST, size=8)
        fig.scatter(
            "x",
            "y",
            source=self.winner,
            size=20,
            fill_color=None,
            line_color=TRUTH,
            line_width=2.5,
        )
        fig.xaxis.axis_label = "candidates, the truly cheapest first"
        fig.yaxis.axis_label = "cost, in trips"
        fig.yaxis.formatter = short_numbers()

    def show(self, true: Floats, noisy: Floats, spoken: str) -> None:
        """Draw costs (p,) of candidates in their order."""
        x = np.arange(1, len(true) + 1)
        self.source.data = {"x": x, "true": true, "noisy": noisy}
        best = int(noisy.argmin())
        self.winner.data = {"x": [best + 1], "y": [noisy[best]]}
        _ranks(self.figure, len(true))
        ends = np.concatenate([true, noisy])
        room = 0.12 * max(float(np.ptp(ends)), 1.0)
        self.figure.y_range.update(start=float(ends.min()) - room, end=float(ends.max()) + room)
        describe(self.figure, spoken)


class WinsChart:
    """Share of choices that each candidate wins, by two rules, next to that of a lottery."""

    def __init__(self) -> None:
        self.source = ColumnDataSource({"left": [], "right": [], "paper": [], "least": []})
        self.figure = fig = chart(220, x_range=(0, 11), y_range=(0, 1))
        for name, place, colour in (("paper", "left", SECOND), ("least", "right", LEAST)):
            fig.vbar(place, width=0.34, top=name, source=self.source, color=colour, fill_alpha=0.85)
        self._lottery = limit(fig, "width")
        fig.xaxis.axis_label = "candidates, the truly cheapest first"
        fig.yaxis.axis_label = "wins, in percent"
        fig.yaxis.formatter = short_numbers()
        fig.xgrid.visible = False

    def show(self, paper: Floats, least: Floats, spoken: str) -> None:
        """Draw shares (p,) of candidates in their order, 0 to 1."""
        x = np.arange(1, len(paper) + 1)
        self.source.data = {
            "left": x - 0.19,
            "right": x + 0.19,
            "paper": 100 * paper,
            "least": 100 * least,
        }
        self._lottery.location = 100 / len(paper)
        _ranks(self.figure, len(paper))
        top = 115 * max(float(paper.max()), float(least.max()), 1.5 / len(paper))
        self.figure.y_range.update(start=0.0, end=top)
        describe(self.figure, spoken)


class LevelsChart:
    """By level: what there is to choose, median and middle half, and the noise put on it.

    Parameters
    ----------
    first, last : numbers of the levels
    level, unit : what the axes are called
    """

    def __init__(self, last: int, first: int = 1, level: str = "cut", unit: str = "trips") -> None:
        self.ranges = ColumnDataSource({"x": [], "y": [], "low": [], "high": []})
        self.noises = ColumnDataSource({"x": [], "paper": [], "least": []})
        self.figure = fig = chart(
            230, log="y", x_range=(first - 0.5, last + 0.5), y_range=(0.1, 1e5)
        )
        fig.line("x", "paper", source=self.noises, line_color=SECOND, line_width=3)
        fig.scatter("x", "paper", source=self.noises, color=SECOND, marker="diamond", size=12)
        fig.line("x", "least", source=self.noises, line_color=LEAST, line_width=3)
        fig.scatter("x", "least", source=self.noises, color=LEAST, marker="square", size=9)
        fig.segment("x", "low", "x", "high", source=self.ranges, color=FIRST, line_width=3)
        fig.scatter("x", "y", source=self.ranges, color=FIRST, size=11)
        fig.xaxis.ticker = FixedTicker(ticks=list(range(first, last + 1)))
        fig.xaxis.axis_label = level
        fig.yaxis.axis_label = unit

    def show(
        self,
        cuts: Sequence[int],
        ranges: Floats,
        paper: Floats,
        least: Floats,
        spoken: str,
    ) -> None:
        """Draw ranges (3, k), quartiles by level, and two limits (k,), as noise scales, of k."""
        x = np.asarray(cuts)
        low, middle, high = np.maximum(ranges, 0.01)
        self.ranges.data = {"x": x, "y": middle, "low": low, "high": high}
        self.noises.data = {"x": x, "paper": paper, "least": least}
        every = np.concatenate([low, high, paper, least])
        if len(every):
            self.figure.y_range.update(start=float(every.min()) / 2, end=float(every.max()) * 2)
        describe(self.figure, spoken)


def _ranks(fig: figure, number: int) -> None:
    """Ticks for so many candidates: all up to ten, else the first and every fifth."""
    fig.x_range.update(start=0.4, end=number + 0.6)
    step = 1 if number <= 10 else 5
    ticks = [1, *range(step, number + 1, step)] if step > 1 else list(range(1, number + 1))
    fig.xaxis.ticker = FixedTicker(ticks=ticks)
