"""Keys that act on a whole page, wherever the focus is but in a field that takes them itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import panel as pn
from bokeh.models import TextInput

from explorer.app.kit import static
from explorer.app.kit.later import next_turn

#: Names of keys as the browser says them; with "mod+" those that are held with Ctrl or Command.
KEYS = (
    *("mod+z", "mod+y", "mod+shift+z", "Delete", "Backspace", "Escape", "Enter"),
    *("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"),
    *("mod+arrowleft", "mod+arrowright", "mod+arrowup", "mod+arrowdown"),
    *("p", "t", "c", "+", "-", "0"),
)
#: What a map that has the focus says of itself.
ABOUT = (
    "Map. Enter adds a box in the middle; arrows move it, with Ctrl they resize it, Delete removes "
    "it; plus and minus zoom."
)


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
        static.when_ready("keys.js", said=self.said, keys=list(KEYS), about=ABOUT)

    def _heard(self, text: Any) -> None:
        # Anything may come from a client.
        try:
            message = json.loads(text)
            key, far = message["key"], message["far"]
        except (ValueError, TypeError, KeyError, RecursionError):
            return
        if key in KEYS and isinstance(far, bool):
            next_turn(partial(self._pressed, key, far))
