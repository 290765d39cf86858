"""The lines of a partition on maps: boxes in whole cells, or one image of a crowd of them."""

from __future__ import annotations

from typing import Any

from bokeh.models import (
    ColumnDataSource,
    GlyphRenderer,
    LinearColorMapper,
    LinearInterpolator,
)
from bokeh.plotting import figure

from explorer.views import palette
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
        self._maps: list[DrawnLines] = []

    def draw_on(self, fig: figure) -> DrawnLines:
        """Draw them over what ``fig`` shows already."""
        drawn = DrawnLines(fig, self._x, self._y, self._alpha)
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
        for each in self._maps:
            each.show(drawn, view)


class DrawnLines:
    """The lines of a partition on one map.

    Parameters
    ----------
    fig : the map, over whose pictures they are drawn
    x, y, alpha : how edges and opacities are to be read
    """

    def __init__(
        self, fig: figure, x: LinearInterpolator, y: LinearInterpolator, alpha: LinearInterpolator
    ) -> None:
        self._shown, self._waiting, self._imaged = True, False, False
        self._last: tuple[Partition, Viewport] | None = None
        self.image: GlyphRenderer = fig.image(
            unpacked(),
            x="x",
            y="y",
            dw="w",
            dh="h",
            source=ColumnDataSource(image_columns(None, None)),
            color_mapper=LinearColorMapper(palette=palette.edge_palette(), low=0, high=4),
        )
        self.boxes: GlyphRenderer = fig.quad(
            left={"field": "x0", "transform": x},
            bottom={"field": "y0", "transform": y},
            right={"field": "x1", "transform": x},
            top={"field": "y1", "transform": y},
            source=ColumnDataSource(dict(EMPTY)),
            fill_color=None,
            line_color=palette.LINE,
            line_alpha={"field": "alpha", "transform": alpha},
            hover_fill_color=None,
            hover_line_color=palette.HOVER,
            hover_line_alpha=1.0,
        )

    def show(self, drawn: Partition, view: Viewport) -> None:
        """Put a prepared partition on the map, at once or when its lines are shown."""
        self._last, self._waiting = (drawn, view), True
        self._put()

    def switch(self, shown: bool) -> None:
        """Show the lines, or hide them."""
        self._shown = shown
        self._put()
        self.boxes.visible = self.image.visible = shown

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


def image_columns(picture: Any, view: Viewport | None) -> dict[str, Any]:
    """Columns of an image glyph: a picture of bytes, (height, width), over ``view``; or none."""
    if picture is None or view is None:
        return {"image": [], "x": [], "y": [], "w": [], "h": []}
    return {
        "image": [as_picture(picture)],
        "x": [view.x0],
        "y": [view.y0],
        "w": [view.x1 - view.x0],
        "h": [view.y1 - view.y0],
    }
