"""Sweeps: mechanisms, questions and kept results; many releases that can be watched and stopped.

The releases run in processes of their own (`evaluate.runs`), so the page answers meanwhile; a map
of few cells is done in a thread, which is quicker than starting processes. One sweep at a time in
this server: another visitor waits. Results are kept in memory for all visitors of this process.
Curator mode: errors are exact.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from explorer.app.curator.data import CityData
from explorer.app.state import CompareState
from explorer.app.work.job import Job, Phase, patient
from explorer.app.work.job import Run as JobRun
from explorer.errors import InputError
from explorer.evaluate import Run, Task, Workload, runs, tidy, workload
from explorer.evaluate.workloads import inside
from explorer.grid.grid import Grid
from explorer.grid.range_queries import Queries, edges_and_shapes
from explorer.mechanisms import Mechanism, all_mechanisms
from explorer.points.matrix import FrequencyMatrix
from explorer.scenario.choices import WORKLOADS
from explorer.version import __version__
from explorer.views.series import SeriesStyle, style_of

#: Name of the workload made of the visitor's own boxes.
DRAWN = "drawn"
FIXED = tuple(name for name in WORKLOADS if name != DRAWN)
#: Up to so many cells a release takes milliseconds, and starting two processes some seconds.
SMALL = 128 * 128
_ONE_AT_A_TIME = patient(1, "sweep")
#: Column titles of the ranking, as short as in the papers.
SHORT = {
    "mreRho": "mreRho",
    "mre20": "mre20",
    "mae": "MAE",
    "rmse": "RMSE",
    "mreRho median": "median",
    "smape": "sMAPE",
}
#: Held against each other in the sentence about the ranking.
COMPARED = ("mre20", "mreRho", "mae", "mreRho median")


def quantile_metric(metric: str) -> str:
    """The metric whose quantiles over the queries go with ``metric``.

    >>> [quantile_metric(name) for name in ("mre20", "mae", "rmse", "mreRho median", "smape")]
    ['mre20', 'mae', 'mae', 'mreRho', 'mreRho']
    """
    base = metric.split(maxsplit=1)[0]
    if base == "rmse":
        return "mae"
    return base if base in ("mre20", "mreRho", "mae") else "mreRho"


def asked(grid: Grid, drawn: Queries, names: Sequence[str]) -> list[Workload]:
    """The workloads ``names`` on a grid; ``drawn`` are the visitor's own, in the grid's unit."""
    boxes, _ = edges_and_shapes(drawn)
    result = []
    for name in names:
        if name != DRAWN:
            result.append(workload(name, grid.shape))
        elif len(boxes) and (there := inside(grid.to_cells(boxes), grid.shape)).any():
            result.append(Workload.of(DRAWN, drawn[there], grid))
    return result


@dataclass(frozen=True)
class Series:
    """One line of the charts.

    Attributes
    ----------
    name : as shown; unique on a page
    mechanism : with its settings; its epsilon does not matter
    settings : parameters that differ from the defaults, to read; empty for the defaults
    """

    name: str
    mechanism: Mechanism
    style: SeriesStyle
    settings: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Mechanism and parameters as JSON."""
        return _key_of(self.mechanism)


def _key_of(mechanism: Mechanism) -> tuple[str, str]:
    task = Task.of(mechanism, 0)
    return task.mechanism, task.parameters


def series_of(state: CompareState) -> list[Series]:
    """The chosen mechanisms as they come, then A and B where they have settings of their own.

    Where it is asked, those with named values (Mosaic's "regions") are there with each of them.
    A and B are among them unless they are left out: as they come if that is how they are set, else
    as "A: HTF".
    """
    sides = {"A": state.instance(), "B": state.b.instance()} if state.with_sides else {}
    usual = {side.key for side in sides.values() if not _changed(side)}
    result = [
        Series(kind.title, kind(), style_of(kind))
        for key, kind in all_mechanisms().items()
        if key in state.chosen or key in usual
    ]
    if state.with_named:
        result += [named for key in state.chosen for named in _named(all_mechanisms()[key])]
    for variant, (letter, mechanism) in enumerate(sides.items(), 1):
        if _key_of(mechanism) not in {series.key for series in result}:
            style = style_of(type(mechanism), variant)
            name = f"{letter}: {mechanism.title}"
            result.append(Series(name, mechanism, style, _changed(mechanism)))
    return result


def _named(kind: type[Mechanism]) -> Iterator[Series]:
    """A mechanism with each value that has a name and is not its default."""
    variants = itertools.count(3)
    for name, values in kind.named.items():
        for word, value in values.items():
            if value != kind.param[name].default:
                mechanism = kind(**{name: value})
                style = style_of(kind, next(variants))
                yield Series(f"{kind.title}: {word}", mechanism, style, _changed(mechanism))


def _changed(mechanism: Mechanism) -> str:
    """The settings of an instance that differ from the defaults, such as "T=5, height=12"."""
    settings = json.loads(_key_of(mechanism)[1])
    usual = json.loads(_key_of(type(mechanism)())[1])
    return ", ".join(f"{name}={value}" for name, value in settings.items() if value != usual[name])


@dataclass(frozen=True)
class Result:
    """What one release did on one workload: figures by metric, its leaves, processor seconds."""

    figures: dict[str, float]
    leaves: int
    seconds: float


class Kept:
    """Results by city, task and questions, about 3 kB each; the oldest go if there are too many."""

    def __init__(self, most: int = 30_000) -> None:
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

    def table(
        self, data: CityData, tasks: Sequence[Task], workloads: Sequence[Workload]
    ) -> pd.DataFrame:
        """The finished ones of ``tasks`` as `explorer.evaluate` writes them.

        Raises
        ------
        InputError
            When none is finished.
        """
        finished = []
        for task in tasks:
            results = {
                workload: result
                for workload in workloads
                if (result := self.find(data.matrix, task, workload)) is not None
            }
            if results:
                first = next(iter(results.values()))
                figures = {workload.name: result.figures for workload, result in results.items()}
                about = (data.title, data.matrix.key[:12], __version__)
                key = task.key(data.matrix, list(results))
                finished.append(Run(task, key, figures, first.leaves, first.seconds, *about))
        if not finished:
            raise InputError("There are no results to save: start the sweep first.")
        return tidy(finished)


def _place(matrix: FrequencyMatrix) -> str:
    return f"{matrix.key} {matrix.contribution_bound} {matrix.unit}"


KEPT = Kept()


@dataclass(frozen=True)
class Order:
    """What a sweep is to do: ``tasks`` on ``matrix``, each answering all ``workloads``.

    A task is left out when the ``wanted`` workloads are answered already.
    """

    matrix: FrequencyMatrix
    tasks: Sequence[Task]
    workloads: Sequence[Workload]
    wanted: Sequence[Workload]


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
        self._kept, self.asked = cache, 0
        self.job: Job[None] = Job(
            self._draw, lambda _none: None, refused, changed=changed, pool=_ONE_AT_A_TIME
        )
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

    def _draw(self, order: Order, run: JobRun) -> None:
        """Draw what is missing. In a thread: touches no widget."""
        # Looked up again: someone else may have drawn the same meanwhile.
        missing = self._kept.missing(order.matrix, order.tasks, order.wanted)
        run.tell(1 - len(missing) / len(order.tasks))
        if not missing:
            return
        jobs = 1 if order.matrix.counts.size <= SMALL else None
        try:
            self._draw_each(order, missing, run, jobs)
        except InputError:
            # Where processes cannot be started, such as in a script without the usual guard, it
            # goes on in this thread.
            begun = len(self._kept.missing(order.matrix, missing, order.wanted)) < len(missing)
            if jobs == 1 or begun:
                raise
            self._draw_each(order, missing, run, 1)

    def _draw_each(self, order: Order, tasks: list[Task], run: JobRun, jobs: int | None) -> None:
        drawn = runs(order.matrix, tasks, order.workloads, jobs=jobs, cancel=run.cancelled)
        for left, one in zip(reversed(range(len(tasks))), drawn, strict=False):
            # What was under way when it was cancelled does not count: the numbers do not move.
            if run.cancelled.is_set():
                return
            self._kept.add(order.matrix, one, order.workloads)
            run.tell(1 - left / len(order.tasks))
