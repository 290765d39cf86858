"""Noise and uneven spread in the errors of rows: separated once the settings have rested."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from explorer.app.curator.error_bars import ForBoxes
from explorer.app.trips.screen import TripScreen
from explorer.inspection.errors import ErrorSplit, error_split


class TripCauses(ForBoxes[ErrorSplit]):
    """Finds both causes of every row's error: every node is counted anew for it.

    Parameters
    ----------
    ready : called with the document's lock held when those of the present screen have come
    """

    def __init__(self, ready: Callable[[], None]) -> None:
        super().__init__(_split, ready, delay=0.4)

    def complete(self, screen: TripScreen) -> TripScreen:
        """The screen with both causes, where they are known."""
        split, answers = self.of(screen), screen.answers
        if split is None or answers.spread is not None:
            return screen
        spread = answers.private - split.noise * answers.scale
        return replace(screen, answers=replace(answers, spread=spread))


def _split(screen: TripScreen) -> ErrorSplit:
    return error_split(screen.data.matrix, screen.release, screen.boxes)
