"""The exact distributions against sums over outcomes and orders; the tests against wrong noise."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from explorer.privacy.audit import distributions
from explorer.privacy.audit.bounds import (
    clopper_pearson,
    epsilon_bound,
    primitive_bounds,
)
from explorer.privacy.noise import PreviewNoise
from explorer.releases.units import to_units

N = 60_000
KEYS = np.arange(N, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def noise(a: float, seed: int = 1) -> np.ndarray:
    zero, units = np.zeros(N, dtype=np.int64), np.full(N, to_units(a))
    return PreviewNoise(seed).laplace(zero, 1, units, KEYS, "test")


def by_orders(costs: list[int], a: float) -> np.ndarray:
    """Permute-and-flip as it is defined: over all orders, accept each with its weight."""
    weights = np.exp(-a * (np.array(costs) - min(costs)) / 2)
    found = np.zeros(len(costs))
    orders = list(permutations(range(len(costs))))
    for order in orders:
        left = 1 / len(orders)
        for i in order:
            found[i] += left * weights[i]
            left *= 1 - weights[i]
    return found


def probabilities(costs: list[int], a: float) -> np.ndarray:
    k, rest = distributions.selection(np.array(costs), a)
    return np.exp(k * a / 2 + rest)


@pytest.mark.parametrize("a", [0.01, 0.7, 4.0])
@pytest.mark.parametrize("gap", [-7, -1, 0, 1, 5])
def test_a_decision_has_the_probability_of_its_outcomes(a: float, gap: int) -> None:
    q = math.exp(-a)
    z = np.arange(-6000, 6001)
    law = (1 - q) / (1 + q) * q ** np.abs(z)
    k, rest = distributions.decision(10, 10 + gap, a, True)
    assert math.exp(k * a + rest) == pytest.approx(law[z > gap].sum(), rel=1e-12)
    k, rest = distributions.decision(10, 10 + gap, a, False)
    assert math.exp(k * a + rest) == pytest.approx(law[z <= gap].sum(), rel=1e-12)


def test_decisions_far_out_differ_by_whole_numbers() -> None:
    # 10^9 scales out, floats would have lost the difference of one.
    k, rest = distributions.decision(0, 10**9, 2.0, True)
    other_k, other_rest = distributions.decision(1, 10**9, 2.0, True)
    assert (other_k - k, other_rest - rest) == (1, 0.0)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=5), st.floats(0.01, 8))
def test_selection_is_permute_and_flip(costs: list[int], a: float) -> None:
    assert probabilities(costs, a) == pytest.approx(by_orders(costs, a), rel=1e-12)


@pytest.mark.parametrize("n", [31, 32, 500])
def test_probabilities_of_a_selection_add_up(n: int) -> None:
    costs = np.random.default_rng(n).integers(0, 50, n).tolist()
    for a in (0.001, 1.0, 20.0):
        assert probabilities(costs, a).sum() == pytest.approx(1, rel=1e-12)


def test_hopeless_candidates_have_a_probability_too() -> None:
    k, rest = distributions.selection(np.array([0, 10**7]), 3.0)
    assert k.tolist() == [0, -(10**7)]
    # The other one accepts always: it must come second, half of the time.
    assert math.exp(rest[1]) == pytest.approx(0.5, rel=1e-12)


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(-1, 1)), min_size=1, max_size=40),
    st.floats(0.01, 8),
)
def test_selection_keeps_its_epsilon(moves: list[tuple[int, int]], a: float) -> None:
    costs = np.array([cost for cost, _ in moves])
    other = costs + [step for _, step in moves]
    (k, rest), (other_k, other_rest) = (
        distributions.selection(costs, a),
        distributions.selection(other, a),
    )
    loss = (k - other_k) * a / 2 + rest - other_rest
    assert np.abs(loss).max() <= a * (1 + 1e-12) + 1e-13


@pytest.mark.statistical
def test_tests_of_counts_pass_right_noise_and_fail_a_scale_off_by_a_tenth() -> None:
    for a in (0.1, 0.7):
        assert distributions.laplace_p_value(noise(a), a) > 1e-3
        assert distributions.laplace_p_value(noise(a / 1.1), a) < 1e-9
        assert distributions.laplace_p_value(noise(a * 1.1), a) < 1e-9


@pytest.mark.statistical
def test_tests_of_decisions_and_selections_tell_right_from_wrong() -> None:
    units = np.full(N, to_units(1))
    source, costs = PreviewNoise(2), np.array([3, 0, 1])
    passed = source.above(np.zeros(N, dtype=np.int64), 1, 1, units, KEYS, "test")
    assert distributions.decision_p_value(passed, 0, 1, 1.0) > 1e-3
    assert distributions.decision_p_value(passed, 0, 1, 1.1) < 1e-9
    offsets = np.arange(N + 1) * 3
    chosen = source.lowest(np.tile(costs, N), offsets, 1, units, KEYS, "test")
    assert distributions.selection_p_value(chosen, costs, 1.0) > 1e-3
    assert distributions.selection_p_value(chosen, costs, 1.1) < 1e-9


@pytest.mark.statistical
def test_noise_of_many_scales_becomes_uniform() -> None:
    rng = np.random.default_rng(3)
    a = np.exp(rng.uniform(np.log(0.01), np.log(5), N))
    units = np.array([to_units(each) for each in a])
    draws = PreviewNoise(4).laplace(np.zeros(N, dtype=np.int64), 1, units, KEYS, "test")
    u = distributions.uniforms(draws, a, rng)
    assert u.min() >= 0
    assert u.max() <= 1
    assert distributions.uniform_p_value(u) > 1e-3
    assert distributions.uniform_p_value(distributions.uniforms(draws, 1.1 * a, rng)) < 1e-9


@pytest.mark.statistical
def test_shared_noise_is_seen_though_each_draw_is_right() -> None:
    twice = np.repeat(noise(0.1)[:1000], 2)
    u = distributions.uniforms(twice, np.full(2000, 0.1), np.random.default_rng(5))
    assert distributions.uniform_p_value(u) < 1e-9


def test_one_rare_choice_is_no_breach() -> None:
    """Of 500 choices at epsilon 7.9 the third is expected .2 times: once is no proof."""
    costs = np.array([5, 1, 2, 9])
    k, rest = distributions.selection(costs, 7.9 / 2)
    chance = np.exp(k * 7.9 / 4 + rest)
    seen = np.full(500, 1)
    seen[: round(500 * float(chance[2]))] = 2
    seen[-1] = 0
    assert chance[0] * 500 < 1
    assert distributions.selection_p_value(seen, costs, 7.9 / 2) > 0.01
    # Many of them are.
    seen[-40:] = 0
    assert distributions.selection_p_value(seen, costs, 7.9 / 2) < 1e-6


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
