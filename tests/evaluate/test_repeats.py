"""Repeated previews: their distribution, their noise, and what is said of them."""

import numpy as np
import pytest

from explorer import UG, Identity, InputError, exact
from explorer.evaluate.repeats import Spread, repeats, seed_of
from explorer.releases.units import laplace_variance, to_units
from tests.helpers import city

RUNS = 600
#: Box of 12 x 16 cells, and how many draws its answer adds up.
BOX = [[16, 8, 32, 20]]


@pytest.mark.parametrize(
    ("made", "draws"), [(Identity(epsilon=0.5), 192), (UG(epsilon=0.5, grid_size=16), 12)]
)
def test_mean_and_spread_are_those_of_the_noise(made, draws) -> None:
    matrix = city()
    answers = np.array(list(repeats(matrix, made, BOX, RUNS)))[:, 0]
    # Both answer this box from whole pieces, so without error but the noise of so many draws.
    variance = draws * float(laplace_variance(np.array([to_units(0.5)]), 1)[0])
    standard_error = np.sqrt(variance / RUNS)
    assert answers.mean() == pytest.approx(exact(matrix, BOX)[0], abs=4.5 * standard_error)
    # A Laplace draw has excess kurtosis 3, the sum of n of them 3 / n; the discrete law has a
    # little less than 3 more than its share of the second moment, hence 4.
    error_of_variance = variance * np.sqrt((2 + 4 / draws) / RUNS)
    assert answers.var(ddof=1) == pytest.approx(variance, abs=4.5 * error_of_variance)


def test_the_dice_of_every_run_are_others_and_come_again() -> None:
    seeds = [seed_of(run) for run in range(1000)]
    assert len(set(seeds)) == 1000
    assert min(seeds) > 2**31
    matrix, made = city((16, 16), 500), Identity(epsilon=1.0)
    few = list(repeats(matrix, made, BOX, 3))
    more = list(repeats(matrix, made, BOX, 5))
    np.testing.assert_array_equal(few, more[:3])
    expected = made.release(matrix, rng=seed_of(4)).answer(BOX).value
    np.testing.assert_array_equal(more[4], expected)


def test_the_spread_counts_what_is_close() -> None:
    answers = [[95, 3.0], [100, 0.0], [105.1, -2.0], [111, 1.0]]
    spread = Spread.of(answers, [100, 0])
    assert spread.median == pytest.approx([102.55, 0.5])
    assert spread.within_5[0] == 0.5
    assert spread.within_10[0] == 0.75
    assert np.isnan([spread.within_5[1], spread.within_10[1]]).all()
    thousand = Spread.of(np.arange(1, 1002)[:, None], [500])
    assert (thousand.low[0], thousand.high[0]) == pytest.approx((26, 976))


@pytest.mark.parametrize("runs", [0, -3, 10_001])
def test_an_impossible_number_of_runs_is_one_sentence(runs) -> None:
    with pytest.raises(InputError, match="give 1 to 10,000"):
        list(repeats(city(), Identity(), BOX, runs))
