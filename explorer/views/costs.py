"""The chart of one choice of a cut: what every cut costs, what the search saw, what it chose."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import (
    BasicTicker,
    ColumnDataSource,
    HoverTool,
    NumeralTickFormatter,
    Range1d,
)
from bokeh.plotting import figure
from numpy.typing import NDArray

from explorer.views.tooltips import tooltip

EXACT, NOISY, CHOSEN, BEST = "#3b8fd6", "#e08a2e", "#d65f7f", "#3aa58a"
_HOVER = tooltip(
    """<b>@position{0,0}</b>, looked at as number @order<br>
noisy cost @noisy{0,0.0}<br>exact cost @exact{0,0.0}"""
)
#: What each mark means, for a legend in words next to the chart.
LEGEND = (
    (EXACT, "exact cost of every cut"),
    (NOISY, "noisy cost, as the search saw it"),
    (CHOSEN, "cut chosen"),
    (BEST, "lowest exact cost"),
)


class CutCosts:
    """Costs over the positions of all cuts of a node; built once, its data replaced."""

    def __init__(self) -> None:
        self.line = ColumnDataSource({"x": [], "y": []})
        self.seen = ColumnDataSource(_seen(np.zeros(0), np.zeros(0), np.zeros(0)))
        self.ends = ColumnDataSource({"x": [], "y0": [], "y1": [], "colour": [], "width": []})
        self.figure = fig = figure(
            tools="",
            toolbar_location=None,
            sizing_mode="stretch_width",
            height=260,
            min_border=4,
            outline_line_color=None,
            output_backend="canvas",
            x_range=Range1d(0, 1),
            y_range=Range1d(0, 1),
            html_attributes={"role": "img", "aria-label": "Costs of cuts, nothing chosen yet"},
        )
        fig.grid.grid_line_alpha = 0.4
        fig.segment("x", "y0", "x", "y1", source=self.ends, line_color="colour", line_width="width")
        fig.line("x", "y", source=self.line, line_color=EXACT, line_width=2)
        fig.segment("position", "exact", "position", "noisy", source=self.seen, line_color=NOISY)
        dots = fig.scatter(
            "position",
            "noisy",
            source=self.seen,
            size=9,
            fill_color=NOISY,
            line_color="#ffffff",
            line_width=1,
        )
        fig.add_tools(HoverTool(renderers=[dots], tooltips=_HOVER))
        # There are no cuts between two rows.
        fig.xaxis.ticker = BasicTicker(min_interval=1)
        fig.xaxis.formatter = NumeralTickFormatter(format="0,0")
        fig.yaxis.formatter = NumeralTickFormatter(format="0.[0000]a")
        fig.yaxis.axis_label = "cost (points)"

    def show(
        self,
        axis: str,
        positions: NDArray[Any],
        costs: NDArray[np.float64],
        looked_at: NDArray[Any],
        noisy: NDArray[np.float64],
        chosen: int,
        best: int,
        spoken: str,
    ) -> None:
        """Draw one node's cuts.

        Parameters
        ----------
        axis : what the position counts, such as "cut at row"
        positions, costs : (m,) all cuts and their exact costs
        looked_at, noisy : (k,) cuts that were evaluated and their noisy costs
        chosen, best : positions
        spoken : the sentence read out
        """
        fig = self.figure
        exact = np.interp(looked_at, positions, costs) if len(looked_at) else np.zeros(0)
        every = np.concatenate([costs, noisy])
        low, high = float(every.min()), float(every.max())
        room = max((high - low) * 0.06, 0.5)
        fig.y_range.update(start=low - room, end=high + room)
        beside = max((positions[-1] - positions[0]) * 0.02, 0.5)
        fig.x_range.update(start=float(positions[0] - beside), end=float(positions[-1] + beside))
        fig.xaxis.axis_label = axis
        self.line.data = {"x": positions, "y": costs}
        self.seen.data = _seen(looked_at, noisy, exact)
        self.ends.data = {
            "x": [best, chosen],
            "y0": [low - room] * 2,
            "y1": [high + room] * 2,
            "colour": [BEST, CHOSEN],
            "width": [5, 2],
        }
        fig.html_attributes = {"role": "img", "aria-label": spoken}


def _seen(
    positions: NDArray[Any], noisy: NDArray[np.float64], exact: NDArray[np.float64]
) -> dict[str, Any]:
    order = np.arange(1, len(positions) + 1)
    return {"position": positions, "noisy": noisy, "exact": exact, "order": order}
