"""A histogram of leaves, all of them and the chosen ones, in which a range can be dragged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, NumeralTickFormatter, Range1d
from numpy.typing import NDArray

from explorer.views import palette
from explorer.views.figures import chart, describe
from explorer.views.gestures import box_tool, on_box, prepare
from explorer.views.scale import short_number

Floats = NDArray[np.float64]
BINS = 32


@dataclass(frozen=True, eq=False)
class Bins:
    """Bins on a scale that is logarithmic to both sides of 0.

    Parameters
    ----------
    edges : (k + 1,) on the scale
    all : (k,) how many lie in each
    """

    edges: Floats
    all: Floats

    @classmethod
    def of(cls, values: NDArray[Any]) -> Bins:
        """Bins that hold all of ``values`` (n,)."""
        places = place(values)
        low, high = (float(places.min()), float(places.max())) if len(places) else (0.0, 1.0)
        edges = np.linspace(low, max(high, low + 0.1), BINS + 1)
        return cls(edges, np.histogram(places, edges)[0].astype(float))

    def count(self, values: NDArray[Any]) -> Floats:
        """How many of ``values`` (m,) lie in each, (k,)."""
        return np.histogram(place(values), self.edges)[0].astype(float)

    def ticks(self) -> list[tuple[float, str]]:
        """Places and labels of powers of ten, and of 0."""
        powers = [10.0**k for k in range(10)]
        values = [*(-p for p in reversed(powers)), 0.0, *powers]
        low, high = self.edges[0], self.edges[-1]
        ticks = [(float(place(np.array(v))), short_number(v).replace("-", "−")) for v in values]
        return [(at, text) for at, text in ticks if low - 0.05 <= at <= high + 0.05]


def place(values: NDArray[Any]) -> Floats:
    """Where values are: sign(v) log10(1 + |v|)."""
    size: Floats = np.sign(values) * np.log10(1 + np.abs(values))
    return size


def value(at: float) -> float:
    """What is at a place: the inverse of `place`."""
    return float(np.sign(at) * (10 ** abs(at) - 1))


class Histogram:
    """The figure.

    Parameters
    ----------
    title : of its axis
    brushed : called with both ends of a dragged range as a browser sent them, on the scale
    """

    def __init__(self, title: str, brushed: Callable[[Any, Any], None]) -> None:
        self._title = title
        self.all, self.chosen = (ColumnDataSource(_bars(np.zeros(0), np.zeros(0))) for _ in "ab")
        self.figure = fig = chart(
            112, label=f"Histogram: {title}", x_range=Range1d(0, 1), y_range=Range1d(0, 1)
        )
        tool = box_tool()
        tool.dimensions, tool.continuous = "width", False
        fig.add_tools(tool)
        fig.toolbar.active_drag = tool
        for source, colour, alpha in ((self.all, "#8b98a5", 0.45), (self.chosen, palette.RUN, 1.0)):
            fig.quad("left", "right", "top", 0, source=source, color=colour, alpha=alpha)
        fig.xgrid.grid_line_color = None
        fig.xaxis.axis_label, fig.yaxis.axis_label = title, "leaves"
        fig.yaxis.formatter = NumeralTickFormatter(format="0[.]0a")
        fig.yaxis.ticker.desired_num_ticks = 3

        def dragged(edges: Sequence[Any], final: bool) -> None:
            if final:
                brushed(edges[0], edges[2])

        on_box(fig, dragged)
        prepare([fig])

    def show(self, bins: Bins, chosen: Floats, spoken: str) -> None:
        """Draw bins, and how many of the chosen (k,) are in each; ``spoken`` is read out."""
        fig, edges = self.figure, bins.edges
        fig.x_range.update(start=float(edges[0]), end=float(edges[-1]))
        fig.y_range.end = max(float(bins.all.max()), 1.0) * 1.05
        ticks = bins.ticks()
        fig.xaxis.ticker = FixedTicker(ticks=[at for at, _ in ticks])
        fig.xaxis.major_label_overrides = dict(ticks)
        self.all.data, self.chosen.data = _bars(edges, bins.all), _bars(edges, chosen)
        describe(fig, spoken)


def _bars(edges: Floats, tops: Floats) -> dict[str, Any]:
    return {"left": edges[:-1].copy(), "right": edges[1:].copy(), "top": tops.copy()}
