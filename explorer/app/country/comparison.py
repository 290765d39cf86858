"""The panel that compares ways to release a country, in the background."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.app.country.data import CountryData
from explorer.app.country.maps import level_name
from explorer.app.curator.panel import Comparing, Order
from explorer.app.kit.numbers import percent
from explorer.app.work.job import Run, patient
from explorer.country.benchmarks import benchmark_plan, by_cells
from explorer.country.mechanism import Country
from explorer.errors import InputError
from explorer.evaluate.repeats import seed_of
from explorer.views.tables import Cell
from explorer.views.tables import table as html_table

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


def sentence(comparison: Comparison) -> str:
    """Which way is best for the lowest areas."""
    rows = [row for row in comparison.rows if math.isfinite(row.lowest)]
    if not rows:
        return "None of them could be drawn with these settings."
    data, epsilon = comparison.order.data, comparison.order.chosen.epsilon
    lowest = data.areas.levels[-1]
    text = (
        f"{data.title}, epsilon {epsilon:.4g}: the areas of the level {lowest} are off least by "
        f"“{rows[0].title}” ({percent(100 * rows[0].lowest)})"
    )
    if len(rows) > 1 and rows[0].lowest > 0:
        times = rows[-1].lowest / rows[0].lowest
        text += f"; “{rows[-1].title}” has {times:.3g} times its error"
    return f"{text}."


def table(comparison: Comparison) -> str:
    """Mean relative errors: a row for each way, a column for each level."""
    data = comparison.order.data
    levels = range(len(data.areas.levels) + 1)
    best = [
        min((row.errors[i] for row in comparison.rows if math.isfinite(row.errors[i])), default=0.0)
        for i in levels
    ]
    rows = []
    for row in comparison.rows:
        title = Cell(row.title, quiet=f"left out: {row.said}" if row.said else "")
        cells = [
            Cell(percent(100 * error), best=error == least)
            for error, least in zip(row.errors, best, strict=True)
        ]
        rows.append([title, *cells])
    columns = [("way", "how the budget is spent")]
    columns += [(level_name(data, level), "mean error of its areas") for level in levels]
    caption = (
        f"Mean error of areas, in percent of the true count (of at least {LEAST}), over {RUNS} "
        "previews."
    )
    return html_table(caption, columns, rows)


#: Other ways to spend one budget on a country.
WAY_COMPARISON = Comparing(
    start="Compare architectures",
    done="of the previews are drawn",
    pool=patient(1, "countries"),
    compare=compare,
    # As its release says it.
    chosen=lambda screen: Country(epsilon=screen.release.epsilon, **screen.release.parameters),
    sentence=sentence,
    table=table,
)
