"""The average of many answers closing in on its limit, next to one answer that stays."""

from __future__ import annotations

import numpy as np
from bokeh.models import ColumnDataSource
from numpy.typing import NDArray

from explorer.releases.answers import Z95
from explorer.views.teaching.frame import FIRST, SECOND, chart, describe, limit, short_numbers

Floats = NDArray[np.float64]


class AverageChart:
    """Answers as points, their running average with a 95 % band, the truth, one release."""

    def __init__(self) -> None:
        self.points = ColumnDataSource({"x": [], "y": []})
        self.line = ColumnDataSource({"x": [], "y": []})
        self.single = ColumnDataSource({"x": [], "y": []})
        self.band = ColumnDataSource({"x": [], "y": []})
        self.figure = fig = chart(300, log="x", x_range=(0.9, 10), y_range=(0, 1))
        fig.patch("x", "y", source=self.band, fill_color=FIRST, fill_alpha=0.2, line_width=0)
        fig.scatter("x", "y", source=self.points, color=FIRST, size=4, alpha=0.35)
        fig.line("x", "y", source=self.single, line_color=SECOND, line_width=2.5)
        fig.line("x", "y", source=self.line, line_color=FIRST, line_width=3)
        self._truth = limit(fig, "width")
        fig.xaxis.axis_label = "redraws"
        fig.yaxis.axis_label = "people in the box"
        fig.xaxis.formatter = fig.yaxis.formatter = short_numbers()

    def clear(self, spoken: str) -> None:
        """Show nothing."""
        for source in (self.points, self.line, self.single, self.band):
            source.data = {"x": [], "y": []}
        describe(self.figure, spoken)

    def show(self, answers: Floats, mean: Floats, error: Floats, truth: float, spoken: str) -> None:
        """Draw n answers, the running average and its standard error, all (n,)."""
        n = np.arange(1, len(answers) + 1)
        self.points.data = {"x": n, "y": answers}
        self.line.data = {"x": n, "y": mean}
        self.single.data = {"x": np.array([0.9, len(n) * 1.1]), "y": np.full(2, answers[0])}
        good = np.isfinite(error)
        x, low, high = n[good], (mean - Z95 * error)[good], (mean + Z95 * error)[good]
        self.band.data = {"x": np.concatenate([x, x[::-1]]), "y": np.concatenate([low, high[::-1]])}
        self._truth.location = truth
        self.figure.x_range.update(start=0.9, end=max(len(n) * 1.1, 2.0))
        # A band of two answers reaches far beyond everything else.
        around = np.append(answers, truth)
        room = 0.08 * max(float(np.ptp(around)), 1.0)
        self.figure.y_range.update(start=float(around.min()) - room, end=float(around.max()) + room)
        describe(self.figure, spoken)
