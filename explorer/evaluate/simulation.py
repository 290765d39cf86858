"""Error bars by simulation, for releases whose counts are not linear in their noise.

The released map is taken for the truth: its density, rounded to whole counts, is released again
and again by the same mechanism with the same parameters, and the spread of the answers is read
off. Only released numbers go in, so this costs no privacy.

What it cannot see is roughness inside leaves: the released density is smooth there. For boxes much
larger than the leaves that part is small.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from explorer.errors import InputError
from explorer.grid.sums import rectangle_sums, summed
from explorer.mechanisms import rebuild
from explorer.points.matrix import FrequencyMatrix
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
        found: Floats = np.maximum(np.hypot(self.sd, self.bias), self.least)
        return found

    def interval(self, value: ArrayLike, level: float = 0.95) -> tuple[Floats, Floats]:
        """Approximate interval around released answers: value -+ t error.

        t is Student's quantile for runs - 1 degrees of freedom, since sd comes from few runs.
        """
        middle = np.asarray(value, dtype=np.float64)
        half_width = stats.t.ppf(0.5 + level / 2, self.runs - 1) * self.error
        return middle - half_width, middle + half_width


def simulated_sd(
    release: Release, rectangles: ArrayLike, runs: int = 20, seed: int = 0
) -> Simulated:
    """Standard deviation and bias of a release's answers, by simulation.

    Parameters
    ----------
    release : Release
        Of any mechanism; for linear counts `Release.answer` has the closed form.
    rectangles : (n, 4) x0, y0, x1, y1
        In metres of the grid's CRS, or cells without one.
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
    if runs < 2:
        raise InputError(f"The number of runs is {runs}: give 2 or more.")
    smooth = non_negative(release.density())
    leaves = release.tree.owners(release.grid.shape)
    stand_in = FrequencyMatrix(
        whole_counts(smooth, leaves), release.grid, release.contribution_bound, release.unit
    )
    made = rebuild(release)
    # Drawn from a sequence of its own: with the seed of the release every run would repeat its
    # errors, which are in the map already.
    seeds = np.random.default_rng([0x51B0A7ED, seed]).integers(2**32, 2**62, runs)
    answers = np.array(
        [made.release(stand_in, rng=int(each)).answer(rectangles).value for each in seeds]
    )
    # Bias is measured against the estimate before it was rounded (negatives removed): against the
    # rounded stand-in, rounding would be counted as an error of the mechanism.
    boxes = release.grid.to_cells(rectangles)
    middle = rectangle_sums(summed(smooth), boxes)
    cells = np.prod(boxes[:, 1] - boxes[:, 0], axis=1)
    variance = laplace_variance(np.array([release.units]), release.contribution_bound)
    least = np.sqrt(variance) * np.minimum(cells, 1.0)
    return Simulated(answers.std(axis=0, ddof=1), answers.mean(axis=0) - middle, least, runs)


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
    held: Floats = np.maximum(cells, 0.0)
    mass = float(held.sum())
    return held * (total / mass) if mass > 0 else held


def whole_counts(density: ArrayLike, leaf: ArrayLike | None = None) -> NDArray[np.int64]:
    """A density as whole counts that add up to its rounded total, by systematic rounding.

    With C the running sum over the cells, leaf by leaf, a cell gets the whole numbers that C
    passes in it, shifted by one half. Hence every leaf, and every row of leaves that stand side by
    side in the order, is off by less than one record.

    Parameters
    ----------
    density : (rows, cols) counts per cell, 0 or more
    leaf : (rows, cols) whole numbers, optional
        Which leaf a cell belongs to; without it the whole map is one.

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
    passed = np.minimum(np.floor(np.cumsum(cells.ravel()[order]) + 0.5), total)
    passed[-1] = total  # the sum of many parts may miss the total by its last bits
    counts = np.empty(cells.size, dtype=np.int64)
    counts[order] = np.diff(passed, prepend=0)
    return counts.reshape(cells.shape)
