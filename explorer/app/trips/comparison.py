"""The panel that compares all mechanisms on the trips of a screen, in the background."""

from __future__ import annotations

import html
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.app.curator.panel import Comparing, Order
from explorer.app.kit.numbers import percent
from explorer.app.work.job import Run, patient
from explorer.errors import InputError
from explorer.evaluate.large_grids import grid_answers, large_grid
from explorer.evaluate.metrics import mre
from explorer.evaluate.repeats import seed_of
from explorer.evaluate.workloads import trip_workload
from explorer.mechanisms import Mechanism, rebuild, trip_mechanisms
from explorer.points.truth import exact
from explorer.trips.matrix import TripMatrix

Floats = NDArray[np.float64]

#: Kinds of questions: name of the workload to what a person reads.
KINDS = {
    "random": "anywhere to anywhere, any size",
    "near10": "small boxes where trips are",
    "near25": "larger boxes where trips are",
    "place": "one place only",
}
BOXES, RUNS = 250, 3


@dataclass(frozen=True)
class Row:
    """One mechanism.

    Parameters
    ----------
    errors : mean relative error of each of `KINDS`, NaN where it was left out
    runs : finished previews
    said : why it was left out
    """

    title: str
    errors: tuple[float, ...]
    runs: int = 0
    said: str = ""

    @property
    def overall(self) -> float:
        """Geometric mean over the kinds; infinite where it was left out."""
        positive = [error for error in self.errors if error > 0]
        return math.exp(sum(map(math.log, positive)) / len(positive)) if positive else math.inf


@dataclass(frozen=True, eq=False)
class Comparison:
    """Rows from the best to the worst, and which is the mechanism on screen."""

    order: Order
    rows: tuple[Row, ...]
    chosen: str


def compare(order: Order, run: Run) -> Comparison:
    """Draw previews of every mechanism and ask each the same questions. In a thread."""
    matrix = order.data.matrix
    domain, shape = matrix.domain, matrix.shape
    questions, truth = [], []
    for kind in KINDS:
        try:
            workload = trip_workload(kind, shape, matrix.cells, matrix.multiplicities, n=BOXES)
            boxes = domain.from_cells(workload.boxes)
        except InputError:  # no one to be near to
            boxes = np.zeros((0, 2 * len(shape)))
        questions.append(boxes)
        # Under a bound mechanisms differ in what they make of the trips that are counted.
        truth.append(exact(matrix, boxes, counted=True))
    chosen = order.chosen
    results = [
        chosen if kind.key == chosen.key else kind(epsilon=chosen.epsilon)
        for kind in trip_mechanisms().values()
    ]
    rows = []
    for number, result in enumerate(results):
        rows.append(_row(result, matrix, questions, truth, run))
        run.tell((number + 1) / len(results))
    rows.sort(key=lambda row: row.overall)
    return Comparison(order, tuple(rows), chosen.title)


def _row(
    mechanism: Mechanism, matrix: TripMatrix, questions: list[Floats], truth: list[Floats], run: Run
) -> Row:
    nothing = (math.nan,) * len(questions)
    results = []
    for again in range(RUNS):
        run.give_up_unwanted()
        try:
            answer = _answering(mechanism, matrix, seed_of(again))
        except InputError as error:
            return Row(mechanism.title, nothing, said=str(error))
        results.append(
            [
                mre(true, answer(boxes)) if len(boxes) else math.nan
                for boxes, true in zip(questions, truth, strict=True)
            ]
        )
    return Row(mechanism.title, tuple(map(float, np.mean(results, axis=0))), RUNS)


def _answering(mechanism: Mechanism, matrix: TripMatrix, seed: int) -> Callable[[Floats], Floats]:
    """What one preview would answer; of grids of very many parts by the distribution of each box.

    Raises
    ------
    InputError
        For a mechanism that would publish too much, or a distribution that is not known.
    """
    # This distribution is of single trips: for protected persons, grids are drawn, and coarser.
    law = large_grid(mechanism, matrix, seed) if matrix.unit == "point" else None
    if law is None:
        mechanism.require_release(matrix.shape)
        release = mechanism.release(matrix, rng=seed)
        return lambda boxes: release.answer(boxes).value
    parts, epsilon = law
    rng = np.random.default_rng([seed, *parts])

    def answer(boxes: Floats) -> Floats:
        cells = matrix.domain.to_cells(boxes)
        counts = matrix.cells, matrix.multiplicities
        return grid_answers(*counts, matrix.shape, parts, epsilon, cells, rng)

    return answer


def sentence(comparison: Comparison) -> str:
    """Which mechanism is best, and how far the one on screen is from it."""
    rows = [row for row in comparison.rows if math.isfinite(row.overall)]
    if not rows:
        return "No mechanism could be drawn with these settings."
    epsilon, data = comparison.order.chosen.epsilon, comparison.order.data
    text = f"{data.title}, epsilon {epsilon:.4g}: over all kinds {rows[0].title} is off least"
    if len(rows) > 1:
        times = rows[1].overall / rows[0].overall
        text += f", {rows[1].title} comes next with {times:.3g} times its error"
    chosen = next((row for row in rows if row.title == comparison.chosen), None)
    if chosen is not None and chosen is not rows[0] and chosen is not rows[min(1, len(rows) - 1)]:
        text += f"; {chosen.title} has {chosen.overall / rows[0].overall:.3g} times"
    bounded = data.matrix.unclipped is not None
    return f"{text}.{' Errors are against the trips that are counted.' if bounded else ''}"


def table(comparison: Comparison) -> str:
    """Mean relative errors, a row for each mechanism, a column for each kind of question."""
    kinds = "".join(f"<th scope='col'>{html.escape(kind)}</th>" for kind in KINDS.values())
    best = [
        min((row.errors[i] for row in comparison.rows if row.errors[i] >= 0), default=math.nan)
        for i in range(len(KINDS))
    ]
    rows, left_out = [], []
    for row in comparison.rows:
        if row.said:
            # Below the table: a sentence in a row would make it wider than the window.
            left_out.append(
                f"<p class='quiet'>{html.escape(f'{row.title}, left out: {row.said}')}</p>"
            )
            continue
        here = " (on the maps)" if row.title == comparison.chosen else ""
        cells = "".join(
            f"<td{' class=best' if error == least else ''}>{percent(100 * error)}</td>"
            for error, least in zip(row.errors, best, strict=True)
        )
        rows.append(f"<tr><th scope='row'>{html.escape(row.title + here)}</th>{cells}</tr>")
    return (
        f"<div class='scroll'><table class='numbers'><caption>Mean relative error (of at least 20 "
        f"trips) of {BOXES} questions each, mean of {RUNS} previews</caption><thead><tr>"
        f"<th scope='col'>mechanism</th>{kinds}</tr></thead><tbody>{''.join(rows)}</tbody>"
        f"</table></div>{''.join(left_out)}"
    )


#: All mechanisms that take trips.
MECHANISM_COMPARISON = Comparing(
    start="Compare all mechanisms",
    done="of the mechanisms are done",
    pool=patient(2, "comparison"),
    compare=compare,
    # That of the release as it was drawn, however its counts are spread.
    chosen=lambda screen: rebuild(screen.drawn),
    sentence=sentence,
    table=table,
)
