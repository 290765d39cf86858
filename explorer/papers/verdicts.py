"""Verdicts: comparisons of errors paired by their seeds, and what many of them say about a claim.

A cell is one comparison: a ratio of mean errors a / b with, to first order, the standard error of
its logarithm from a_s / mean(a) - b_s / mean(b) over the seeds s. It speaks for a claim or against
it when it is beyond `ranking.critical_value` (2 to 4) standard errors, otherwise it is open.
A claim

    holds            when no cell speaks against it, and at least half of them or all taken
                     together speak for it,
    does not hold    when at least half speak against it, or all taken together do and none for it,
    cannot be told   when there is no cell, or none speaks and all taken together do not,
    is mixed         otherwise.

All taken together are the geometric mean of the ratios, where the claim says on which side of 1
they lie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.evaluate.ranking import critical_value, standard_error

Floats = NDArray[np.float64]

HOLDS, FAILS, MIXED, OPEN = "holds", "does not hold", "mixed", "cannot be told"
ALIKE = 0.10
"""Errors within 10 % of the smallest count as "almost the same"."""


def repetitions(seeds: int | None, default: int) -> int:
    """How many seeds every comparison has: raises InputError below 2, without standard errors."""
    number = default if seeds is None else seeds
    if number < 2:
        raise InputError(f"The number of seeds is {seeds}: give 2 or more, for standard errors.")
    return number


@dataclass(frozen=True, eq=False)
class Comparison:
    """One comparison.

    Attributes
    ----------
    what : str
        Data, epsilon, workload, rivals.
    value : float
        Usually a ratio of errors.
    moves : (seeds,) how the logarithm of the value moves with the seed
    says : int
        1 for the claim, -1 against it, 0 open.
    """

    what: str
    value: float
    moves: Floats
    says: int

    @property
    def error(self) -> float:
        """Standard error of the value."""
        return self.value * standard_error(self.moves)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What the cells say together.

    Attributes
    ----------
    meaning : str
        What `value` is, in words.
    cells : the comparisons
    aside : str
        A remark with figures that do not count.
    sense : int
        -1 when the claim is that the ratios lie below 1, 1 above, 0 neither.
    """

    meaning: str
    cells: Sequence[Comparison]
    aside: str = ""
    sense: int = -1

    @property
    def value(self) -> float:
        """Geometric mean of the cells' values; NaN without cells."""
        if not self.cells:
            return float("nan")
        return float(np.exp(np.mean([np.log(cell.value) for cell in self.cells])))

    @property
    def error(self) -> float:
        """Its standard error; the cells share their seeds, so their moves are averaged."""
        if not self.cells:
            return float("nan")
        return self.value * standard_error(self._moves)

    @property
    def together(self) -> int:
        """What all cells say taken together: 1 for the claim, -1 against it, 0 open."""
        return -self.sense * side(self.value, self._moves, 1.0)

    @property
    def _moves(self) -> Floats:
        moves: Floats = np.mean([cell.moves for cell in self.cells], axis=0)
        return moves

    def count(self, says: int) -> int:
        """Number of cells that say this."""
        return sum(cell.says == says for cell in self.cells)

    @property
    def verdict(self) -> str:
        """See the module's text."""
        pros, cons, half = self.count(1), self.count(-1), len(self.cells) / 2
        if pros == cons == 0 and (not self.cells or self.together == 0):
            return OPEN
        if cons == 0 and (pros >= half or self.together == 1):
            return HOLDS
        if cons >= half or (pros == 0 and self.together == -1):
            return FAILS
        return MIXED


def ratio(ours: Floats, theirs: Floats) -> tuple[float, Floats]:
    """Ratio of mean errors, and how its logarithm moves with the seed, (seeds,)."""
    a, b = ours.mean(), theirs.mean()
    return float(a / b), ours / a - theirs / b


def smaller(what: str, ours: Floats, theirs: Floats) -> Comparison:
    """For the claim that one error is smaller than another: ours / theirs below 1."""
    return below_one(what, *ratio(ours, theirs))


def below_one(what: str, value: float, moves: Floats) -> Comparison:
    """For the claim that a ratio is below 1."""
    return Comparison(what, value, moves, side(value, moves, 1.0))


def below(what: str, ours: Floats, theirs: Floats, limit: float) -> Comparison:
    """For the claim that ours / theirs is at most a limit: beyond it only when it is for sure."""
    value, moves = ratio(ours, theirs)
    says = 1 if value <= limit else min(side(value, moves, limit), 0)
    return Comparison(what, value, moves, says)


def between(what: str, ours: Floats, theirs: Floats, low: float, high: float) -> Comparison:
    """For the claim that ours / theirs is between two limits."""
    value, moves = ratio(ours, theirs)
    if low <= value <= high:
        return Comparison(what, value, moves, 1)
    sure = side(value, moves, low if value < low else high) != 0
    return Comparison(what, value, moves, -1 if sure else 0)


def alike(what: str, errors: Sequence[Floats]) -> Comparison:
    """For the claim that several settings do almost the same: worst / best at most 1 + ALIKE."""
    means = [error.mean() for error in errors]
    worst, best = errors[int(np.argmax(means))], errors[int(np.argmin(means))]
    return below(what, worst, best, 1 + ALIKE)


def near_best(what: str, chosen: Floats, others: Sequence[Floats]) -> Comparison:
    """For the claim that a rule's choice is about the best there is."""
    return below(what, chosen, lowest([chosen, *others]), 1 + ALIKE)


def hollow(what: str, settings: Sequence[float], errors: Sequence[Floats]) -> Comparison:
    """For the claim that errors are largest at both ends of a range of settings.

    The value is the lower of both ends over the smallest error between them: above 1 the curve
    turns. It speaks against the claim when that end is surely below all in between.
    """
    between_ends = errors[1:-1]
    middle = lowest(between_ends)
    at = settings[1 + int(np.argmin([between_end.mean() for between_end in between_ends]))]
    end = lowest([errors[0], errors[-1]])
    value, moves = ratio(end, middle)
    where = f"{what}, best between at {at:g}"
    return Comparison(where, value, moves, -side(value, moves, 1.0))


def lowest(errors: Sequence[Floats]) -> Floats:
    """The errors with the lowest mean."""
    return min(errors, key=lambda sample: float(sample.mean()))


def side(value: float, moves: Floats, limit: float) -> int:
    """1 when surely below the limit, -1 when surely above, else 0."""
    gap = np.log(limit) - np.log(value)
    error = standard_error(moves)
    if gap == 0 or not abs(gap) > critical_value(len(moves)) * error:
        return 0
    return 1 if gap > 0 else -1
