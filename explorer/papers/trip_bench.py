"""The bench of trips: sets of trips by their names, and errors of mechanisms on them.

"gauss:4:.2" and "zipf:4:1.5" are the made-up sets of trips-2022, section 6.1 (axes, then spread or
exponent); "sf:o,s2,d:64" are real trips of the catalogue: source, places, cells a side. The paper's
own data is not to be had; San Francisco's taxis, Santiago's and New York's green taxis are in its
place where their files are.

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
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray

from explorer.cities.trip_sets import known_files
from explorer.errors import InputError
from explorer.evaluate.large_grids import grid_answers, large_grid
from explorer.evaluate.metrics import measure
from explorer.evaluate.results import Run, Store
from explorer.evaluate.runs import processors
from explorer.evaluate.tasks import Task
from explorer.evaluate.workloads import TRIP_NAMES, TRIP_QUERIES, Workload, trip_workload
from explorer.grid.domain import Axes
from explorer.grid.sums import rectangle_sums, summed
from explorer.mechanisms.base import Mechanism
from explorer.papers.bench import Bench
from explorer.papers.verdicts import Floats
from explorer.releases.release import Release
from explorer.trips import synthetic
from explorer.trips.matrix import TripMatrix
from explorer.trips.trips import read_trips
from explorer.version import __version__

SEEDS, QUICK_SEEDS = 5, 3
QUICK_DRAWS, QUICK_QUERIES = 10**5, 200
#: Sets of the catalogue of trips, by what they are called here.
SOURCES = {"sf": "san-francisco", "san": "santiago", "nyc": "new-york-green"}


@dataclass(frozen=True, eq=False)
class AskedTrips:
    """Counted trips and what is asked about them.

    Attributes
    ----------
    key, title : short name; for people
    matrix : TripMatrix, prepared
    workloads : tuple of Workload
    truths : {workload: (n,) exact answers}
    """

    key: str
    title: str
    matrix: TripMatrix
    workloads: tuple[Workload, ...]
    truths: dict[str, NDArray[np.int64]]


def is_real(key: str) -> bool:
    """Whether a name is that of real trips."""
    return key.partition(":")[0] in SOURCES


def present(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Those whose trips can be had here."""
    files = known_files()
    return tuple(k for k in keys if not is_real(k) or files[SOURCES[k.partition(":")[0]]].present)


class TripSets:
    """Sets by their names, the last few kept.

    Parameters
    ----------
    quick : whether made-up sets have a tenth of the trips, and workloads 200 boxes
    """

    def __init__(self, quick: bool = False) -> None:
        self.quick = quick
        self.of = cache(self._make)

    def title(self, key: str) -> str:
        """What a set is, for people, without making it."""
        first, second, third = key.split(":")
        if is_real(key):
            city = known_files()[SOURCES[first]].title.partition(",")[0]
            return f"{city}: trips of {second} on {third} x {third} cells a place"
        kind = {
            "gauss": f"one cluster, spread {third} of a side",
            "zipf": f"Zipf's law, a = {third}",
        }
        draws = QUICK_DRAWS if self.quick else synthetic.DRAWS
        return f"{kind[first]}, {second} axes, {draws:,} draws"

    def _make(self, key: str) -> AskedTrips:
        matrix = (_real(key) if is_real(key) else self._made_up(key)).prepare()
        cells, number = matrix.cells, matrix.multiplicities
        n = QUICK_QUERIES if self.quick else TRIP_QUERIES
        workloads = tuple(
            trip_workload(name, matrix.shape, cells, number, n) for name in TRIP_NAMES
        )
        truths = {
            workload.name: matrix.count(workload.boxes[:, 0], workload.boxes[:, 1])
            for workload in workloads
        }
        return AskedTrips(key, self.title(key), matrix, workloads, truths)

    def _made_up(self, key: str) -> TripMatrix:
        result = synthetic.named(key, QUICK_DRAWS if self.quick else synthetic.DRAWS)
        axes = int(key.split(":")[1])
        if axes % 2 == 0:
            return result
        # The formulas ask for the number of axes: without the one of a single row.
        cells = np.delete(result.cells, axes - 1, axis=1)
        shape = tuple(np.delete(result.shape, axes - 1).tolist())
        return TripMatrix(cells, result.multiplicities, Axes(shape))


def _real(key: str) -> TripMatrix:
    name, places, side = key.split(":")
    trip_file = known_files()[SOURCES[name]]
    if not trip_file.present:
        raise InputError(f"{trip_file.file} is not here; EXPLORER_DATA names the folder it is in.")
    # Without the column of persons: here single trips are protected.
    return trip_file.domain(places.split(","), int(side)).count(read_trips(trip_file.file, places))


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
