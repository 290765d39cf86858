"""Two data sets that differ in one person, and what a mechanism publishes of either.

Where cuts do not depend on the data and a leaf publishes its own draw alone, the distribution of
a box of whole leaves is known: its true count plus a sum of independent discrete Laplace draws.
With a_i = epsilon_i / sensitivity and q_i = e^-a_i, the characteristic function of that sum is

    phi(t) = prod_i (1 - q_i)^2 / (1 - 2 q_i cos t + q_i^2),

and the probabilities are its inverse Fourier transform; a single draw has the closed form
(1 - q) / (1 + q) q^|z|. Elsewhere two histograms of previews are in for the distributions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.audit.bounds import epsilon_bound
from explorer.releases.release import Release
from explorer.releases.units import UNITS_PER_EPSILON

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Outputs less likely than this on both sides are not shown.
SHOWN = 1e-6
#: Bins of the histograms, and outputs in the sparser of two bins that make a ratio worth showing.
BINS, ENOUGH = 16, 5


@dataclass(frozen=True, eq=False)
class Distributions:
    """What comes out on D and on its neighbour.

    Attributes
    ----------
    edges : (k + 1,) edges of the k outputs or bins
    first, second : (k,) probability of each on D and on the neighbour
    ratio : (k,) log(second / first); NaN where too little was seen
    error : (k,) standard error of the ratio, 0 where the distribution is exact
    largest : the largest size of the ratio over what is shown
    exact : whether they are known; else they are histograms of ``runs`` previews a side
    bound : what the previews prove epsilon to be at least, at 95 %; NaN for exact distributions
    """

    edges: Floats
    first: Floats
    second: Floats
    ratio: Floats
    error: Floats
    largest: float
    exact: bool
    runs: int = 0
    bound: float = float("nan")

    @property
    def error_of_largest(self) -> float:
        """The standard error of the largest ratio."""
        return float(self.error[np.nanargmax(np.abs(self.ratio))])


def neighbour(matrix: FrequencyMatrix, cell: tuple[int, int], change: int) -> FrequencyMatrix:
    """The counts with one person more (``change`` 1) or less (-1) in a cell (row, column).

    A person brings as many records as the contribution bound allows.

    Raises
    ------
    InputError
        For a person who is to leave a cell where no one is.
    """
    counts = matrix.counts.copy()
    counts[cell] += change * matrix.contribution_bound
    if counts[cell] < 0:
        raise InputError(
            "Nobody is in this cell who could leave: add a person, or choose a fuller cell."
        )
    return FrequencyMatrix(counts, matrix.grid, matrix.contribution_bound, matrix.unit)


def leaf_at(release: Release, cell: tuple[int, int]) -> Ints:
    """The leaf that holds a cell, (2, 2) lower and upper in cells."""
    contains = (release.lower <= cell).all(axis=1) & (release.upper > cell).all(axis=1)
    at = int(np.flatnonzero(contains)[0])
    return np.stack([release.lower[at], release.upper[at]])


def draws_inside(release: Release, cells: Ints) -> Ints | None:
    """Budgets, in 10^-12 epsilon, of the draws whose sum answers a box (2, 2) of whole leaves.

    None for a box that cuts through a leaf, or leaves with several draws.
    """
    within = np.minimum(release.upper, cells[1]) - np.maximum(release.lower, cells[0])
    touched = (within > 0).all(axis=1)
    whole = (within == release.upper - release.lower).all(axis=1)
    spent = release.tree.spent[release.tree.leaves][touched]
    if not (whole | ~touched).all() or not ((spent > 0).sum(axis=1) == 1).all():
        return None
    return spent.sum(axis=1)


def exact_distributions(units: Ints, sensitivity: int, first: int, second: int) -> Distributions:
    """The distributions of two true counts plus the same sum of discrete Laplace draws.

    Parameters
    ----------
    units : (m,) budget of every draw, in 10^-12 epsilon
    sensitivity : records that one person brings
    first, second : true counts on D and on its neighbour
    """
    decay = np.asarray(units, dtype=np.float64) / (UNITS_PER_EPSILON * sensitivity)
    distribution = _sum_of_laplaces(decay)
    half_width = (len(distribution) - 1) // 2
    low = min(first, second) - half_width
    span = 2 * half_width + 1 + abs(second - first)
    one, other = np.zeros((2, span))
    for side, count in ((one, first), (other, second)):
        begin = count - half_width - low
        side[begin : begin + len(distribution)] = distribution
    visible = np.flatnonzero((one > SHOWN) & (other > SHOWN))
    window = slice(int(visible[0]), int(visible[-1]) + 1)
    one, other = one[window], other[window]
    if len(decay) == 1:
        # One draw: the exponents themselves, which no rounding has touched.
        at = low + np.arange(window.start, window.stop)
        ratio = decay[0] * (np.abs(at - first) - np.abs(at - second))
    else:
        ratio = np.log(other / one)
    edges: Floats = low + np.arange(window.start, window.stop + 1, dtype=np.float64) - 0.5
    largest = float(np.abs(ratio).max())
    return Distributions(edges, one, other, ratio, np.zeros(len(ratio)), largest, exact=True)


def histograms(first: Floats, second: Floats) -> Distributions:
    """Histograms of previews of D and of its neighbour, (runs,) each, with independent noise.

    Bins hold equally many of all outputs together. Where both sides have c and c' outputs the
    logarithm of their ratio has a standard error of sqrt(1/c + 1/c').
    """
    together = np.concatenate([first, second])
    edges = np.unique(np.quantile(together, np.linspace(0, 1, BINS + 1)))
    if len(edges) < 2:
        edges = np.array([edges[0] - 0.5, edges[0] + 0.5])
    one, other = np.histogram(first, edges)[0], np.histogram(second, edges)[0]
    enough = np.minimum(one, other) >= ENOUGH
    ratio, error = np.full((2, len(one)), np.nan)
    one_part, other_part = one / len(first), other / len(second)
    ratio[enough] = np.log(other_part[enough] / one_part[enough])
    error[enough] = np.sqrt(1 / one[enough] + 1 / other[enough])
    largest = float(np.nanmax(np.abs(ratio))) if enough.any() else math.nan
    bound = epsilon_bound(first[:, None], second[:, None], 0.05)
    return Distributions(
        edges, one_part, other_part, ratio, error, largest, False, runs=len(first), bound=bound
    )


def odds_factor(epsilon: float) -> float:
    """The most by which a map can change the odds of anything about one person: e^epsilon."""
    return math.exp(epsilon)


def belief_after(before: float, epsilon: float) -> float:
    """The highest probability that a belief of ``before`` (0 to 1) can become: odds times e^eps.

    >>> round(belief_after(0.5, 1.0), 3)
    0.731
    """
    odds = before / (1 - before) * odds_factor(epsilon) if before < 1 else math.inf
    return odds / (1 + odds) if math.isfinite(odds) else 1.0


def _sum_of_laplaces(decay: Floats) -> Floats:
    """Probabilities of a sum of independent draws around 0, see the module's text."""
    q = np.exp(-decay)
    sd = math.sqrt(float((2 * q / (1 - q) ** 2).sum()))
    if len(decay) == 1:
        # Until a single output is less likely than what is shown.
        half_width = max(math.ceil(-math.log(SHOWN * 1e-3) / float(decay[0])), 2)
        distribution: Floats = (
            (1 - q[0]) / (1 + q[0]) * q[0] ** np.abs(np.arange(-half_width, half_width + 1))
        )
        return distribution
    # Thirty scales of the widest draw in addition: what wraps round is below any digit shown.
    half_width = math.ceil(12 * sd + 30 / float(decay.min()))
    size = 2 ** math.ceil(math.log2(2 * half_width + 1))
    t = 2 * np.pi * np.arange(size // 2 + 1) / size
    log_phi = np.zeros(len(t))
    for rate, times in zip(*np.unique(q, return_counts=True), strict=True):
        # 1 - 2 q cos t + q^2 written without cancellation near t = 0.
        log_phi += times * -np.log1p(4 * rate * np.sin(t / 2) ** 2 / (1 - rate) ** 2)
    distribution = np.roll(np.fft.irfft(np.exp(log_phi), size), half_width)[: 2 * half_width + 1]
    return np.maximum(distribution, 0.0)
