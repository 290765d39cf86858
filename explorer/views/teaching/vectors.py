"""A vector of whole numbers, one bar for each cell: what someone keeps, sends or sees."""

from __future__ import annotations

import numpy as np
from bokeh.models import ColumnDataSource
from numpy.typing import NDArray

from explorer.views.teaching.frame import FIRST, TRUTH, chart, describe, short_numbers

Ints = NDArray[np.int64]


class VectorChart:
    """Bars of one vector in its own scale; dots where the truth is, if it is given."""

    def __init__(self, colour: str = FIRST) -> None:
        self.source = ColumnDataSource({"x": [], "y": []})
        self.truth = ColumnDataSource({"x": [], "y": []})
        self.figure = fig = chart(84, x_range=(-1, 64), y_range=(0, 1))
        fig.vbar("x", width=0.7, top="y", source=self.source, color=colour)
        fig.scatter("x", "y", source=self.truth, color=TRUTH, size=5)
        fig.xgrid.visible = False
        fig.xaxis.visible = False
        fig.yaxis.ticker.desired_num_ticks = 3
        fig.yaxis.formatter = short_numbers()

    def show(self, values: Ints, spoken: str, truth: Ints | None = None) -> None:
        """Draw values (v,), and the truth (v,) next to them."""
        x = np.arange(len(values))
        self.source.data = {"x": x, "y": values}
        self.truth.data = {"x": x, "y": truth} if truth is not None else {"x": [], "y": []}
        every = values if truth is None else np.concatenate([values, truth])
        low, high = min(0, int(every.min())), max(1, int(every.max()))
        room = 0.08 * (high - low)
        self.figure.x_range.update(start=-1, end=len(values))
        self.figure.y_range.update(start=low - room, end=high + room)
        describe(self.figure, spoken)
