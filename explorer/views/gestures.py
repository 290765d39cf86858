"""What a person does on a map, passed on as a browser sends it: a click, a dragged rectangle."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from math import nan
from typing import Any

from bokeh.events import MouseEnter, MouseLeave, MouseMove, SelectionGeometry, Tap
from bokeh.models import (
    Annotation,
    BoxAnnotation,
    BoxSelectTool,
    CustomJS,
    PolyAnnotation,
    TextInput,
)
from bokeh.plotting import figure

from explorer.views import palette

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
