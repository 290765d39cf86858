"""Changes of a page in time: throttled, after a movement, or one step after the other."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from functools import partial

from explorer.app.work.document import Visit, soon

#: Seconds a step. Nothing ever plays by itself, so a visitor who wants no motion sees none.
PACES = {"Slow": 2.0, "Medium": 1.0, "Fast": 0.4}


class Throttle:
    """Shows a page anew after changes that others make, at most once every ``gap`` seconds.

    However many changes come meanwhile, one showing is under way at most, so that a slow browser
    builds no queue; the last change is always shown. Call it from any thread; make it on the event
    loop, where the page's document is known. Without a loop it shows at once.

    Parameters
    ----------
    show : shows the newest state; called with the document's lock held
    gap : seconds
    """

    def __init__(self, show: Callable[[], None], gap: float) -> None:
        self._show: Callable[[], None] | None = show
        self._gap = gap
        self._visit = Visit()
        self._lock = threading.Lock()
        self._waiting = False
        self._shown = -math.inf

    def __call__(self) -> None:
        """Something has changed."""
        loop = self._visit.loop
        with self._lock:
            if self._waiting or self._show is None:
                return
            self._waiting = loop is not None
        if loop is None:
            self._show()
        else:
            loop.call_soon_threadsafe(self._plan)

    def shown(self) -> None:
        """The page has just shown everything by itself: the next time may wait."""
        self._shown = time.monotonic()

    def close(self) -> None:
        """Show nothing any more: the visit has ended, and its page can be forgotten."""
        self._show = None

    def _plan(self) -> None:
        self._visit.later(self._shown + self._gap - time.monotonic(), self._due)

    def _due(self) -> None:
        if self._visit.ended:
            self.close()
        else:
            self._visit.show(self._now)

    def _now(self) -> None:
        # Before showing: what changes while it is shown needs another showing.
        with self._lock:
            self._waiting = False
        self.shown()
        if self._show is not None:
            self._show()


class Movement:
    """What is read after a picture waits while choices change quickly, as in a slider's drag."""

    #: Seconds between two changes that are one movement, and without a picture after which it ends.
    HURRIED, RESTED = 0.25, 0.15

    def __init__(self) -> None:
        self.hurried = False
        self._changed = -math.inf
        self._pictures = 0

    def changed(self) -> None:
        """A choice has changed."""
        before, self._changed = self._changed, time.monotonic()
        self.hurried = self._changed - before < self.HURRIED

    def shown(self, rest: Callable[[], None]) -> None:
        """A picture is shown: do ``rest`` in the next turn, in a movement after its last picture.

        Called with the document's lock held, as ``rest`` will be.
        """
        self._pictures += 1
        visit, picture = Visit(), self._pictures

        def unless_newer() -> None:
            if picture == self._pictures:
                rest()

        if self.hurried and visit.loop is not None:
            visit.later(self.RESTED, partial(visit.show, unless_newer))
        else:
            soon(rest)


class Player:
    """Calls ``step`` again and again at a pace, until it is stopped or there is none left.

    Parameters
    ----------
    step : does one step, with the document's lock held; returns whether there are more
    changed : told True when it begins to play and False when it ends, however it ends
    """

    def __init__(self, step: Callable[[], bool], changed: Callable[[bool], None]) -> None:
        self._step, self._changed = step, changed
        self.seconds = PACES["Slow"]
        # Of the last start, so that the steps of an earlier one see that they are not wanted.
        self._visit: Visit | None = None

    @property
    def playing(self) -> bool:
        """Whether there are steps to come."""
        return self._visit is not None

    def start(self) -> None:
        """Begin with a step at once; without an event loop (a script) all steps are done now."""
        if self.playing:
            return
        visit = self._visit = Visit()
        self._changed(True)
        if visit.loop is not None:
            visit.begin(partial(self._beat, visit))
            return
        while self.playing:
            self._once(visit)

    def stop(self) -> None:
        """No further step."""
        if self.playing:
            self._visit = None
            self._changed(False)

    def _once(self, visit: Visit) -> None:
        if visit is self._visit and not self._step():
            self.stop()

    def _beat(self, visit: Visit) -> None:
        if visit is self._visit and not visit.ended:
            visit.show(partial(self._once, visit))
            visit.later(self.seconds, partial(self._beat, visit))
