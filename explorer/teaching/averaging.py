"""The averaging attack: the same question to n fresh maps, and what the average gives away.

Answers of independent releases with standard deviation s have a mean with standard error
s / sqrt(n), while the budget spent grows to n epsilon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.releases.answers import Z95
from explorer.releases.units import to_epsilon, to_units

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Attack:
    """What an attacker knows after n redraws.

    Attributes
    ----------
    answers : (n,) one answer of each release
    mean : (n,) average of the first 1, 2, ..., n answers
    error : (n,) its standard error, from the answers so far; NaN for one answer
    spent : float
        epsilon of all n releases together.
    """

    answers: Floats
    mean: Floats
    error: Floats
    spent: float

    def __len__(self) -> int:
        return len(self.answers)


def attack(answers: ArrayLike, epsilon: float) -> Attack:
    """The running average of ``answers`` (n,), each from a release of its own with ``epsilon``."""
    values = np.asarray(answers, dtype=np.float64)
    if values.ndim != 1 or not len(values):
        raise InputError("There is no answer yet: draw at least one map.")
    n = np.arange(1, len(values) + 1)
    mean = np.cumsum(values) / n
    # About the first answer: sums of squares of large counts would lose the digits that differ.
    about = values - values[0]
    squares = np.cumsum(about**2) - np.cumsum(about) ** 2 / n
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.sqrt(np.maximum(squares, 0.0) / (n - 1) / n)
    error[0] = np.nan
    return Attack(values, mean, error, spent(len(values), epsilon))


def spent(n: int, epsilon: float) -> float:
    """Epsilon of n releases of the same people, added up without rounding.

    >>> spent(3, 0.1)
    0.3
    """
    return to_epsilon(n * to_units(epsilon))


def redraws_to_know(sd: float, within: float = 0.5) -> int:
    """Redraws after which the average is within ``within`` of its limit 95 times in 100.

    Within a half, rounding the average gives the limit itself: n = (Z95 sd / within)^2.

    >>> redraws_to_know(10.0)
    1537
    """
    return max(1, math.ceil((Z95 * sd / within) ** 2))
