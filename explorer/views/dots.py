"""Answers of many runs as dots: one dot a run, stacked where answers are alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.models import HoverTool, NumeralTickFormatter, Range1d
from numpy.typing import NDArray

from explorer.views import palette
from explorer.views.figures import chart, describe, empty, tooltip

Floats = NDArray[np.float64]

#: Height of the figure and of its frame in pixels, and the largest dot.
HEIGHT, FRAME, DOT = 150, 118, 9.0
_HOVER = tooltip("""run @run: <b>@answer{0,0}</b>""")


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
            HEIGHT, label="Dots without data", x_range=Range1d(0, 1), y_range=Range1d(-1, 10)
        )
        fig.yaxis.visible = False
        fig.ygrid.visible = False
        fig.xaxis.formatter = NumeralTickFormatter(format="0,0")
        fig.xaxis.ticker.desired_num_ticks = 4
        fig.quad(
            left="left",
            right="right",
            bottom=-1000,
            top="top",
            source=self.bands,
            fill_color=palette.TRUE,
            fill_alpha=0.13,
            line_color=None,
        )
        fig.segment(
            "x", "bottom", "x", "top", source=self.line, line_color=palette.TRUE, line_width=3
        )
        marks = fig.scatter(
            "x", "y", source=self.dots, size=DOT, fill_color=palette.RUN, line_color=None
        )
        self.marks = marks.glyph
        fig.scatter(
            "x",
            "y",
            source=self.shown,
            size=13,
            fill_color=palette.HOVER,
            line_color="#12171e",
            line_width=1.5,
        )
        fig.scatter(
            "x",
            "y",
            source=self.here,
            marker="diamond",
            size=15,
            fill_color=palette.TAG,
            line_color="#ffffff",
        )
        fig.add_tools(HoverTool(renderers=[marks], tooltips=_HOVER))

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


def _bands(true: float, top: float) -> dict[str, Any]:
    """The wider band below the narrower one, which thereby is darker."""
    shares = [0.10, 0.05] if true > 0 else []
    return {
        "left": [true * (1 - share) for share in shares],
        "right": [true * (1 + share) for share in shares],
        "top": [top] * len(shares),
    }


def legend() -> str:
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
