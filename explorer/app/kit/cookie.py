"""Something short that the visitor's browser keeps for this server, and brings with a reload."""

from __future__ import annotations

import json
import re
from typing import Any

import panel as pn

_KEEP = """
const {name, value, seconds} = JSON.parse(cb_obj.value)
document.cookie = `${name}=${value}; path=/; max-age=${seconds}; SameSite=Strict`
"""
#: What may be in a cookie without being read as its end.
_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,200}")


class Cookie:
    """Sets cookies of the visitor's browser; ``view`` has to be on the page.

    A cookie comes with the very request of a page: whatever it says is there before the page is.
    """

    def __init__(self) -> None:
        self._order = pn.widgets.TextInput(visible=False)
        self._order.jscallback(value=_KEEP)
        self.view: Any = pn.Column(self._order, visible=False, margin=0)

    def read(self, name: str) -> str:
        """What the browser sent with the request of this page; "" for nothing, or what is odd."""
        if pn.state.curdoc is None:
            return ""
        value = pn.state.cookies.get(name, "")
        return value if isinstance(value, str) and _PLAIN.fullmatch(value) else ""

    def keep(self, name: str, value: str, seconds: float) -> None:
        """Let the browser keep a value for so long; letters, digits, - and _ only."""
        if _PLAIN.fullmatch(name) and _PLAIN.fullmatch(value):
            order = {"name": name, "value": value, "seconds": int(seconds)}
            self._order.value = json.dumps(order)
