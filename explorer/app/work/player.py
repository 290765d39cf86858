"""A player: one step after the other at a pace, until it is stopped or there is none left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import panel as pn

from explorer.app.work.document import ended, publish

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
        # Counts starts and stops: a task of an earlier start sees that it is not wanted any more.
        self._number = 0
        self._task: asyncio.Task[None] | None = None
        self.playing = False

    def start(self) -> None:
        """Begin with a step at once; without an event loop (a script) all steps are done now."""
        if self.playing:
            return
        self._number += 1
        self.playing = True
        self._changed(True)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            while self.playing:
                self._once(self._number)
            return
        # The reference keeps the task from being collected while it runs.
        self._task = loop.create_task(self._play(self._number, pn.state.curdoc))

    def stop(self) -> None:
        """No further step."""
        self._number += 1
        if self.playing:
            self.playing = False
            self._changed(False)

    def _once(self, number: int) -> None:
        if number == self._number and not self._step():
            self.stop()

    async def _play(self, number: int, doc: Any) -> None:
        while number == self._number and not ended(doc):
            publish(doc, partial(self._once, number))
            await asyncio.sleep(self.seconds)
