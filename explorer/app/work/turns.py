"""Turns: who asks for pictures without end leaves the others their share of the server.

Whoever is alone has all of it, and so has whoever moves a slider for a moment. After that, a page
that keeps the server at work may do so for one second in as many as there are pages in use.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from explorer.grid.allowance import Bucket

#: Seconds of work in a row that a page may have anyone who else is there: a drag.
FREE = 2.0
#: Seconds after its last work for which a page is in use.
RECENT = 2.0
#: Seconds that no one waits beyond for one turn: the newest value is shown all the same.
MOST = 1.0


class Turns:
    """Who has had how much of the server lately."""

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        self._clock = clock or time.monotonic
        self._last: WeakKeyDictionary[Any, float] = WeakKeyDictionary()
        self._left: WeakKeyDictionary[Any, Bucket] = WeakKeyDictionary()

    def used(self, page: Any, seconds: float) -> None:
        """A page has had so many seconds of work done."""
        self._last[page] = self._clock()
        self._allowance(page).take(seconds)

    def owed(self, page: Any) -> float:
        """Seconds that a page has to wait before it has work done again; 0 for who is alone."""
        return min(self._allowance(page).take(0.0), MOST)

    def _allowance(self, page: Any) -> Bucket:
        now = self._clock()
        others = sum(now - at < RECENT for other, at in self._last.items() if other is not page)
        kept = self._left.get(page)
        if kept is None or not others:
            # No one was there whom it could have kept waiting.
            kept = self._left[page] = Bucket(1.0, FREE, self._clock)
        kept.rate = 1.0 / (1 + others)
        return kept


#: Those of this server.
TURNS = Turns()
