"""Runs: tasks carried out, in this process or in several, one finished run after the other.

A release is drawn as a preview with the task's seed and answered from a summed-area table of its
density. Each worker process gets the matrix once and works out the true answers once. Nothing
exact touches the disk.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.evaluate.metrics import measure
from explorer.evaluate.results import Run, Store, tidy
from explorer.evaluate.tasks import Choice, Sweep, Task, plan
from explorer.evaluate.workloads import Workload, workload
from explorer.grid.grid import Grid
from explorer.grid.pieces import flat_pieces
from explorer.grid.sums import rectangle_sums, summed
from explorer.mechanisms import Mechanism, all_mechanisms, register
from explorer.points.matrix import FrequencyMatrix
from explorer.points.truth import of_all_records
from explorer.version import __version__

if TYPE_CHECKING:
    import pandas as pd

_LOOK = 0.1  # seconds between looks at the cancel flag while runs are under way


class Flag(Protocol):
    """What tells that the rest is not wanted any more; a threading.Event is one."""

    def is_set(self) -> bool:
        """Whether to stop."""
        ...


class Runner:
    """Matrix, workloads and true answers: all that a task needs. It holds exact counts."""

    def __init__(
        self, matrix: FrequencyMatrix, workloads: Sequence[Workload], city: str = ""
    ) -> None:
        entries: Sequence[object] = workloads
        odd = [entry for entry in entries if not isinstance(entry, Workload)]
        if odd:
            raise InputError(
                f"A workload is a {type(odd[0]).__name__}: make it with Workload.of(name, where, "
                "grid), of boxes or polygons."
            )
        names = [workload.name for workload in workloads]
        if not names or len(set(names)) < len(names):
            raise InputError(f"The workloads are {names}: give at least one, and no name twice.")
        self.matrix = matrix.prepare()
        self.workloads = workloads
        self.city = city
        self.truths = {workload.name: _truth(matrix, workload) for workload in workloads}
        # One look-up for all workloads: for the small ones the calls would cost more than the sums.
        self._asked = _Asked(workloads)
        self._warm: set[str] = set()

    def do(self, task: Task) -> Run:
        """Draw, answer, measure."""
        mechanism = task.build()
        if task.mechanism not in self._warm:
            # What is compiled or loaded at the first call must not count as the mechanism's time.
            small = FrequencyMatrix.from_array(np.full((16, 16), 50))
            type(mechanism)(epsilon=1.0).release(small, rng=0).density()
            self._warm.add(task.mechanism)
        start = time.thread_time()
        release = mechanism.release(self.matrix, rng=task.seed)
        density = release.density()
        table = summed(density)
        seconds = time.thread_time() - start
        private = self._asked.answers(density, table)
        figures = {
            name: measure(true, answers, of_all_records(self.matrix).total)
            for (name, true), answers in zip(self.truths.items(), private, strict=True)
        }
        key = task.key(self.matrix, self.workloads)
        about = (self.city, self.matrix.key[:12], __version__)
        return Run(task, key, figures, release.n_leaves, seconds, *about)


def runs(
    matrix: FrequencyMatrix,
    tasks: Sequence[Task],
    workloads: Sequence[Workload],
    *,
    city: str = "",
    jobs: int | None = None,
    store: Store | None = None,
    cancel: Flag | None = None,
    progress: Callable[[float], None] | None = None,
) -> Iterator[Run]:
    """Carry out tasks; yields each run as it is finished.

    Parameters
    ----------
    matrix : FrequencyMatrix
    tasks, workloads : what to draw and what to ask
    city : name of the map, for the table
    jobs : processes to use, by default one for each processor; 1 works in this process
    store : Store, optional
        Runs found there come first and are not done again; new ones are added.
    cancel : optional
        Looked at between runs and every tenth of a second; once set, runs under way are let go and
        no more are yielded. Closing the generator does the same.
    progress : callable, optional
        Called with the finished part (0 to 1) after every run.

    Raises
    ------
    InputError
        When a worker process dies, or for workloads without or with equal names.
    """
    total = len(tasks)
    done = 0

    def finished(run: Run) -> Run:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done / total)
        return run

    missing = []
    for task in tasks:
        stored = None if store is None else store.find(task.key(matrix, workloads))
        if stored is None:
            missing.append(task)
        else:
            yield finished(replace(stored, city=city))
    workers = min(jobs or processors(), len(missing))
    if workers <= 1:
        new = _here(matrix, missing, workloads, city, cancel)
    else:
        new = _in_processes(matrix, missing, workloads, city, cancel, workers)
    for run in new:
        if store is not None:
            store.add(run)
        yield finished(run)


def evaluate(
    matrix: FrequencyMatrix,
    mechanisms: Iterable[Choice],
    epsilons: Iterable[float] | None = None,
    workloads: Sequence[Workload] | None = None,
    seeds: int | Iterable[int] = 5,
    *,
    sweep: Sweep | None = None,
    city: str = "",
    jobs: int | None = None,
    folder: str | Path | None = None,
    cancel: Flag | None = None,
    progress: Callable[[float], None] | None = None,
) -> pd.DataFrame:
    """Measure mechanisms on a map.

    Releases are previews: the same seed means the same random noise for every mechanism, epsilon
    and parameter, so that differences can be taken seed by seed. What is wanted as the runs come
    in, rather than at the end, is `plan` and `runs`.

    Parameters
    ----------
    matrix : FrequencyMatrix
        Exact counts; the results are the curator's own. Under a contribution bound errors are
        measured against all records on the map.
    mechanisms : instances, names, or (name, parameters)
    epsilons : budgets; None keeps each instance's own
    workloads : sequence of Workload
        By default the 2,000 random rectangles of htf-2022.
    seeds : how many repetitions, or which seeds
    sweep : (parameter, values) or a mapping of several
        For the mechanisms that have the parameter.
    city : name of the map, for the table
    jobs : processes, by default one for each processor; 1 works in this process
    folder : where finished runs are kept and found again
    cancel, progress : as for `runs`; after a cancel the finished runs are returned

    Returns
    -------
    DataFrame
        Tidy, see `explorer.evaluate.results`.

    Raises
    ------
    InputError
        For a mechanism, parameter, value or workload that there is not.

    Examples
    --------
    >>> from explorer import FrequencyMatrix
    >>> matrix = FrequencyMatrix.from_array([[90, 0], [80, 10]])
    >>> table = evaluate(matrix, ["identity", "uniform"], [0.5, 1], seeds=3, jobs=1)
    >>> table[table.metric == "mae"].groupby(["mechanism", "epsilon"]).value.count().to_dict()
    {('identity', 0.5): 3, ('identity', 1.0): 3, ('uniform', 0.5): 3, ('uniform', 1.0): 3}
    """
    chosen = [workload("random", matrix.shape)] if workloads is None else workloads
    store = None if folder is None else Store(folder)
    tasks = plan(mechanisms, epsilons, seeds, sweep)
    how: dict[str, Any] = {"jobs": jobs, "store": store, "cancel": cancel, "progress": progress}
    return tidy(runs(matrix, tasks, chosen, city=city, **how), tasks)


def processors() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _here(
    matrix: FrequencyMatrix,
    tasks: Sequence[Task],
    workloads: Sequence[Workload],
    city: str,
    cancel: Flag | None,
) -> Iterator[Run]:
    runner = Runner(matrix, workloads, city)
    for task in tasks:
        if cancel is not None and cancel.is_set():
            return
        yield runner.do(task)


def _in_processes(
    matrix: FrequencyMatrix,
    tasks: Sequence[Task],
    workloads: Sequence[Workload],
    city: str,
    cancel: Flag | None,
    workers: int,
) -> Iterator[Run]:
    # "spawn" is the one way that is the same everywhere and safe next to an app's threads. The
    # matrix goes through a pipe, once for each worker: unlike a file, a pipe leaves nothing behind.
    matrix_parts = (matrix.counts, matrix.grid, matrix.contribution_bound, matrix.unit)
    every = None if matrix.unclipped is None else matrix.unclipped.counts
    pool = ProcessPoolExecutor(
        workers,
        mp_context=get_context("spawn"),
        initializer=_start,
        initargs=(matrix_parts, every, tuple(workloads), city, tuple(all_mechanisms().values())),
    )
    waiting = iter(tasks)
    under_way: set[Future[Run]] = set()
    try:
        while True:
            # Two tasks a worker keep it busy; more would only be in the way of a cancel.
            while len(under_way) < 2 * workers and (task := next(waiting, None)) is not None:
                under_way.add(pool.submit(_do, task))
            if not under_way:
                return
            ready, under_way = wait(under_way, timeout=_LOOK, return_when=FIRST_COMPLETED)
            if cancel is not None and cancel.is_set():
                return
            for future in ready:
                yield future.result()
    except BrokenProcessPool as error:
        raise InputError(
            "A worker process was stopped, perhaps because memory ran out or because the script "
            'that started it has no `if __name__ == "__main__":`; use one job instead.'
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_HELD: list[Runner] = []  # the one of a worker process


def _start(
    matrix_parts: tuple[Any, ...],
    unclipped: NDArray[Any] | None,
    workloads: tuple[Workload, ...],
    city: str,
    kinds: tuple[type[Mechanism], ...],
) -> None:
    """Prepare a worker process; mechanisms that the parent registered exist here too."""
    for kind in kinds:
        register(kind)
    # Ctrl-C is the parent's to handle; its end is this process's end too.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    matrix = FrequencyMatrix(*matrix_parts, unclipped=unclipped)
    _HELD.append(Runner(matrix, workloads, city))


def _do(task: Task) -> Run:
    return _HELD[0].do(task)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        # Its handler is the system's own: the process ends whatever its main thread computes.
        signal.raise_signal(signal.SIGTERM)


def _truth(matrix: FrequencyMatrix, workload: Workload) -> NDArray[Any]:
    if workload.truth is not None:
        return workload.truth
    every: FrequencyMatrix = of_all_records(matrix)
    return _Asked([workload]).answers(every.counts, every.sums)[0]


class _Asked:
    """Questions of several workloads, answered together."""

    def __init__(self, workloads: Sequence[Workload]) -> None:
        boxes = [np.asarray(workload.boxes, dtype=np.float64) for workload in workloads]
        self._boxes = np.concatenate(boxes)
        ends = np.cumsum([len(box) for box in boxes])
        self._ends = ends[:-1]
        starts = [0, *self._ends.tolist()]
        self._polygons = [
            (start + row, shape)
            for start, workload in zip(starts, workloads, strict=True)
            for row, shape in workload.polygons()
        ]

    def answers(self, counts: NDArray[Any], table: NDArray[Any]) -> list[NDArray[np.float64]]:
        """Counts in boxes and polygons, workload by workload.

        Parameters
        ----------
        counts : (rows, cols) per cell
        table : (rows + 1, cols + 1) their summed-area table
        """
        answers = rectangle_sums(table, self._boxes)
        grid, flat = Grid.cells(counts.shape), counts.ravel()
        for row, shape in self._polygons:
            cells, parts = flat_pieces(grid, shape)
            answers[row] = parts @ flat[cells]
        return np.split(answers, self._ends)
