"""Charts of lessons, of one decision and of a distributed protocol.

Figures are built once; their data sources are replaced. Every ``show`` takes the sentence that a
screen reader says as ``spoken``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np
from bokeh.models import (
    BasicTicker,
    BoxAnnotation,
    FactorRange,
    FixedTicker,
    HoverTool,
    LinearAxis,
    NumeralTickFormatter,
    Range1d,
    Span,
)
from bokeh.plotting import figure
from numpy.typing import NDArray

from explorer.releases.answers import Z95
from explorer.views.figures import (
    FIRST,
    SECOND,
    TRUTH,
    chart,
    describe,
    empty,
    limit,
    short_numbers,
    tooltip,
)
from explorer.views.series import VIOLET, SeriesStyle

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: The better choice, which needs less noise.
LEAST = VIOLET
#: Characters of a line next to the chart of biases.
CHARACTERS = 26
#: The least number of cells that is drawn, and the least unevenness.
_LEAST_CELLS, _LEAST_UNEVENNESS = 0.5, 1e-4
_SHARES_OF = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
#: Pixels next to both charts of distributions, enough for any label of their axes.
LEFT, RIGHT = 78, 24


def _around(values: Floats, share: float, least: float | None = None) -> dict[str, float]:
    """Ends of an axis that holds ``values``: on both sides a share of them, or ``least``."""
    room = max(share * float(np.ptp(values)), share if least is None else least)
    return {"start": float(values.min()) - room, "end": float(values.max()) + room}


class AverageChart:
    """Answers as points, their running average with a 95 % band, the truth, one release."""

    def __init__(self) -> None:
        self.points, self.line, self.single, self.band = (empty() for _ in range(4))
        self.figure = fig = chart(300, log="x", x_range=(0.9, 10), y_range=(0, 1))
        fig.patch("x", "y", source=self.band, fill_color=FIRST, fill_alpha=0.2, line_width=0)
        fig.scatter("x", "y", source=self.points, color=FIRST, size=4, alpha=0.35)
        fig.line("x", "y", source=self.single, line_color=SECOND, line_width=2.5)
        fig.line("x", "y", source=self.line, line_color=FIRST, line_width=3)
        self._truth = limit(fig, "width")
        fig.xaxis.axis_label = "redraws"
        fig.yaxis.axis_label = "people in the box"
        fig.xaxis.formatter = fig.yaxis.formatter = short_numbers()

    def clear(self, spoken: str) -> None:
        """Show nothing."""
        for source in (self.points, self.line, self.single, self.band):
            source.data = {"x": [], "y": []}
        describe(self.figure, spoken)

    def show(self, answers: Floats, mean: Floats, error: Floats, truth: float, spoken: str) -> None:
        """Draw n answers, the running average and its standard error, all (n,)."""
        n = np.arange(1, len(answers) + 1)
        self.points.data = {"x": n, "y": answers}
        self.line.data = {"x": n, "y": mean}
        self.single.data = {"x": np.array([0.9, len(n) * 1.1]), "y": np.full(2, answers[0])}
        good = np.isfinite(error)
        x, low, high = n[good], (mean - Z95 * error)[good], (mean + Z95 * error)[good]
        self.band.data = {"x": np.concatenate([x, x[::-1]]), "y": np.concatenate([low, high[::-1]])}
        self._truth.location = truth
        self.figure.x_range.update(start=0.9, end=max(len(n) * 1.1, 2.0))
        # A band of two answers reaches far beyond everything else.
        self.figure.y_range.update(**_around(np.append(answers, truth), 0.08))
        describe(self.figure, spoken)


class BiasChart:
    """Biases with 95 % intervals, a row each, the chosen one in another colour, and larger."""

    def __init__(self) -> None:
        self.source = empty("name", "bias", "low", "high", "colour", "size")
        self.figure = fig = chart(300, x_range=(-1, 1), y_range=FactorRange(factors=[]))
        limit(fig, "height", location=0)
        fig.segment("low", "name", "high", "name", source=self.source, color="colour", line_width=3)
        fig.scatter("bias", "name", source=self.source, color="colour", size="size")
        fig.xaxis.axis_label = "mean of private − true, people in the region"
        fig.xaxis.formatter = short_numbers()
        fig.ygrid.grid_line_color = None

    def show(
        self, names: Sequence[str], bias: Floats, error: Floats, chosen: int, spoken: str
    ) -> None:
        """Draw n rows, the first at the top; ``bias`` and its standard ``error`` are (n,)."""
        at = np.arange(len(names)) == chosen
        # On one line the longest would take half of the chart.
        names = [fill(name, CHARACTERS) for name in names]
        low, high = bias - Z95 * error, bias + Z95 * error
        self.figure.y_range.factors = list(reversed(names))
        self.figure.x_range.update(**_around(np.array([0.0, low.min(), high.max()]), 0.06))
        lines = max(name.count("\n") for name in names)
        self.figure.height = 70 + (30 + 12 * lines) * len(names)
        self.source.data = {
            "name": list(names),
            "bias": bias,
            "low": low,
            "high": high,
            "colour": np.where(at, SECOND, FIRST).tolist(),
            "size": np.where(at, 14, 8),
        }
        describe(self.figure, spoken)


class DistributionsChart:
    """Probability of each output on both data sets, and log-ratios between two lines at epsilon."""

    def __init__(self) -> None:
        shared = Range1d(0, 1)
        self.upper = chart(230, x_range=shared, y_range=(0, 1))
        self.lower = chart(190, x_range=shared, y_range=(-1, 1))
        self.first, self.second = empty(), empty()
        self.ratios = empty("x", "x0", "x1", "y", "low", "high")
        for source, colour in ((self.first, FIRST), (self.second, SECOND)):
            # Filled down to zero: the outline begins and ends there.
            self.upper.patch("x", "y", source=source, fill_color=colour, fill_alpha=0.18)
            self.upper.line("x", "y", source=source, line_color=colour, line_width=2.5)
        self.lower.segment("x", "low", "x", "high", source=self.ratios, color=SECOND, alpha=0.6)
        self.lower.segment("x0", "y", "x1", "y", source=self.ratios, color=SECOND, line_width=3)
        self._limits = [limit(self.lower, "width", FIRST) for _ in range(2)]
        self.upper.xaxis.formatter = self.lower.xaxis.formatter = short_numbers()
        # The widths of their labels differ: with as much space for both, the axes are one below the
        # other.
        self.upper.min_border_left = self.lower.min_border_left = LEFT
        self.upper.min_border_right = self.lower.min_border_right = RIGHT
        self.upper.yaxis.axis_label = "probability density"
        self.lower.yaxis.axis_label = "log of the ratio"
        self.lower.xaxis.axis_label = "published answer"

    @property
    def figures(self) -> tuple[figure, figure]:
        """The upper and the lower chart."""
        return self.upper, self.lower

    def show(
        self,
        edges: Floats,
        first: Floats,
        second: Floats,
        ratio: Floats,
        error: Floats,
        epsilon: float,
        spoken: str,
    ) -> None:
        """Draw probabilities (k,) of bins with ``edges`` (k + 1,) and their log-ratio (k,)."""
        x, densities = np.repeat(edges, 2), [part / np.diff(edges) for part in (first, second)]
        for source, density in zip((self.first, self.second), densities, strict=True):
            source.data = {"x": x, "y": np.concatenate([[0.0], np.repeat(density, 2), [0.0]])}
        self.upper.x_range.update(start=float(edges[0]), end=float(edges[-1]))
        self.upper.y_range.update(start=0.0, end=1.08 * float(np.max(densities)))
        good = np.isfinite(ratio)
        left, right = edges[:-1][good], edges[1:][good]
        at, off = ratio[good], Z95 * error[good]
        self.ratios.data = {
            "x": (left + right) / 2,
            "x0": left,
            "x1": right,
            "y": at,
            "low": at - off,
            "high": at + off,
        }
        half_width = 1.25 * max(epsilon, float(np.abs(at).max(initial=0.0)))
        self.lower.y_range.update(start=-half_width, end=half_width)
        self._limits[0].location, self._limits[1].location = epsilon, -epsilon
        describe(self.upper, spoken)
        describe(self.lower, f"Logarithm of the ratio of both: {spoken}")


class GrowingChart:
    """Trips and noise against the side of a box, logarithmic; a line where the chosen box is."""

    def __init__(self) -> None:
        self.source = empty("x", "trips", "noise")
        self.figure = fig = chart(220, log="xy", x_range=(0.8, 80), y_range=(0.5, 1e5))
        self._chosen = limit(fig, "height")
        for name, colour in (("noise", SECOND), ("trips", FIRST)):
            fig.line("x", name, source=self.source, line_color=colour, line_width=3)
            fig.scatter("x", name, source=self.source, color=colour, size=8)
        fig.xaxis.axis_label = "cells to a side of the box"
        fig.yaxis.axis_label = "trips"

    def show(self, sides: Ints, trips: Ints, noise: Floats, chosen: int, spoken: str) -> None:
        """Draw ``trips`` and ``noise`` (b,) of boxes with ``sides`` (b,); ``chosen`` is marked."""
        self.source.data = {"x": sides, "trips": np.maximum(trips, 0.5), "noise": noise}
        fig, both = self.figure, np.concatenate([trips, noise])
        fig.x_range.update(start=0.8, end=1.25 * float(sides[-1]))
        fig.y_range.update(start=max(float(both.min()) / 2, 0.1), end=2.5 * float(both.max()))
        ticks = [int(side) for side in sides]
        fig.xaxis.ticker = FixedTicker(ticks=ticks)
        fig.xaxis.major_label_overrides = {side: f"{side:,}" for side in ticks}
        self._chosen.location = chosen
        describe(fig, spoken)


class KeptChart:
    """How many cells show a count or more: those with trips, and those with noise alone.

    Two falling lines on logarithmic axes, and where the highest false count is.
    """

    def __init__(self) -> None:
        self.false, self.true = empty(), empty()
        self.figure = fig = chart(220, log="xy", x_range=(1, 100), y_range=(_LEAST_CELLS, 1e6))
        self._highest = limit(fig, "height")
        fig.line("x", "y", source=self.false, line_color=SECOND, line_width=3)
        fig.line("x", "y", source=self.true, line_color=FIRST, line_width=3)
        fig.xaxis.axis_label = "noisy count, or more"
        fig.yaxis.axis_label = "cells that show it"

    def show(self, k: Floats, false: Floats, true: Floats, highest: float, spoken: str) -> None:
        """Draw expected numbers of cells (m,) that show ``k`` (m,) or more."""
        for source, line in ((self.false, false), (self.true, true)):
            visible = line >= _LEAST_CELLS / 10
            source.data = {"x": k[visible], "y": line[visible]}
        top = max(float(false.max(initial=1)), float(true.max(initial=1)))
        self.figure.x_range.update(start=float(k[0]), end=float(k[-1]))
        self.figure.y_range.update(start=_LEAST_CELLS, end=2 * top)
        self._highest.location = max(highest, float(k[0]))
        describe(self.figure, spoken)


class LossChart:
    """What a sum costs when fewer honest people are in it than its noise was made for.

    The loss by honest people, its floor, what was agreed, how many there are; grey: refused.
    """

    def __init__(self) -> None:
        self.loss, self.floor = empty(), empty()
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


class CostsChart:
    """True cost of every candidate, and what one draw of noise makes of it."""

    def __init__(self) -> None:
        self.source, self.winner = empty("x", "true", "noisy"), empty()
        self.figure = fig = chart(220, x_range=(0, 11), y_range=(0, 1))
        fig.segment("x", "true", "x", "noisy", source=self.source, color=SECOND, alpha=0.45)
        fig.scatter("x", "noisy", source=self.source, color=SECOND, marker="diamond", size=11)
        fig.scatter("x", "true", source=self.source, color=FIRST, size=8)
        ring = {"size": 20, "fill_color": None, "line_color": TRUTH, "line_width": 2.5}
        fig.scatter("x", "y", source=self.winner, **ring)
        fig.xaxis.axis_label = "candidates, the truly cheapest first"
        fig.yaxis.axis_label = "cost, in trips"
        fig.yaxis.formatter = short_numbers()

    def show(self, true: Floats, noisy: Floats, spoken: str) -> None:
        """Draw costs (p,) of candidates in their order."""
        x = np.arange(1, len(true) + 1)
        self.source.data = {"x": x, "true": true, "noisy": noisy}
        best = int(noisy.argmin())
        self.winner.data = {"x": [best + 1], "y": [noisy[best]]}
        _ranks(self.figure, len(true))
        self.figure.y_range.update(**_around(np.concatenate([true, noisy]), 0.12))
        describe(self.figure, spoken)


class WinsChart:
    """Share of choices that each candidate wins, by two rules, next to that of a lottery."""

    def __init__(self) -> None:
        self.source = empty("left", "right", "paper", "least")
        self.figure = fig = chart(220, x_range=(0, 11), y_range=(0, 1))
        for name, place, colour in (("paper", "left", SECOND), ("least", "right", LEAST)):
            fig.vbar(place, width=0.34, top=name, source=self.source, color=colour, fill_alpha=0.85)
        self._lottery = limit(fig, "width")
        fig.xaxis.axis_label = "candidates, the truly cheapest first"
        fig.yaxis.axis_label = "wins, in percent"
        fig.yaxis.formatter = short_numbers()
        fig.xgrid.visible = False

    def show(self, paper: Floats, least: Floats, spoken: str) -> None:
        """Draw shares (p,) of candidates in their order, 0 to 1."""
        x, shares = np.arange(1, len(paper) + 1), {"paper": 100 * paper, "least": 100 * least}
        self.source.data = {"left": x - 0.19, "right": x + 0.19, **shares}
        self._lottery.location = 100 / len(paper)
        _ranks(self.figure, len(paper))
        top = 115 * max(float(paper.max()), float(least.max()), 1.5 / len(paper))
        self.figure.y_range.update(start=0.0, end=top)
        describe(self.figure, spoken)


def _ranks(fig: figure, number: int) -> None:
    """Ticks for so many candidates: all up to ten, else the first and every fifth."""
    fig.x_range.update(start=0.4, end=number + 0.6)
    ticks = range(1, number + 1) if number <= 10 else [1, *range(5, number + 1, 5)]
    fig.xaxis.ticker = FixedTicker(ticks=list(ticks))


class LevelsChart:
    """By level: what there is to choose, median and middle half, and the noise put on it.

    Parameters
    ----------
    first, last : numbers of the levels
    level, unit : what the axes are called
    """

    def __init__(self, last: int, first: int = 1, level: str = "cut", unit: str = "trips") -> None:
        self.ranges, self.noises = empty("x", "y", "low", "high"), empty("x", "paper", "least")
        ends = first - 0.5, last + 0.5
        self.figure = fig = chart(230, log="y", x_range=ends, y_range=(0.1, 1e5))
        for name, colour, shape, size in (
            ("paper", SECOND, "diamond", 12),
            ("least", LEAST, "square", 9),
        ):
            fig.line("x", name, source=self.noises, line_color=colour, line_width=3)
            fig.scatter("x", name, source=self.noises, color=colour, marker=shape, size=size)
        fig.segment("x", "low", "x", "high", source=self.ranges, color=FIRST, line_width=3)
        fig.scatter("x", "y", source=self.ranges, color=FIRST, size=11)
        fig.xaxis.ticker = FixedTicker(ticks=list(range(first, last + 1)))
        fig.xaxis.axis_label = level
        fig.yaxis.axis_label = unit

    def show(
        self, cuts: Sequence[int], ranges: Floats, paper: Floats, least: Floats, spoken: str
    ) -> None:
        """Draw ranges (3, k), quartiles by level, and two limits (k,), as noise scales, of k."""
        x = np.asarray(cuts)
        low, middle, high = np.maximum(ranges, 0.01)
        self.ranges.data = {"x": x, "y": middle, "low": low, "high": high}
        self.noises.data = {"x": x, "paper": paper, "least": least}
        every = np.concatenate([low, high, paper, least])
        if len(every):
            self.figure.y_range.update(start=float(every.min()) / 2, end=float(every.max()) * 2)
        describe(self.figure, spoken)


class UnevennessChart:
    """H by level, as it is and as noisy sums show it, next to one that someone chose."""

    def __init__(self, last: int) -> None:
        self.true, self.measured = empty(), empty()
        ends = 0.5, last + 0.5
        self.figure = fig = chart(220, log="y", x_range=ends, y_range=(_LEAST_UNEVENNESS, 1))
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
            source.data = {"x": levels, "y": np.maximum(h, _LEAST_UNEVENNESS)}
        self._chosen.location = chosen
        describe(self.figure, spoken)


class SharesChart:
    """Share of good answers against epsilon, with the interval that contains the wanted share.

    One point for each epsilon that was tried, from ``first`` to ``last``, with its 95 % bounds.
    """

    def __init__(self, first: float, last: float) -> None:
        self._ends = first / 1.15, last * 1.15
        self.source = empty("x", "y", "low", "high")
        self.figure = fig = chart(300, log="x", x_range=self._ends, y_range=(-0.02, 1.04))
        self._band = BoxAnnotation(fill_color=SECOND, fill_alpha=0.25, visible=False)
        self._smallest = Span(dimension="height", line_color=SECOND, line_width=2.5, visible=False)
        for layer in (self._band, self._smallest):
            fig.add_layout(layer)
        self._wanted = limit(fig, "width")
        fig.segment("x", "low", "x", "high", source=self.source, color=FIRST, line_width=2)
        fig.line("x", "y", source=self.source, color=FIRST, alpha=0.5)
        fig.scatter("x", "y", source=self.source, color=FIRST, size=8)
        fig.xaxis.axis_label = "epsilon"
        fig.yaxis.axis_label = "share of good answers"
        fig.xaxis.ticker = FixedTicker(ticks=list(_SHARES_OF))
        fig.xaxis.major_label_overrides = {tick: f"{tick:g}" for tick in _SHARES_OF}
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
        """Draw ``points`` (epsilon, share, low, high; each (k,)) and the smallest that will do."""
        self.source.data = dict(zip(("x", "y", "low", "high"), points, strict=True))
        self._wanted.location = share
        first, last = self._ends
        self._smallest.update(visible=smallest is not None, location=smallest or first)
        begin, end = interval
        self._band.update(visible=begin is not None, left=begin or first, right=end or last)
        describe(self.figure, spoken)


@dataclass(frozen=True)
class Slope:
    """One mechanism: its place by either metric, and what is next to each end of its line."""

    style: SeriesStyle
    places: tuple[int, int]
    labels: tuple[str, str]


class SlopeChart:
    """Two rankings side by side, the first place on top: crossing lines are changed places."""

    def __init__(self, titles: tuple[str, str]) -> None:
        self.lines = empty("xs", "ys", "colour", "dash")
        self.ends = empty("x", "y", "colour", "marker")
        self.figure = fig = chart(300, x_range=(-0.06, 1.06), y_range=(1, 0))
        fig.multi_line(
            "xs", "ys", source=self.lines, line_color="colour", line_dash="dash", line_width=3
        )
        fig.scatter(
            "x", "y", source=self.ends, marker="marker", size=11, color="colour", fill_alpha=1.0
        )
        fig.grid.visible = False
        fig.xaxis.visible = False
        # The names take the colour of the theme where an axis has its ticks.
        self.right = LinearAxis()
        fig.add_layout(self.right, "right")
        for axis, title in ((fig.yaxis[0], titles[0]), (self.right, titles[1])):
            axis.update(
                axis_label=title,
                axis_line_alpha=0,
                major_tick_line_alpha=0,
                minor_tick_line_alpha=0,
            )

    def show(self, slopes: Sequence[Slope], spoken: str) -> None:
        """Draw one line for each mechanism."""
        self.lines.data = {
            "xs": [[0, 1] for _ in slopes],
            "ys": [list(line.places) for line in slopes],
            "colour": [line.style.colour for line in slopes],
            "dash": [list(line.style.dash) for line in slopes],
        }
        both = [(side, slope) for side in (0, 1) for slope in slopes]
        self.ends.data = {
            "x": [side for side, _ in both],
            "y": [line.places[side] for side, line in both],
            "colour": [line.style.colour for _, line in both],
            "marker": [line.style.marker for _, line in both],
        }
        self.figure.y_range.update(start=len(slopes) + 0.5, end=0.5)
        self.figure.height = 70 + 38 * len(slopes)
        for side, axis in ((0, self.figure.yaxis[0]), (1, self.right)):
            names = {line.places[side]: line.labels[side] for line in slopes}
            axis.update(ticker=FixedTicker(ticks=sorted(names)), major_label_overrides=names)
        describe(self.figure, spoken)


class VectorChart:
    """A vector of whole numbers, a bar for each cell; dots where the truth is, if it is given."""

    def __init__(self, colour: str = FIRST) -> None:
        self.source, self.truth = empty(), empty()
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
        every = np.concatenate([[0, 1], values, [] if truth is None else truth])
        self.figure.x_range.update(start=-1, end=len(values))
        self.figure.y_range.update(**_around(every, 0.08))
        describe(self.figure, spoken)


# One decision of a mechanism: what every cut costs, what the search saw, what it chose.

EXACT, NOISY, CHOSEN, BEST = "#3b8fd6", "#e08a2e", "#d65f7f", "#3aa58a"
_CUT_HOVER = tooltip(
    """<b>@position{0,0}</b>, looked at as number @order<br>
noisy cost @noisy{0,0.0}<br>exact cost @exact{0,0.0}"""
)
#: What each mark means, for a legend in words next to the chart.
CUT_LEGEND = (
    (EXACT, "exact cost of every cut"),
    (NOISY, "noisy cost, as the search saw it"),
    (CHOSEN, "cut chosen"),
    (BEST, "lowest exact cost"),
)


class CutCosts:
    """Costs over the positions of all cuts of a node."""

    def __init__(self) -> None:
        self.line, self.seen = empty(), empty("position", "noisy", "exact", "order")
        self.ends = empty("x", "y0", "y1", "colour", "width")
        label = "Costs of cuts, nothing chosen yet"
        self.figure = fig = chart(260, label=label, x_range=Range1d(0, 1), y_range=Range1d(0, 1))
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
        fig.add_tools(HoverTool(renderers=[dots], tooltips=_CUT_HOVER))
        # There are no cuts between two rows.
        fig.xaxis.ticker = BasicTicker(min_interval=1)
        fig.xaxis.formatter = NumeralTickFormatter(format="0,0")
        fig.yaxis.formatter = NumeralTickFormatter(format="0.[0000]a")
        fig.yaxis.axis_label = "cost (points)"

    def show(
        self,
        axis: str,
        positions: NDArray[Any],
        costs: Floats,
        looked_at: NDArray[Any],
        noisy: Floats,
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
        span = _around(np.concatenate([costs, noisy]), 0.06, 0.5)
        fig.y_range.update(**span)
        fig.x_range.update(**_around(np.asarray(positions[[0, -1]], float), 0.02, 0.5))
        fig.xaxis.axis_label = axis
        self.line.data = {"x": positions, "y": costs}
        order = np.arange(1, len(looked_at) + 1)
        self.seen.data = {"position": looked_at, "noisy": noisy, "exact": exact, "order": order}
        self.ends.data = {
            "x": [best, chosen],
            "y0": [span["start"]] * 2,
            "y1": [span["end"]] * 2,
            "colour": [BEST, CHOSEN],
            "width": [5, 2],
        }
        describe(fig, spoken)


# A distributed protocol: thresholds by level, loss by dropouts, bytes by cells.

LOSS_LEGEND = (
    (FIRST, "line", "epsilon of the sum"),
    (SECOND, "dash", "floor: what no smaller epsilon can mend"),
    (TRUTH, "dash", "beyond this a shard is refused"),
)
BYTES_LEGEND = (
    (FIRST, "line", "all that a person sends"),
    (SECOND, "dash", "protocol alone: keys, boxes, shares"),
    (TRUTH, "dot", "rounds of this release"),
)
LEVEL_LEGEND = (
    (FIRST, "line", "largest cell of the level"),
    (SECOND, "dash", "threshold: cells above are divided"),
    (TRUTH, "dash", "noise of one sum"),
)


class LossCurve:
    """What a sum would cost from which more people dropped out than its noise was made for."""

    def __init__(self) -> None:
        self.curve, self.floor = empty(), empty()
        self.figure = fig = chart(240, x_range=(0, 100), y_range=(0, 4))
        fig.line("x", "y", source=self.curve, line_color=FIRST, line_width=3)
        fig.line("x", "y", source=self.floor, line_color=SECOND, line_width=2.5, line_dash="dashed")
        self._refused = limit(fig, "height")
        fig.xaxis.axis_label = "percent of a shard who drop out"
        fig.yaxis.axis_label = "epsilon of its sum"

    def show(
        self, dropped: Floats, cost: Floats, floor: Floats, refused: float, spoken: str
    ) -> None:
        """Draw costs and floors (n,) at percents (n,); beyond ``refused`` nothing is unmasked."""
        self.curve.data = {"x": dropped, "y": cost}
        self.floor.data = {"x": dropped, "y": floor}
        self._refused.location = refused
        self.figure.x_range.update(start=0.0, end=float(dropped[-1]))
        self.figure.y_range.update(start=0.0, end=float(cost.max()) * 1.05)
        describe(self.figure, spoken)


class BytesCurve:
    """Bytes that a person sends against the numbers in her vector."""

    def __init__(self) -> None:
        self.all, self.fixed, self.rounds = empty(), empty(), empty()
        self.figure = fig = chart(240, log="xy", x_range=(10, 1e6), y_range=(1e3, 1e6))
        fig.line("x", "y", source=self.all, line_color=FIRST, line_width=3)
        fig.line("x", "y", source=self.fixed, line_color=SECOND, line_width=2.5, line_dash="dashed")
        fig.scatter("x", "y", source=self.rounds, color=TRUTH, size=9)
        fig.xaxis.axis_label = "numbers in a vector"
        fig.yaxis.axis_label = "bytes a person sends"

    def show(
        self, cells: Floats, sent: Floats, fixed: float, rounds: tuple[Floats, Floats], spoken: str
    ) -> None:
        """Draw bytes (n,) at numbers of cells (n,), and the rounds' own (cells, bytes)."""
        self.all.data = {"x": cells, "y": sent}
        self.fixed.data = {"x": cells[[0, -1]], "y": np.full(2, fixed)}
        self.rounds.data = {"x": rounds[0], "y": rounds[1]}
        self.figure.x_range.update(start=float(cells[0]) / 1.3, end=float(cells[-1]) * 1.3)
        ends = np.append(sent, fixed)
        self.figure.y_range.update(start=float(ends.min()) / 1.5, end=float(ends.max()) * 1.5)
        describe(self.figure, spoken)


class LevelChart:
    """Largest count, threshold and noise of every level of cells, on a logarithmic axis."""

    def __init__(self) -> None:
        self.counts, self.thresholds, self.noise = empty(), empty(), empty()
        self.figure = fig = chart(240, log="y", x_range=(0, 10), y_range=(1, 1e4))
        fig.line("x", "y", source=self.counts, line_color=FIRST, line_width=3)
        fig.scatter("x", "y", source=self.counts, color=FIRST, size=8)
        for source, colour, shape in (
            (self.thresholds, SECOND, "square"),
            (self.noise, TRUTH, "diamond"),
        ):
            fig.line("x", "y", source=source, line_color=colour, line_width=2, line_dash="dashed")
            fig.scatter("x", "y", source=source, color=colour, size=8, marker=shape)
        fig.xaxis.axis_label = "level of cells"
        fig.yaxis.axis_label = "people in one sum"

    def show(
        self, levels: Sequence[int], counts: Floats, thresholds: Floats, noise: float, spoken: str
    ) -> None:
        """Draw figures (n,) of n levels; counts of 0 or less are left out."""
        x = np.array(levels, dtype=np.float64)
        good = counts > 0
        self.counts.data = {"x": x[good], "y": counts[good]}
        self.thresholds.data = {"x": x, "y": thresholds}
        self.noise.data = {"x": x, "y": np.full(len(x), noise)}
        every = np.concatenate([counts[good], thresholds, [noise]])
        every = every[np.isfinite(every) & (every > 0)]
        self.figure.xaxis.ticker = FixedTicker(ticks=list(x))
        self.figure.x_range.update(start=float(x[0]) - 0.4, end=float(x[-1]) + 0.4)
        self.figure.y_range.update(start=float(every.min()) / 2, end=float(every.max()) * 2)
        describe(self.figure, spoken)
