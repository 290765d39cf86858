"""The bench of trips: errors of mechanisms on sets of trips, seed by seed.

A release is drawn as a preview and asked all workloads. Where a grid has more parts than
`large_grids.MOST_PARTS`, and a map is no way to answer, its answers are drawn from the exact
distribution of one box: Identity and MKM nearly always, on more than two axes.
"""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.evaluate.large_grids import grid_answers, large_grid
from explorer.evaluate.metrics import measure
from explorer.evaluate.results import Run
from explorer.evaluate.runs import processors
from explorer.evaluate.store import Store
from explorer.evaluate.tasks import Task
from explorer.grid.sums import rectangle_sums, summed
from explorer.mechanisms.base import Mechanism
from explorer.papers.bench import Bench
from explorer.papers.trips.data import AskedTrips, TripSets, present
from explorer.releases.release import Release
from explorer.version import __version__

Floats = NDArray[np.float64]

SEEDS, QUICK_SEEDS = 5, 3


class TripBench(Bench):
    """Errors of mechanisms on sets of trips.

    Parameters
    ----------
    quick : whether made-up sets are a tenth as large, and few sets and seeds are taken
    seeds : repetitions, 2 or more; by default 5, quick 3
    """

    def __init__(self, quick: bool = False, seeds: int | None = None) -> None:
        super().__init__(quick, (QUICK_SEEDS if quick else SEEDS) if seeds is None else seeds)
        self.sets = TripSets(quick)

    def titles(self) -> dict[str, str]:
        """See `Bench.titles`."""
        return {key: self.sets.title(key) for key in self.asked}

    def _carry_out(
        self, todo: Mapping[str, list[Task]], jobs: int | None, store: Store | None
    ) -> Iterator[Run]:
        """Sets are shared out to processes, the longest lists of tasks first."""
        keys = sorted((key for key in todo if todo[key]), key=lambda key: -len(todo[key]))
        folder = None if store is None else str(store.folder)
        workers = min(len(keys), (1 if self.quick else processors()) if jobs is None else jobs)
        if workers <= 1:
            for key in keys:
                yield from runs_on(self.sets.of(key), todo[key], store)
                self.sets.of.cache_clear()
            return
        context = get_context("spawn")
        with ProcessPoolExecutor(workers, context, _ignore_interrupts) as pool:
            parts = [pool.submit(_of_set, key, todo[key], self.quick, folder) for key in keys]
            for part in parts:
                yield from part.result()


def runs_on(trips: AskedTrips, tasks: list[Task], store: Store | None = None) -> Iterator[Run]:
    """Carry out tasks on one set; finished ones are taken from the store."""
    warm: set[str] = set()
    for task in tasks:
        key = task.key(trips.matrix, trips.workloads)  # type: ignore[arg-type]
        run = None if store is None else store.find(key)
        if run is None:
            mechanism = task.build()
            if (
                task.mechanism not in warm
                and large_grid(mechanism, trips.matrix, task.seed) is None
            ):
                # What is compiled at the first call is no one's time.
                _answers(mechanism, trips, task.seed)
                warm.add(task.mechanism)
            private, leaves, seconds = _answers(mechanism, trips, task.seed)
            total = trips.matrix.total
            figures = {
                name: measure(truth, answers, total)
                for (name, truth), answers in zip(trips.truths.items(), private, strict=True)
            }
            about = (trips.key, trips.matrix.key[:12], __version__)
            run = Run(task, key, figures, leaves, seconds, *about)
            if store is not None:
                store.add(run)
        yield run


def _answers(mechanism: Mechanism, trips: AskedTrips, seed: int) -> tuple[list[Floats], int, float]:
    """Answers to every workload, the leaves, and the processor time of the release."""
    matrix, boxes = trips.matrix, [workload.boxes for workload in trips.workloads]
    start = time.thread_time()
    grid = large_grid(mechanism, trips.matrix, seed)
    if grid is not None:
        parts, epsilon = grid
        rng = np.random.default_rng([seed, 2022, int(1000 * mechanism.epsilon)])
        questions = np.concatenate(boxes)
        counts = matrix.cells, matrix.multiplicities
        answers = grid_answers(*counts, matrix.shape, parts, epsilon, questions, rng)
        seconds, leaves = time.thread_time() - start, math.prod(parts)
    else:
        release = mechanism.release(matrix, rng=seed)
        seconds, leaves = time.thread_time() - start, release.n_leaves
        answers = _asked(release, np.concatenate(boxes).astype(np.float64))
    ends = np.cumsum([len(box) for box in boxes])[:-1]
    return np.split(answers, ends), leaves, seconds


def _asked(release: Release, boxes: Floats) -> Floats:
    if len(release.domain.shape) == 2:
        return rectangle_sums(summed(release.density()), boxes)
    return release.answer(release.domain.from_cells(boxes)).value


def _of_set(key: str, tasks: list[Task], quick: bool, folder: str | None) -> list[Run]:
    store = None if folder is None else Store(folder)
    return list(runs_on(TripSets(quick).of(key), tasks, store))


def _ignore_interrupts() -> None:
    # The parent alone answers Ctrl-C; leaving the pool ends its processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def require(keys: tuple[str, ...]) -> tuple[str, ...]:
    """The sets, all of which must be here.

    Raises
    ------
    InputError
        For a set whose file is missing.
    """
    sets = TripSets()
    for key in keys:
        try:
            sets.title(key)
        except (ValueError, KeyError):
            raise InputError(f"{key!r} is no set of trips; give one such as sf:o,d:64.") from None
    missing = [key for key in keys if key not in present(keys)]
    if missing:
        raise InputError(f"The trips of {', '.join(missing)} are not here; see EXPLORER_DATA.")
    return keys
