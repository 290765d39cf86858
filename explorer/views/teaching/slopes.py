"""Two rankings side by side, a line for each mechanism: crossing lines are changed places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bokeh.models import ColumnDataSource, FixedTicker, LinearAxis

from explorer.views.series import SeriesStyle
from explorer.views.teaching.frame import chart, describe


@dataclass(frozen=True)
class Slope:
    """One mechanism: its place by either metric, and what is next to each end of its line."""

    style: SeriesStyle
    places: tuple[int, int]
    labels: tuple[str, str]


class SlopeChart:
    """Places by one metric at the left, by the other at the right; first place on top."""

    def __init__(self, titles: tuple[str, str]) -> None:
        self.lines = ColumnDataSource({"xs": [], "ys": [], "colour": [], "dash": []})
        self.ends = ColumnDataSource({"x": [], "y": [], "colour": [], "marker": []})
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
