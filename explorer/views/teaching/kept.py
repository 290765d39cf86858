"""How many cells show a count or more: those that trips are in, and those that are noise alone."""

from __future__ import annotations

import numpy as np
from bokeh.models import ColumnDataSource
from numpy.typing import NDArray

from explorer.views.teaching.frame import FIRST, SECOND, chart, describe, limit

Floats = NDArray[np.float64]
_LEAST = 0.5


class KeptChart:
    """Two falling lines on logarithmic axes, and where the highest false count is."""

    def __init__(self) -> None:
        self.false = ColumnDataSource({"x": [], "y": []})
        self.true = ColumnDataSource({"x": [], "y": []})
        self.figure = fig = chart(220, log="xy", x_range=(1, 100), y_range=(_LEAST, 1e6))
        self._highest = limit(fig, "height")
        fig.line("x", "y", source=self.false, line_color=SECOND, line_width=3)
        fig.line("x", "y", source=self.true, line_color=FIRST, line_width=3)
        fig.xaxis.axis_label = "noisy count, or more"
        fig.yaxis.axis_label = "cells that show it"

    def show(self, k: Floats, false: Floats, true: Floats, highest: float, spoken: str) -> None:
        """Draw expected numbers of cells (m,) that show ``k`` (m,) or more."""
        for source, line in ((self.false, false), (self.true, true)):
            visible = line >= _LEAST / 10
            source.data = {"x": k[visible], "y": line[visible]}
        top = max(float(false.max(initial=1)), float(true.max(initial=1)))
        self.figure.x_range.update(start=float(k[0]), end=float(k[-1]))
        self.figure.y_range.update(start=_LEAST, end=2 * top)
        self._highest.location = max(highest, float(k[0]))
        describe(self.figure, spoken)
