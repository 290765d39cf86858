"""Budgets as whole numbers, so that nothing hangs on a float's last bit."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
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
        first = np.append(0, np.flatnonzero(units[1:] != units[:-1]) + 1)
        if 4 * len(first) < len(units):
            distinct = laplace_variance(units[first], sensitivity)
            return np.repeat(distinct, np.diff(first, append=len(units)))
    if alike:
        one = _one_variance(int(units[0]), int(sensitivity))
        return np.broadcast_to(np.float64(one), len(units))
    return _variances(np.asarray(units), sensitivity)


@lru_cache(maxsize=1024)
def _one_variance(units: int, sensitivity: int) -> float:
    """As `laplace_variance`, of one budget; the number is kept, and no array that is handed out."""
    return float(_variances(np.array([units], dtype=np.int64), sensitivity)[0])


def _variances(units: NDArray[np.int64], sensitivity: int) -> NDArray[np.float64]:
    """As `laplace_variance`, each reckoned by itself."""
    half = units / (2.0 * UNITS_PER_EPSILON * sensitivity)
    variance: NDArray[np.float64] = 0.5 / np.sinh(np.minimum(half, 300.0)) ** 2
    return variance
