"""Error bars of the boxes for releases without a closed form: simulated while no one waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from explorer.app.curator.for_boxes import ForBoxes
from explorer.app.kit.words import words
from explorer.app.work.job import give_up_unwanted, patient
from explorer.evaluate.simulation import Simulated, about_boxes, simulate

#: Releases of the released map for one error bar; it is off by about a sixth of itself.
RUNS = 20
_POOL = patient(2, "error bars")
SIMULATED = words("explore")["Simulated intervals"]


class ErrorBars(ForBoxes[Simulated]):
    """Simulates error bars, for counts that are not linear in their noise: others have exact ones.

    Where that fails the bars by the linear rule stay, and stay marked as approximate.

    Parameters
    ----------
    ready : called with the document's lock held when bars of the present screen have come
    """

    def __init__(self, ready: Callable[[], None]) -> None:
        super().__init__(simulated, ready, delay=0.7, pool=_POOL)

    def needed(self, screen: Any) -> bool:
        """Whether the release has no bars in closed form."""
        return not screen.release.sd_exact

    def complete(self, screen: Any) -> Any:
        """The screen with simulated intervals, where they are known."""
        bars = self.of(screen)
        if bars is None:
            return screen
        half_width = bars.half_width() * screen.answers.scale
        return replace(screen, answers=replace(screen.answers, half_width=half_width))


class GivenBars(ErrorBars):
    """Keeps the bars that a release gives by itself: none is simulated."""

    def needed(self, screen: Any) -> bool:
        """Nothing is to be found."""
        return False


def simulated(screen: Any) -> Simulated:
    """As many releases of the released map as `RUNS`, or none more once they are not wanted.

    A map of a million cells takes seconds: the next move of a slider must not wait next to them.
    """
    questions = [about_boxes(screen.release, screen.boxes)]
    return simulate(screen.release, questions, RUNS, progress=give_up_unwanted)[0]
