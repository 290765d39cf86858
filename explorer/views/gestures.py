"""What a person does on a map, passed on as a browser sends it: a click, a dragged rectangle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bokeh.events import MouseEnter, MouseLeave, MouseMove, SelectionGeometry, Tap
from bokeh.models import Annotation, BoxAnnotation, BoxSelectTool, CustomJS, PolyAnnotation
from bokeh.plotting import figure

from explorer.views import palette

# Bokeh takes a pointer that rests for 300 ms before it moves for a press and ignores the drag that
# follows: whoever aims first, or whose machine is busy, drew nothing. Nothing here needs a press.
_AIM_AS_LONG_AS_YOU_LIKE = """
const view = cb_context.index.find_one(map)
const gestures = view?.canvas_view?.ui_event_bus?.ui_gestures
if (gestures) gestures.constructor.press_threshold = 2 ** 31 - 1
// Bokeh covers the map by a white box of white words whenever the wheel scrolls the page over it.
if (view) view.notify_about = () => {}
"""
_TELL_THE_END = """
if (!editor.tells_the_end) {
  editor.tells_the_end = true
  let times = 0
  editor.pan.connect(([phase]) => {
    if (phase === "pan:end") editor.name = `dragged ${++times}`
  })
}
"""


#: Pixels across a side of the selected box in which it is taken.
HANDLE = 16


def box_tool() -> BoxSelectTool:
    """The tool that drags a rectangle, drawn in the colour of boxes."""
    overlay = BoxAnnotation(
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


def on_edit(fig: figure, editor: BoxAnnotation, edited: Callable[[Edges, bool], None]) -> None:
    """Call ``edited((x0, y0, x1, y1), final)`` while a browser drags an editor and at its end."""

    def told(final: bool) -> None:
        edited((editor.left, editor.bottom, editor.right, editor.top), final)

    _on_drag(fig, editor, ("left", "bottom", "right", "top"), told)


def on_reshape(
    fig: figure, editor: PolyAnnotation, reshaped: Callable[[list[Any], bool], None]
) -> None:
    """Call ``reshaped(corners, final)`` while a browser drags a polygon's editor and at its end."""

    def told(final: bool) -> None:
        # Of two columns that change together the first comes alone.
        if len(editor.xs) == len(editor.ys):
            reshaped(list(zip(editor.xs, editor.ys, strict=True)), final)

    _on_drag(fig, editor, ("xs", "ys"), told)


def _on_drag(
    fig: figure, editor: Annotation, sides: Sequence[str], told: Callable[[bool], None]
) -> None:
    for side in sides:
        editor.on_change(side, lambda _attr, _old, _new: told(False))
    # Bokeh tells Python nothing of the end of such a drag: the browser renames the editor.
    editor.on_change("name", lambda _attr, _old, _new: told(True))
    script = CustomJS(args={"editor": editor}, code=_TELL_THE_END)
    fig.js_on_event(MouseEnter, script)


def on_move(fig: figure, moved: Callable[[Any, Any], None]) -> None:
    """Call ``moved(x, y)`` with the place of the pointer, and with None as it leaves the map."""
    fig.on_event(MouseMove, lambda event: moved(event.x, event.y))
    fig.on_event(MouseLeave, lambda _event: moved(None, None))


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
    fig.js_on_event(MouseEnter, CustomJS(args={"map": fig}, code=_AIM_AS_LONG_AS_YOU_LIKE))
