"""Two small maps of the same cells in the same colours: true counts, and noise on every cell."""

from __future__ import annotations

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure
from numpy.typing import NDArray

from explorer.views import palette
from explorer.views.small import SmallMap

Ints = NDArray[np.int64]
Box = tuple[float, float, float, float]


class SlicePair:
    """Counts of a few cells, logarithmic from one upwards; a ring round one, a box about it."""

    def __init__(self) -> None:
        self.true = SmallMap((0.0, 0.0, 1.0, 1.0), "Map without data")
        self.noisy = SmallMap((0.0, 0.0, 1.0, 1.0), "Map without data")
        self.box = ColumnDataSource({"x0": [], "y0": [], "x1": [], "y1": []})
        self.place = ColumnDataSource({"x": [], "y": []})
        for small in (self.true, self.noisy):
            small.figure.quad(
                left="x0",
                right="x1",
                bottom="y0",
                top="y1",
                source=self.box,
                fill_alpha=0.0,
                line_color=palette.BOX,
                line_width=2,
            )
            small.ring(self.place, 18)

    @property
    def figures(self) -> tuple[figure, figure]:
        """The true one and the noisy one."""
        return self.true.figure, self.noisy.figure

    def show(
        self,
        true: Ints,
        noisy: Ints,
        place: tuple[float, float],
        box: Box,
        spoken: tuple[str, str],
    ) -> None:
        """Show counts (rows, cols), row 0 south; place and box in parts of the map, 0 to 1."""
        top = np.log1p(max(int(true.max()), int(noisy.max()), 1))
        for small, counts, text in ((self.true, true, spoken[0]), (self.noisy, noisy, spoken[1])):
            level = 40 + 215 * np.log1p(np.maximum(counts, 0)) / top
            small.show(np.where(counts > 0, level, 0).astype(np.uint8), text)
        self.place.data = {"x": [place[0]], "y": [place[1]]}
        self.box.data = {n: [e] for n, e in zip(("x0", "y0", "x1", "y1"), box, strict=True)}
