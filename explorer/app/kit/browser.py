"""What only the visitor's browser can do: the clipboard and the address."""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable
from typing import Any

import panel as pn

# A page without https from another computer may not use the clipboard: it copies by selecting.
_DO = """
const said = JSON.parse(cb_obj.value)
const byHand = text => {
  const area = document.createElement("textarea")
  area.value = text
  area.style.position = "fixed"
  area.style.opacity = "0"
  document.body.append(area)
  area.select()
  let done = false
  try { done = document.execCommand("copy") } catch (_) {}
  area.remove()
  return done
}
if (said.act === "address") {
  const query = new URLSearchParams(window.location.search)
  if (said.link) query.set("s", said.link)
  else query.delete("s")
  // What came along from another page is in the link by now.
  for (const name of ["from", "left"]) query.delete(name)
  const rest = query.toString()
  const {pathname, hash} = window.location
  window.history.replaceState(window.history.state, "", pathname + (rest ? "?" + rest : "") + hash)
} else if (said.act === "query") {
  const query = new URLSearchParams(window.location.search)
  for (const [name, value] of Object.entries(said.query)) {
    if (value) query.set(name, value)
    else query.delete(name)
  }
  const rest = query.toString()
  const {pathname, hash} = window.location
  window.history.replaceState(window.history.state, "", pathname + (rest ? "?" + rest : "") + hash)
} else if (said.act === "go") {
  window.location.href = said.where
} else if (said.act === "copy") {
  const {origin, pathname} = window.location
  const page = said.page ? pathname.replace(/[^/]*$/, said.page) : pathname
  const text = said.link ? `${origin}${page}?s=${said.link}` : said.text
  const tell = done => {
    reply.value = JSON.stringify({number: said.number, done, text: done ? "" : text})
  }
  if (navigator.clipboard && window.isSecureContext)
    navigator.clipboard.writeText(text).then(() => tell(true), () => tell(byHand(text)))
  else
    tell(byHand(text))
}
"""


def _while_alive(method: Callable[[Any], None]) -> Callable[[Any], None]:
    held = weakref.WeakMethod(method)

    def call(event: Any) -> None:
        still = held()
        if still is not None:
            still(event)

    return call


class Browser:
    """Sends a few orders to the browser of this session; ``view`` has to be on the page.

    Parameters
    ----------
    copied : called with "" when a text is on the clipboard, else with the text to copy by hand
    """

    def __init__(self, copied: Callable[[str], None]) -> None:
        self._copied = copied
        self._number = 0
        self._asked: int | None = None
        self._order = pn.widgets.TextInput(visible=False)
        self._reply = pn.widgets.TextInput(visible=False)
        self._order.jscallback(args={"reply": self._reply}, value=_DO)
        # Panel keeps what JavaScript is given for good; from there no way may lead to the page.
        self._reply.param.watch(_while_alive(self._replied), "value")
        self.view = pn.Column(self._order, self._reply, visible=False, margin=0)

    def copy(self, text: str = "", link: str = "", page: str = "") -> None:
        """Put a text on the clipboard, or the address of ``page`` (else this) with ``?s=link``."""
        self._send(act="copy", text=text, link=link, page=page)
        self._asked = self._number

    def address(self, link: str) -> None:
        """Let the address carry ``?s=link``, without a reload; "" takes it away."""
        self._send(act="address", link=link)

    def query(self, **query: str) -> None:
        """Let the address carry these arguments, without a reload; "" takes one away."""
        self._send(act="query", query=query)

    def go(self, where: str) -> None:
        """Open another page of the server."""
        self._send(act="go", where=where)

    def _send(self, **order: Any) -> None:
        self._number += 1
        self._order.value = json.dumps({"number": self._number, **order})

    def _replied(self, event: Any) -> None:
        # Anything may come from a client: what is not an answer to the last order is nothing.
        try:
            said = json.loads(event.new)
            number, done, text = said["number"], said["done"], said["text"]
        except (ValueError, TypeError, KeyError, RecursionError):
            return
        if number == self._asked and isinstance(done, bool) and isinstance(text, str):
            self._asked = None
            self._copied("" if done else text)
