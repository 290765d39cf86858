"""What boxes of more and more cells hold: true counts, and noise."""

from __future__ import annotations

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker
from numpy.typing import NDArray

from explorer.views.teaching.frame import FIRST, SECOND, chart, describe, limit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class GrowingChart:
    """Trips and noise against the side of a box, logarithmic; a line where the chosen box is."""

    def __init__(self) -> None:
        self.source = ColumnDataSource({"x": [], "trips": [], "noise": []})
        self.figure = fig = chart(220, log="xy", x_range=(0.8, 80), y_range=(0.5, 1e5))
        self._chosen = limit(fig, "height")
        for name, colour in (("noise", SECOND), ("trips", FIRST)):
            fig.line("x", name, source=self.source, line_color=colour, line_width=3)
            fig.scatter("x", name, source=self.source, color=colour, size=8)
        fig.xaxis.axis_label = "cells to a side of the box"
        fig.yaxis.axis_label = "trips"

    def show(self, sides: Ints, trips: Ints, noise: Floats, chosen: int, spoken: str) -> None:
        """Draw ``trips`` and ``noise`` (b,) of boxes with ``sides`` (b,); ``chosen`` is marked."""
        self.source.data = {"x": sides, "trips": np.maximum(trips, 0.5), "noise": noise}
        fig = self.figure
        low = max(min(float(noise.min()), float(trips.min())) / 2, 0.1)
        fig.x_range.update(start=0.8, end=1.25 * float(sides[-1]))
        fig.y_range.update(start=low, end=2.5 * max(float(trips.max()), float(noise.max())))
        ticks = [int(side) for side in sides]
        fig.xaxis.ticker = FixedTicker(ticks=ticks)
        fig.xaxis.major_label_overrides = {side: f"{side:,}" for side in ticks}
        self._chosen.location = chosen
        describe(fig, spoken)
