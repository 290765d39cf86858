"""What a sum costs when fewer honest people are in it than its noise was made for."""

from __future__ import annotations

import numpy as np
from bokeh.models import BoxAnnotation, ColumnDataSource
from numpy.typing import NDArray

from explorer.views.teaching.frame import (
    FIRST,
    SECOND,
    chart,
    describe,
    limit,
    short_numbers,
)

Floats = NDArray[np.float64]


class LossChart:
    """The loss by honest people, its floor, what was agreed, how many there are; grey: refused."""

    def __init__(self) -> None:
        self.loss = ColumnDataSource({"x": [], "y": []})
        self.floor = ColumnDataSource({"x": [], "y": []})
        self.figure = fig = chart(230, x_range=(0, 100), y_range=(0, 5))
        self.refused = BoxAnnotation(
            left=0, right=0, fill_color="#808080", fill_alpha=0.18, line_color=None
        )
        fig.add_layout(self.refused)
        self._now, self._agreed = limit(fig, "height"), limit(fig, "width", SECOND)
        fig.line("x", "y", source=self.floor, line_color=FIRST, line_width=3)
        fig.line("x", "y", source=self.loss, line_color=SECOND, line_width=3)
        fig.xaxis.axis_label = "honest people in the sum"
        fig.yaxis.axis_label = "epsilon it costs"
        fig.xaxis.formatter = fig.yaxis.formatter = short_numbers()

    def show(
        self,
        honest: Floats,
        loss: Floats,
        floor: Floats,
        agreed: float,
        now: float,
        refused: float,
        spoken: str,
    ) -> None:
        """Draw the loss and its floor (n,) by honest people; below ``refused`` nothing is seen."""
        self.loss.data, self.floor.data = {"x": honest, "y": loss}, {"x": honest, "y": floor}
        self.figure.x_range.update(start=0, end=1.02 * float(honest[-1]))
        self.figure.y_range.update(start=0, end=1.05 * float(max(loss.max(), agreed)))
        self._now.location, self._agreed.location = now, agreed
        self.refused.right = max(refused, 0.0)
        describe(self.figure, spoken)
