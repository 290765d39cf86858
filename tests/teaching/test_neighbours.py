"""One person more or less: exact distributions against what is known, histograms, odds."""

import math

import numpy as np
import pytest

from explorer import UG, FrequencyMatrix
from explorer.releases.units import laplace_variance, to_units
from explorer.teaching import neighbours
from tests.helpers import city


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0])
def test_one_draw_with_the_whole_budget_uses_up_epsilon_exactly(epsilon) -> None:
    laws = neighbours.exact_distributions(np.array([to_units(epsilon)]), 1, 141, 142)
    assert laws.exact
    assert laws.largest == pytest.approx(epsilon, rel=1e-12)
    # Below both counts the neighbour is less likely by e^-epsilon, above both more by e^epsilon.
    np.testing.assert_allclose(np.abs(laws.ratio), epsilon, rtol=1e-12)
    assert laws.ratio[0] < 0 < laws.ratio[-1]


def test_the_law_of_a_sum_has_its_variance_and_that_of_two_is_their_convolution() -> None:
    units = np.array([to_units(0.3), to_units(0.8)])
    laws = neighbours.exact_distributions(units, 1, 0, 1)
    z = ((laws.edges[:-1] + laws.edges[1:]) / 2).round().astype(int)
    wide = np.arange(-400, 401)

    def law(a: float) -> np.ndarray:
        q = math.exp(-a)
        return (1 - q) / (1 + q) * q ** np.abs(wide)

    both = np.convolve(law(0.3), law(0.8))
    np.testing.assert_allclose(laws.first, both[z + 800], rtol=1e-6)
    variance = laplace_variance(units, 1).sum()
    # What is cut off below a probability of 1e-6 is the only difference.
    assert (laws.first * z**2).sum() == pytest.approx(variance, rel=1e-3)
    assert laws.largest < 0.3


def test_a_user_with_several_records_moves_the_count_by_all_of_them() -> None:
    matrix = FrequencyMatrix.from_array(np.full((4, 4), 9), contribution_bound=3)
    more = neighbours.neighbour(matrix, (1, 2), 1)
    assert more.counts[1, 2] == 12
    laws = neighbours.exact_distributions(np.array([to_units(0.9)]), 3, 9, 12)
    assert laws.largest == pytest.approx(0.9, rel=1e-12)


def test_a_box_that_cuts_through_a_leaf_has_no_law() -> None:
    release = UG(epsilon=1.0, grid_size=8).release(city(), rng=0)
    assert len(neighbours.draws_inside(release, np.array([[0, 0], [8, 16]]))) == 2
    assert neighbours.draws_inside(release, np.array([[0, 0], [8, 12]])) is None


@pytest.mark.statistical
def test_histograms_of_a_known_law_stay_near_it() -> None:
    rng = np.random.default_rng(5)
    q = math.exp(-0.5)

    def draw() -> np.ndarray:
        return (rng.geometric(1 - q, 20_000) - rng.geometric(1 - q, 20_000)).astype(float)

    laws = neighbours.histograms(100 + draw(), 101 + draw())
    good = np.isfinite(laws.ratio)
    # No bin's true ratio passes epsilon; five standard errors for the largest of sixteen.
    assert np.all(np.abs(laws.ratio[good]) < 0.5 + 5 * laws.error[good])
    # What can be proved is less than what is true, and here more than nothing.
    assert 0 < laws.bound < 0.5
    assert not laws.exact
    assert laws.first.sum() == pytest.approx(1)


def test_odds_change_by_at_most_e_to_the_epsilon() -> None:
    assert neighbours.odds_factor(0.5) == pytest.approx(1.6487, rel=1e-4)
    # Two to one becomes at most 3.3 to one, as the first lesson says.
    assert neighbours.belief_after(2 / 3, 0.5) == pytest.approx(0.767, abs=5e-4)
    assert neighbours.belief_after(1.0, 0.5) == 1.0
    assert neighbours.belief_after(0.0, 5.0) == 0.0
