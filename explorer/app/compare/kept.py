"""Results of sweeps, kept in memory for all visitors of this process. Curator mode: exact errors.

A second visitor who asks for the same city, mechanism, epsilon, seed and questions waits for
nothing, and neither does a switch to another metric or workload.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from explorer.evaluate import Run, Task, Workload
from explorer.points.matrix import FrequencyMatrix

#: About 3 kB each.
MOST = 30_000


@dataclass(frozen=True)
class Result:
    """What one release did on one workload: figures by metric, its leaves, processor seconds."""

    figures: dict[str, float]
    leaves: int
    seconds: float


class Kept:
    """Results by city, task and questions; the oldest go when there are too many."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._results: OrderedDict[tuple[str, Task, str], Result] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, matrix: FrequencyMatrix, run: Run, workloads: Sequence[Workload]) -> None:
        """Keep a finished run, workload by workload."""
        with self._lock:
            for workload in workloads:
                result = Result(run.figures[workload.name], run.leaves, run.seconds)
                self._results[_place(matrix), run.task, workload.key] = result
            while len(self._results) > self._most:
                self._results.popitem(last=False)

    def find(self, matrix: FrequencyMatrix, task: Task, workload: Workload) -> Result | None:
        """The result of a task on a workload, if it is there."""
        with self._lock:
            return self._results.get((_place(matrix), task, workload.key))

    def missing(
        self, matrix: FrequencyMatrix, tasks: Sequence[Task], workloads: Sequence[Workload]
    ) -> list[Task]:
        """The tasks that still have to run to have every workload answered."""
        return [
            task
            for task in tasks
            if any(self.find(matrix, task, workload) is None for workload in workloads)
        ]


def _place(matrix: FrequencyMatrix) -> str:
    return f"{matrix.key} {matrix.contribution_bound} {matrix.unit}"


KEPT = Kept()
