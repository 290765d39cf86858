"""Error bars of the boxes for releases without a closed form: simulated while nobody waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.app.kit.words import words
from explorer.app.work.job import Job, patient
from explorer.evaluate.simulation import Simulated, simulated_sd
from explorer.releases.release import Release

Floats = NDArray[np.float64]
Found = tuple[Release, Floats, Simulated]

#: Releases of the released map for one error bar; it is off by about a sixth of itself.
RUNS = 20
_POOL = patient(2, "error bars")
SIMULATED = words("explore")["Simulated intervals"]


class ErrorBars:
    """Simulates the error bars of the newest screen once its settings have rested a while.

    A screen is of any page: it has a release, boxes and private answers to them.

    Only for counts that are not linear in their noise: the others have exact bars at once.

    Parameters
    ----------
    ready : called with the document's lock held when bars of the present screen have come
    """

    def __init__(self, ready: Callable[[], None]) -> None:
        self._ready = ready
        self._found: Found | None = None
        # It waits for rest: a drag must not be slowed down. Where it fails the bars by the linear
        # rule stay, and stay marked as approximate.
        self.job: Job[Found] = Job(
            simulated, self._keep, lambda _sentence: None, delay=0.7, pool=_POOL
        )
        self.close = self.job.close

    def want(self, screen: Any) -> None:
        """Ask for the bars of ``screen``; what was asked before is not wanted any more."""
        if len(screen.boxes) == 0 or screen.release.sd_exact or self.of(screen) is not None:
            self.job.cancel()
        else:
            self.job.ask(screen)

    def complete(self, screen: Any) -> Any:
        """The screen with simulated intervals, where they are known."""
        bars = self.of(screen)
        if bars is None:
            return screen
        half_width = bars.half_width() * screen.answers.scale
        return replace(screen, answers=replace(screen.answers, half_width=half_width))

    def of(self, screen: Any) -> Simulated | None:
        """The simulation for these boxes of this release, if it has been done."""
        if self._found is None:
            return None
        release, boxes, bars = self._found
        same = np.array_equal(boxes, screen.boxes, equal_nan=True)
        return bars if release is screen.release and same else None

    def _keep(self, found: Found) -> None:
        self._found = found
        self._ready()


def simulated(screen: Any) -> Found:
    """Release, boxes and their simulation: as many releases of the released map as `RUNS`."""
    return screen.release, screen.boxes, simulated_sd(screen.release, screen.boxes, RUNS)
