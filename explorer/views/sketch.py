"""A polygon that is being drawn on a map: its corners by clicks, in the browser until it ends."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from bokeh.events import DoubleTap, MouseMove, Tap
from bokeh.models import (
    ColumnDataSource,
    CustomJS,
    GlyphRenderer,
    Label,
    Line,
    Node,
    Scatter,
    TextInput,
)
from bokeh.plotting import figure

from explorer.views import palette
from explorer.views.layers import draw, rendered
from explorer.views.scripts import script

#: What is at the upper edge of a map on which clicks make corners.
HINT = "Click corners; a double click ends, Escape gives up"


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
            Line(x="x", y="y", line_color=colour, line_width=width, line_join="round")
            for colour, width in ((palette.RIM, 5), (palette.BOX, 2))
        ]
        corner = Scatter(
            x="x",
            y="y",
            marker="circle",
            size=9,
            fill_color="white",
            line_color=palette.RIM,
            line_width=1.5,
        )
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
        draws = CustomJS(args={**args, "map": self._figure}, code=script("sketch"))
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
