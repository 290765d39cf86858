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
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid.domain import Domain
from explorer.grid.grid import Grid
from explorer.grid.pieces import Shapes, flat_pieces
from explorer.grid.places import TripDomain
from explorer.grid.range_queries import RangeQueries
from explorer.grid.sums import rectangle_sums, summed
from explorer.mechanisms import rebuild
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.accounts import mix
from explorer.privacy.counts import Counts
from explorer.releases.answers import Answers
from explorer.releases.asking import one_grid
from explorer.releases.flows import Flows, flow_values
from explorer.releases.place_maps import table_of
from explorer.releases.release import Release
from explorer.releases.tree import Tree
from explorer.releases.units import laplace_variance
from explorer.trips.matrix import TripMatrix

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
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


def reruns(
    release: Release, source: MapStandIn | TripStandIn, runs: int, seed: int = 0
) -> Iterator[Release]:
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


# Records drawn from a release alone, which may take the place of the true ones.


def stand_in(release: Release) -> MapStandIn | TripStandIn:
    """A release taken for the truth: as it is without negative counts, and in whole records.

    Raises
    ------
    InputError
        For a release over anything else than a grid or trips.
    """
    if isinstance(release.domain, Grid | TripDomain):
        return MapStandIn(release) if len(release.domain.shape) == 2 else TripStandIn(release)
    raise InputError(
        f"Records of a release of kind {release.kind!r} cannot be simulated: take one of a map or "
        "of trips."
    )


@dataclass(frozen=True)
class _Density:
    """A density that answers boxes, and polygons where it is that of a map."""

    domain: Domain
    sums: Floats
    cells: Floats

    def answer(self, rectangles: ArrayLike | RangeQueries | Shapes) -> Answers:
        if isinstance(rectangles, RangeQueries):
            value = rectangles.each(lambda part: (self.answer(part).value,))[0]
            return Answers(value, np.zeros(len(value)))
        if isinstance(rectangles, Shapes):
            grid = one_grid(self.domain)
            parts = [flat_pieces(grid, shape) for shape in rectangles.on(grid)]
            value = np.array([share @ self.cells.ravel()[cells] for cells, share in parts])
            return Answers(value, np.zeros(len(value)))
        value = rectangle_sums(self.sums, self.domain.to_cells(rectangles))
        return Answers(value, np.zeros(len(value)))


class MapStandIn:
    """Of a map, or of trips of one place: its density, rounded leaf by leaf, always the same."""

    def __init__(self, release: Release) -> None:
        self._release = release
        self._smooth = non_negative(release.density())

    @cached_property
    def truth(self) -> _Density:
        """The density without negative cells."""
        return _Density(self._release.domain, summed(self._smooth), self._smooth)

    @cached_property
    def _matrix(self) -> Counts:
        release = self._release
        leaves = release.tree.owners(release.grid.shape)
        whole = whole_counts(self._smooth, leaves)
        whose = release.contribution_bound, release.unit
        if isinstance(release.domain, Grid):
            return FrequencyMatrix(whole, release.domain, *whose)
        return TripMatrix(np.argwhere(whole), whole[whole > 0], release.domain, *whose)

    def counts(self, rng: np.random.Generator) -> Counts:
        """The rounded density, whatever ``rng``."""
        return self._matrix


class TripStandIn:
    """Of trips: leaves get whole numbers of trips, and trips cells by the chances inside leaves.

    Rounding is systematic and begins anywhere (`whole_counts`): a leaf has its released count in
    the mean and is off by less than one. A trip's place is drawn by the place's map, or evenly
    where there is none, which is what the release says of it.
    """

    def __init__(self, release: Release) -> None:
        self._release = release
        self._tree = held(release.tree)

    @cached_property
    def truth(self) -> Release:
        """The release without negative counts."""
        return replace(self._release, tree=self._tree)

    def counts(self, rng: np.random.Generator) -> TripMatrix:
        """Trips drawn anew."""
        release, tree = self._release, self._tree
        leaves = tree.leaves
        number = whole_counts(tree.value[leaves][np.newaxis], None, float(rng.random()))[0]
        chosen = np.repeat(leaves, number)
        cells = np.empty((len(chosen), len(release.domain.shape)), dtype=np.int64)
        for place, shape in enumerate(_pairs(release.domain.shape)):
            table = table_of(release.maps_inside, place, shape)
            key = np.uint64(rng.integers(2**63))
            _draw(tree.lower, tree.upper, chosen, 2 * place, table, key, cells)
        ones = np.ones(len(cells), dtype=np.int64)
        bound, unit = release.contribution_bound, release.unit
        return TripMatrix(cells, ones, release.domain, bound, unit)


def held(tree: Tree) -> Tree:
    """A tree without negative counts: leaves as `non_negative`, the nodes above their sums."""
    leaves = tree.leaves
    value = np.zeros(len(tree))
    value[leaves] = non_negative(tree.value[leaves][np.newaxis])[0]
    if np.array_equal(value[leaves], tree.value[leaves]):
        return tree
    _add_up(tree.parent, value)
    return replace(tree, value=value)


def non_negative(density: ArrayLike) -> Floats:
    """A density without negative cells: those become 0, the others shrink to the same total.

    Parameters
    ----------
    density : (rows, cols) counts per cell, any sign

    Returns
    -------
    (rows, cols); all 0 for a total of 0 or less
    """
    cells = np.array(density, dtype=np.float64)
    if cells.ndim != 2 or not np.isfinite(cells).all():
        raise InputError("The density is not a table of finite numbers: give counts per cell.")
    total = max(float(cells.sum()), 0.0)
    clipped: Floats = np.maximum(cells, 0.0)
    mass = float(clipped.sum())
    return clipped * (total / mass) if mass > 0 else clipped


def whole_counts(
    density: ArrayLike, leaf: ArrayLike | None = None, shift: float = 0.5
) -> NDArray[np.int64]:
    """A density as whole counts that add up to its rounded total, by systematic rounding.

    With C the running sum over the cells, leaf by leaf, a cell gets the whole numbers that C
    passes in it, shifted by one half. Hence every leaf, and every row of leaves that follow each
    other in the order, is off by less than one record.

    Parameters
    ----------
    density : (rows, cols) counts per cell, 0 or more
    leaf : (rows, cols) whole numbers, optional
        Which leaf a cell belongs to; without it the whole map is one.
    shift : 0 to 1
        Drawn evenly, it gives every cell its density in the mean.

    Returns
    -------
    (rows, cols) int64

    Examples
    --------
    >>> whole_counts([[0.4, 0.4, 0.4], [0.4, 0.4, 0.0]])
    array([[0, 1, 0],
           [1, 0, 0]])
    """
    cells = np.asarray(density, dtype=np.float64)
    groups = np.zeros(cells.shape, dtype=np.int64) if leaf is None else np.asarray(leaf)
    order = np.argsort(groups, axis=None, kind="stable")
    total = round(float(cells.sum()))
    passed = np.minimum(np.floor(np.cumsum(cells.ravel()[order]) + shift), total)
    passed[-1] = total  # the sum of many parts may miss the total by its last bits
    counts = np.empty(cells.size, dtype=np.int64)
    counts[order] = np.diff(passed, prepend=0)
    return counts.reshape(cells.shape)


def _pairs(shape: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(shape[::2], shape[1::2], strict=True))


@njit(cache=True, nogil=True)
def _add_up(parent, value):  # type: ignore[no-untyped-def]
    for i in range(len(parent) - 1, 0, -1):
        value[parent[i]] += value[i]


@njit(cache=True, nogil=True)
def _uniform(key):  # type: ignore[no-untyped-def]
    return float(mix(key) >> np.uint64(11)) * 2.0**-53


@njit(cache=True, nogil=True)
def _draw(lower, upper, chosen, axis, table, key, cells):  # type: ignore[no-untyped-def]
    """A cell of one place in each chosen node, by its chances: the row first, then the column.

    A sum that is passed is looked for by halving; no chance is 0, so there is one.
    """
    for k in range(len(chosen)):
        i = chosen[k]
        r0, c0, r1, c1 = lower[i, axis], lower[i, axis + 1], upper[i, axis], upper[i, axis + 1]
        key += _GOLDEN
        above = table[r0, c1] - table[r0, c0]
        sought = above + _uniform(key) * (table[r1, c1] - table[r1, c0] - above)
        low, high = r0, r1 - 1
        while low < high:
            middle = (low + high) // 2
            if table[middle + 1, c1] - table[middle + 1, c0] > sought:
                high = middle
            else:
                low = middle + 1
        row = low
        key += _GOLDEN
        left = table[row + 1, c0] - table[row, c0]
        sought = left + _uniform(key) * (table[row + 1, c1] - table[row, c1] - left)
        low, high = c0, c1 - 1
        while low < high:
            middle = (low + high) // 2
            if table[row + 1, middle + 1] - table[row, middle + 1] > sought:
                high = middle
            else:
                low = middle + 1
        cells[k, axis], cells[k, axis + 1] = row, low
