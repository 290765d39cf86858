"""A small map on which a person points at a place or drags a box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, CrosshairTool
from numpy.typing import NDArray

from explorer.views import palette
from explorer.views.gestures import box_tool
from explorer.views.small import SmallMap

#: Part of the map on each side that a ring about a place at the edge needs.
RIM = 0.045
_EMPTY: dict[str, Any] = {"x0": [], "y0": [], "x1": [], "y1": [], "colour": [], "dash": []}


class PlaceMap:
    """A picture with boxes and one marked place; `gestures` say where it is tapped or dragged.

    Parameters
    ----------
    bounds : x0, y0, x1, y1 of the grid
    label : what the picture is, for a screen reader
    drag : whether a drag draws a box; on a phone it has to scroll the page
    rim : whether there is space around the picture, so that no ring is cut at its edge
    """

    def __init__(
        self,
        bounds: tuple[float, float, float, float],
        label: str,
        *,
        drag: bool,
        rim: bool = False,
    ) -> None:
        self.small = SmallMap(bounds, label)
        self.boxes = ColumnDataSource(dict(_EMPTY))
        self.place = ColumnDataSource({"x": [], "y": []})
        self.figure = fig = self.small.figure
        if drag:
            tool = box_tool()
            fig.add_tools(tool)
            fig.toolbar.active_drag = tool
        else:
            fig.add_tools(CrosshairTool(line_color=palette.LINE, line_alpha=0.4))
        fig.quad(
            left="x0",
            right="x1",
            bottom="y0",
            top="y1",
            source=self.boxes,
            fill_color="colour",
            fill_alpha=0.15,
            line_color="colour",
            line_dash="dash",
            line_width=2.5,
        )
        self.small.ring(self.place, 24)
        if rim:
            x0, y0, x1, y1 = bounds
            wide, high = RIM * (x1 - x0), RIM * (y1 - y0)
            fig.x_range.update(start=x0 - wide, end=x1 + wide)
            fig.y_range.update(start=y0 - high, end=y1 + high)

    def show(self, picture: NDArray[np.uint8], label: str, colours: Sequence[str]) -> None:
        """Show a picture of bytes, (height, width) with row 0 south, in 256 colours."""
        self.small.recolour(colours)
        self.small.show(picture, label)

    def mark(
        self,
        boxes: Sequence[tuple[Sequence[float], str, bool]],
        place: tuple[float, float] | None = None,
    ) -> None:
        """Draw boxes (x0, y0, x1, y1), colour, dashed or not; and a place (x, y)."""
        edges = np.array([box for box, _, _ in boxes], dtype=float).reshape(-1, 4)
        self.boxes.data = {
            **{name: edges[:, i].copy() for i, name in enumerate(("x0", "y0", "x1", "y1"))},
            "colour": [colour for _, colour, _ in boxes],
            "dash": [[6, 4] if dashed else [] for _, _, dashed in boxes],
        }
        x, y = ([], []) if place is None else ([place[0]], [place[1]])
        self.place.data = {"x": x, "y": y}
