"""The nearest counts without negative ones: against a solver, and what inference makes of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from explorer.releases.inference import least_squares, non_negative, project
from explorer.releases.transcript import Measurement, Transcript


@pytest.mark.parametrize("seed", range(6))
def test_the_nearest_counts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    z, variance = rng.normal(2, 8, 6), rng.uniform(0.5, 4, 6)
    total = float(rng.uniform(0.5, 20))
    x = np.empty(6)
    project(z, variance, total, x)
    assert x.min() >= 0
    assert x.sum() == pytest.approx(total)
    solved = minimize(
        lambda y: np.sum((y - z) ** 2 / variance),
        np.full(6, total / 6),
        jac=lambda y: 2 * (y - z) / variance,
        bounds=[(0, None)] * 6,
        constraints={"type": "eq", "fun": lambda y: y.sum() - total, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    np.testing.assert_allclose(x, solved.x, atol=1e-4)


def test_a_total_of_nothing_leaves_nothing() -> None:
    x = np.full(3, 9.0)
    project(np.array([3.0, -1, 2]), np.ones(3), 0.0, x)
    assert x.tolist() == [0, 0, 0]


def transcript(values: list[int]) -> Transcript:
    parent = np.array([-1, 0, 0, 1, 1, 2, 2])
    lower = np.array([[0], [0], [2], [0], [1], [2], [3]])
    upper = np.array([[4], [2], [4], [1], [2], [3], [4]])
    drawn = Measurement("all", np.arange(7), np.array(values), np.ones(7))
    spent = np.ones((7, 1), dtype=np.int64)
    return Transcript(lower, upper, parent, np.arange(7) > 2, ("all",), spent, (drawn,))


def test_what_is_positive_stays_least_squares() -> None:
    record = transcript([100, 50, 52, 30, 22, 28, 26])
    one, other = least_squares(record), non_negative(record)
    np.testing.assert_allclose(one.value, other.value)
    assert (one.linear, other.linear) == (True, False)


def test_counts_are_not_negative_and_add_up() -> None:
    found = non_negative(transcript([3, -8, 10, -5, 2, 12, -6]))
    assert found.value.min() >= 0
    assert least_squares(transcript([3, -8, 10, -5, 2, 12, -6])).value.min() < 0
    np.testing.assert_allclose(found.value[0], found.value[1:3].sum())
    np.testing.assert_allclose(found.value[1:3], found.value[3:].reshape(2, 2).sum(axis=1))
