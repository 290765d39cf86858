"""One map: a Bokeh figure built once, whose data sources are replaced and never its glyphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.events import RangesUpdate
from bokeh.models import (
    ColumnDataSource,
    GlyphRenderer,
    HoverTool,
    LinearColorMapper,
    PanTool,
    Range1d,
    ScaleBar,
    WheelZoomTool,
)
from bokeh.plotting import figure
from numpy.typing import NDArray

from explorer.views import palette
from explorer.views.gestures import HANDLE, box_editor, box_tool
from explorer.views.ground import ground
from explorer.views.lines import Lines, image_columns
from explorer.views.marks import EDGES
from explorer.views.packing import unpacked
from explorer.views.polygons import QueryPolygons, polygon_editor
from explorer.views.sketch import Sketch
from explorer.views.tags import SIDE, TAG_TURNS, TagPlaces, expected, highest_tag
from explorer.views.tooltips import tooltip
from explorer.views.viewport import Viewport

#: Boxes and their tags lie over whatever else is drawn: lines across a number hide it.
_ABOVE = "annotation"
_NO_CORNERS = np.zeros((0, 2))
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


#: Of a tag on a map.
TAG_TYPE = "12px"
#: A name, and the number among rows of that name.
_Row = tuple[str, int]


class QueryBoxes:
    """Rectangles of queries with their tags, one source for all maps.

    Parameters
    ----------
    bounds : edges of the maps x0, y0, x1, y1, in grid units
    maps : how many maps show them, each with tags of its own
    """

    def __init__(
        self, bounds: tuple[float, float, float, float] | None = None, maps: int = 1
    ) -> None:
        self._highest = self._turns = np.inf
        self._bounds, self._scale, self._places = bounds, 1.0, TagPlaces.nowhere()
        if bounds is not None:
            x0, _, x1, _ = bounds
            self._highest = highest_tag(bounds)
            self._turns, self._scale = x0 + TAG_TURNS * (x1 - x0), SIDE / (x1 - x0)
        # What was last said of a box of that name on each map, and in which colour.
        self._said: list[dict[_Row, tuple[str, str]]] = [{} for _ in range(maps)]
        side = 0.0 if bounds is None else max(bounds[2] - bounds[0], bounds[3] - bounds[1])
        self.polygons = QueryPolygons(side)
        nothing = self._columns(np.zeros((0, 4)), [], (), ())[0]
        self.source = ColumnDataSource(nothing)
        #: The box that is being dragged, which a browser outlines itself: its tags alone.
        self.draft = ColumnDataSource(nothing)

    def zoom(self, scale: float) -> None:
        """Maps show a grid unit by so many pixels now: more tags may find a place, or fewer."""
        if scale == self._scale or not scale > 0:
            return
        self._scale = scale
        if len(self._places.x):
            self.source.data = {**self.source.data, **self._placed(self.source.data["name"])}

    def show(
        self,
        rectangles: NDArray[np.float64],
        names: Sequence[str],
        selected: Sequence[int] = (),
        held: bool = True,
        shapes: Sequence[Any] = (),
        corners: NDArray[np.float64] = _NO_CORNERS,
    ) -> None:
        """Show (n, 4) ``rectangles`` in grid units; the ``selected`` rows stand out.

        Tags keep what was said of boxes of these names until it is said anew. One selected row has
        handles, if it is ``held``. Rows that stand for one of ``shapes`` are drawn as polygons,
        with ``corners`` (k, 2) marked.
        """
        columns, self._places = self._columns(rectangles, names, selected, shapes)
        self.polygons.show(shapes, selected, corners)
        self.source.data = columns if held else {**columns, "handle": 0 * columns["handle"]}

    def say(self, tags: Sequence[Sequence[tuple[str, str]]]) -> None:
        """Write text and colour of every box's tag, for each map in turn."""
        names = self.source.data["name"]
        said = [dict(zip(_rows(names), each, strict=True)) for each in tags]
        if said == self._said:
            return
        self._said = said
        self.source.data = {**self.source.data, **self._tags(names), **self._placed(names)}

    def say_draft(
        self, box: tuple[float, float, float, float], tags: Sequence[tuple[str, str]]
    ) -> None:
        """Write a tag for each map at the box that is being dragged."""
        data = self._columns(np.array([box]), [""], (), ())[0]
        for number, (text, colour) in enumerate(tags):
            data |= {f"text{number}": [text], f"colour{number}": [colour]}
        self.draft.data = data

    def _columns(
        self,
        rectangles: NDArray[np.float64],
        names: Sequence[str],
        selected: Sequence[int],
        shapes: Sequence[Any],
    ) -> tuple[dict[str, Any], TagPlaces]:
        rectangles, names = np.asarray(rectangles, float), list(names)[: len(rectangles)]
        chosen = np.isin(np.arange(len(rectangles)), list(selected))
        # Copies: a source that holds views of the caller's array never notices a change in it.
        x0, y0, x1, y1 = np.array(rectangles, float).reshape(-1, 4).T.copy()
        polygons = np.array([shape is not None for shape in shapes] or [False] * len(x0), bool)
        turned, none = x0 > self._turns, np.zeros(len(x0), dtype=bool)
        low = np.minimum(y1, self._highest)
        places = TagPlaces(np.where(turned, x1, x0), low, turned, none, chosen)
        if polygons.any():
            places = self.polygons.tags(places, shapes, rectangles, self._scale, self._turns)
        called = [str(name) for name in names]
        # A polygon has an outline of its own in place of that of its box.
        x0, x1 = (np.where(polygons, np.nan, edge) for edge in (x0, x1))
        columns = {
            "x0": x0,
            "y0": y0,
            "x1": x1,
            "y1": y1,
            "name": called,
            "width": np.where(chosen, 4, 2),
            "rim": np.where(chosen, 8, 5),
            # One box at a time can be changed: handles on several would promise more.
            "handle": np.where(chosen & (chosen.sum() == 1), 10, 0),
            **self._tags(called),
            **self._placed(called, places),
        }
        return columns, places

    def _placed(self, names: Sequence[str], places: TagPlaces | None = None) -> dict[str, Any]:
        texts = [
            [expected(row[0], said[row][0] if row in said else None) for row in _rows(names)]
            for said in self._said
        ]
        places = self._places if places is None else places
        return places.columns(texts, self._scale, self._bounds)

    def _tags(self, names: Sequence[str]) -> dict[str, list[str]]:
        tags: dict[str, list[str]] = {}
        for number, said in enumerate(self._said):
            each = [said.get(row, (row[0], palette.PRIVATE)) for row in _rows(names)]
            tags[f"text{number}"] = [text for text, _ in each]
            tags[f"colour{number}"] = [colour for _, colour in each]
        return tags


def _rows(names: Sequence[str]) -> list[_Row]:
    """Each name with its number among rows of that name: areas of a file may be called alike."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, -1) + 1
        found.append((name, seen[name]))
    return found


class MapView:
    """A map with picture, partition and query boxes.

    Parameters
    ----------
    ranges : LinkedRanges
        Shared with the other maps of its extent.
    boxes : QueryBoxes
        Shared with the other maps of its place.
    lines : Lines
        Of the partition, shared so that a partition over both maps is sent once.
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
        fig.image(
            unpacked(), x="x", y="y", dw="w", dh="h", source=self.image, color_mapper=self.mapper
        )
        self.leaves, self.edges = lines.draw_on(fig)
        self.hover = HoverTool(renderers=[self.leaves], tooltips=_HOVER)
        # The maps fill a laptop's window: a plain wheel must scroll the page below them.
        self.wheel = WheelZoomTool(modifiers="ctrl")
        fig.add_tools(self.hover, self.wheel)
        fig.toolbar.active_scroll = self.wheel
        fig.toolbar.active_drag = self.draw_tool
        #: A polygon that is being drawn: no line of it crosses a tag.
        self.sketch = Sketch(fig, _ABOVE)
        tags = _draw_boxes(fig, boxes, number)
        #: The tag of the box that is being dragged. It is hidden and never emptied: Bokeh may draw
        #: texts that were sent before after those that take them away.
        self.draft = _draw_tags(fig, boxes.draft, number)
        self.draft.visible = False
        self.tags = tags, self.draft
        #: Over the one selected box.
        self.editor = box_editor()
        fig.add_layout(self.editor)
        #: Over the one selected polygon.
        self.polygon_editor = polygon_editor()
        fig.add_layout(self.polygon_editor)
        if unit == "m":
            fig.add_layout(_scale_bar(ranges.x))
        _without_spares(fig)

    def show_image(self, picture: NDArray[np.uint8], view: Viewport) -> None:
        """Show a picture of bytes, (height, width) with row 0 south, over ``view``."""
        self.image.data = image_columns(picture, view)

    def recolour(self, colours: Sequence[str]) -> None:
        """Change the 256 colours; the picture stays."""
        self.mapper.palette = list(colours)
        line = palette.line_over(colours)
        self._light = line != palette.LINE
        self._ink(self._light)
        if self.leaves.glyph.line_color != line:
            self.leaves.glyph.line_color = line
            self.edges.glyph.color_mapper.palette = list(palette.edge_palette(line))

    def on_light(self, ink: Callable[[bool], None]) -> None:
        """Call ``ink`` with whether the map is light, now and whenever its colours change."""
        self._ink = ink
        ink(self._light)

    def widen(self, wide: bool) -> None:
        """Larger tags, and sides of the selected box that are taken from farther away; or not."""
        self.editor.line_width = HANDLE * 2 if wide else HANDLE
        for tags in self.tags:
            tags.glyph.text_font_size = "17px" if wide else TAG_TYPE

    def show_partition(self, shown: bool) -> None:
        """Switch the partition over this map on or off."""
        self.leaves.visible = shown
        self.edges.visible = shown
        self.hover.visible = shown

    def drag(self, mode: str) -> None:
        """What a drag does: "draw" a box, "move" the map, or "scroll" the page.

        With "polygon" clicks make corners, and a drag does nothing.

        The wheel zooms with Ctrl, and alone where a drag moves the map.
        """
        tools = {"draw": self.draw_tool, "move": self.pan_tool}
        self.figure.toolbar.active_drag = tools.get(mode)
        self.sketch.switch(mode == "polygon")
        # Whoever moves the map has the wheel for zooming too.
        self.wheel.modifiers = {} if mode == "move" else {"ctrl": True}

    def describe(self, label: str) -> None:
        """Say in one sentence what the picture shows, for a screen reader."""
        spoken = {"role": "img", "aria-label": label}
        if self.figure.html_attributes != spoken:
            self.figure.html_attributes = spoken

    def on_view(self, changed: Callable[[], None]) -> None:
        """Call ``changed`` after a pan, a zoom or a change of size."""
        self.figure.on_event(RangesUpdate, lambda _event: changed())
        # The browser sends the size in two steps, and either may come last.
        for side in ("inner_width", "inner_height"):
            self.figure.on_change(side, lambda _attr, _old, _new: changed())


def _nothing(_light: bool) -> None:
    """Nothing is drawn with inks of its own."""


def _without_spares(fig: figure) -> None:
    """Let go of the glyphs that Bokeh holds ready for points that are selected or muted.

    On a map nothing ever is, and they are one in nine of the models that a browser is sent.
    """
    for each in fig.renderers:
        if isinstance(each, GlyphRenderer):
            each.nonselection_glyph = each.muted_glyph = "auto"


def _draw_boxes(fig: figure, boxes: QueryBoxes, number: int) -> GlyphRenderer:
    source = boxes.source
    # No fill: it would change the colours that are compared. A dark rim below the line makes it
    # stand out on light ground too.
    for colour, width in ((palette.RIM, "rim"), (palette.BOX, "width")):
        fig.quad(
            **EDGES,
            source=source,
            fill_color=None,
            line_color=colour,
            line_width=width,
            level=_ABOVE,
        )
    # Handles of the box that is selected.
    for x in ("x0", "x1"):
        for y in ("y0", "y1"):
            fig.scatter(
                x,
                y,
                source=source,
                marker="square",
                size="handle",
                fill_color="white",
                line_color=palette.RIM,
                line_width=1.5,
                level=_ABOVE,
            )
    boxes.polygons.draw_on(fig, _ABOVE)
    return _draw_tags(fig, source, number)


def _draw_tags(fig: figure, source: ColumnDataSource, number: int) -> GlyphRenderer:
    return fig.text(
        x="tag_x",
        y="tag_y",
        text=f"text{number}",
        source=source,
        text_align="align",
        text_color="white",
        text_font=value("Inter, system-ui, sans-serif"),
        text_font_size=TAG_TYPE,
        text_font_style="bold",
        text_baseline="bottom",
        x_offset="shift",
        y_offset="lift",
        level=_ABOVE,
        background_fill_color=f"colour{number}",
        background_fill_alpha=0.92,
        padding=[2, 4],
        border_radius=3,
        border_line_color=None,
    )


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
        # An adaptive bar is up to 2.5 times as long: it leaves room for what else is in the frame.
        bar_length=0.12,
        length_sizing="adaptive",
    )
