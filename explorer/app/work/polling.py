"""Telling a page of changes that others make: never faster than it can be read or sent."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from explorer.app.work.document import Visit


class Pulse:
    """Shows a page anew after changes, at most once every ``gap`` seconds.

    However many changes come meanwhile, one showing is under way at most, so that a slow browser
    builds no queue; the last change is always shown. Call it from any thread; make it on the event
    loop, where the page's document is known. Without a loop it shows at once.

    Parameters
    ----------
    show : shows the newest state; called with the document's lock held
    gap : seconds
    """

    def __init__(self, show: Callable[[], None], gap: float) -> None:
        self._show, self._gap = show, gap
        self._visit = Visit()
        self._lock = threading.Lock()
        self._waiting = self._closed = False
        self._shown = float("-inf")

    def __call__(self) -> None:
        """Something has changed."""
        with self._lock:
            if self._waiting or self._closed:
                return
            self._waiting = self._visit.loop is not None
        if self._visit.loop is None:
            self._show()
        else:
            self._visit.loop.call_soon_threadsafe(self._plan)

    def shown(self) -> None:
        """The page has just shown everything by itself: the next time may wait."""
        self._shown = time.monotonic()

    def close(self) -> None:
        """Show nothing any more: the visit has ended, and its page can be forgotten."""
        self._closed = True
        self._show = _nothing

    def _plan(self) -> None:
        self._visit.later(self._shown + self._gap - time.monotonic(), self._due)

    def _due(self) -> None:
        if self._visit.ended:
            self.close()
        else:
            self._visit.show(self._beat)

    def _beat(self) -> None:
        # Before showing: what changes while it is shown needs another showing.
        with self._lock:
            self._waiting = False
        self.shown()
        self._show()


def _nothing() -> None:
    """What a closed pulse shows."""
