"""Charts of a distributed protocol: thresholds by level, loss by dropouts, bytes by cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker
from numpy.typing import NDArray

from explorer.views.teaching.frame import FIRST, SECOND, TRUTH, chart, describe, limit

Floats = NDArray[np.float64]
#: What the lines represent, as `teaching.frame.legend` takes it.
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
        self.curve, self.floor = (ColumnDataSource({"x": [], "y": []}) for _ in range(2))
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
        self.all, self.fixed, self.rounds = (ColumnDataSource({"x": [], "y": []}) for _ in range(3))
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
        ends = np.concatenate([sent, [fixed]])
        self.figure.y_range.update(start=float(ends.min()) / 1.5, end=float(ends.max()) * 1.5)
        describe(self.figure, spoken)


class LevelChart:
    """Largest count, threshold and noise of every level of cells, on a logarithmic axis."""

    def __init__(self) -> None:
        self.counts, self.thresholds, self.noise = (
            ColumnDataSource({"x": [], "y": []}) for _ in range(3)
        )
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
        self,
        levels: Sequence[int],
        counts: Floats,
        thresholds: Floats,
        noise: float,
        spoken: str,
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
