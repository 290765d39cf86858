"""The lines of a partition on maps: boxes in whole cells, or one image of a crowd of them."""

from __future__ import annotations

from typing import Any

from bokeh.models import ColumnDataSource, LinearColorMapper, LinearInterpolator
from bokeh.plotting import figure

from explorer.views import palette
from explorer.views.packing import as_picture, unpacked
from explorer.views.partition import EMPTY, OPAQUE, Partition
from explorer.views.viewport import Viewport


class Lines:
    """Sources of the lines, shared by all maps they are drawn on, so that they are sent once.

    Edges of boxes are cells, two bytes each, and the browser makes grid units of them.
    """

    def __init__(self) -> None:
        self.boxes = ColumnDataSource(dict(EMPTY))
        self.image = ColumnDataSource(image_columns(None, None))
        self._x, self._y = (LinearInterpolator(x=[0, 1], y=[0, 1], clip=False) for _ in "xy")
        self._alpha = LinearInterpolator(x=[0, OPAQUE], y=[0, 1])

    def draw_on(self, fig: figure) -> tuple[Any, Any]:
        """Draw them over what ``fig`` shows already; returns boxes and image."""
        image = fig.image(
            unpacked(),
            x="x",
            y="y",
            dw="w",
            dh="h",
            source=self.image,
            color_mapper=LinearColorMapper(palette=palette.edge_palette(), low=0, high=4),
        )
        boxes = fig.quad(
            left={"field": "x0", "transform": self._x},
            bottom={"field": "y0", "transform": self._y},
            right={"field": "x1", "transform": self._x},
            top={"field": "y1", "transform": self._y},
            source=self.boxes,
            fill_color=None,
            line_color=palette.LINE,
            line_alpha={"field": "alpha", "transform": self._alpha},
            hover_fill_color=None,
            hover_line_color=palette.HOVER,
            hover_line_alpha=1.0,
        )
        return boxes, image

    def show(self, drawn: Partition, view: Viewport) -> None:
        """Put a prepared partition on the maps."""
        x0, y0, x1, y1 = drawn.grid.bounds
        rows, columns = drawn.grid.shape
        # Before the boxes: they are placed as they arrive.
        for scale, cells, edges in ((self._x, columns, (x0, x1)), (self._y, rows, (y0, y1))):
            if (scale.x, scale.y) != ([0, cells], [*edges]):
                scale.update(x=[0, cells], y=[*edges])
        self.boxes.data = drawn.boxes
        # An empty image need not be sent again.
        if drawn.edges is not None or len(self.image.data["image"]):
            self.image.data = image_columns(drawn.edges, view)


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
