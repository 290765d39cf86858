"""The law that the audit goes by is the law that is drawn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import nbinom

from explorer.federated.loss import log_probability
from explorer.releases.units import to_units


def test_a_whole_shape_is_discrete_laplace_noise() -> None:
    z = np.arange(-60, 61)
    for epsilon in (0.01, 0.5, 3.0):
        q = np.exp(-epsilon)
        wanted = np.log((1 - q) / (1 + q)) + np.abs(z) * np.log(q)
        assert log_probability(z, 1.0, to_units(epsilon)) == pytest.approx(wanted, abs=1e-9)
    # S divides epsilon.
    assert log_probability(z, 1.0, to_units(8.0), 16) == pytest.approx(
        log_probability(z, 1.0, to_units(0.5)), abs=1e-12
    )


@pytest.mark.parametrize("shape", [0.3, 0.9, 1.25, 2.67])
def test_other_shapes_are_the_convolution(shape: float) -> None:
    p, k = -np.expm1(-0.7), np.arange(400)
    one = nbinom.pmf(k, shape, p)
    wanted = np.convolve(one, one[::-1])[399 - 30 : 399 + 31]
    made = np.exp(log_probability(np.arange(-30, 31), shape, to_units(0.7)))
    assert made == pytest.approx(wanted, rel=1e-9)


def test_more_noise_never_costs_more() -> None:
    z = np.arange(-200, 201)
    for shape in (1.0, 1.2, 3.0):
        steps = np.abs(np.diff(log_probability(z, shape, to_units(0.5))))
        assert steps.max() <= 0.5 + 1e-9
