"""The bench: where the claims' computations get their errors from.

A computation is ordinary code that asks for errors and compares them. It is carried out twice:
first with every error 1, to collect what it asks for, so that all runs on a map can be done
together and in parallel; then with the true figures. So what it asks for must not depend on the
answers, which a test holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.evaluate.results import Run
from explorer.evaluate.runs import runs
from explorer.evaluate.store import Store
from explorer.evaluate.tasks import Task
from explorer.evaluate.workloads import AG_SIZES
from explorer.mechanisms.base import Mechanism
from explorer.papers.data import PaperMaps
from explorer.papers.verdicts import Outcome, repetitions

SEEDS, QUICK_SEEDS = 10, 3
_FEW = 64


class Bench:
    """Errors of mechanisms on the maps.

    Parameters
    ----------
    quick : whether to use coarse maps and few seeds
    seeds : repetitions, by default 10, quick 3
    """

    def __init__(self, quick: bool = False, seeds: int | None = None) -> None:
        self.quick = quick
        self.seeds = repetitions(seeds, QUICK_SEEDS if quick else SEEDS)
        self.maps = PaperMaps(quick)
        self.asked: dict[str, dict[Task, None]] = {}
        self._runs: dict[tuple[str, Task], Run] = {}
        self._planning = False

    def errors(
        self, data: str, made: Mechanism, workload: str = "random", metric: str = "mre20"
    ) -> NDArray[np.float64]:
        """One figure for each seed, (seeds,).

        Parameters
        ----------
        data : key of a map
        made : the mechanism, its epsilon included
        workload : name, or "ag" for the mean over q1 to q6
        metric : name, or "seconds" for processor time
        """
        tasks = [Task.of(made, seed) for seed in range(self.seeds)]
        if self._planning:
            self.asked.setdefault(data, {}).update(dict.fromkeys(tasks))
            return np.ones(self.seeds)
        names = AG_SIZES if workload == "ag" else (workload,)
        results = [self._runs[data, task] for task in tasks]
        if metric == "seconds":
            return np.array([run.seconds for run in results])
        return np.array([np.mean([run.figures[n][metric] for n in names]) for run in results])

    def plan(self, judges: Sequence[Callable[[Bench], Outcome]]) -> int:
        """Learn what the computations ask for; returns the number of runs not done yet."""
        self._planning = True
        try:
            for judge in judges:
                judge(self)
        finally:
            self._planning = False
        return sum(
            (data, task) not in self._runs for data, tasks in self.asked.items() for task in tasks
        )

    def run(
        self,
        jobs: int | None = None,
        folder: str | Path | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        """Do everything that has been asked for."""
        store = None if folder is None else Store(folder)
        todo = {
            data: [task for task in tasks if (data, task) not in self._runs]
            for data, tasks in self.asked.items()
        }
        total = sum(map(len, todo.values()))
        for done, run in enumerate(self._carry_out(todo, jobs, store), 1):
            self._runs[run.city, run.task] = run
            if progress is not None:
                progress(done / total)

    def titles(self) -> dict[str, str]:
        """What the data was that has been asked for, by its key."""
        return {data: self.maps.of(data).title for data in self.asked}

    def _carry_out(
        self, todo: Mapping[str, list[Task]], jobs: int | None, store: Store | None
    ) -> Iterator[Run]:
        """Runs of tasks by the data that they are about."""
        for data, tasks in todo.items():
            if not tasks:
                continue
            maps = self.maps.of(data)
            # A pool takes seconds to start: not for few runs or, unless asked for, small ones.
            here = 1 if len(tasks) < _FEW or (self.quick and jobs is None) else jobs
            yield from runs(maps.matrix, tasks, maps.workloads, city=data, jobs=here, store=store)
