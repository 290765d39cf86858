"""Noise and uneven spread in the errors of rows: separated once the settings have rested."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from explorer.app.trips.screen import TripScreen
from explorer.app.work.job import Job
from explorer.inspection.errors import ErrorSplit, error_split
from explorer.releases.release import Release

Found = tuple[Release, NDArray[np.float64], ErrorSplit]


class TripCauses:
    """Finds both causes of every row's error in a thread.

    Parameters
    ----------
    ready : called with the document's lock held when those of the present screen have come
    """

    def __init__(self, ready: Callable[[], None]) -> None:
        self._ready = ready
        self._found: Found | None = None
        # Every node is counted anew for it: a drag must not be slowed down by that.
        self._job: Job[Found] = Job(_find, self._keep, lambda _sentence: None, delay=0.4)
        self.close = self._job.close

    def want(self, screen: TripScreen) -> None:
        """Ask for the causes of ``screen``; what was asked before is not wanted any more."""
        if len(screen.boxes) == 0 or self._of(screen) is not None:
            self._job.cancel()
        else:
            self._job.ask(screen)

    def complete(self, screen: TripScreen) -> TripScreen:
        """The screen with both causes, where they are known."""
        split, answers = self._of(screen), screen.answers
        if split is None or answers.spread is not None:
            return screen
        return replace(
            screen, answers=replace(answers, spread=answers.private - split.noise * answers.scale)
        )

    def _of(self, screen: TripScreen) -> ErrorSplit | None:
        if self._found is None:
            return None
        release, boxes, split = self._found
        same = np.array_equal(boxes, screen.boxes, equal_nan=True)
        return split if release is screen.release and same else None

    def _keep(self, found: Found) -> None:
        self._found = found
        self._ready()


def _find(screen: TripScreen) -> Found:
    split = error_split(screen.data.matrix, screen.release, screen.boxes)
    return screen.release, screen.boxes, split
