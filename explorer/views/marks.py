"""What is marked on a map: leaves that a box cuts through, chosen leaves, and one node."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure
from numpy.typing import NDArray

from explorer.views import palette

#: Sides of a quad by the columns of its source.
EDGES: dict[str, Any] = {"left": "x0", "bottom": "y0", "right": "x1", "top": "y1"}


class Marks:
    """Sources of the marks, shared by all maps they are drawn on."""

    def __init__(self) -> None:
        self.cut = ColumnDataSource(_columns(np.zeros((0, 4))))
        self.chosen = ColumnDataSource(_columns(np.zeros((0, 4))))
        self.node = ColumnDataSource(_columns(np.zeros((0, 4))))

    def draw_on(self, fig: figure) -> None:
        """Draw the marks over what ``fig`` shows already."""
        fig.quad(
            **EDGES,
            source=self.cut,
            fill_color=palette.CUT,
            fill_alpha=0.3,
            line_color=palette.CUT,
            line_width=1,
        )
        fig.quad(
            **EDGES, source=self.chosen, fill_color=None, line_color=palette.HOVER, line_width=1.2
        )
        # A dark line below a light one is seen on light and on dark ground.
        for colour, width in ((palette.RIM, 6), (palette.NODE, 2.5)):
            fig.quad(
                **EDGES, source=self.node, fill_color=None, line_color=colour, line_width=width
            )

    def show_cut(self, boxes: NDArray[np.float64]) -> None:
        """Mark leaves, (k, 4) x0, y0, x1, y1 in grid units."""
        if len(boxes) or len(self.cut.data["x0"]):
            self.cut.data = _columns(boxes)

    def show_chosen(self, boxes: NDArray[np.float64]) -> None:
        """Outline chosen leaves, (k, 4) in grid units."""
        if len(boxes) or len(self.chosen.data["x0"]):
            self.chosen.data = _columns(boxes)

    def show_node(self, box: tuple[float, float, float, float] | None) -> None:
        """Outline one node, or none."""
        self.node.data = _columns(np.zeros((0, 4)) if box is None else np.array([box], float))


def _columns(boxes: NDArray[np.float64]) -> dict[str, NDArray[np.float32]]:
    edges = boxes.astype(np.float32)
    # Copies: a source that holds views of one array never notices a change in it.
    return {name: edges[:, i].copy() for i, name in enumerate(("x0", "y0", "x1", "y1"))}
