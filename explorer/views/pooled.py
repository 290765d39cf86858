"""Answers of a class as one histogram, with the truth, what theory expects, and one's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, HoverTool
from numpy.typing import NDArray

from explorer.views import palette
from explorer.views.figures import chart, describe, legend, short_numbers, tooltip

Floats = NDArray[np.float64]

HEIGHT = 300
#: Bars of one's own answers; the class's are `palette.RUN`.
OWN = palette.TAG
#: What theory expects of noise alone.
THEORY = "#2fa583"
_HOVER = tooltip("""@left{0,0.[00]} to @right{0,0.[00]}: <b>@top</b>""")


@dataclass(frozen=True, eq=False)
class Bars:
    """What the chart shows.

    Attributes
    ----------
    edges, counts : (k + 1,), (k,) the histogram
    true : the true count, NaN where it is not to be seen
    theory : standard deviation of the noise, around the truth
    own : (m,) one's own answers, the last one last
    """

    edges: Floats
    counts: NDArray[np.int64]
    true: float
    theory: float
    own: tuple[float, ...] = ()


class PooledChart:
    """A histogram built once, whose bars are replaced.

    Parameters
    ----------
    height : in pixels
    type_size : of the axes, for a projector; the usual one without it
    """

    def __init__(self, height: int = HEIGHT, type_size: str = "") -> None:
        self.bars = ColumnDataSource({"left": [], "right": [], "top": []})
        self.bands = ColumnDataSource({"left": [], "right": [], "top": []})
        self.truth = ColumnDataSource({"x": [], "top": []})
        self.curve = ColumnDataSource({"x": [], "y": []})
        self.own = ColumnDataSource({"x": [], "y": [], "size": []})
        self.figure = fig = chart(height, x_range=(0, 1), y_range=(-0.6, 5))
        fig.quad(
            left="left",
            right="right",
            bottom=0,
            top="top",
            source=self.bands,
            fill_color=palette.TRUE,
            fill_alpha=0.1,
            line_color=None,
        )
        bars = fig.quad(
            left="left",
            right="right",
            bottom=0,
            top="top",
            source=self.bars,
            fill_color=palette.RUN,
            fill_alpha=0.75,
            line_color="#8b98a5",
            line_width=0.5,
        )
        fig.line("x", "y", source=self.curve, line_color=THEORY, line_width=2.5, line_dash="dashed")
        fig.segment("x", 0, "x", "top", source=self.truth, line_color=palette.TRUE, line_width=3)
        fig.scatter(
            "x",
            "y",
            source=self.own,
            marker="diamond",
            size="size",
            fill_color=OWN,
            line_color="#ffffff",
        )
        fig.add_tools(HoverTool(renderers=[bars], tooltips=_HOVER))
        fig.xaxis.axis_label = "private answer: people in the box"
        fig.yaxis.axis_label = "answers"
        fig.xaxis.formatter = fig.yaxis.formatter = short_numbers()
        fig.xaxis.ticker.desired_num_ticks = 5
        fig.yaxis.ticker.min_interval = 1
        fig.xgrid.visible = False
        if type_size:
            fig.axis.axis_label_text_font_size = type_size
            fig.axis.major_label_text_font_size = type_size

    def clear(self, spoken: str) -> None:
        """Show nothing."""
        for source in (self.bars, self.bands, self.truth, self.curve, self.own):
            _put(source, {name: [] for name in source.data})
        describe(self.figure, spoken)

    def show(self, bars: Bars, spoken: str) -> None:
        """Draw the histogram; ``spoken`` is the sentence read out."""
        low, high = ends(bars)
        curve = _curve(bars, low, high)
        # The bell curve of little noise rises far above the bars; cut off, it would say nothing.
        top = 1.12 * max(float(bars.counts.max()), 4.0, *curve["y"])
        self.figure.x_range.update(start=low, end=high)
        self.figure.y_range.update(start=-0.1 * top, end=top)
        _put(
            self.bars,
            {
                "left": bars.edges[:-1],
                "right": bars.edges[1:],
                "top": bars.counts.astype(np.float64),
            },
        )
        shares = [0.10, 0.05] if bars.true > 0 else []
        _put(
            self.bands,
            {
                "left": [max(bars.true * (1 - share), low) for share in shares],
                "right": [min(bars.true * (1 + share), high) for share in shares],
                "top": [top] * len(shares),
            },
        )
        has_truth = np.isfinite(bars.true)
        _put(self.truth, {"x": [bars.true] if has_truth else [], "top": [top] if has_truth else []})
        _put(self.curve, curve)
        last = [0.0] * (len(bars.own) - 1) + [1.0] * bool(bars.own)
        _put(
            self.own,
            {
                "x": list(bars.own),
                "y": [-0.05 * top] * len(bars.own),
                "size": [18.0 if is_last else 9.0 for is_last in last],
            },
        )
        describe(self.figure, spoken)


def _put(source: ColumnDataSource, columns: dict[str, Any]) -> None:
    """Replace the columns of a source; the same ones are not sent again."""
    new = {name: np.asarray(column, dtype=np.float64) for name, column in columns.items()}
    if not all(np.array_equal(source.data[name], column) for name, column in new.items()):
        source.data = new


def ends(bars: Bars) -> tuple[float, float]:
    """Ends of the axis: bars, and the truth with three sds on both sides where it is shown."""
    around = [float(bars.edges[0]), float(bars.edges[-1])]
    if np.isfinite(bars.true):
        around += [bars.true - 3 * bars.theory, bars.true + 3 * bars.theory]
    low, high = min(around), max(around)
    # A single bar would fill the frame from side to side.
    air = max(0.04 * (high - low), 4 * (float(bars.edges[1] - bars.edges[0])) / len(bars.edges))
    return low - air, high + air


def _curve(bars: Bars, low: float, high: float) -> dict[str, Floats]:
    """The bell curve that theory expects, in answers to a bar."""
    if not np.isfinite(bars.true) or not bars.theory > 0:
        return {"x": np.zeros(0), "y": np.zeros(0)}
    # Noise may be far narrower than the axis.
    first, last = max(low, bars.true - 4 * bars.theory), min(high, bars.true + 4 * bars.theory)
    x = np.linspace(first, last, 81)
    width = float(bars.edges[1] - bars.edges[0])
    height = float(bars.counts.sum()) * width / (bars.theory * np.sqrt(2 * np.pi))
    return {"x": x, "y": height * np.exp(-0.5 * ((x - bars.true) / bars.theory) ** 2)}


def pooled_legend(*, truth: bool, own: bool) -> str:
    """What the colours are, for who sees the truth and who has answers of their own."""
    entries = [(palette.RUN, "area", "answers of the class")]
    if own:
        entries.append((OWN, "diamond", "your answers, the last one larger"))
    if truth:
        entries += [
            (palette.TRUE, "line", "truth, with 5 % and 10 % around it"),
            (THEORY, "dash", "bell curve of the noise alone"),
        ]
    return legend(entries)
