"""Exponentials and logarithms in plain arithmetic, against the system's."""

import numpy as np
import pytest
from numba import njit

from explorer.releases.elementary import exp, log


@njit(error_model="numpy")
def exponentials(x, found):
    for i in range(len(x)):
        found[i] = exp(x[i])


@njit(error_model="numpy")
def logarithms(x, found):
    for i in range(len(x)):
        found[i] = log(x[i])


def of(function, x):
    found = np.empty_like(x)
    function(x, found)
    return found


@pytest.mark.parametrize("most", [708.0, 20.0, 1.0, 1e-3, 1e-12])
def test_both_are_right_to_a_few_parts_in_ten_to_the_sixteen(most):
    x = np.random.default_rng(1).uniform(-most, most, 100_000)
    np.testing.assert_allclose(of(exponentials, x), np.exp(x), rtol=4e-16)
    x = np.exp(x)
    np.testing.assert_allclose(of(logarithms, x), np.log(x), rtol=7e-16)


def test_ends_and_powers_of_two():
    x = np.array([0.0, -708.1, -1e4, -1e300, -np.inf])
    assert of(exponentials, x).tolist() == [1, 0, 0, 0, 0]
    powers = np.ldexp(1.0, np.arange(-1022, 1024))
    np.testing.assert_allclose(of(logarithms, powers), np.log(powers), rtol=4e-16)
    assert of(logarithms, np.array([1.0])).tolist() == [0.0]
