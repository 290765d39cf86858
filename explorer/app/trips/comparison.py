"""All mechanisms on the trips of a screen: how far each is off, by kind of question."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.app.curator.comparing import Order
from explorer.app.work.job import Run
from explorer.errors import InputError
from explorer.evaluate.large_grids import grid_answers, large_grid
from explorer.evaluate.metrics import mre
from explorer.evaluate.repeats import seed_of
from explorer.evaluate.workloads import trip_workload
from explorer.mechanisms import Mechanism, trip_mechanisms
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
