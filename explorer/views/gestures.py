"""What a person does on a map, as a browser sends it: clicks, dragged boxes, sketched polygons."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from math import nan
from pathlib import Path
from typing import Any

from bokeh.events import DoubleTap, MouseEnter, MouseLeave, MouseMove, SelectionGeometry, Tap
from bokeh.models import (
    Annotation,
    BoxAnnotation,
    BoxSelectTool,
    ColumnDataSource,
    CustomJS,
    GlyphRenderer,
    Label,
    Line,
    Node,
    PolyAnnotation,
    Scatter,
    TextInput,
)
from bokeh.plotting import figure

from explorer.views import palette
from explorer.views.figures import draw, rendered

# Bokeh takes a pointer that rests for 300 ms before it moves for a press and ignores the drag that
# follows: who aims first, or has a busy machine, drew nothing. Nothing here needs a press.
_AIM_AS_LONG_AS_YOU_LIKE = """
const view = cb_context.index.find_one(cb_obj.origin)
const gestures = view?.canvas_view?.ui_event_bus?.ui_gestures
if (gestures) gestures.constructor.press_threshold = 2 ** 31 - 1
// Bokeh covers the map by a white box of white words whenever the wheel scrolls the page over it.
if (view) view.notify_about = () => {}
"""
# Bokeh tells Python nothing of the end of a drag of an editor: the browser renames it.
_TELL_THE_END = """
for (const editor of editors) {
  if (editor.tells_the_end) continue
  editor.tells_the_end = true
  let times = 0
  editor.pan.connect(([phase]) => {
    if (phase === "pan:end") editor.name = `dragged ${++times}`
  })
}
"""
# Otherwise all four sides are models of their own.
_NOWHERE = {"left": nan, "right": nan, "top": nan, "bottom": nan}
_TELL_PLACE = """
if (said.tags.length) {
  const left = cb_obj.event_name === "mouseleave"
  said.value = JSON.stringify(left ? [null, null] : [cb_obj.x, cb_obj.y])
}
"""

#: Pixels across a side of the selected box in which it is taken.
HANDLE = 16
#: What is at the upper edge of a map on which clicks make corners.
HINT = "Click corners; a double click ends, Escape gives up"


def box_tool() -> BoxSelectTool:
    """The tool that drags a rectangle, drawn in the colour of boxes."""
    overlay = BoxAnnotation(
        **_NOWHERE,
        syncable=False,
        level="overlay",
        visible=False,
        fill_color=palette.BOX,
        fill_alpha=0.15,
        line_color=palette.BOX,
        line_width=2,
        line_alpha=1.0,
        line_dash=[],
    )
    # It tells of a box while it is dragged, too.
    return BoxSelectTool(overlay=overlay, renderers=[], continuous=True)


def box_editor() -> BoxAnnotation:
    """A rectangle whose sides and corners can be dragged, and all of it by its inside."""
    return BoxAnnotation(
        **_NOWHERE,
        level="overlay",
        visible=False,
        editable=True,
        resizable="all",
        movable="both",
        fill_alpha=0,
        hover_fill_color=None,
        line_alpha=0,
        line_width=HANDLE,
    )


def polygon_editor() -> PolyAnnotation:
    """A polygon whose corners and sides can be dragged, and all of it by its inside."""
    return PolyAnnotation(
        level="overlay",
        visible=False,
        editable=True,
        fill_alpha=0,
        hover_fill_color=None,
        line_alpha=0,
        # Corners and sides are taken within half of it.
        line_width=16,
    )


#: Of a rectangle, x0, y0, x1, y1, as a browser sent them.
Edges = tuple[Any, Any, Any, Any]


def on_edit(editor: BoxAnnotation, edited: Callable[[Edges, bool], None]) -> None:
    """Call ``edited((x0, y0, x1, y1), final)`` while a browser drags an editor and at its end."""

    def told(final: bool) -> None:
        edited((editor.left, editor.bottom, editor.right, editor.top), final)

    _on_drag(editor, ("left", "bottom", "right", "top"), told)


def on_reshape(editor: PolyAnnotation, reshaped: Callable[[list[Any], bool], None]) -> None:
    """Call ``reshaped(corners, final)`` while a browser drags a polygon's editor and at its end."""

    def told(final: bool) -> None:
        # Of two columns that change together the first comes alone.
        if len(editor.xs) == len(editor.ys):
            reshaped(list(zip(editor.xs, editor.ys, strict=True)), final)

    _on_drag(editor, ("xs", "ys"), told)


def _on_drag(editor: Annotation, sides: Sequence[str], report: Callable[[bool], None]) -> None:
    for side in sides:
        editor.on_change(side, lambda _attr, _old, _new: report(False))
    editor.on_change("name", lambda _attr, _old, _new: report(True))


def prepare(figures: Sequence[figure], editors: Sequence[Annotation] = ()) -> None:
    """Let drags on figures begin whenever a person is ready, and editors tell of their end."""
    code = _AIM_AS_LONG_AS_YOU_LIKE + _TELL_THE_END
    script = CustomJS(args={"editors": list(editors)}, code=code)
    for fig in figures:
        fig.js_on_event(MouseEnter, script)


class Pointer:
    """Where the pointer is on maps, as a browser tells it while someone wants to know.

    A browser that always told would send sixty messages a second.

    Parameters
    ----------
    moved : called with x, y in data units as they were sent, and with None as it leaves a map
    """

    def __init__(self, moved: Callable[[Any, Any], None]) -> None:
        self._moved = moved
        self._figures: list[figure] = []
        #: What a browser writes each place into; it has a tag while it shall.
        self.said = TextInput(value="", tags=[])
        self.said.on_change("value", lambda _attr, _old, new: self._heard(new))

    def listen_on(self, fig: figure) -> None:
        """Tell of the pointer over a figure from the next `switch` on."""
        self._figures.append(fig)

    def switch(self, on: bool) -> None:
        """Begin to tell, or end."""
        self.said.tags = ["told"] if on else []
        if on and self._figures:
            figures, self._figures = self._figures, []
            tell = CustomJS(args={"said": self.said}, code=_TELL_PLACE)
            for fig in figures:
                fig.js_on_event(MouseMove, tell)
                fig.js_on_event(MouseLeave, tell)

    def _heard(self, text: Any) -> None:
        try:
            x, y = json.loads(text)
        except (ValueError, TypeError, RecursionError):
            return
        self._moved(x, y)


def on_tap(fig: figure, tapped: Callable[[Any, Any], None]) -> None:
    """Call ``tapped(x, y)`` with every click; a raw client may send any values."""
    fig.on_event(Tap, lambda event: tapped(event.x, event.y))


def on_box(fig: figure, drawn: Callable[[Edges, bool], None]) -> None:
    """Call ``drawn((x0, y0, x1, y1), final)`` with a rectangle while it is dragged and at its end.

    Edges may be anything: they come from a browser.
    """

    def selected(event: SelectionGeometry) -> None:
        shape = event.geometry
        if shape.get("type") == "rect":
            edges = shape.get("x0"), shape.get("y0"), shape.get("x1"), shape.get("y1")
            drawn(edges, event.final is True)

    fig.on_event(SelectionGeometry, selected)


class Sketch:
    """The polygon that a person draws on one map, and what the browser tells of it.

    Clicks add corners; a double click, Enter or a click on the first corner ends it; Backspace
    takes the last corner back, Escape all of them. A browser is sent nothing of it before it is
    switched on.

    Parameters
    ----------
    fig : the map
    level : of what is drawn, as Bokeh calls it
    above : the renderer directly below it; without one it is over all that ``fig`` shows
    """

    def __init__(self, fig: figure, level: str, above: GlyphRenderer | None = None) -> None:
        self._figure, self._level, self._above = fig, level, above
        #: What the browser tells, as JSON.
        self.told = TextInput(visible=False)
        self._parts: list[Any] = []

    @property
    def on(self) -> bool:
        """Whether clicks make corners."""
        return any(part.visible for part in self._parts)

    def switch(self, on: bool) -> None:
        """Let clicks make corners, or do what they do elsewhere."""
        if on and not self._parts:
            self._draw()
        for part in self._parts:
            part.visible = on

    def _draw(self) -> None:
        # What a browser draws itself is not sent at every move of the pointer.
        sketch, corners = (ColumnDataSource({"x": [], "y": []}, syncable=False) for _ in range(2))
        look: dict[str, Any] = {"level": self._level, "visible": False}
        lines = [
            Line(line_color=colour, line_width=width, line_join="round")
            for colour, width in ((palette.RIM, 5), (palette.BOX, 2))
        ]
        corner = Scatter(size=9, fill_color="white", line_color=palette.RIM, line_width=1.5)
        drawn = [rendered(sketch, line, **look) for line in lines]
        drawn.append(rendered(corners, corner, **look))
        #: How it is done, where it is done: no sentence moves the maps for it.
        hint = Label(
            x=Node.frame.top_center,
            y=Node.frame.top_center,
            y_offset=-8,
            text=HINT,
            text_align="center",
            text_baseline="top",
            text_color="white",
            text_font="Inter, system-ui, sans-serif",
            text_font_size="12px",
            background_fill_color=palette.GROUND,
            background_fill_alpha=0.8,
            padding=4,
            border_radius=3,
            visible=False,
        )
        self._parts = [*drawn, hint]
        line = drawn[0]
        args = {"sketch": sketch, "corners": corners, "told": self.told, "line": line}
        draws = CustomJS(args={**args, "map": self._figure}, code=_sketch_script())
        line.js_on_change("visible", draws)
        draw(self._figure, *drawn, above=self._above)
        self._figure.add_layout(hint)
        for event in (Tap, DoubleTap, MouseMove):
            self._figure.js_on_event(event, draws)

    def tell(self, report: Callable[[Any, bool], None]) -> None:
        """Call ``report(corners, final)`` with a list of x, y; None once it is given up.

        Corners may be anything: they come from a browser.
        """

        def heard(_attr: str, _old: Any, new: Any) -> None:
            try:
                message = json.loads(new)
                corners, final = message["corners"], message["final"]
            except (ValueError, TypeError, KeyError, RecursionError):
                return
            report(corners, final is True)

        self.told.on_change("value", heard)


@cache
def _sketch_script() -> str:
    return (Path(__file__).parent / "scripts" / "sketch.js").read_text(encoding="utf-8")
