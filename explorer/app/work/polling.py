"""Telling a page of changes that others make: never faster than it can be read or sent."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import panel as pn
from panel.io.state import set_curdoc

from explorer.app.work.document import ended, held


class Pulse:
    """Shows a page anew after changes, at most once every ``gap`` seconds.

    However many changes come meanwhile, one showing is under way at most, so that a slow browser
    builds no queue; the last change is always shown. Call it from any thread; make it on the event
    loop, where the page's document is known. Without a loop or a document it shows at once.

    Parameters
    ----------
    show : shows the newest state; called with the document's lock held
    gap : seconds
    """

    def __init__(self, show: Callable[[], None], gap: float) -> None:
        self._show, self._gap = show, gap
        self._doc: Any = pn.state.curdoc
        try:
            self._loop = asyncio.get_running_loop() if self._doc is not None else None
        except RuntimeError:
            self._loop = None
        self._lock = threading.Lock()
        self._waiting = self._closed = False
        self._shown = float("-inf")

    def __call__(self) -> None:
        """Something has changed."""
        with self._lock:
            if self._waiting or self._closed:
                return
            self._waiting = self._loop is not None
        if self._loop is None:
            self._show()
        else:
            self._loop.call_soon_threadsafe(self._plan, self._loop)

    def shown(self) -> None:
        """The page has just shown everything by itself: the next time may wait."""
        if self._loop is not None:
            self._shown = self._loop.time()

    def close(self) -> None:
        """Show nothing any more: the visit has ended, and its page can be forgotten."""
        self._closed = True
        self._show = _nothing

    def _plan(self, loop: asyncio.AbstractEventLoop) -> None:
        loop.call_later(max(0.0, self._shown + self._gap - loop.time()), self._due)

    def _due(self) -> None:
        if ended(self._doc) or self._doc.session_context is None:
            self.close()
        if not self._closed:
            self._doc.add_next_tick_callback(self._beat)

    def _beat(self) -> None:
        # Before showing: what changes while it is shown needs another showing.
        with self._lock:
            self._waiting = False
        self.shown()
        # Without it Panel takes the page of the visitor who made the change for this one.
        with set_curdoc(self._doc):
            held(self._doc, self._show)


def _nothing() -> None:
    """What a closed pulse shows."""
