"""One branch of a tree over several places, as it is drawn on the map of one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure
from numpy.typing import NDArray

from explorer.views import palette
from explorer.views.viewport import Viewport

#: A part whose shorter side is below so many pixels has no line.
_LEGIBLE = 3.0
#: More parts than so many, such as those of a fine grid, are left out, smallest first.
_MOST = 4_000
_EMPTY: dict[str, Any] = {
    **{name: np.zeros(0, np.float32) for name in ("x0", "y0", "x1", "y1", "alpha")},
    "colour": [],
}


@dataclass(frozen=True, eq=False)
class PlaceBranch:
    """Columns of the parts that the cuts of one branch made on one map."""

    columns: dict[str, Any]

    @classmethod
    def of(cls, boxes: NDArray[np.float64], cut: NDArray[np.int64], view: Viewport) -> PlaceBranch:
        """The legible parts: first cut in one colour, second in another, and so on in turn.

        Parameters
        ----------
        boxes : (m, 4) x0, y0, x1, y1 in grid units
        cut : (m,) which cut of this place made them, from 0
        view : Viewport
        """
        x0, y0, x1, y1 = boxes.reshape(-1, 4).T
        side = np.minimum((x1 - x0) * view.pixels_per_x, (y1 - y0) * view.pixels_per_y)
        legible = np.flatnonzero(side >= _LEGIBLE)
        legible = np.sort(legible[np.argsort(-side[legible], kind="stable")[:_MOST]])
        colours = np.array(palette.CUTS)[cut[legible] % len(palette.CUTS)]
        edges = boxes[legible].astype(np.float32)
        # Copies: a source that holds views of one array never notices a change in it.
        columns = {name: edges[:, i].copy() for i, name in enumerate(("x0", "y0", "x1", "y1"))}
        columns["alpha"] = np.clip((side[legible] - _LEGIBLE) / 9, 0.15, 0.9).astype(np.float32)
        return cls({**columns, "colour": colours.tolist()})


class BranchLines:
    """The lines of a branch on one figure."""

    def __init__(self, fig: figure) -> None:
        self.source = ColumnDataSource(dict(_EMPTY))
        self.lines = fig.quad(
            left="x0",
            right="x1",
            bottom="y0",
            top="y1",
            source=self.source,
            fill_color=None,
            line_color="colour",
            line_alpha="alpha",
            line_width=1.5,
        )

    def show(self, drawn: PlaceBranch | None) -> None:
        """Draw another branch, or none."""
        columns = dict(_EMPTY) if drawn is None else drawn.columns
        if len(columns["x0"]) or len(self.source.data["x0"]):
            self.source.data = columns
