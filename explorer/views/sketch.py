"""A polygon that is being drawn on a map: its corners by clicks, in the browser until it ends."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from bokeh.events import DoubleTap, MouseEnter, MouseMove, Tap
from bokeh.models import ColumnDataSource, CustomJS, Label, Node, TextInput
from bokeh.plotting import figure

from explorer.views import palette

#: What stands at the upper edge of a map on which clicks make corners.
HINT = "Click corners; a double click ends, Escape gives up"

# Each script begins with what they share. A corner is told at once; while the pointer moves, the
# polygon that a click would make is told some fifteen times a second. Two quick clicks are one
# double click to Bokeh, wherever they are: the second ends the polygon only near the first. A
# corner and a double click in quick succession are so a double click and a click: what ends is
# a second click at one place, by either name.
_SHARED = """
const NEAR = 10, SAME = 2, PAUSE = 65
const xs = sketch.data.x, ys = sketch.data.y, n = corners.data.x.length
const pixels = (x, y, i) => {
  const [x0, x1, y0, y1] = [map.x_range.start, map.x_range.end, map.y_range.start, map.y_range.end]
  return Math.hypot((x - corners.data.x[i]) / (x1 - x0) * map.inner_width,
                    (y - corners.data.y[i]) / (y1 - y0) * map.inner_height)
}
const tell = (places, final) => {
  said.tags = [Date.now()]
  said.value = JSON.stringify({turn: Math.random(), corners: places, final})
}
const listed = () => Array.from(corners.data.x, (x, i) => [x, corners.data.y[i]])
const show = (places, pointer) => {
  const all = pointer ? [...places, pointer] : places
  corners.data = {x: places.map(p => p[0]), y: places.map(p => p[1])}
  sketch.data = {x: all.map(p => p[0]), y: all.map(p => p[1])}
}
const leave = () => { show([]); tell(null, false) }
const end = () => { const all = listed(); show([]); tell(all, true) }
const add = (x, y) => {
  const all = [...listed(), [x, y]]
  show(all)
  if (all.length >= 3) tell(all, false)
}
"""
_TAP = """
if (line.visible) {
  const {x, y} = cb_obj
  if (n >= 3 && pixels(x, y, 0) < NEAR) end()
  else if (n === 0 || pixels(x, y, n - 1) >= SAME) add(x, y)
  else if (n >= 3) end()
}
"""
_DOUBLE = """
if (line.visible) {
  const {x, y} = cb_obj
  const here = n > 0 && pixels(x, y, n - 1) < NEAR
  if (n >= 3 && (here || pixels(x, y, 0) < NEAR)) end()
  else if (!here) add(x, y)
}
"""
_MOVE = """
if (line.visible && n > 0) {
  const all = listed(), pointer = [cb_obj.x, cb_obj.y]
  sketch.data = {x: [...all.map(p => p[0]), pointer[0]], y: [...all.map(p => p[1]), pointer[1]]}
  const soon = Date.now() - (said.tags[0] ?? 0) >= PAUSE
  if (n >= 2 && soon && pixels(...pointer, n - 1) >= SAME) tell([...all, pointer], false)
}
"""
# Before any other listener of the page: Escape would let go of the selected box, too.
_KEYS = """
if (!said.listens) {
  said.listens = true
  document.addEventListener("keydown", event => {
    const n = corners.data.x.length
    const typing = event.composedPath().some(
      each => each instanceof Element && each.matches("input, textarea, select"))
    const ours = ["Enter", "Escape", "Backspace"].includes(event.key)
    if (typing || !line.visible || n === 0 || !ours) return
    if (event.key === "Enter" && n < 3) return
    event.preventDefault()
    event.stopImmediatePropagation()
    if (event.key === "Enter") end()
    else if (event.key === "Escape" || n === 1) leave()
    else show(listed().slice(0, -1))
  }, true)
}
"""
_SWITCHED = """
if (!line.visible && n > 0) leave()
"""


class Sketch:
    """The polygon that a person draws on one map, and what the browser tells of it.

    Clicks add corners; a double click, Enter or a click on the first corner ends it; Backspace
    takes the last corner back, Escape all of them.
    """

    def __init__(self, fig: figure, level: str) -> None:
        # What a browser draws itself is not sent at every move of the pointer.
        self.sketch, self.corners = (
            ColumnDataSource({"x": [], "y": []}, syncable=False) for _ in range(2)
        )
        look: dict[str, Any] = {"source": self.sketch, "level": level, "visible": False}
        self.lines = [
            fig.line("x", "y", line_color=colour, line_width=width, line_join="round", **look)
            for colour, width in ((palette.RIM, 5), (palette.BOX, 2))
        ]
        self.points = fig.scatter(
            "x",
            "y",
            **{**look, "source": self.corners},
            marker="circle",
            size=9,
            fill_color="white",
            line_color=palette.RIM,
            line_width=1.5,
        )
        #: How it is done, where it is done: no sentence moves the maps for it.
        self.hint = Label(
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
        fig.add_layout(self.hint)
        #: What the browser tells, as JSON.
        self.said = TextInput(visible=False)
        given = {
            "sketch": self.sketch,
            "corners": self.corners,
            "said": self.said,
            "map": fig,
            "line": self.lines[0],
        }
        for event, script in (
            (Tap, _TAP),
            (DoubleTap, _DOUBLE),
            (MouseMove, _MOVE),
            (MouseEnter, _KEYS),
        ):
            fig.js_on_event(event, CustomJS(args=given, code=_SHARED + script))
        self.lines[0].js_on_change("visible", CustomJS(args=given, code=_SHARED + _SWITCHED))

    @property
    def on(self) -> bool:
        """Whether clicks make corners."""
        return bool(self.lines[0].visible)

    def switch(self, on: bool) -> None:
        """Let clicks make corners, or do what they do elsewhere."""
        for each in (*self.lines, self.points, self.hint):
            each.visible = on

    def tell(self, told: Callable[[Any, bool], None]) -> None:
        """Call ``told(corners, final)`` with a list of x, y; None once it is given up.

        Corners may be anything: they come from a browser.
        """

        def heard(_attr: str, _old: Any, new: Any) -> None:
            try:
                said = json.loads(new)
                corners, final = said["corners"], said["final"]
            except (ValueError, TypeError, KeyError, RecursionError):
                return
            told(corners, final is True)

        self.said.on_change("value", heard)
