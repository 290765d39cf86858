"""Charts of errors: figures built once, whose data sources are replaced.

Both axes that carry errors are logarithmic. Every figure has a spoken name that states its numbers,
and is next to a table with the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.models import (
    ColumnDataSource,
    CustomJSTickFormatter,
    FactorRange,
    FixedTicker,
    HoverTool,
    LogAxis,
    Range1d,
)
from numpy.typing import NDArray

from explorer.views.figures import chart, describe, empty, tooltip
from explorer.views.series import SeriesStyle

Floats = NDArray[np.float64]

#: Height of the frame of the curves in pixels, and the space that one name next to it needs.
HEIGHT, NAME_HEIGHT = 400, 17
#: Lines to the names take this part of the width of the axis.
_LEADER = 0.05

_SHORT_NUMBERS = """
const size = Math.abs(tick)
if (size >= 1e6) return String(Number((tick / 1e6).toPrecision(3))) + "M"
if (size >= 1e4) return String(Number((tick / 1e3).toPrecision(3))) + "k"
return String(Number(tick.toPrecision(3)))
"""
_CURVE_HOVER = tooltip(
    """<b>@name</b><br>epsilon @x{0.[000]}: <b>@shown</b><br>quartiles over seeds @band"""
)
_STICK_HOVER = tooltip(
    """<b>@name</b><br>half of the answers within <b>@median_shown</b>, 95 % within
@p95_shown<br>25 % @p25_shown, 75 % @p75_shown, mean @mean_shown"""
)


@dataclass(frozen=True, eq=False)
class Curve:
    """Error of one mechanism against epsilon: median over seeds and the quartiles around it.

    ``x``, ``middle``, ``low``, ``high`` are (k,), x increasing.
    """

    name: str
    style: SeriesStyle
    x: Floats
    middle: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class Stick:
    """Errors of one mechanism's answers at one epsilon: quantiles over queries, and the mean."""

    name: str
    style: SeriesStyle
    p25: float
    median: float
    p75: float
    p95: float
    mean: float


class ErrorCurves:
    """Error against epsilon, both logarithmic, with bands, and each name at the end of its line.

    Parameters
    ----------
    epsilons : the ticks of the x axis
    """

    def __init__(self, epsilons: Sequence[float]) -> None:
        first, last = min(epsilons), max(epsilons)
        # A single epsilon still needs an axis with space to both sides.
        span = max(last / first, 10.0)
        self._end = last * span**_LEADER
        x_range = Range1d(first / span**0.03, self._end)
        self.bands = empty("xs", "ys", "colour")
        self.lines = empty("xs", "ys", "colour", "dash")
        self.leaders = empty("xs", "ys", "colour")
        self.points = ColumnDataSource(_points([]))
        self.figure = fig = chart(HEIGHT + 50, log="xy", x_range=x_range, y_range=Range1d(0.01, 1))
        fig.patches(
            "xs", "ys", source=self.bands, fill_color="colour", fill_alpha=0.2, line_width=0
        )
        fig.multi_line("xs", "ys", source=self.leaders, line_color="colour", line_alpha=0.6)
        fig.multi_line(
            "xs", "ys", source=self.lines, line_color="colour", line_width=2, line_dash="dash"
        )
        marks = fig.scatter(
            "x",
            "y",
            source=self.points,
            marker="marker",
            size=8,
            line_width=1.5,
            line_color="colour",
            fill_color="colour",
            fill_alpha="filled",
        )
        fig.add_tools(HoverTool(renderers=[marks], tooltips=_CURVE_HOVER))
        fig.xaxis.axis_label = "epsilon"
        fig.xaxis.ticker = FixedTicker(ticks=list(epsilons))
        fig.xaxis.major_label_overrides = {epsilon: f"{epsilon:g}" for epsilon in epsilons}
        fig.yaxis.formatter = CustomJSTickFormatter(code=_SHORT_NUMBERS)
        # The names are where a second axis has its ticks, so they take the colour of the theme.
        self.names = LogAxis(
            ticker=FixedTicker(ticks=[]), axis_line_alpha=0, major_tick_line_alpha=0
        )
        self.names.minor_tick_line_alpha = 0
        fig.add_layout(self.names, "right")

    def show(self, curves: Sequence[Curve], title: str, spoken: str) -> None:
        """Draw ``curves``; ``title`` names the error, ``spoken`` is the sentence read out."""
        curves = [curve for curve in map(_drawable, curves) if len(curve.x)]
        fig = self.figure
        fig.yaxis[0].axis_label = title
        describe(fig, spoken)
        bottom, top = _span([c.low for c in curves] + [c.high for c in curves])
        fig.y_range.update(start=bottom, end=top)
        self.bands.data = {
            "xs": [np.concatenate([c.x, c.x[::-1]]) for c in curves],
            "ys": [np.concatenate([c.low, c.high[::-1]]) for c in curves],
            "colour": [c.style.colour for c in curves],
        }
        self.lines.data = {
            "xs": [c.x for c in curves],
            "ys": [c.middle for c in curves],
            "colour": [c.style.colour for c in curves],
            "dash": [list(c.style.dash) for c in curves],
        }
        self.points.data = _points(curves)
        self._name(curves, bottom, top)

    def _name(self, curves: Sequence[Curve], bottom: float, top: float) -> None:
        """Put each name next to the end of its line, moved where they would overlap."""
        scale = np.log(top / bottom)
        ends = [float(np.log(c.middle[-1] / bottom) / scale) for c in curves]
        places = bottom * np.exp(spread(ends, NAME_HEIGHT / HEIGHT) * scale)
        self.leaders.data = {
            "xs": [[c.x[-1], self._end] for c in curves],
            "ys": [[c.middle[-1], place] for c, place in zip(curves, places, strict=True)],
            "colour": [c.style.colour for c in curves],
        }
        ticks = [float(place) for place in places]
        self.names.update(
            ticker=FixedTicker(ticks=ticks),
            major_label_overrides=dict(zip(ticks, [c.name for c in curves], strict=True)),
        )


class Candlesticks:
    """Errors of single answers, one row a mechanism: box 25 to 75 %, whisker to 95 %, mean."""

    def __init__(self) -> None:
        self.source = ColumnDataSource(_sticks([], 1.0))
        self.figure = fig = chart(
            HEIGHT + 50, log="x", x_range=Range1d(0.01, 1), y_range=FactorRange(factors=[])
        )
        common: dict[str, Any] = {"source": self.source, "line_color": "colour"}
        fig.segment("p75", "name", "p95", "name", line_width=2, **common)
        fig.segment("p95", "below", "p95", "above", line_width=2, **common)
        boxes = fig.hbar(
            y="name",
            left="p25",
            right="p75",
            height=0.56,
            fill_color="colour",
            fill_alpha=0.35,
            line_width=1.5,
            **common,
        )
        fig.segment("median", "lower", "median", "upper", line_width=4, **common)
        means = fig.scatter(
            "mean", "name", marker="diamond", size=12, fill_color="#ffffff", line_width=2, **common
        )
        fig.add_tools(HoverTool(renderers=[boxes, means], tooltips=_STICK_HOVER))
        fig.xaxis.formatter = CustomJSTickFormatter(code=_SHORT_NUMBERS)
        fig.ygrid.grid_line_color = None

    def show(self, sticks: Sequence[Stick], title: str, spoken: str) -> None:
        """Draw ``sticks``, the first at the top; ``title`` names the error."""
        fig = self.figure
        ends = [np.array([s.p25, s.median, s.p75, s.p95, s.mean]) for s in sticks]
        bottom, top = _span(ends)
        fig.xaxis[0].axis_label = title
        describe(fig, spoken)
        fig.x_range.update(start=bottom, end=top)
        fig.y_range.factors = [stick.name for stick in reversed(sticks)]
        fig.height = max(HEIGHT + 50, 90 + 30 * len(sticks))
        self.source.data = _sticks(sticks, bottom)


def _drawable(curve: Curve) -> Curve:
    """The part of a curve that a logarithmic axis has."""
    good = np.isfinite(curve.middle) & (curve.middle > 0)
    low = np.where(curve.low > 0, curve.low, curve.middle)[good]
    parts = (curve.x[good], curve.middle[good], low, curve.high[good])
    return Curve(curve.name, curve.style, *parts)


def _span(values: Sequence[Floats]) -> tuple[float, float]:
    """Ends of a logarithmic axis around all positive ``values``; at most six decades."""
    every = np.concatenate([np.zeros(0), *values])
    good = every[np.isfinite(every) & (every > 0)]
    if not good.size:
        return 0.01, 1.0
    top = float(good.max()) * 1.25
    return max(float(good.min()) / 1.25, top / 1e6), top


def _points(curves: Sequence[Curve]) -> dict[str, Any]:
    rows = [(c, *row) for c in curves for row in zip(c.x, c.middle, c.low, c.high, strict=True)]
    return {
        "x": [row[1] for row in rows],
        "y": [row[2] for row in rows],
        "colour": [row[0].style.colour for row in rows],
        "marker": [row[0].style.marker for row in rows],
        "filled": [1.0 if row[0].style.filled else 0.0 for row in rows],
        "name": [row[0].name for row in rows],
        "shown": [f"{row[2]:.3g}" for row in rows],
        "band": [f"{row[3]:.3g} to {row[4]:.3g}" for row in rows],
    }


def _sticks(sticks: Sequence[Stick], bottom: float) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "name": [s.name for s in sticks],
        "colour": [s.style.colour for s in sticks],
        "lower": [(s.name, -0.28) for s in sticks],
        "upper": [(s.name, 0.28) for s in sticks],
        "below": [(s.name, -0.14) for s in sticks],
        "above": [(s.name, 0.14) for s in sticks],
    }
    for part in ("p25", "median", "p75", "p95", "mean"):
        values = [getattr(s, part) for s in sticks]
        columns[part] = [max(value, bottom) for value in values]
        columns[f"{part}_shown"] = [f"{value:.3g}" for value in values]
    return columns


def spread(places: Sequence[float], gap: float) -> NDArray[np.float64]:
    """Move ``places`` (n,) in 0..1 until neighbours are at least ``gap`` from each other, in order.

    Neighbours that touch share one block that is centred on the mean of their wishes; a block
    that would leave 0..1 is pushed inside. Too many for the space are spaced evenly.

    >>> spread([0.5, 0.5, 0.9], 0.1).round(2).tolist()
    [0.45, 0.55, 0.9]
    """
    clipped = np.clip(np.asarray(places, dtype=np.float64), 0.0, 1.0)
    if len(clipped) * gap >= 1.0:
        gap = 1.0 / max(len(clipped), 1)
    order = np.argsort(clipped, kind="stable")
    blocks: list[list[float]] = []  # wishes of neighbours that touch
    for wish in clipped[order]:
        blocks.append([float(wish)])
        while len(blocks) > 1 and _start(blocks[-1], gap) < _end(blocks[-2], gap) - 1e-12:
            last = blocks.pop()
            blocks[-1] += last
    result = np.empty(len(clipped))
    starts = [_start(block, gap) + gap * (i + 0.5) for block in blocks for i in range(len(block))]
    result[order] = starts
    return result


def _start(block: list[float], gap: float) -> float:
    length = gap * len(block)
    return min(max(sum(block) / len(block) - length / 2, 0.0), 1.0 - length)


def _end(block: list[float], gap: float) -> float:
    return _start(block, gap) + gap * len(block)
