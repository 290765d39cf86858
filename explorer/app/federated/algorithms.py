"""The panel that compares all algorithms on the people of a screen, in the background."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.app.curator.panel import Comparing, Order
from explorer.app.federated.rounds import size
from explorer.app.federated.screen import chosen, people_of
from explorer.app.work.job import Run, patient
from explorer.errors import InputError
from explorer.evaluate.repeats import seed_of
from explorer.federated.mechanism import ALGORITHMS, Federated
from explorer.releases.distributed import ONCE, DistributedRelease
from explorer.views.tables import Cell, table

RUNS = 2
#: What a person reads for each algorithm.
TITLES = {
    "people": "Each person asked once",
    "mended": "Algorithm 2, mended",
    "paper": "Algorithm 2 as printed",
    "flat": "Flat: finest cells at once",
    "hierarchical": "Hierarchical: all levels, best one",
    "count-min": "Count-min sketches",
    "decomposition": "Spatial decomposition",
    "adaptive grid": "Adaptive grid",
    "sampling": "Sampling alone, without noise",
}


@dataclass(frozen=True)
class Row:
    """One algorithm; errors are means over `RUNS` previews, NaN where it was left out.

    Attributes
    ----------
    mse : mean squared error of the map of shares of people, over cells
    l1 : L1 / N
    rounds, numbers, sent : of the last preview: rounds, numbers and bytes of one person in all
    said : why it was left out
    """

    key: str
    mse: float = math.nan
    l1: float = math.nan
    rounds: int = 0
    numbers: int = 0
    sent: float = 0.0
    said: str = ""

    @property
    def title(self) -> str:
        return TITLES.get(self.key, self.key)

    @property
    def rank(self) -> float:
        """Its error; infinite where it was left out."""
        return self.mse if math.isfinite(self.mse) else math.inf


@dataclass(frozen=True, eq=False)
class Comparison:
    """Rows from the best to the worst."""

    order: Order
    rows: tuple[Row, ...]


def compare(order: Order, run: Run) -> Comparison:
    """Draw previews of every algorithm with the settings of the screen. In a thread."""
    rows = []
    keys = list(dict.fromkeys([order.chosen.algorithm, *ALGORITHMS]))
    for done, key in enumerate(keys):
        rows.append(_row(key, order, run, done / len(keys), 1 / len(keys)))
    rows.sort(key=lambda row: row.rank)
    return Comparison(order, tuple(rows))


def _row(key: str, order: Order, run: Run, before: float, whole: float) -> Row:
    """One algorithm; of all work, ``before`` is done and ``whole`` is its own."""
    # A level that was chosen for one baseline is none of the others' finest cells.
    mechanism: Federated = order.chosen.with_(algorithm=key, mode="summed", level=None)
    people, counts = people_of(order.data), order.data.matrix.counts
    results: list[tuple[float, float]] = []
    release: DistributedRelease | None = None
    for again in range(RUNS):
        tell = telling(run, before + whole * again / RUNS, whole / RUNS)
        tell(0.0)
        try:
            release = mechanism.release(people, seed_of(again), tell)
        except InputError as error:
            return Row(key, said=str(error))
        results.append(errors(release, counts))
    mse, l1 = np.mean(results, axis=0)
    assert release is not None
    rows = release.heard
    # Asked once, a person is in one round: the most expensive one.
    total = max if release.paying == ONCE else sum
    return Row(
        key,
        float(mse),
        float(l1),
        len(rows),
        int(total(row.cells for row in rows)),
        float(total(row.bytes_up for row in rows)),
    )


def errors(release: DistributedRelease, counts: NDArray[np.integer]) -> tuple[float, float]:
    """MSE of the map of shares, and L1 / N."""
    people = max(int(counts.sum()), 1)
    off = (release.density() - counts) / people
    return float(np.mean(off**2)), float(np.abs(off).sum())


def telling(run: Run, before: float, whole: float) -> Callable[[float], None]:
    """What a release tells its progress to: a part of all work, which ends when it is cancelled."""

    def progress(part: float) -> None:
        run.give_up_unwanted()
        run.tell(before + whole * part)

    return progress


def sentence(comparison: Comparison) -> str:
    """Which private one is best, and what Algorithm 2 as printed is next to it."""
    rows = [row for row in comparison.rows if math.isfinite(row.mse) and row.key != "sampling"]
    if not rows:
        return "None of them could be drawn with these settings."
    best, mechanism = rows[0], comparison.order.chosen
    text = (
        f"{comparison.order.data.title}, epsilon {mechanism.epsilon:.4g}: “{best.title}” has the "
        f"least squared error, and one person sends {size(best.sent)} for it"
    )
    printed = next((row for row in rows if row.key == "paper"), None)
    if printed is not None and printed is not best and best.mse > 0:
        text += f"; “{printed.title}” has {printed.mse / best.mse:.3g} times that error"
    return f"{text}."


def algorithms_table(comparison: Comparison) -> str:
    """A row for each algorithm, from the best to the worst."""
    rows = comparison.rows
    private = [row for row in rows if row.key != "sampling" and math.isfinite(row.mse)]
    least = min((row.mse for row in private), default=math.nan)
    cells = []
    for row in rows:
        out = not math.isfinite(row.mse)
        quiet = f"left out: {row.said}" if out else ""
        if row.key == "sampling" and not out:
            quiet = "not private"
        cells.append(
            [
                Cell(row.title, quiet=quiet),
                Cell("–" if out else f"{row.mse * 1e11:.3g}", best=row.mse == least),
                Cell("–" if out else f"{row.l1:.2f}"),
                Cell("–" if out else str(row.rounds)),
                Cell("–" if out else f"{row.numbers:,}"),
                Cell("–" if out or not row.sent else size(row.sent)),
            ]
        )
    columns = [
        ("algorithm", "how rounds follow each other"),
        ("MSE, 1e-11", "mean squared error of the shares of people in cells"),
        ("L1/N", "people that all cells are off together, over the number of people"),
        ("rounds", ""),
        ("numbers", "that one person sends in all, at most"),
        ("sends", "bytes of one person in all, at most"),
    ]
    caption = f"Means of {RUNS} previews with the settings on the left; nothing is booked."
    return table(caption, columns, cells)


#: Other ways to ask the same people.
ALGORITHM_COMPARISON = Comparing(
    start="Compare algorithms",
    done="of the algorithms are done",
    pool=patient(1, "algorithms"),
    compare=compare,
    chosen=chosen,
    sentence=sentence,
    table=algorithms_table,
)
