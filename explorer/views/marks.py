"""What is marked on a map: leaves that a box cuts through, chosen leaves, and one node."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, GlyphRenderer, Quad
from bokeh.plotting import figure
from numpy.typing import NDArray

from explorer.views import palette
from explorer.views.layers import LateLayer, rendered

#: Sides of a quad by the columns of its source.
EDGES: dict[str, Any] = {"left": "x0", "bottom": "y0", "right": "x1", "top": "y1"}


class Marks:
    """Sources of the marks, shared by all maps they are drawn on."""

    def __init__(self) -> None:
        self.cut = ColumnDataSource(_columns(np.zeros((0, 4))))
        self.chosen = ColumnDataSource(_columns(np.zeros((0, 4))))
        self.node = ColumnDataSource(_columns(np.zeros((0, 4))))
        self._layer = LateLayer(self._renderers)

    def draw_on(self, fig: figure, above: GlyphRenderer | None = None) -> None:
        """Draw the marks on ``fig``, directly above a renderer or over all it shows."""
        self._layer.draw_on(fig, above)

    def _renderers(self) -> list[GlyphRenderer]:
        cut = Quad(
            **EDGES,
            fill_color=palette.CUT,
            fill_alpha=0.3,
            line_color=palette.CUT,
            line_width=1,
        )
        # A dark line below a light one is seen on light and on dark ground.
        outlines = (
            (self.chosen, palette.HOVER, 1.2),
            (self.node, palette.RIM, 6),
            (self.node, palette.NODE, 2.5),
        )
        return [
            rendered(self.cut, cut),
            *(
                rendered(source, Quad(**EDGES, fill_color=None, line_color=line, line_width=width))
                for source, line, width in outlines
            ),
        ]

    def show_cut(self, boxes: NDArray[np.float64]) -> None:
        """Mark leaves, (k, 4) x0, y0, x1, y1 in grid units."""
        self._show(self.cut, boxes)

    def show_chosen(self, boxes: NDArray[np.float64]) -> None:
        """Outline chosen leaves, (k, 4) in grid units."""
        self._show(self.chosen, boxes)

    def show_node(self, box: tuple[float, float, float, float] | None) -> None:
        """Outline one node, or none."""
        self._show(self.node, np.zeros((0, 4)) if box is None else np.array([box], float))

    def _show(self, source: ColumnDataSource, boxes: NDArray[np.float64]) -> None:
        if len(boxes):
            self._layer.need()
        if len(boxes) or len(source.data["x0"]):
            source.data = _columns(boxes)


def _columns(boxes: NDArray[np.float64]) -> dict[str, NDArray[np.float32]]:
    edges = boxes.astype(np.float32)
    # Copies: a source that holds views of one array never notices a change in it.
    return {name: edges[:, i].copy() for i, name in enumerate(("x0", "y0", "x1", "y1"))}
