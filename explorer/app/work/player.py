"""A player: one step after the other at a pace, until it is stopped or there is none left."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from explorer.app.work.document import Visit

#: Seconds a step. Nothing ever plays by itself, so a visitor who wants no motion sees none.
PACES = {"Slow": 2.0, "Medium": 1.0, "Fast": 0.4}


class Player:
    """Calls ``step`` again and again.

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
