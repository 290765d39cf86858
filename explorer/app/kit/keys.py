"""Keys that act on a whole page, wherever the focus is but in a field that takes them itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import panel as pn
from bokeh.models import CustomJS, TextInput

from explorer.app.kit.later import next_turn

#: Names of keys as the browser says them; with "mod+" those that are held with Ctrl or Command.
KEYS = (
    "mod+z",
    "mod+y",
    "mod+shift+z",
    "Delete",
    "Backspace",
    "Escape",
    "ArrowLeft",
    "ArrowRight",
    "ArrowUp",
    "ArrowDown",
    "mod+arrowleft",
    "mod+arrowright",
    "mod+arrowup",
    "mod+arrowdown",
    "Enter",
    "p",
    "t",
    "c",
    "+",
    "-",
    "0",
)
#: What a map that has the focus says of itself.
ABOUT = (
    "Map. Enter adds a box in the middle; arrows move it, with Ctrl they resize it, Delete removes "
    "it; plus and minus zoom."
)
# A field keeps what is typed into it. Arrows, Delete and Escape act on boxes where nothing has the
# focus, or a map: sliders, menus and tables have uses of their own for them. Letters act but in
# menus, where they look for an option. Enter acts on a map alone: elsewhere it presses buttons.
_LISTEN = """
let number = 0
// Between two shadow roots of one page no event of the focus comes up to here; the key that moved
// it does.
document.addEventListener("keyup", event => {
  const map = event.composedPath()[0]
  if (!map.matches?.(".bk-events")) return
  map.setAttribute("aria-label", about)
  if (!map.matches(":focus-visible")) return
  map.style.outline = "3px solid #8ec5ff"
  map.style.outlineOffset = "-3px"
  map.addEventListener("focusout", () => { map.style.outline = "" }, {once: true})
}, true)
document.addEventListener("keydown", event => {
  const path = event.composedPath().filter(each => each instanceof Element)
  const typing = path.some(each => each.isContentEditable
    || (each.matches("input, textarea, select") && each.type !== "range"))
  const mod = event.ctrlKey || event.metaKey
  const arrow = event.key.startsWith("Arrow")
  const shift = event.shiftKey && !arrow ? "shift+" : ""
  const key = mod ? `mod+${shift}${event.key.toLowerCase()}` : event.key
  const map = path.some(each => each.matches(".bk-Figure"))
  const free = key === "Enter" ? map : map || path[0] === document.body
  const anywhere = mod && !arrow
  const menu = path.some(each => each.matches("[role=combobox], [role=listbox], [role=option]"))
  const letter = key.length === 1 && !menu && !event.repeat
  if (typing || event.altKey || !keys.includes(key) || (!anywhere && !free && !letter)) return
  if (key !== "Escape") event.preventDefault()
  said.value = JSON.stringify({number: ++number, key, far: event.shiftKey})
})
"""


class Keys:
    """Tells of `KEYS`; ``view`` has to be on the page.

    Parameters
    ----------
    pressed : called with the key and whether Shift was held
    """

    def __init__(self, pressed: Callable[[str, bool], None]) -> None:
        self._pressed = pressed
        #: What the browser writes each key into.
        self.said = TextInput(visible=False)
        self.said.on_change("value", lambda _attr, _old, new: self._heard(new))
        self.view = pn.pane.Bokeh(self.said, visible=False, margin=0)
        if pn.state.curdoc is not None:
            args = {"said": self.said, "keys": list(KEYS), "about": ABOUT}
            script = CustomJS(args=args, code=_LISTEN)
            pn.state.curdoc.js_on_event("document_ready", script)

    def _heard(self, text: Any) -> None:
        # Anything may come from a client.
        try:
            said = json.loads(text)
            key, far = said["key"], said["far"]
        except (ValueError, TypeError, KeyError, RecursionError):
            return
        if key in KEYS and isinstance(far, bool):
            next_turn(partial(self._pressed, key, far))
