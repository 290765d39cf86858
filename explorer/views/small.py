"""Small maps: one picture each, no tools, as light for the browser as a figure can be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, CrosshairTool, LinearColorMapper, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from explorer.views import palette
from explorer.views.figures import EDGES, describe, edge_columns, empty
from explorer.views.gestures import box_tool
from explorer.views.packing import as_picture, unpacked

_WAITING = "#7f8c9a"
#: Part of the map on each side that a ring about a place at the edge needs.
RIM = 0.045


class SmallMap:
    """The whole of a grid as a picture of bytes; a wheel or a finger over it scrolls the page.

    Parameters
    ----------
    bounds : x0, y0, x1, y1 of the grid
    label : what the picture is, for a screen reader
    """

    def __init__(self, bounds: tuple[float, float, float, float], label: str) -> None:
        x0, y0, x1, y1 = bounds
        self._place = {"x": [x0], "y": [y0], "w": [x1 - x0], "h": [y1 - y0]}
        self.image = empty("image", "x", "y", "w", "h")
        self.mapper = LinearColorMapper(palette=palette.PALETTES["cividis"], low=0, high=256)
        self.figure = fig = figure(
            x_range=Range1d(x0, x1),
            y_range=Range1d(y0, y1),
            tools="",
            toolbar_location=None,
            width=320,
            height=320,
            sizing_mode="scale_width",
            aspect_ratio=(x1 - x0) / (y1 - y0),
            min_border=0,
            outline_line_color=None,
            background_fill_color=palette.GROUND,
            output_backend="canvas",
            html_attributes={"role": "img", "aria-label": label},
        )
        fig.axis.visible = False
        fig.grid.visible = False
        # Until there is a picture its place is grey, in both themes; the page has grounds of its
        # own for figures, so that a colour of the figure would not be seen.
        edges = {"left": x0, "bottom": y0, "right": x1, "top": y1}
        fig.quad(**edges, fill_color=_WAITING, fill_alpha=0.18, line_color=None)
        fig.image(
            unpacked(), x="x", y="y", dw="w", dh="h", source=self.image, color_mapper=self.mapper
        )

    def show(self, picture: NDArray[np.uint8], label: str) -> None:
        """Show a picture, (height, width) with row 0 south, and say in words what it is."""
        self.image.data = {"image": [as_picture(picture)], **self._place}
        describe(self.figure, label)

    def ring(self, place: ColumnDataSource, size: int) -> None:
        """Draw rings round the places ``x`` and ``y`` of a source, ``size`` pixels wide.

        Dark around light: what is under the place stays to be seen.
        """
        for width, colour in ((5, palette.RIM), (2.5, palette.HOVER)):
            look: dict[str, Any] = {"line_color": colour, "line_width": width}
            self.figure.scatter("x", "y", source=place, size=size, fill_color=None, **look)

    def recolour(self, colours: Sequence[str]) -> None:
        """Change the 256 colours; the picture stays."""
        self.mapper.palette = list(colours)


class PlaceMap:
    """A map on which a person points or drags; `gestures` say where it is tapped or dragged.

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
        self.boxes, self.place = empty(*EDGES.values(), "colour", "dash"), empty()
        self.figure = fig = self.small.figure
        if drag:
            tool = box_tool()
            fig.add_tools(tool)
            fig.toolbar.active_drag = tool
        else:
            fig.add_tools(CrosshairTool(line_color=palette.LINE, line_alpha=0.4))
        fig.quad(
            **EDGES,
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
        self.boxes.data = {
            **edge_columns(np.array([box for box, _, _ in boxes], float), float),
            "colour": [colour for _, colour, _ in boxes],
            "dash": [[6, 4] if dashed else [] for _, _, dashed in boxes],
        }
        x, y = ([], []) if place is None else ([place[0]], [place[1]])
        self.place.data = {"x": x, "y": y}


class CountsPair:
    """True counts of cells, and others in their colours; outlined boxes, and a ring round a place.

    Counts are logarithmic from one upwards. Places and boxes are in parts of the map, 0 to 1.

    Parameters
    ----------
    line : width of the boxes' outlines in pixels
    """

    def __init__(self, line: float = 1.0) -> None:
        self.true, self.other = (SmallMap((0.0, 0.0, 1.0, 1.0), "Map without data") for _ in "ab")
        self.boxes, self.place = empty(*EDGES.values()), empty()
        look: dict[str, Any] = {"line_color": palette.BOX, "line_width": line}
        for small in (self.true, self.other):
            small.figure.quad(**EDGES, source=self.boxes, fill_alpha=0.0, **look)
            small.ring(self.place, 18)

    @property
    def figures(self) -> tuple[figure, figure]:
        """The true one and the other."""
        return self.true.figure, self.other.figure

    def show(
        self,
        true: NDArray[Any],
        other: NDArray[Any],
        boxes: NDArray[np.float64],
        place: tuple[float, float],
        spoken: tuple[str, str],
        *,
        top: float,
    ) -> None:
        """Show counts (rows, cols), row 0 south, whose last colour is ``top``, and boxes (n, 4)."""
        for small, counts, text in zip((self.true, self.other), (true, other), spoken, strict=True):
            level = 40 + 215 * np.log1p(np.maximum(counts, 0)) / np.log1p(max(top, 1))
            levels = np.where(counts > 0, np.minimum(level, 255), 0)
            small.show(levels.astype(np.uint8), text)
        self.boxes.data = edge_columns(boxes, float)
        self.place.data = {"x": [place[0]], "y": [place[1]]}
