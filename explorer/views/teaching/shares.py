"""Share of good answers against epsilon, with the interval that contains the wanted share."""

from __future__ import annotations

import numpy as np
from bokeh.models import BoxAnnotation, ColumnDataSource, FixedTicker, Span
from numpy.typing import NDArray

from explorer.views.teaching.frame import FIRST, SECOND, chart, describe, limit

Floats = NDArray[np.float64]
_TICKS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


class SharesChart:
    """One point for each epsilon that was tried, with its 95 % bounds."""

    def __init__(self, first: float, last: float) -> None:
        self._ends = first / 1.15, last * 1.15
        self.source = ColumnDataSource({"x": [], "y": [], "low": [], "high": []})
        self.figure = fig = chart(300, log="x", x_range=self._ends, y_range=(-0.02, 1.04))
        self._band = BoxAnnotation(fill_color=SECOND, fill_alpha=0.25, visible=False)
        self._found = Span(dimension="height", line_color=SECOND, line_width=2.5, visible=False)
        for layer in (self._band, self._found):
            fig.add_layout(layer)
        self._wanted = limit(fig, "width")
        fig.segment("x", "low", "x", "high", source=self.source, color=FIRST, line_width=2)
        fig.line("x", "y", source=self.source, color=FIRST, alpha=0.5)
        fig.scatter("x", "y", source=self.source, color=FIRST, size=8)
        fig.xaxis.axis_label = "epsilon"
        fig.yaxis.axis_label = "share of good answers"
        fig.xaxis.ticker = FixedTicker(ticks=list(_TICKS))
        fig.xaxis.major_label_overrides = {tick: f"{tick:g}" for tick in _TICKS}
        fig.yaxis.ticker = FixedTicker(ticks=[0, 0.25, 0.5, 0.75, 1])
        fig.yaxis.major_label_overrides = {quarter / 4: f"{25 * quarter} %" for quarter in range(5)}

    def show(
        self,
        points: tuple[Floats, Floats, Floats, Floats],
        share: float,
        smallest: float | None,
        interval: tuple[float | None, float | None],
        spoken: str,
    ) -> None:
        """Draw ``points`` (epsilon, share, low, high; each (k,)) and what was found."""
        x, y, low, high = points
        self.source.data = {"x": x, "y": y, "low": low, "high": high}
        self._wanted.location = share
        self._found.update(visible=smallest is not None, location=smallest or self._ends[0])
        begin, end = interval
        self._band.update(
            visible=begin is not None,
            left=begin or self._ends[0],
            right=end or self._ends[1],
        )
        describe(self.figure, spoken)
