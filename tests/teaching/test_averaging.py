"""The averaging attack: its average, its standard error, its price."""

import numpy as np
import pytest

from explorer import UG, exact
from explorer.releases.units import laplace_variance, to_units
from explorer.teaching import averaging
from explorer.teaching.previews import answers
from tests.helpers import city


def test_mean_and_error_are_those_of_numpy_at_every_length() -> None:
    values = np.random.default_rng(1).normal(1e7, 3, 40)
    found = averaging.attack(values, 0.1)
    for n in (2, 7, 40):
        assert found.mean[n - 1] == pytest.approx(values[:n].mean(), rel=1e-13)
        error = values[:n].std(ddof=1) / np.sqrt(n)
        assert found.error[n - 1] == pytest.approx(error, rel=1e-6)
    assert np.isnan(found.error[0])


def test_so_many_redraws_are_within_a_half_95_times_in_100() -> None:
    n = averaging.redraws_to_know(10.0)
    assert 10 / np.sqrt(n) * 1.96 <= 0.5 < 10 / np.sqrt(n - 1) * 1.96


@pytest.mark.statistical
def test_the_average_of_previews_closes_in_on_the_truth_at_that_rate() -> None:
    matrix = city()
    box = [[16, 24, 24, 32]]
    true, sd = exact(matrix, box)[0], np.sqrt(laplace_variance(np.array([to_units(0.5)]), 1)[0])
    given = answers(UG(epsilon=0.5, grid_size=8), matrix, box, range(400))[:, 0]
    found = averaging.attack(given, 0.5)
    for n in (25, 100, 400):
        expected = sd / np.sqrt(n)
        assert abs(found.mean[n - 1] - true) < 4 * expected
        # An estimated standard deviation is off by about 1 / sqrt(2 n), more for long tails.
        assert found.error[n - 1] == pytest.approx(expected, rel=6 / np.sqrt(2 * n))
