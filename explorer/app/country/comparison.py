"""Ways to release a country, each drawn a few times: how far areas of every level are off."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.app.country.data import CountryData
from explorer.app.curator.comparing import Order
from explorer.app.work.job import Run
from explorer.country.benchmarks import benchmark_plan, by_cells
from explorer.country.mechanism import Country
from explorer.errors import InputError
from explorer.evaluate.repeats import seed_of

Floats = NDArray[np.float64]

RUNS = 3
#: Errors are relative to the true count, or to so many records where there are fewer.
LEAST = 20


@dataclass(frozen=True)
class Row:
    """One way.

    Attributes
    ----------
    errors : mean relative error of the areas of each level, the whole first; NaN if left out
    said : why it was left out
    """

    title: str
    errors: tuple[float, ...]
    said: str = ""

    @property
    def lowest(self) -> float:
        """Error of the lowest areas; infinite where it was left out."""
        return self.errors[-1] if math.isfinite(self.errors[-1]) else math.inf


@dataclass(frozen=True, eq=False)
class Comparison:
    """Rows from the best to the worst for lowest areas; the first one made is that on screen."""

    order: Order
    rows: tuple[Row, ...]


@dataclass(frozen=True, eq=False)
class Benchmark:
    """A benchmark of the paper: rectangles in place of areas, whatever mechanism is inside."""

    number: int
    epsilon: float

    def figures(self, data: CountryData, seed: int, progress: Callable[[float], None]) -> Floats:
        """Private count of every node, by the land that areas have of the lattice's cells.

        Raises
        ------
        InputError
            For a lattice with too few cells for its rectangles.
        """
        counts = data.benchmark(self.number)
        plan = benchmark_plan(self.epsilon, float(data.matrix.by_node[0]), len(data.areas))
        release = plan.release(counts, seed, progress)
        private = np.zeros(len(data.areas.parent))
        private[data.areas.lowest] = by_cells(release, data.windows)
        for node in range(len(private) - 1, 0, -1):
            private[data.areas.parent[node]] += private[node]
        return private


def ways(chosen: Country) -> dict[str, Country | Benchmark]:
    """What is compared, by its title; all of one epsilon."""
    epsilon = chosen.epsilon
    return {
        "As chosen": chosen,
        "The paper as printed (Eq. 38, HTF)": Country.paper_as_printed(epsilon, threshold=0),
        "Benchmark 1 (halves, 9 levels, HTF)": Benchmark(1, epsilon),
        "Benchmark 2 (quarters, 5 levels, HTF)": Benchmark(2, epsilon),
        "No hierarchy: lowest areas alone": chosen.with_(budgets="lowest level"),
        "Counts alone, without maps": chosen.with_(inside="none", inside_settings={}),
    }


def compare(order: Order, run: Run) -> Comparison:
    """Draw previews of every way. In a thread."""
    all_ways = ways(order.chosen)
    rows, done = [], 0
    for title, way in all_ways.items():
        samples, refusal = [], ""
        for again in range(RUNS):
            run.give_up_unwanted()
            try:
                samples.append(errors(order.data, way, seed_of(again), run))
            except InputError as error:
                refusal = str(error)
                break
            done += 1
            run.tell(done / (len(all_ways) * RUNS))
        levels = len(order.data.areas.levels) + 1
        nothing = (math.nan,) * levels
        mean = tuple(map(float, np.mean(samples, axis=0))) if samples and not refusal else nothing
        rows.append(Row(title, mean, refusal))
    rows.sort(key=lambda row: row.lowest)
    return Comparison(order, tuple(rows))


def errors(data: CountryData, way: Country | Benchmark, seed: int, run: Run) -> Floats:
    """Mean of |private - true| / max(true, 20) over the areas of each level, (levels + 1,)."""
    progress: Callable[[float], None] = run.give_up_unwanted
    if isinstance(way, Benchmark):
        private = way.figures(data, seed, progress)
    else:
        private, _, _ = way.release(data.matrix, seed, progress).figures()
    off = np.abs(private - data.true) / np.maximum(data.true, LEAST)
    return np.array([off[data.on_level(level)].mean() for level in range(_levels(data))])


def _levels(data: CountryData) -> int:
    return len(data.areas.levels) + 1
