"""Error bars of the boxes for releases without a closed form: simulated while no one waits."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from explorer.app.kit.words import words
from explorer.app.work.job import Job, give_up_unwanted, patient
from explorer.evaluate.simulation import Simulated, about_boxes, simulate
from explorer.grid.range_queries import same_questions
from explorer.releases.release import Release

Thing = TypeVar("Thing")
Found = tuple[Release, NDArray[np.float64], Thing]


class ForBoxes(Generic[Thing]):
    """Finds something about a release and boxes in a thread, and keeps the last.

    A screen is of any page: it has a release, boxes and answers to them. Where it cannot be found
    nothing is said: the screen is as it was.

    Parameters
    ----------
    find : from a screen to what is wanted of its release and boxes, in a thread
    ready : called with the document's lock held when that of the present screen has come
    delay : seconds that a screen must stay the newest: a drag must not be slowed down
    pool : where to work
    """

    def __init__(
        self,
        find: Callable[[Any], Thing],
        ready: Callable[[], None],
        delay: float,
        pool: ThreadPoolExecutor | None = None,
    ) -> None:
        self._find, self._ready = find, ready
        self._found: Found[Thing] | None = None
        self.job: Job[Found[Thing]] = Job(
            self._work, self._keep, lambda _sentence: None, delay=delay, pool=pool
        )
        self.close = self.job.close

    def want(self, screen: Any) -> None:
        """Ask about ``screen``; what was asked before is not wanted any more."""
        if len(screen.boxes) == 0 or not self.needed(screen) or self.of(screen) is not None:
            self.job.cancel()
        else:
            self.job.ask(screen)

    def needed(self, screen: Any) -> bool:
        """Whether there is anything to find."""
        return True

    def of(self, screen: Any) -> Thing | None:
        """What is known of these boxes of this release."""
        if self._found is None:
            return None
        release, boxes, result = self._found
        same = same_questions(boxes, screen.boxes)
        return result if release is screen.release and same else None

    def _work(self, screen: Any) -> Found[Thing]:
        return screen.release, screen.boxes, self._find(screen)

    def _keep(self, result: Found[Thing]) -> None:
        self._found = result
        self._ready()


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
