"""One map: a Bokeh figure built once, whose data sources are replaced and never its glyphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from bokeh.events import RangesUpdate
from bokeh.models import (
    ColumnDataSource,
    HoverTool,
    LinearColorMapper,
    PanTool,
    Range1d,
    ScaleBar,
    WheelZoomTool,
)
from numpy.typing import NDArray

from explorer.views import palette
from explorer.views.figures import describe, draw, ground, rendered, tooltip
from explorer.views.gestures import HANDLE, Sketch, box_editor, box_tool, polygon_editor
from explorer.views.lines import Lines, image_columns, picture
from explorer.views.query_boxes import ABOVE, TAG_TYPE, QueryBoxes
from explorer.views.viewport import Viewport

_HOVER = tooltip("""<b>@count{0,0}</b> private count<br>leaf height @height""")


class LinkedRanges:
    """The ranges that maps of one extent share, so that panning one moves the others."""

    def __init__(self, bounds: tuple[float, float, float, float]) -> None:
        self.x, self.y = Range1d(0, 1), Range1d(0, 1)
        self.reset(bounds)

    def reset(self, bounds: tuple[float, float, float, float]) -> None:
        """Show ``bounds`` (x0, y0, x1, y1)."""
        x0, y0, x1, y1 = bounds
        for one, start, end in ((self.x, x0, x1), (self.y, y0, y1)):
            # A wheel or a drag ends a little beyond the map, and not in the dark.
            beyond = (end - start) / 4
            one.update(start=start, end=end, bounds=(start - beyond, end + beyond))

    def zoom(self, factor: float) -> None:
        """Scale the view about its centre; below 1 zooms in."""
        for one in (self.x, self.y):
            middle, half = (one.start + one.end) / 2, (one.end - one.start) / 2 * factor
            one.update(start=middle - half, end=middle + half)

    def look_at(self, x: float, y: float, width: float) -> None:
        """Show so wide a view about a place, in the proportions of the present one."""
        wide = self.x.end - self.x.start
        for one, middle in ((self.x, x), (self.y, y)):
            half = (one.end - one.start) * width / wide / 2
            one.update(start=middle - half, end=middle + half)

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """The shown rectangle, x0, y0, x1, y1."""
        return self.x.start, self.y.start, self.x.end, self.y.end


class MapView:
    """A map with picture, partition and query boxes.

    Parameters
    ----------
    ranges : LinkedRanges
        Shared with the other maps of its extent.
    boxes : QueryBoxes
        Shared with the other maps of its place.
    lines : Lines
        Of the partition, shared by all maps that show the same one.
    unit : "m" or "cells"
        With metres the map has a scale bar.
    label : str
        What the picture is, for a screen reader.
    number : int
        Which of the maps that show the boxes it is: whose tags it has.
    """

    def __init__(
        self,
        ranges: LinkedRanges,
        boxes: QueryBoxes,
        lines: Lines,
        *,
        unit: str = "m",
        label: str = "Map",
        number: int = 0,
    ) -> None:
        self._light = False
        self._ink: Callable[[bool], None] = _nothing
        self.image = ColumnDataSource(image_columns(None, None))
        self.mapper = LinearColorMapper(palette=palette.PALETTES["cividis"], low=0, high=256)
        self.draw_tool = box_tool()
        self.pan_tool = PanTool()
        tools = [self.draw_tool, self.pan_tool]
        self.figure = fig = ground(ranges.x, ranges.y, label, side=560, tools=tools)
        draw(fig, rendered(self.image, picture(lines.unpack, self.mapper), level="image"))
        self.lines = lines.draw_on(fig)
        self.hover = HoverTool(renderers=[self.lines.boxes], tooltips=_HOVER)
        # The maps fill a laptop's window: a plain wheel must scroll the page below them.
        self.wheel = WheelZoomTool(modifiers="ctrl")
        fig.add_tools(self.hover, self.wheel)
        fig.toolbar.active_scroll = self.wheel
        fig.toolbar.active_drag = self.draw_tool
        #: Tags of the boxes, and that of the box that is being dragged. It is hidden and never
        #: emptied: Bokeh may draw texts that were sent before after those that take them away.
        self.tags = _, self.draft = boxes.draw_on(fig, number)
        self.draft.visible = False
        #: A polygon that is being drawn: no line of it crosses a tag or a box.
        self.sketch = Sketch(fig, ABOVE, above=self.lines.boxes)
        #: Over the one selected box.
        self.editor = box_editor()
        fig.add_layout(self.editor)
        #: Over the one selected polygon.
        self.polygon_editor = polygon_editor()
        fig.add_layout(self.polygon_editor)
        if unit == "m":
            fig.add_layout(_scale_bar(ranges.x))

    def show_image(self, picture: NDArray[np.uint8], view: Viewport) -> None:
        """Show a picture of bytes, (height, width) with row 0 south, over ``view``."""
        self.image.data = image_columns(picture, view)

    def clear(self) -> None:
        """Show no picture, and leave none in the browser."""
        self.image.data = {name: [] for name in self.image.data}

    def recolour(self, colours: Sequence[str]) -> None:
        """Change the 256 colours; the picture stays."""
        self.mapper.palette = list(colours)
        line = palette.line_over(colours)
        self._light = line != palette.LINE
        self._ink(self._light)
        self.lines.recolour(line)

    def on_light(self, ink: Callable[[bool], None]) -> None:
        """Call ``ink`` with whether the map is light, now and whenever its colours change."""
        self._ink = ink
        ink(self._light)

    def widen(self, wide: bool) -> None:
        """Larger tags, and sides of the selected box that are taken from farther away; or not."""
        self.editor.line_width = HANDLE * 2 if wide else HANDLE
        for tags in self.tags:
            tags.glyph.text_font_size = "17px" if wide else TAG_TYPE

    def show_partition(self, visible: bool) -> None:
        """Switch the partition over this map on or off."""
        self.lines.switch(visible)
        self.hover.visible = visible

    def drag(self, mode: str) -> None:
        """What a drag does: "draw" a box, "move" the map, or "scroll" the page.

        With "polygon" clicks make corners, and a drag does nothing.

        The wheel zooms with Ctrl, and alone where a drag moves the map.
        """
        tools = {"draw": self.draw_tool, "move": self.pan_tool}
        self.figure.toolbar.active_drag = tools.get(mode)
        self.sketch.switch(mode == "polygon")
        # Anyone who moves the map has the wheel for zooming too.
        self.wheel.modifiers = {} if mode == "move" else {"ctrl": True}

    def describe(self, label: str) -> None:
        """Say in one sentence what the picture shows, for a screen reader."""
        describe(self.figure, label)

    def on_view(self, changed: Callable[[], None]) -> None:
        """Call ``changed`` after a pan, a zoom or a change of size."""
        self.figure.on_event(RangesUpdate, lambda _event: changed())
        # The browser sends the size in two steps, and either may come last.
        for side in ("inner_width", "inner_height"):
            self.figure.on_change(side, lambda _attr, _old, _new: changed())


def _nothing(_light: bool) -> None:
    """Nothing is drawn with inks of its own."""


def _scale_bar(x_range: Range1d) -> ScaleBar:
    return ScaleBar(
        range=x_range,
        unit="m",
        location="bottom_left",
        background_fill_color=palette.GROUND,
        background_fill_alpha=0.6,
        border_line_color=None,
        bar_line_color="#e8eef5",
        label_text_color="#e8eef5",
        label_text_font_size="11px",
        label_text_font="Inter, system-ui, sans-serif",
        label_location="above",
        title="",
        padding=6,
        margin=6,
        # An adaptive bar is up to 2.5 times as long: it leaves space for what else is in the frame.
        bar_length=0.12,
        length_sizing="adaptive",
    )
