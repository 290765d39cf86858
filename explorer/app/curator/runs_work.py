"""Repeated previews next to the page, one after the other, that can be watched and stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.app.work.job import Job, Run, patient
from explorer.evaluate.repeats import repeats
from explorer.grid.range_queries import Queries
from explorer.mechanisms import Mechanism

Floats = NDArray[np.float64]
# One run at a time in this server: visitors take turns run by run, and the maps keep a processor.
_TURN = threading.Lock()
_POOL = patient(64, "runs")


@dataclass(frozen=True, eq=False)
class Order:
    """What to draw and what to ask.

    Attributes
    ----------
    data : with a ``title`` and a ``matrix``, of the page's own kind
    key : what the runs depend on; equal keys mean equal data and settings
    boxes : (n, 4) all boxes there were, in grid units; of k places (n, k, 4) with gaps NaN
    true : (n,) their true answers
    inside : how counts are spread inside leaves; the mechanism's way without
    """

    data: Any
    mechanism: Mechanism
    key: tuple[Any, ...]
    boxes: Queries
    true: Floats
    runs: int
    inside: str | None = None


class RunsWork:
    """The runs of one session.

    Parameters
    ----------
    changed : called when phase or progress are new
    refused : shows a sentence; what is finished stays
    """

    def __init__(self, changed: Callable[[], None], refused: Callable[[str], None]) -> None:
        self.job: Job[None] = Job(_draw, lambda _none: None, refused, changed=changed, pool=_POOL)
        self.order: Order | None = None
        self._answers: list[Floats] = []
        self.stop = self.job.cancel

    @property
    def done(self) -> int:
        """Number of finished runs."""
        return len(self._answers)

    def answers(self) -> Floats:
        """(runs, n) answers of the finished runs."""
        n = 0 if self.order is None else len(self.order.boxes)
        # A copy first: the thread may add one meanwhile.
        every = list(self._answers)
        return np.array(every).reshape(len(every), n)

    def start(self, order: Order) -> None:
        """Begin anew; without an event loop (a script, a test) it is finished on return."""
        # A list for each start: a thread still busy with an earlier one adds nothing here.
        self.order, self._answers = order, []
        self.job.ask((order, self._answers))


def _draw(task: tuple[Order, list[Floats]], run: Run) -> None:
    """Draw run after run. In a thread: touches no widget."""
    order, answers = task
    every = repeats(order.data.matrix, order.mechanism, order.boxes, order.runs, order.inside)
    while True:
        with _TURN:
            one = next(every, None)
        # What was under way when it was stopped does not count: the numbers do not move.
        if one is None or run.cancelled.is_set():
            return
        answers.append(one)
        run.tell(len(answers) / order.runs)
