"""Shares and thresholds against a convex solver and the papers' own figures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from explorer.privacy import allocation
from explorer.releases.units import to_epsilon, to_units


def solve(objective, total, size):
    """Minimise over positive vectors of a given sum, in the logarithm of shares."""

    def of(z):
        x = np.exp(z - z.max())
        return objective(total * x / x.sum())

    best = minimize(of, np.zeros(size), method="BFGS", options={"gtol": 1e-12})
    x = np.exp(best.x - best.x.max())
    return total * x / x.sum()


def test_geometric_shares_are_the_optimum_of_equation_16():
    h = 6
    shares = allocation.geometric(to_units(1), h) / 1e12
    best = solve(lambda e: np.sum(2.0 ** (h - np.arange(h + 1)) / e**2), 1.0, h + 1)
    assert shares == pytest.approx(best, rel=1e-4)
    printed = 2 ** ((h - np.arange(h + 1)) / 3) * (2 ** (1 / 3) - 1) / (2 ** ((h + 1) / 3) - 1)
    assert shares == pytest.approx(printed, abs=1e-11)


def test_fan_out_shares_are_those_of_equation_38():
    shares = allocation.fan_out(to_units(1), [1, 50, 3006, 19495]) / 1e12
    assert shares == pytest.approx([0.0217, 0.0800, 0.3135, 0.5847], abs=5e-5)
    n = np.array([1.0, 5, 30])
    best = solve(lambda e: np.sum(n / e**2), 1.0, 3)
    assert allocation.fan_out(to_units(1), [1, 5, 30]) / 1e12 == pytest.approx(best, rel=1e-4)


def test_thresholds_of_section_7_7():
    shares = allocation.geometric(to_units("0.084"), 15) / 1e12
    thresholds = allocation.stop_thresholds(shares, 3.5e6)
    assert thresholds[:5] == pytest.approx([61.6, 61.2, 56.4, 45.1, 24.1], abs=0.05)
    assert not thresholds[5:].any()


def test_closed_form_is_the_optimum_of_five_leaves():
    rates = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    ours = allocation.closed_form(rates, np.ones(5), 100.0)

    def objective(p):
        return np.sum(np.exp(-p * rates))

    assert ours == pytest.approx(solve(objective, 100.0, 5), rel=1e-4)
    # With the printed signs (erratum 11) the same sum gives a worse objective.
    wrong = -np.log(rates) / rates
    wrong += (100.0 + np.sum(np.log(rates) / rates)) / (rates * np.sum(1 / rates))
    assert objective(ours) < objective(wrong)


@given(st.integers(0, 10**13), st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=30))
def test_shares_never_pass_the_budget(units, weights):
    shares = allocation.proportional(units, weights)
    assert shares.sum() <= units
    assert shares.sum() >= units - 2 * len(weights) - units * 1e-12
    assert np.all(shares >= 0)


def test_units_are_exact_decimals():
    assert to_units(0.1) + to_units(0.2) == to_units(0.3)
    assert to_units("1e-12") == 1
    assert to_epsilon(to_units(0.3)) == 0.3
