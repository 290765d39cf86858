"""What a browser remembers of the frame of our pages: theme, open sections, help shown.

It is in a cookie of this browser and not in its storage: the server sees a cookie before it makes
a page, so that no page is shown in one theme and then in another. Names and short words only, no
data.
"""

from __future__ import annotations

import json
import re
from typing import Any

import panel as pn

COOKIE = "explorer-frame"
_MOST = 40
_PAIR = re.compile(r"([a-z]{1,20}):([a-z]{1,20})")
# Each page changes what it knows of, and other tabs keep theirs; below our own folder only, since
# there may be other servers behind the same host.
_WRITE = """
const [name, value] = JSON.parse(cb_obj.value).said
const found = document.cookie.split("; ").find(each => each.startsWith(cookie + "="))
const kept = found ? found.slice(cookie.length + 1).split("|").filter(Boolean) : []
const others = kept.filter(each => !each.startsWith(name + ":"))
const folder = window.location.pathname.replace(/[^/]*$/, "")
document.cookie = `${cookie}=${[...others, name + ":" + value].join("|")}; path=${folder}; `
  + "max-age=31536000; samesite=lax"
"""


def read(text: str) -> dict[str, str]:
    """Names and values of a cookie, which may hold anything.

    >>> read("theme:light|explain:on|<b>")
    {'theme': 'light', 'explain': 'on'}
    """
    found = [_PAIR.fullmatch(each) for each in text[:2000].split("|")[:_MOST]]
    return {pair[1]: pair[2] for pair in found if pair is not None}


class Remembered:
    """Reads what this browser remembers, and has it remember more; ``view`` is on the page."""

    def __init__(self) -> None:
        sent = pn.state.cookies.get(COOKIE, "")
        self._known = read(sent if isinstance(sent, str) else "")
        self._number = 0
        self._order = pn.widgets.TextInput(visible=False)
        self._order.jscallback(args={"cookie": COOKIE}, value=_WRITE)
        self.view = pn.Column(self._order, visible=False, margin=0)

    def get(self, name: str) -> str:
        """What was put last, "" where nothing was."""
        return self._known.get(name, "")

    def put(self, name: str, value: str) -> None:
        """Remember a short word of small letters under such a name."""
        if self._known.get(name) != value:
            self._known[name] = value
            self._number += 1
            self._order.value = json.dumps({"number": self._number, "said": [name, value]})

    def section(self, name: str, accordion: Any) -> None:
        """Let a section that opens are as it was left."""
        if self.get(name) == "open":
            accordion.active = [0]
        accordion.param.watch(
            lambda event: self.put(name, "open" if event.new else "closed"), "active"
        )

    def switch(self, name: str, state: Any) -> None:
        """Let a choice that is on or off are as it was left."""
        if self.get(name) == "on":
            state.put(**{name: True})
        state.param.watch(lambda event: self.put(name, "on" if event.new else "off"), name)
