"""Keys that act on a whole page, wherever the focus is but in a field that takes them itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import panel as pn
from bokeh.models import CustomJS, TextInput

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
    "p",
    "t",
    "c",
    "+",
    "-",
    "0",
)
# A field keeps what is typed into it. Arrows, Delete and Escape act on boxes where nothing has the
# focus, or a map: sliders, menus and tables have uses of their own for them. Letters act but in
# menus, where they look for an option.
_LISTEN = """
let number = 0
document.addEventListener("keydown", event => {
  const path = event.composedPath().filter(each => each instanceof Element)
  const typing = path.some(each => each.isContentEditable
    || (each.matches("input, textarea, select") && each.type !== "range"))
  const mod = event.ctrlKey || event.metaKey
  const key = mod ? `mod+${event.shiftKey ? "shift+" : ""}${event.key.toLowerCase()}` : event.key
  const free = path[0] === document.body || path.some(each => each.matches(".bk-Figure"))
  const menu = path.some(each => each.matches("[role=combobox], [role=listbox], [role=option]"))
  const letter = key.length === 1 && !menu && !event.repeat
  if (typing || event.altKey || !keys.includes(key) || (!mod && !free && !letter)) return
  if (key !== "Escape") event.preventDefault()
  said.value = JSON.stringify({number: ++number, key, far: event.shiftKey})
})
"""


class Keys:
    """Tells of `KEYS`; ``view`` has to stand on the page.

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
            script = CustomJS(args={"said": self.said, "keys": list(KEYS)}, code=_LISTEN)
            pn.state.curdoc.js_on_event("document_ready", script)

    def _heard(self, text: Any) -> None:
        # Anything may come from a client.
        try:
            said = json.loads(text)
            key, far = said["key"], said["far"]
        except (ValueError, TypeError, KeyError, RecursionError):
            return
        if key in KEYS and isinstance(far, bool):
            self._pressed(key, far)
