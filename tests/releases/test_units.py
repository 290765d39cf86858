"""Variances of noise: the same numbers however many budgets are given, alike or in runs."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.releases.nodes import MANY
from explorer.releases.units import UNITS_PER_EPSILON, laplace_variance


def one_by_one(units: np.ndarray, sensitivity: int) -> np.ndarray:
    """The documented formula."""
    half = units / (2.0 * UNITS_PER_EPSILON * sensitivity)
    return 0.5 / np.sinh(np.minimum(half, 300.0)) ** 2


@pytest.mark.parametrize("number", [0, 1, MANY, MANY + 1, 5 * MANY])
@pytest.mark.parametrize("length", [1, 7, 10**6])
def test_runs_of_equal_budgets(number: int, length: int) -> None:
    rng = np.random.default_rng(3)
    units = np.repeat(rng.integers(1, 10**13, number // length + 1), length)[:number]
    units.flags.writeable = False
    np.testing.assert_array_equal(laplace_variance(units, 3), one_by_one(units, 3))
    alike = np.broadcast_to(np.int64(7 * 10**10), number)
    np.testing.assert_array_equal(laplace_variance(alike, 3), one_by_one(alike, 3))
