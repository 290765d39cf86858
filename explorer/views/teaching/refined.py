"""Cells that are divided: two maps, and how uneven cells are by level."""

from __future__ import annotations

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker
from bokeh.plotting import figure
from numpy.typing import NDArray

from explorer.views import palette
from explorer.views.small import SmallMap
from explorer.views.teaching.frame import FIRST, SECOND, chart, describe, limit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_LEAST = 1e-4


class RefinedPair:
    """True people by quarters of cells, and what is released, divided cells outlined."""

    def __init__(self) -> None:
        self.true = SmallMap((0.0, 0.0, 1.0, 1.0), "Map without data")
        self.made = SmallMap((0.0, 0.0, 1.0, 1.0), "Map without data")
        self.divided = ColumnDataSource({"x0": [], "y0": [], "x1": [], "y1": []})
        self.place = ColumnDataSource({"x": [], "y": []})
        for small in (self.true, self.made):
            small.figure.quad(
                left="x0",
                right="x1",
                bottom="y0",
                top="y1",
                source=self.divided,
                fill_alpha=0.0,
                line_color=palette.BOX,
                line_width=1,
            )
            small.ring(self.place, 18)

    @property
    def figures(self) -> tuple[figure, figure]:
        """The true one, and the one that is made."""
        return self.true.figure, self.made.figure

    def show(
        self,
        true: Floats,
        released: Floats,
        divided: Ints,
        side: int,
        place: tuple[float, float],
        spoken: tuple[str, str],
    ) -> None:
        """Show people (rows, cols), row 0 south, both in the colours of the true ones.

        ``divided`` (n, 2) are rows and columns of divided cells, of ``side`` to a side; the place
        is in parts of the map, 0 to 1.
        """
        top = np.log1p(max(float(true.max()), 1.0))
        for small, counts, text in ((self.true, true, spoken[0]), (self.made, released, spoken[1])):
            level = np.minimum(40 + 215 * np.log1p(np.maximum(counts, 0)) / top, 255)
            small.show(np.where(counts > 0, level, 0).astype(np.uint8), text)
        row, col = divided.T / side
        self.divided.data = {"x0": col, "y0": row, "x1": col + 1 / side, "y1": row + 1 / side}
        self.place.data = {"x": [place[0]], "y": [place[1]]}


class UnevennessChart:
    """H by level, as it is and as noisy sums show it, next to one that someone chose."""

    def __init__(self, last: int) -> None:
        self.true = ColumnDataSource({"x": [], "y": []})
        self.measured = ColumnDataSource({"x": [], "y": []})
        self.figure = fig = chart(220, log="y", x_range=(0.5, last + 0.5), y_range=(_LEAST, 1))
        self._chosen = limit(fig, "width")
        fig.line("x", "y", source=self.true, line_color=FIRST, line_width=3)
        fig.scatter("x", "y", source=self.true, color=FIRST, size=9)
        fig.line("x", "y", source=self.measured, line_color=SECOND, line_width=2)
        fig.scatter("x", "y", source=self.measured, color=SECOND, marker="diamond", size=11)
        fig.xaxis.ticker = FixedTicker(ticks=list(range(1, last + 1)))
        fig.xaxis.axis_label = "level of the four quarters"
        fig.yaxis.axis_label = "unevenness H"

    def show(
        self, levels: Ints, true: Floats, measured: Floats, chosen: float, spoken: str
    ) -> None:
        """Draw H (k,) of levels (k,), true and measured, and the chosen one."""
        for source, h in ((self.true, true), (self.measured, measured)):
            source.data = {"x": levels, "y": np.maximum(h, _LEAST)}
        self._chosen.location = chosen
        describe(self.figure, spoken)
