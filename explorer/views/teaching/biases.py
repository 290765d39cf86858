"""Biases with their 95 % intervals, one row each, around a line at zero."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

import numpy as np
from bokeh.models import ColumnDataSource, FactorRange
from numpy.typing import NDArray

from explorer.releases.answers import Z95
from explorer.views.teaching.frame import FIRST, SECOND, chart, describe, limit, short_numbers

Floats = NDArray[np.float64]

#: Characters of a line next to the chart.
CHARACTERS = 26


class BiasChart:
    """A point with a whisker for each treatment; the chosen one in another colour, and larger."""

    def __init__(self) -> None:
        self.source = ColumnDataSource(
            {name: [] for name in ("name", "bias", "low", "high", "colour", "size")}
        )
        self.figure = fig = chart(300, x_range=(-1, 1), y_range=FactorRange(factors=[]))
        limit(fig, "height", location=0)
        fig.segment("low", "name", "high", "name", source=self.source, color="colour", line_width=3)
        fig.scatter("bias", "name", source=self.source, color="colour", size="size")
        fig.xaxis.axis_label = "mean of private − true, people in the region"
        fig.xaxis.formatter = short_numbers()
        fig.ygrid.grid_line_color = None

    def show(
        self, names: Sequence[str], bias: Floats, error: Floats, chosen: int, spoken: str
    ) -> None:
        """Draw n rows, the first at the top; ``bias`` and its standard ``error`` are (n,)."""
        at = np.arange(len(names)) == chosen
        # On one line the longest would take half of the chart.
        names = [fill(name, CHARACTERS) for name in names]
        low, high = bias - Z95 * error, bias + Z95 * error
        self.figure.y_range.factors = list(reversed(names))
        ends = np.array([0.0, low.min(), high.max()])
        room = 0.06 * max(float(np.ptp(ends)), 1.0)
        self.figure.x_range.update(start=float(ends.min()) - room, end=float(ends.max()) + room)
        lines = max(name.count("\n") for name in names)
        self.figure.height = 70 + (30 + 12 * lines) * len(names)
        self.source.data = {
            "name": list(names),
            "bias": bias,
            "low": low,
            "high": high,
            "colour": np.where(at, SECOND, FIRST).tolist(),
            "size": np.where(at, 14, 8),
        }
        describe(self.figure, spoken)
