"""Lower bounds on epsilon hold, and see what they can see."""

import numpy as np
import pytest
from scipy import stats

from explorer.privacy.audit.bounds import (
    clopper_pearson,
    epsilon_bound,
    primitive_bounds,
)
from explorer.privacy.noise import PreviewNoise


def geometric(rng: np.random.Generator, epsilon: float, runs: int) -> np.ndarray:
    p = 1 - np.exp(-epsilon)
    return (rng.geometric(p, (runs, 1)) - rng.geometric(p, (runs, 1))).astype(float)


@pytest.mark.parametrize(("hits", "runs"), [(0, 10), (3, 10), (10, 10), (500, 1000)])
def test_clopper_pearson_is_the_exact_interval(hits: int, runs: int) -> None:
    low, high = stats.binomtest(hits, runs).proportion_ci(0.99, "exact")
    assert clopper_pearson(hits, runs, 0.01) == pytest.approx((low, high), abs=1e-12)


@pytest.mark.statistical
def test_bounds_stay_below_the_truth() -> None:
    rng, epsilon = np.random.default_rng(1), 1.0
    bounds = [
        epsilon_bound(geometric(rng, epsilon, 2000), geometric(rng, epsilon, 2000) + 1, 0.02)
        for _ in range(200)
    ]
    # 200 bounds, each too high with probability 0.02 at most: ten too many has p < 0.01.
    assert sum(bound > epsilon for bound in bounds) <= 9
    # Measured power: with a thousand runs a side the median bound is near 0.6.
    assert np.median(bounds) > 0.4


@pytest.mark.statistical
def test_a_budget_doubled_is_seen() -> None:
    rng = np.random.default_rng(2)
    assert epsilon_bound(geometric(rng, 2, 20_000), geometric(rng, 2, 20_000) + 1, 1e-3) > 1.5


def test_whichever_side_and_feature_gives_it_away() -> None:
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(1000, 2))
    same = np.zeros((1000, 1))
    some = (rng.random((1000, 1)) < 0.4).astype(float)
    one, other = np.hstack([noise, same]), np.hstack([noise[::-1], some])
    assert epsilon_bound(one, other, 1e-3) > 3
    assert epsilon_bound(other, one, 1e-3) > 3
    assert epsilon_bound(one, one[::-1], 1e-3) == 0


@pytest.mark.statistical
def test_right_primitives_keep_their_epsilon_and_sharp_ones_do_not() -> None:
    class Sharp(PreviewNoise):
        """Noise for twice the budget."""

        def laplace(self, values, sensitivity, units, keys, stage):
            return super().laplace(values, sensitivity, 2 * units, keys, stage)

        def lowest(self, costs, offsets, sensitivity, units, keys, stage):
            return super().lowest(costs, offsets, sensitivity, 2 * units, keys, stage)

    right = primitive_bounds(PreviewNoise(1), 50_000, 50_000, 1e-4)
    assert set(right) == {"counts", "decisions", "choices"}
    assert all(0.5 < bound <= 1 for bound in right.values())
    sharp = primitive_bounds(Sharp(1), 50_000, 50_000, 1e-4)
    assert all(bound > 1 for bound in sharp.values())
