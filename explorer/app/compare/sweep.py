"""A sweep next to the page: many releases, one after the other, that can be watched and stopped.

The releases run in processes of their own (`evaluate.runs`), so the page answers meanwhile; a map
of few cells is done in a thread, which is quicker than starting processes. One sweep at a time in
this server: another visitor's waits its turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from explorer.app.compare.kept import KEPT, Kept
from explorer.app.work.job import Job, Phase, Run, patient
from explorer.errors import InputError
from explorer.evaluate import Task, Workload, runs
from explorer.points.matrix import FrequencyMatrix

#: Up to so many cells a release takes milliseconds, and starting two processes some seconds.
SMALL = 128 * 128
_ONE_AT_A_TIME = patient(1, "sweep")


@dataclass(frozen=True)
class Order:
    """What a sweep is to do: ``tasks`` on ``matrix``, each answering all ``workloads``.

    A task is left out when the ``wanted`` workloads are answered already.
    """

    matrix: FrequencyMatrix
    tasks: Sequence[Task]
    workloads: Sequence[Workload]
    wanted: Sequence[Workload]
    jobs: int | None = None


class Sweep:
    """The one sweep of a session.

    Parameters
    ----------
    changed : called when phase or progress are new
    refused : shows a sentence; what is finished stays
    cache : where results go, and from where what is there already is taken
    """

    def __init__(
        self, changed: Callable[[], None], refused: Callable[[str], None], cache: Kept = KEPT
    ) -> None:
        self._kept = cache
        self.job: Job[None] = Job(
            self._draw, lambda _none: None, refused, changed=changed, pool=_ONE_AT_A_TIME
        )
        self.asked = 0
        self.cancel = self.job.cancel

    @property
    def phase(self) -> Phase:
        """What has become of it."""
        return self.job.phase

    @property
    def done(self) -> int:
        """Number of releases that are there."""
        return round(self.job.progress[0] * self.asked)

    def start(self, order: Order) -> None:
        """Begin; without an event loop (a script, a test) it is finished on return.

        Raises
        ------
        InputError
            When a sweep of this session is under way.
        """
        if self.job.busy:
            raise InputError("A sweep is running: wait for it, or cancel it first.")
        self.asked = len(order.tasks)
        # Where nothing is missing there is nothing to wait for.
        missing = self._kept.missing(order.matrix, order.tasks, order.wanted)
        (self.job.ask if missing else self.job.now)(order)

    def _draw(self, order: Order, run: Run) -> None:
        """Draw what is missing. In a thread: touches no widget."""
        # Looked up again: someone else may have drawn the same meanwhile.
        missing = self._kept.missing(order.matrix, order.tasks, order.wanted)
        run.tell(1 - len(missing) / len(order.tasks))
        if not missing:
            return
        jobs = 1 if order.matrix.counts.size <= SMALL else order.jobs
        try:
            self._draw_each(order, missing, run, jobs)
        except InputError:
            # Where processes cannot be started, such as in a script without the usual guard, it
            # goes on in this thread.
            begun = len(self._kept.missing(order.matrix, missing, order.wanted)) < len(missing)
            if jobs == 1 or begun:
                raise
            self._draw_each(order, missing, run, 1)

    def _draw_each(self, order: Order, tasks: list[Task], run: Run, jobs: int | None) -> None:
        drawn = runs(order.matrix, tasks, order.workloads, jobs=jobs, cancel=run.cancelled)
        for left, one in zip(reversed(range(len(tasks))), drawn, strict=False):
            # What was under way when it was cancelled does not count: the numbers do not move.
            if run.cancelled.is_set():
                return
            self._kept.add(order.matrix, one, order.workloads)
            run.tell(1 - left / len(order.tasks))
