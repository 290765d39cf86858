"""What only the visitor's browser can do: keys, the clipboard, the address, and what it keeps."""

from __future__ import annotations

import json
import re
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import panel as pn
from bokeh.models import TextInput

from explorer.app.kit import static
from explorer.app.kit.later import next_turn
from explorer.app.kit.navigation import Link

#: Arguments of an address: a page's own screen, what is shared, and whether own data stayed behind.
OWN, SHARED, LEFT = "s", "from", "left"
#: The argument that names the story which is being made, on whatever page its next step is.
MAKING = "making"
#: The cookie of `Remembered`.
COOKIE = "explorer-frame"
#: Most pairs of that cookie, and most characters that `Storage` takes back.
_MOST, _LONGEST = 40, 4000
_PAIR = re.compile(r"([a-z]{1,20}):([a-z]{1,20})")
#: What may be in a cookie without being read as its end.
_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,200}")


class _Orders:
    """Orders that the browser of this session carries out; ``view`` has to be on the page.

    Parameters
    ----------
    answered : a method that is called with each answer of the browser, which may be anything
    """

    def __init__(self, answered: Callable[[dict[str, Any]], None] | None = None) -> None:
        self._number = 0
        self._order = pn.widgets.TextInput(visible=False)
        parts, args = [self._order], {}
        if answered is not None:
            # Panel keeps what JavaScript is given for good: it must not refer to the page.
            method = weakref.WeakMethod(answered)
            reply = args["reply"] = pn.widgets.TextInput(visible=False)
            reply.param.watch(lambda event: _pass_on(event.new, method()), "value")
            parts.append(reply)
        self._order.jscallback(args=args, value=static.read("browser.js"))
        self.view: Any = pn.Column(*parts, visible=False, margin=0)

    def _send(self, act: str, **order: Any) -> None:
        self._number += 1
        self._order.value = json.dumps({"number": self._number, "act": act, **order})


def _pass_on(reply: Any, answered: Callable[[dict[str, Any]], None] | None) -> None:
    try:
        answer = json.loads(reply)
    except (ValueError, TypeError, RecursionError):
        return
    if answered is not None and isinstance(answer, dict):
        answered(answer)


class Browser(_Orders):
    """Copies texts and changes the address.

    Parameters
    ----------
    copied : called with "" when a text is on the clipboard, else with the text to copy by hand
    """

    def __init__(self, copied: Callable[[str], None]) -> None:
        super().__init__(self._answered)
        self._copied = copied
        self._asked: int | None = None

    def copy(self, text: str = "", link: str = "", page: str = "") -> None:
        """Put a text on the clipboard, or the address of ``page`` (else this) with ``?s=link``."""
        self._send("copy", text=text, link=link, page=page)
        self._asked = self._number

    def address(self, link: str) -> None:
        """Let the address carry ``?s=link``, without a reload; "" takes it away."""
        # What came along from another page is in the link by now.
        self.query(**{OWN: link, SHARED: "", LEFT: ""})

    def query(self, **query: str) -> None:
        """Let the address carry these arguments, without a reload; "" takes one away."""
        self._send("query", query=query)

    def go(self, where: str) -> None:
        """Open another page of the server."""
        self._send("go", where=where)

    def _answered(self, answer: dict[str, Any]) -> None:
        done, text = answer.get("done"), answer.get("text")
        expected = self._asked is not None and answer.get("number") == self._asked
        if expected and isinstance(done, bool) and isinstance(text, str):
            self._asked = None
            self._copied("" if done else text)


class Storage(_Orders):
    """One text that the browser keeps for good, such as how far a reader has come.

    Parameters
    ----------
    name : of the text, letters, digits, - and _
    recalled : called with the text that was kept, once `recall` has asked; never without a browser
    """

    def __init__(self, name: str, recalled: Callable[[str], None]) -> None:
        super().__init__(self._answered)
        self._name, self._recalled = name, weakref.WeakMethod(recalled)

    def keep(self, value: str) -> None:
        """Let the browser keep a text, in place of the one before."""
        self._send("keep", name=self._name, value=value)

    def recall(self) -> None:
        """Ask the browser for the text."""
        self._send("recall", name=self._name)

    def take(self, reply: Any) -> None:
        """What came back from the browser; anything may come from a client."""
        _pass_on(reply, self._answered)

    def _answered(self, answer: dict[str, Any]) -> None:
        value, recalled = answer.get("value"), self._recalled()
        if isinstance(value, str) and 0 < len(value) <= _LONGEST and recalled is not None:
            recalled(value)


class Cookie(_Orders):
    """Sets cookies, which come with the request of a page: the server knows them before it."""

    def read(self, name: str) -> str:
        """What the browser sent with the request of this page; "" for nothing, or what is odd."""
        value = pn.state.cookies.get(name, "") if pn.state.curdoc is not None else ""
        return value if isinstance(value, str) and _PLAIN.fullmatch(value) else ""

    def keep(self, name: str, value: str, seconds: float) -> None:
        """Let the browser keep a value for so long; letters, digits, - and _ only."""
        if _PLAIN.fullmatch(name) and _PLAIN.fullmatch(value):
            self._send("cookie", name=name, value=value, seconds=int(seconds))


class Remembered(_Orders):
    """What a browser remembers of the frame of our pages: theme, open sections, help shown.

    It is in a cookie and not in its storage, so that no page is shown in one theme and then in
    another. Names and short words only, no data.
    """

    def __init__(self) -> None:
        super().__init__()
        self._known = remembered_by_browser()

    def get(self, name: str) -> str:
        """What was put last, "" where nothing was."""
        return self._known.get(name, "")

    def put(self, name: str, value: str) -> None:
        """Remember a short word of small letters under such a name."""
        if self._known.get(name) != value:
            self._known[name] = value
            self._send("remember", cookie=COOKIE, name=name, value=value)

    def section(self, name: str, accordion: Any) -> None:
        """Open or close a section as it was left."""
        if self.get(name) == "open":
            accordion.active = [0]
        accordion.param.watch(
            lambda event: self.put(name, "open" if event.new else "closed"), "active"
        )

    def switch(self, name: str, state: Any) -> None:
        """Switch a choice on or off as it was left."""
        if self.get(name) == "on":
            state.put(**{name: True})
        state.param.watch(lambda event: self.put(name, "on" if event.new else "off"), name)


def remembered_by_browser() -> dict[str, str]:
    """Names and values of the cookie that came with this request, which may hold anything."""
    sent = pn.state.cookies.get(COOKIE, "")
    texts = sent[:2000].split("|")[:_MOST] if isinstance(sent, str) else []
    return {pair[1]: pair[2] for pair in map(_PAIR.fullmatch, texts) if pair is not None}


class Tab(_Orders):
    """Keeps links for the pages in the storage of the browser's tab, which the bar's links carry.

    So no two visitors and no two tabs ever meet, nothing of it is on the server, and it ends with
    the tab. A page without an address of its own is led to with two arguments: the link of its own
    last screen, and that of what all pages share.
    """

    def __init__(self) -> None:
        super().__init__()
        self._kept: dict[str, str] = {}

    def keep(self, **links: str) -> None:
        """Keep links by the key of their page, ``shared`` and ``left``; "" forgets one."""
        if any(self._kept.get(name) != link for name, link in links.items()):
            self._kept |= links
            self._send("links", links=links)


def carry_links(key: str, links: Sequence[Link]) -> None:
    """Let the links of the page that is being built, with this key, carry what its tab keeps."""
    if links:
        names = {"own": OWN, "shared": SHARED, "left": LEFT, "here": key}
        pages = {link.address: link.key for link in links}
        static.when_ready("links.js", **names, pages=pages, along=["theme", MAKING])


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
