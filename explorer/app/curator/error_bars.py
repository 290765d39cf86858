"""Error bars of the boxes for releases without a closed form: simulated while nobody waits."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import panel as pn
from numpy.typing import NDArray

from explorer.app.curator.screen import Screen
from explorer.app.kit.words import words
from explorer.app.work.worker import held
from explorer.evaluate.simulation import Simulated, simulated_sd
from explorer.releases.release import Release

logger = logging.getLogger(__name__)
Floats = NDArray[np.float64]

#: Releases of the released map for one error bar; it is off by about a sixth of itself.
RUNS = 20
SIMULATED = words("explore")["Simulated intervals"]


class ErrorBars:
    """Simulates the error bars of the newest screen once its settings have rested a while.

    Only for counts that are not linear in their noise: the others have exact bars at once.

    Parameters
    ----------
    ready : called with the document's lock held when bars of the present screen have come
    """

    #: Seconds without a new screen before it starts: a drag must not be slowed down.
    patience = 0.7

    def __init__(self, ready: Callable[[], None]) -> None:
        self._ready = ready
        self._found: tuple[Release, Floats, Simulated] | None = None
        self._task: asyncio.Task[None] | None = None
        self._wanted: Screen | None = None

    def want(self, screen: Screen) -> None:
        """Ask for the bars of ``screen``; what was asked before is not wanted any more."""
        self._wanted = None if self.of(screen) is not None or exact(screen.release) else screen
        if self._wanted is None or len(screen.boxes) == 0:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            # A script or a test without an event loop: nobody waits for a picture.
            self._keep(screen, simulated(screen))
            return
        self._task = loop.create_task(self._later(screen, pn.state.curdoc))

    def complete(self, screen: Screen) -> Screen:
        """The screen with simulated intervals, where they are known."""
        bars = self.of(screen)
        if bars is None:
            return screen
        low, high = bars.interval(screen.answers.private)
        return replace(screen, answers=replace(screen.answers, half_width=(high - low) / 2))

    def of(self, screen: Screen) -> Simulated | None:
        """The simulation for these boxes of this release, if it has been done."""
        if self._found is None:
            return None
        release, boxes, bars = self._found
        return bars if release is screen.release and np.array_equal(boxes, screen.boxes) else None

    def close(self) -> None:
        """The session has ended: start nothing more."""
        self._wanted = None

    async def _later(self, screen: Screen, doc: Any) -> None:
        await asyncio.sleep(self.patience)
        if self._wanted is not screen:
            return
        try:
            bars = await asyncio.to_thread(simulated, screen)
        except Exception:
            # The bars by the linear rule stay, and stay marked as approximate.
            logger.exception("Error bars could not be simulated")
            return
        if self._wanted is not screen:
            return
        keep = partial(self._keep, screen, bars)
        if doc is None or doc.session_context is None:
            keep()
        else:
            doc.add_next_tick_callback(partial(held, doc, keep))

    def _keep(self, screen: Screen, bars: Simulated) -> None:
        self._found = screen.release, screen.boxes, bars
        self._ready()


def exact(release: Release) -> bool:
    """Whether the noise of answers has a closed form, so that nothing need be simulated."""
    return release.linear and release.inside == "uniform"


def simulated(screen: Screen) -> Simulated:
    """The simulation: as many releases of the released map as `RUNS`."""
    return simulated_sd(screen.release, screen.boxes, RUNS)
