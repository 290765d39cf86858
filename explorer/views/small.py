"""A small map: one picture, no tools, as light for the browser as a figure can be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bokeh.models import ColumnDataSource, LinearColorMapper, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from explorer.views import palette
from explorer.views.packing import as_picture, unpacked

_WAITING = "#7f8c9a"


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
        self.image = ColumnDataSource({"image": [], "x": [], "y": [], "w": [], "h": []})
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
        spoken = {"role": "img", "aria-label": label}
        if self.figure.html_attributes != spoken:
            self.figure.html_attributes = spoken

    def ring(self, place: ColumnDataSource, size: int) -> None:
        """Draw rings round the places ``x`` and ``y`` of a source, ``size`` pixels wide.

        Dark around light: what is under the place stays to be seen.
        """
        for width, colour in ((5, palette.RIM), (2.5, palette.HOVER)):
            self.figure.scatter(
                "x",
                "y",
                source=place,
                marker="circle",
                size=size,
                fill_color=None,
                line_color=colour,
                line_width=width,
            )

    def recolour(self, colours: Sequence[str]) -> None:
        """Change the 256 colours; the picture stays."""
        self.mapper.palette = list(colours)
