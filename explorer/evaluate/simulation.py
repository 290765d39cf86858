"""Error bars by simulation, for releases whose counts are not linear in their noise.

The release is taken for the truth: records like those that it tells of, drawn from it alone, are
released again and again by the same mechanism with the same parameters, and the spread of the
answers is read off. Only released numbers go in, so this costs no privacy.

What it cannot see is roughness inside leaves: the released density is smooth there, and trips lie
there as the maps of their places say. For boxes much larger than the leaves that part is small.
Intervals of 95 % were measured to hold the truth of 91 to 95 % of small flows (5 to 50 trips), 93
to 96 % of larger ones and 81 to 91 % of boxes of trips (notebooks/design, trip error bars).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.evaluate.stand_ins import StandIn, stand_in
from explorer.grid.range_queries import RangeQueries
from explorer.mechanisms import rebuild
from explorer.releases.flows import Flows, flow_values
from explorer.releases.release import Release
from explorer.releases.units import laplace_variance

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Simulated:
    """What the answers to n rectangles are off by when the released map is the truth.

    Attributes
    ----------
    sd : (n,) standard deviation of the answers
    bias : (n,) mean of the answers less the released one (of which negative counts are left out)
    least : (n,) standard deviation of one count that had the whole budget, for a box of a cell or
        more; in proportion to its area for less
    runs : number of releases; sd is itself off by about 1 / sqrt(2 runs) of itself, bias by
        sd / sqrt(runs)
    """

    sd: Floats
    bias: Floats
    least: Floats
    runs: int

    @property
    def error(self) -> Floats:
        """Root mean squared error, (n,): sqrt(sd^2 + bias^2), and never below `least`.

        The bias is not taken off the answer: it is estimated from a map that has been shrunk once
        already, and measured coverage is better with it in the error bar. Where the released map
        is empty every run finds it empty again, which proves nothing: no mechanism knows a count
        better than a draw with all of its budget, hence `least`.
        """
        result: Floats = np.maximum(np.hypot(self.sd, self.bias), self.least)
        return result

    def interval(self, value: ArrayLike, level: float = 0.95) -> tuple[Floats, Floats]:
        """Approximate interval around released answers: value -+ t error.

        t is Student's quantile for runs - 1 degrees of freedom, since sd comes from few runs.
        """
        middle, half = np.asarray(value, dtype=np.float64), self.half_width(level)
        return middle - half, middle + half

    def half_width(self, level: float = 0.95) -> Floats:
        """Half of `interval`, (n,)."""
        from scipy import stats

        half: Floats = stats.t.ppf(0.5 + level / 2, self.runs - 1) * self.error
        return half


@dataclass(frozen=True)
class Question:
    """What every run is asked: n counts.

    Attributes
    ----------
    answers : the counts (n,) that a release gives, or what answers boxes like one
    cells : (n,) how many cells each is over
    """

    answers: Callable[[Any], Floats]
    cells: Floats


def about_boxes(release: Release, rectangles: ArrayLike | RangeQueries) -> Question:
    """The counts of boxes, as people write those of the release's domain."""
    # Only a question smaller than one cell is distinguished: for a polygon its box is enough.
    boxes = rectangles.boxes if isinstance(rectangles, RangeQueries) else rectangles
    boxes = release.domain.to_cells(boxes)
    cells = np.prod(boxes[:, 1] - boxes[:, 0], axis=1)
    return Question(lambda again: again.answer(rectangles).value, cells)


def about_flows(flows: Flows) -> Question:
    """The counts of flows, all or some."""
    where = flows.origin, flows.destination

    def answers(again: Release) -> Floats:
        return flow_values(again, flows.zones, flows.pair)[where]

    return Question(answers, np.ones(len(flows)))


def simulate(
    release: Release,
    questions: Sequence[Question],
    runs: int = 20,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> list[Simulated]:
    """Standard deviation and bias of many answers of a release, from one and the same runs.

    Parameters
    ----------
    release : Release
        Of any mechanism, over a map or trips.
    questions : boxes, flows, or anything else that a release answers
    runs, seed : as of `simulated_sd`
    progress : called with the finished part (0 to 1) after every run
        What it raises ends the simulation.

    Returns
    -------
    One `Simulated` for each question.

    Raises
    ------
    InputError
        For fewer than two runs, or a release that cannot be simulated.
    """
    if runs < 2:
        raise InputError(f"The number of runs is {runs}: give 2 or more.")
    source = stand_in(release)
    answers_by_question: list[list[Floats]] = [[] for _ in questions]
    for number, again in enumerate(reruns(release, source, runs, seed), 1):
        for answers, question in zip(answers_by_question, questions, strict=True):
            answers.append(question.answers(again))
        if progress is not None:
            progress(number / runs)
    variance = laplace_variance(np.array([release.units]), release.contribution_bound)
    result = []
    for answers, question in zip(answers_by_question, questions, strict=True):
        # Bias is measured against the estimate before it was rounded (negatives removed): against
        # the rounded stand-in, rounding would be counted as an error of the mechanism.
        middle = question.answers(source.truth)
        least = np.sqrt(variance) * np.minimum(question.cells, 1.0)
        every = np.array(answers)
        result.append(
            Simulated(every.std(axis=0, ddof=1), every.mean(axis=0) - middle, least, runs)
        )
    return result


def reruns(release: Release, source: StandIn, runs: int, seed: int = 0) -> Iterator[Release]:
    """The release drawn again, run by run, from what is in for its records.

    `rebuild` says with which mechanism. The noise of a preview with a small seed is never used.
    """
    mechanism = rebuild(release)
    # Drawn from a sequence of its own: with the seed of the release every run would repeat its
    # errors, which are in the map already.
    rng = np.random.default_rng([0x51B0A7ED, seed])
    for integer in rng.integers(2**32, 2**62, runs):
        records = source.counts(np.random.default_rng([0x7419, int(integer)]))
        again = mechanism.release(records, rng=int(integer))
        # Counts lie inside leaves as the visitor has chosen for the release itself.
        yield again if again.inside == release.inside else again.spread(release.inside)


def simulated_sd(
    release: Release, rectangles: ArrayLike | RangeQueries, runs: int = 20, seed: int = 0
) -> Simulated:
    """Standard deviation and bias of a release's answers, by simulation.

    Parameters
    ----------
    release : Release
        Of any mechanism; for linear counts `Release.answer` has the closed form.
    rectangles : (n, 4) x0, y0, x1, y1
        In metres of the grid's CRS, or cells without one; of trips (n, k, 4).
    runs : int, 2 or more
        How often the mechanism runs.
    seed : of the simulation; never the random noise of a preview with a small seed

    Returns
    -------
    Simulated

    Raises
    ------
    InputError
        For fewer than two runs, or rectangles that are none.
    """
    return simulate(release, [about_boxes(release, rectangles)], runs, seed)[0]


def simulated_flows(release: Release, flows: Flows, runs: int = 20, seed: int = 0) -> Flows:
    """Flows of a release with half widths of 95 % by simulation, see `simulate`."""
    simulated = simulate(release, [about_flows(flows)], runs, seed)[0]
    return flows.with_half_width(simulated.half_width())
