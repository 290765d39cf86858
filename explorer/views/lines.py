"""The lines of a partition on maps: boxes in whole cells, or one image of a crowd of them."""

from __future__ import annotations

from typing import Any

from bokeh.models import (
    ColumnDataSource,
    Image,
    LinearColorMapper,
    LinearInterpolator,
    Quad,
)
from bokeh.plotting import figure

from explorer.views import palette
from explorer.views.figures import LateLayer, draw, rendered
from explorer.views.packing import as_picture, unpacked
from explorer.views.partition import EMPTY, OPAQUE, Partition
from explorer.views.viewport import Viewport


class Lines:
    """The lines of a partition, for all maps that show the same one.

    Edges of boxes are cells, two bytes each, and the browser makes grid units of them. A map that
    does not show the lines is not sent them, and not painted for their sake.
    """

    def __init__(self) -> None:
        self._x, self._y = (LinearInterpolator(x=[0, 1], y=[0, 1], clip=False) for _ in "xy")
        self._alpha = LinearInterpolator(x=[0, OPAQUE], y=[0, 1])
        #: How a browser reads pictures.
        self.unpack = unpacked()
        self._maps: list[DrawnLines] = []

    def draw_on(self, fig: figure) -> DrawnLines:
        """Draw them over what ``fig`` shows already."""
        drawn = DrawnLines(fig, self._x, self._y, self._alpha, self.unpack)
        self._maps.append(drawn)
        return drawn

    def show(self, drawn: Partition, view: Viewport) -> None:
        """Put a prepared partition on the maps."""
        x0, y0, x1, y1 = drawn.grid.bounds
        rows, columns = drawn.grid.shape
        # Before the boxes: they are placed as they arrive.
        for scale, cells, edges in ((self._x, columns, (x0, x1)), (self._y, rows, (y0, y1))):
            if (scale.x, scale.y) != ([0, cells], [*edges]):
                scale.update(x=[0, cells], y=[*edges])
        for lines in self._maps:
            lines.show(drawn, view)


class DrawnLines:
    """The lines of a partition on one map.

    Parameters
    ----------
    fig : the map, over whose pictures they are drawn
    x, y, alpha : how edges and opacities are to be read
    unpack : the column of pictures, see `packing.unpacked`
    """

    def __init__(
        self,
        fig: figure,
        x: LinearInterpolator,
        y: LinearInterpolator,
        alpha: LinearInterpolator,
        unpack: dict[str, Any],
    ) -> None:
        self._shown, self._waiting, self._imaged = True, False, False
        self._last: tuple[Partition, Viewport] | None = None
        self.image = rendered(
            ColumnDataSource(image_columns(None, None)),
            picture(unpack, LinearColorMapper(palette=palette.edge_palette(), low=0, high=4)),
        )
        edges: dict[str, Any] = {
            "left": {"field": "x0", "transform": x},
            "bottom": {"field": "y0", "transform": y},
            "right": {"field": "x1", "transform": x},
            "top": {"field": "y1", "transform": y},
            "fill_color": None,
        }
        opacity: Any = {"field": "alpha", "transform": alpha}
        self.boxes = rendered(
            ColumnDataSource(dict(EMPTY)),
            Quad(**edges, line_color=palette.LINE, line_alpha=opacity),
            hover_glyph=Quad(**edges, line_color=palette.HOVER, line_alpha=1.0),
        )
        draw(fig, self.boxes)
        self._crowd = LateLayer(lambda: [self.image])
        self._crowd.draw_on(fig, above=self.boxes)

    def show(self, drawn: Partition, view: Viewport) -> None:
        """Put a prepared partition on the map, at once or when its lines are shown."""
        self._last, self._waiting = (drawn, view), True
        self._put()

    def switch(self, visible: bool) -> None:
        """Show the lines, or hide them."""
        self._shown = visible
        self._put()
        self.boxes.visible = self.image.visible = visible

    def recolour(self, line: str) -> None:
        """Change the colour of the lines."""
        if self.boxes.glyph.line_color != line:
            self.boxes.glyph.line_color = line
            self.image.glyph.color_mapper.palette = list(palette.edge_palette(line))

    def _put(self) -> None:
        if self._last is None or not (self._shown and self._waiting):
            return
        self._waiting, (drawn, view) = False, self._last
        self.boxes.data_source.data = drawn.boxes
        # An empty image need not be sent again.
        if drawn.edges is not None or self._imaged:
            self.image.data_source.data = image_columns(drawn.edges, view)
            self._imaged = drawn.edges is not None
            self._crowd.need()


def picture(unpack: dict[str, Any], colours: LinearColorMapper) -> Image:
    """The glyph of the pictures of `image_columns`."""
    return Image(image=unpack, x="x", y="y", dw="w", dh="h", color_mapper=colours)


def image_columns(pixels: Any, view: Viewport | None) -> dict[str, Any]:
    """Columns of an image glyph: a picture of bytes, (height, width), over ``view``; or none."""
    if pixels is None or view is None:
        return {"image": [], "x": [], "y": [], "w": [], "h": []}
    return {
        "image": [as_picture(pixels)],
        "x": [view.x0],
        "y": [view.y0],
        "w": [view.x1 - view.x0],
        "h": [view.y1 - view.y0],
    }
