"""Something that the visitor's browser keeps for good, such as how far a reader has come."""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable
from typing import Any

import panel as pn

_DO = """
const {act, name, value, number} = JSON.parse(cb_obj.value)
try {
  if (act === "keep") localStorage.setItem(name, value)
  else reply.value = JSON.stringify({number, value: localStorage.getItem(name) ?? ""})
} catch (_) {
  // A browser may refuse to keep anything: then nothing is kept.
}
"""
_LONGEST = 4000


class Storage:
    """One text under a name in the browser; ``view`` has to be on the page.

    Parameters
    ----------
    name : of the text, letters, digits, - and _
    recalled : called with the text that was kept, once `recall` has asked; never without a browser
    """

    def __init__(self, name: str, recalled: Callable[[str], None]) -> None:
        self._name, self._recalled, self._number = name, weakref.WeakMethod(recalled), 0
        self._order = pn.widgets.TextInput(visible=False)
        self._reply = pn.widgets.TextInput(visible=False)
        self._order.jscallback(args={"reply": self._reply}, value=_DO)
        # Panel keeps what JavaScript is given for good; from there no way may lead to the page.
        this = weakref.ref(self)
        self._reply.param.watch(lambda event: _replied(this, event), "value")
        self.view: Any = pn.Column(self._order, self._reply, visible=False, margin=0)

    def keep(self, value: str) -> None:
        """Let the browser keep a text, in place of the one before."""
        self._send("keep", value)

    def recall(self) -> None:
        """Ask the browser for the text."""
        self._send("recall", "")

    def _send(self, act: str, value: str) -> None:
        self._number += 1
        order = {"number": self._number, "act": act, "name": self._name, "value": value}
        self._order.value = json.dumps(order)

    def take(self, reply: Any) -> None:
        """What came back from the browser; anything may come from a client."""
        try:
            said = json.loads(reply)
            value = said["value"]
        except (ValueError, TypeError, KeyError, RecursionError):
            return
        recalled = self._recalled()
        if isinstance(value, str) and 0 < len(value) <= _LONGEST and recalled is not None:
            recalled(value)


def _replied(this: weakref.ref[Storage], event: Any) -> None:
    still = this()
    if still is not None:
        still.take(event.new)
