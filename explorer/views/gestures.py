"""What a person does on a map, passed on as a browser sends it: a click, a dragged rectangle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bokeh.events import MouseEnter, SelectionGeometry, Tap
from bokeh.models import BoxAnnotation, BoxSelectTool, CustomJS
from bokeh.plotting import figure

from explorer.views import palette

# Bokeh takes a pointer that rests for 300 ms before it moves for a press and ignores the drag that
# follows: whoever aims first, or whose machine is busy, drew nothing. Nothing here needs a press.
_AIM_AS_LONG_AS_YOU_LIKE = """
const gestures = cb_context.index.find_one(map)?.canvas_view?.ui_event_bus?.ui_gestures
if (gestures) gestures.constructor.press_threshold = 2 ** 31 - 1
"""


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
    return BoxSelectTool(overlay=overlay, renderers=[])


def on_tap(fig: figure, tapped: Callable[[Any, Any], None]) -> None:
    """Call ``tapped(x, y)`` with every click; a raw client may send any values."""
    fig.on_event(Tap, lambda event: tapped(event.x, event.y))


def on_box(fig: figure, drawn: Callable[[tuple[Any, Any, Any, Any]], None]) -> None:
    """Call ``drawn((x0, y0, x1, y1))`` with each dragged rectangle; they may be anything."""

    def selected(event: SelectionGeometry) -> None:
        shape = event.geometry
        if event.final and shape.get("type") == "rect":
            drawn((shape.get("x0"), shape.get("y0"), shape.get("x1"), shape.get("y1")))

    fig.on_event(SelectionGeometry, selected)
    fig.js_on_event(MouseEnter, CustomJS(args={"map": fig}, code=_AIM_AS_LONG_AS_YOU_LIKE))
