"""Two output distributions and the logarithm of their ratio, one chart above the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from explorer.releases.answers import Z95
from explorer.views.teaching.frame import FIRST, SECOND, chart, describe, limit, short_numbers

Floats = NDArray[np.float64]

#: Pixels next to both charts, enough for any label of their axes.
LEFT, RIGHT = 78, 24


class DistributionsChart:
    """Probability of each output on both data sets, and log-ratios between two lines at epsilon."""

    def __init__(self) -> None:
        shared = Range1d(0, 1)
        self.upper = chart(230, x_range=shared, y_range=(0, 1))
        self.lower = chart(190, x_range=shared, y_range=(-1, 1))
        self.first, self.second = (ColumnDataSource({"x": [], "y": []}) for _ in range(2))
        self.ratios = ColumnDataSource(_ratios(np.zeros(1), np.zeros(0), np.zeros(0)))
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
        width = np.diff(edges)
        self.first.data, self.second.data = (
            _steps(edges, first / width),
            _steps(edges, second / width),
        )
        top = float(max((first / width).max(), (second / width).max()))
        self.upper.x_range.update(start=float(edges[0]), end=float(edges[-1]))
        self.upper.y_range.update(start=0.0, end=top * 1.08)
        self.ratios.data = _ratios(edges, ratio, error)
        finite = np.abs(ratio[np.isfinite(ratio)])
        half_width = 1.25 * max(epsilon, float(finite.max()) if len(finite) else 0.0)
        self.lower.y_range.update(start=-half_width, end=half_width)
        self._limits[0].location, self._limits[1].location = epsilon, -epsilon
        describe(self.upper, spoken)
        describe(self.lower, f"Logarithm of the ratio of both: {spoken}")


def _steps(edges: Floats, height: Floats) -> dict[str, Any]:
    x = np.repeat(edges, 2)
    return {"x": x, "y": np.concatenate([[0.0], np.repeat(height, 2), [0.0]])}


def _ratios(edges: Floats, ratio: Floats, error: Floats) -> dict[str, Any]:
    good = np.isfinite(ratio)
    left, right = edges[:-1][good], edges[1:][good]
    at, off = ratio[good], Z95 * error[good]
    return {
        "x": (left + right) / 2,
        "x0": left,
        "x1": right,
        "y": at,
        "low": at - off,
        "high": at + off,
    }
