"""Budgets as whole numbers, so that nothing hangs on a float's last bit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.releases.nodes import MANY

UNITS_PER_EPSILON = 10**12
"""One unit is 10^-12 epsilon."""

UNITS_OF_PRIVACY = ("point", "user", "client")
"""Of what one more or one less makes two data sets neighbours."""


def to_units(epsilon: float | str | Fraction) -> int:
    """Epsilon in whole units, rounded down from its decimal form (0.1 is exactly 10^11 units).

    >>> to_units(0.1), to_units("0.3") - to_units(0.1) - to_units(0.2)
    (100000000000, 0)
    """
    exact = epsilon if isinstance(epsilon, Fraction) else Fraction(str(epsilon))
    return int(exact * UNITS_PER_EPSILON)


def to_epsilon(units: int) -> float:
    """Units as an epsilon, for people to read."""
    return int(units) / UNITS_PER_EPSILON  # Python rounds the exact quotient


def share(units: int, part: float) -> int:
    """The given part (0 to 1) of a budget, rounded down."""
    return int(Fraction(str(part)) * units)


def laplace_variance(units: NDArray[np.int64], sensitivity: int) -> NDArray[np.float64]:
    """Variance of discrete Laplace noise of scale sensitivity / epsilon, elementwise.

    P(z) = (1 - q) / (1 + q) q^|z| with q = exp(-epsilon / sensitivity) has variance
    2 q / (1 - q)^2 = 1 / (2 sinh(epsilon / (2 sensitivity))^2), which tends to
    2 sensitivity^2 / epsilon^2 (Ghosh, Roughgarden, Sundararajan 2009).
    """
    # Large measurements mostly pay alike.
    alike = len(units) > MANY and (units.strides == (0,) or units.min() == units.max())
    if len(units) > MANY and not alike:
        # Neighbours of others nearly always do.
        first = np.empty(len(units), dtype=np.int64)
        first = first[: _runs(units, first)]
        if 4 * len(first) < len(units):
            found = np.empty(len(units))
            _spread(laplace_variance(units[first], sensitivity), first, found)
            return found
    half = np.asarray(units[:1] if alike else units) / (2.0 * UNITS_PER_EPSILON * sensitivity)
    variance: NDArray[np.float64] = 0.5 / np.sinh(np.minimum(half, 300.0)) ** 2
    return np.broadcast_to(variance, len(units)) if alike else variance


@njit(cache=True, nogil=True)
def _runs(values, first):  # type: ignore[no-untyped-def]
    """Fill in where runs of equal values begin; returns how many there are."""
    number = 0
    for i in range(len(values)):
        # Without a branch: where they begin cannot be foreseen.
        first[number] = i
        number += i == 0 or values[i] != values[i - 1]
    return number


@njit(cache=True, nogil=True)
def _spread(each, first, found):  # type: ignore[no-untyped-def]
    """Fill in the value of each run."""
    for run in range(len(first)):
        end = first[run + 1] if run + 1 < len(first) else len(found)
        for i in range(first[run], end):
            found[i] = each[run]
