"""Charts of many answers: a dot for each run of one person, a histogram of a class's answers.

The truth is a line with bands of 5 and 10 % around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, HoverTool, NumeralTickFormatter, Range1d
from numpy.typing import NDArray

from explorer.views import palette
from explorer.views.figures import chart, describe, empty, legend, short_numbers, tooltip

Floats = NDArray[np.float64]

#: Height of the figure of dots and of its frame in pixels, and the largest dot.
DOTS_HEIGHT, FRAME, DOT = 150, 118, 9.0
#: Height of the histogram in pixels.
HEIGHT = 300
#: Bars of one's own answers; the class's are `palette.RUN`.
OWN = palette.TAG
#: What theory expects of noise alone.
THEORY = "#2fa583"
_DOT_HOVER = tooltip("""run @run: <b>@answer{0,0}</b>""")
_BAR_HOVER = tooltip("""@left{0,0.[00]} to @right{0,0.[00]}: <b>@top</b>""")
_SIDES: dict[str, Any] = {"left": "left", "right": "right", "top": "top"}


def _bands(true: float, top: float) -> dict[str, Any]:
    """10 and 5 % around the truth: the wider below the narrower one, which thereby is darker."""
    shares = np.array([0.10, 0.05] if true > 0 else [])
    return {"left": true * (1 - shares), "right": true * (1 + shares), "top": [top] * len(shares)}


@dataclass(frozen=True, eq=False)
class Dots:
    """What one figure shows.

    Attributes
    ----------
    answers : (runs,) in the order of the runs
    true : the true answer
    here : the answer of the map that the page shows
    shown : the run that is on the map, from 0, or None
    """

    answers: Floats
    true: float
    here: float
    shown: int | None = None


def stacked(answers: Sequence[float] | Floats, low: float, high: float) -> tuple[Floats, Floats]:
    """Places of dots: x in columns between ``low`` and ``high``, y = 0, 1, 2, ... in each.

    Earlier runs lie lower, so that dots stay where they are while more are added to a column.
    """
    values = np.asarray(answers, dtype=np.float64)
    columns = 32 if len(values) <= 60 else 48
    width = (high - low) / columns
    column = np.clip(((values - low) / width).astype(np.int64), 0, columns - 1)
    order = np.argsort(column, kind="stable")
    ordered = column[order]
    # Place in a run of equal columns: position less where the run begins.
    begins = np.searchsorted(ordered, ordered, side="left")
    level = np.empty(len(values))
    level[order] = np.arange(len(values)) - begins
    places = np.linspace(low + width / 2, high - width / 2, columns)
    return places[column], level


def ends(dots: Dots) -> tuple[float, float]:
    """Ends of the axis: all answers, the true one and that of the screen, with some air."""
    every = np.concatenate([dots.answers, [dots.true, dots.here]])
    every = every[np.isfinite(every)]
    low, high = float(every.min()), float(every.max())
    air = max(0.04 * (high - low), 0.5)
    return low - air, high + air


class AnswerDots:
    """One figure: dots, the true answer as a line with bands of 5 and 10 % around it."""

    def __init__(self) -> None:
        self.dots = empty("x", "y", "answer", "run")
        self.bands = empty("left", "right", "top")
        self.line = empty("x", "bottom", "top")
        self.here, self.shown = empty(), empty()
        self.figure = fig = chart(
            DOTS_HEIGHT, label="Dots without data", x_range=Range1d(0, 1), y_range=Range1d(-1, 10)
        )
        fig.yaxis.visible = False
        fig.ygrid.visible = False
        fig.xaxis.formatter = NumeralTickFormatter(format="0,0")
        fig.xaxis.ticker.desired_num_ticks = 4
        band: dict[str, Any] = {"fill_color": palette.TRUE, "fill_alpha": 0.13, "line_color": None}
        fig.quad(**_SIDES, bottom=-1000, source=self.bands, **band)
        fig.segment(
            "x", "bottom", "x", "top", source=self.line, line_color=palette.TRUE, line_width=3
        )
        marks = fig.scatter(
            "x", "y", source=self.dots, size=DOT, fill_color=palette.RUN, line_color=None
        )
        self.marks = marks.glyph
        run: dict[str, Any] = {"fill_color": palette.HOVER, "line_color": "#12171e"}
        fig.scatter("x", "y", source=self.shown, size=13, line_width=1.5, **run)
        own: dict[str, Any] = {"fill_color": palette.TAG, "line_color": "#ffffff"}
        fig.scatter("x", "y", source=self.here, marker="diamond", size=15, **own)
        fig.add_tools(HoverTool(renderers=[marks], tooltips=_DOT_HOVER))

    def show(self, dots: Dots, spoken: str) -> None:
        """Draw ``dots``; ``spoken`` is the sentence read out."""
        low, high = ends(dots)
        x, y = stacked(dots.answers, low, high)
        rows = max(float(y.max(initial=0)) + 1.5, FRAME / DOT)
        below = -0.1 * rows
        self.figure.x_range.update(start=low, end=high)
        self.figure.y_range.update(start=1.6 * below, end=rows)
        self.marks.size = min(DOT, 1.16 * FRAME / (rows - 1.6 * below))
        self.dots.data = {
            "x": x,
            "y": y,
            "answer": np.array(dots.answers, dtype=np.float64),
            "run": np.arange(1, len(x) + 1),
        }
        self.bands.data = _bands(dots.true, rows)
        self.line.data = {"x": [dots.true], "bottom": [1.6 * below], "top": [rows]}
        self.here.data = {"x": [dots.here], "y": [below]}
        chosen = [] if dots.shown is None or dots.shown >= len(x) else [dots.shown]
        self.shown.data = {"x": x[chosen], "y": y[chosen]}
        describe(self.figure, spoken)


def dots_legend() -> str:
    """What the marks are, as HTML with small pictures of them."""
    dot = f'<circle cx="7" cy="7" r="4" fill="{palette.RUN}"/>'
    line = f'<rect x="5.5" y="0" width="3" height="14" fill="{palette.TRUE}"/>'
    diamond = f'<path d="M7 1 L12 7 L7 13 L2 7 Z" fill="{palette.TAG}" stroke="#ffffff"/>'
    ring = f'<circle cx="7" cy="7" r="5.5" fill="{palette.HOVER}" stroke="#12171e"/>'
    band = f'<rect width="14" height="14" fill="{palette.TRUE}" fill-opacity=".3"/>'
    marks = [
        (dot, "one run"),
        (line, "true answer"),
        (band, "within 5 % and 10 % of it"),
        (diamond, "your map"),
        (ring, "the run on the map"),
    ]
    parts = "".join(
        f'<li><svg width="14" height="14" viewBox="0 0 14 14" style="vertical-align:-2px" '
        f'aria-hidden="true">{mark}</svg> {text}</li>'
        for mark, text in marks
    )
    return f'<div class="ledger"><ul>{parts}</ul></div>'


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
        self.bars, self.bands = empty(*_SIDES), empty(*_SIDES)
        self.truth, self.curve, self.own = empty("x", "top"), empty(), empty("x", "y", "size")
        self.figure = fig = chart(height, x_range=(0, 1), y_range=(-0.6, 5))
        band: dict[str, Any] = {"fill_color": palette.TRUE, "fill_alpha": 0.1, "line_color": None}
        fig.quad(**_SIDES, bottom=0, source=self.bands, **band)
        bar: dict[str, Any] = {"line_color": "#8b98a5", "line_width": 0.5}
        bars = fig.quad(
            **_SIDES, bottom=0, source=self.bars, fill_color=palette.RUN, fill_alpha=0.75, **bar
        )
        fig.line("x", "y", source=self.curve, line_color=THEORY, line_width=2.5, line_dash="dashed")
        fig.segment("x", 0, "x", "top", source=self.truth, line_color=palette.TRUE, line_width=3)
        own: dict[str, Any] = {"fill_color": OWN, "line_color": "#ffffff"}
        fig.scatter("x", "y", source=self.own, marker="diamond", size="size", **own)
        fig.add_tools(HoverTool(renderers=[bars], tooltips=_BAR_HOVER))
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
        low, high = _bar_ends(bars)
        curve = _curve(bars, low, high)
        # The bell curve of little noise rises far above the bars; cut off, it would say nothing.
        top = 1.12 * max(float(bars.counts.max()), 4.0, *curve["y"])
        self.figure.x_range.update(start=low, end=high)
        self.figure.y_range.update(start=-0.1 * top, end=top)
        edges = bars.edges
        _put(self.bars, {"left": edges[:-1], "right": edges[1:], "top": bars.counts})
        bands = _bands(bars.true, top)
        bands |= {"left": np.maximum(bands["left"], low), "right": np.minimum(bands["right"], high)}
        _put(self.bands, bands)
        has_truth = np.isfinite(bars.true)
        _put(self.truth, {"x": [bars.true] if has_truth else [], "top": [top] if has_truth else []})
        _put(self.curve, curve)
        number = len(bars.own)
        # The last one is larger.
        size = np.where(np.arange(number) == number - 1, 18.0, 9.0)
        _put(self.own, {"x": list(bars.own), "y": [-0.05 * top] * number, "size": size})
        describe(self.figure, spoken)


def _put(source: ColumnDataSource, columns: dict[str, Any]) -> None:
    """Replace the columns of a source; the same ones are not sent again."""
    new = {name: np.asarray(column, dtype=np.float64) for name, column in columns.items()}
    if not all(np.array_equal(source.data[name], column) for name, column in new.items()):
        source.data = new


def _bar_ends(bars: Bars) -> tuple[float, float]:
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
