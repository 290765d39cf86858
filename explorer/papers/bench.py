"""The bench of maps: where the claims' computations get their errors from.

A computation is ordinary code that asks for errors and compares them. It is carried out twice:
first with every error 1, to collect what it asks for, so that all runs on a map can be done
together and in parallel; then with the true figures. So what it asks for must not depend on the
answers, which a test holds.

The papers' own data is not to be had (htf-2022) or not here (grids-2013). Used instead are, in
full: San Francisco's taxis thinned to the 3.5 million records of htf-2022, New York's car rides,
both on 1024 x 1024 cells; the check-ins of grids-2013 thinned to its million, on 256 x 256; and
the Gaussian clusters of htf-2022, made here. Where a file is missing the made-up city takes its
place. Quick: the same on 256 x 256 cells, clusters and records in proportion.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.cities.catalogue import cities
from explorer.evaluate.results import Run, Store
from explorer.evaluate.runs import runs
from explorer.evaluate.tasks import Task
from explorer.evaluate.workloads import AG_SIZES, Workload, workloads
from explorer.grid.sums import rectangle_sums
from explorer.mechanisms.base import Mechanism
from explorer.papers.verdicts import repetitions
from explorer.points.matrix import FrequencyMatrix

SEEDS, QUICK_SEEDS = 10, 3
_FEW = 64
RECORDS = 3_500_000  # of Los Angeles in htf-2022, section 7.1
CHECKINS = 1_000_000  # grids-2013, section V-A
SIGMAS = (20, 50, 100)  # htf-2022, section 7.1, in cells of 1024
CLUSTERS = 2  # two for each sigma make its six synthetic sets
SIDE, QUICK_SIDE = 1024, 256

MAIN, SECOND, CHECK_INS, MADE_UP = "san-francisco", "new-york", "check-ins", "madeup"
GAUSSIANS = tuple(f"gauss {sigma} {n + 1}" for sigma in SIGMAS for n in range(CLUSTERS))


@dataclass(frozen=True, eq=False)
class DataSet:
    """A map with its workloads.

    Attributes
    ----------
    key : name in the claims' computations
    name, title : for people, without and with its size
    matrix : FrequencyMatrix
    workloads : tuple of Workload
    """

    key: str
    name: str
    title: str
    matrix: FrequencyMatrix
    workloads: tuple[Workload, ...]


class PaperMaps:
    """The maps by their keys, each made when it is first asked for.

    Keys: those of cities, and of `GAUSSIANS`; "new-york 0.5" for a part of the records; "new-york
    in 256" for blocks of cells added up to 256 x 256, asked about as the fine map is.

    Parameters
    ----------
    quick : whether to use coarse maps
    """

    def __init__(self, quick: bool = False) -> None:
        self.quick = quick
        self.side = QUICK_SIDE if quick else SIDE
        self.of = cache(self._make)

    @property
    def main(self) -> str:
        """The map that represents the Los Angeles of htf-2022."""
        return MAIN if self._has(MAIN) else MADE_UP

    @property
    def cities(self) -> tuple[str, ...]:
        """The main map and another city, if it is here."""
        return (self.main, SECOND) if self._has(SECOND) else (self.main,)

    @property
    def all(self) -> tuple[str, ...]:
        """The cities and the check-ins, if they are here."""
        return (*self.cities, CHECK_INS) if self._has(CHECK_INS) else self.cities

    @staticmethod
    def _has(key: str) -> bool:
        city = cities().get(key)
        return city is not None and city.file is not None

    def _make(self, key: str) -> DataSet:
        blocks = re.fullmatch(r"(.+) in (\d+)", key)
        if blocks:
            return _blocks(self.of(blocks[1]), int(blocks[2]))
        if key.startswith("gauss"):
            return self._gaussian(key)
        part = re.fullmatch(r"(.+) ([\d.]+)", key)
        if part:
            whole = self.of(part[1])
            counts = thinned(whole.matrix.counts, round(whole.matrix.total * float(part[2])), 7)
            title = f"{whole.name}, {float(part[2]):.0%} of them"
            return self._set(key, title, FrequencyMatrix.from_array(counts))
        return self._city(key)

    def _city(self, key: str) -> DataSet:
        city = cities()[key]
        # The matrix of check-ins has the coarse shape already.
        matrix = city.load(None if city.is_matrix else self.side)[1]
        limit = CHECKINS if key == CHECK_INS else self._records()
        counts = thinned(matrix.counts, limit, 5)
        return self._set(key, city.title, FrequencyMatrix.from_array(counts))

    def _gaussian(self, key: str) -> DataSet:
        _, sigma, number = key.split()
        rng = np.random.default_rng([2022, int(sigma), int(number)])
        counts = gaussian(self.side, int(sigma) * self.side / SIDE, self._records(), rng)
        title = f"Gaussian cluster {number}, sigma {sigma}"
        return self._set(key, title, FrequencyMatrix.from_array(counts), ("random",))

    @staticmethod
    def _set(
        key: str, title: str, matrix: FrequencyMatrix, names: tuple[str, ...] = ("htf", "ag")
    ) -> DataSet:
        rows, cols = matrix.shape
        about = f"{title}: {matrix.total:,} records on {rows} x {cols} cells"
        return DataSet(key, title, about, matrix, tuple(workloads(names, matrix.shape)))

    def _records(self) -> int:
        return RECORDS * self.side**2 // SIDE**2


def thinned(counts: NDArray[np.int64], records: int, seed: int) -> NDArray[np.int64]:
    """That many records, drawn without putting back; all of them when there are no more.

    Parameters
    ----------
    counts : (rows, cols)
    records : how many to keep
    seed : of the draw
    """
    if counts.sum() <= records:
        return counts
    rng = np.random.default_rng([1848, seed])
    sample = rng.multivariate_hypergeometric(counts.ravel(), records, method="marginals")
    return sample.reshape(counts.shape)


def gaussian(side: int, sigma: float, records: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """A cluster as in htf-2022, section 7.1: uniform centre, normal rows and columns.

    Records outside the map are not counted.

    Parameters
    ----------
    side : cells along each side
    sigma : standard deviation, in cells
    records : how many are drawn

    Returns
    -------
    (side, side) int64
    """
    place = rng.normal(rng.uniform(0, side, 2), sigma, (records, 2))
    cells = np.floor(place).astype(np.int64)
    inside = cells[np.all((cells >= 0) & (cells < side), axis=1)]
    flat = np.bincount(inside[:, 0] * side + inside[:, 1], minlength=side * side)
    return flat.reshape(side, side).astype(np.int64)


def _blocks(fine: DataSet, side: int) -> DataSet:
    """Blocks of cells added up; boxes and true answers stay those of the fine map."""
    rows, cols = fine.matrix.shape
    if rows % side or cols % side:
        raise ValueError(f"{rows} x {cols} cells do not go into {side} x {side} blocks")
    blocks = fine.matrix.counts.reshape(side, rows // side, side, cols // side).sum(axis=(1, 3))
    scale = np.array([side / rows, side / cols])
    coarse = tuple(
        replace(
            workload,
            boxes=workload.boxes * scale,
            truth=rectangle_sums(fine.matrix.sums, workload.boxes.astype(np.float64)),
        )
        for workload in fine.workloads
    )
    title = f"{fine.name}, in {side} x {side} blocks"
    matrix = FrequencyMatrix.from_array(blocks)
    return DataSet(f"{fine.key} in {side}", title, title, matrix, coarse)


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

    def plan(self, judges: Sequence[Callable[[Bench], object]]) -> int:
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
