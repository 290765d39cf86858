"""Figures of a round against closed forms, the reference, and each other."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.stats import binom, nbinom

from explorer.errors import InputError
from explorer.federated import calibration
from explorer.federated.audit import log_probability
from explorer.federated.protocol import Protocol
from explorer.releases.units import to_units


def test_golden_values_of_the_noise() -> None:
    assert calibration.sigma(1.0) == pytest.approx(1.3569624860015788, rel=1e-14)
    assert calibration.epsilon_of(100.0) == pytest.approx(0.014142017775252324, rel=1e-14)
    assert calibration.epsilon_of(0.001) == pytest.approx(14.508658738523469, rel=1e-14)
    assert calibration.epsilon_of(1e8) == pytest.approx(1.4142135623730949e-08, rel=1e-14)
    # S: as if epsilon were divided among so many.
    assert calibration.sigma(1.0, 16) == pytest.approx(calibration.sigma(1 / 16), rel=1e-14)


def test_the_reference_agrees(reference_data) -> None:
    rows = json.loads(reference_data("federated/dropout_epsilon.json").read_text())["rows"]
    for row in rows:
        loss = calibration.epsilon_of_fewer(row["eps"], row["a"])
        assert loss == pytest.approx(row["loss"], abs=1e-6)
    parts = [(0.0, 0.1), (0.05, 0.05), (0.05, 0.1), (0.1, 0.1), (0.2, 0.1), (1 / 3, 1 / 3)]
    for size, *pairs in json.loads(reference_data("federated/graph.json").read_text())["rows"]:
        for (corrupt, dropped), pair in zip(parts, pairs, strict=True):
            assert calibration.neighbours(size, dropped, corrupt) == tuple(pair)


def test_fewer_shares_cost_what_the_note_says() -> None:
    for epsilon, part, loss in ((0.5, 0.9, 0.586), (0.1, 0.5, 0.606), (0.001, 0.1, 2.201)):
        assert calibration.epsilon_of_fewer(epsilon, part) == pytest.approx(loss, abs=5e-4)
        assert calibration.epsilon_of_fewer(epsilon, 1.2) == epsilon
        # Continuous at 1, where the closed form becomes epsilon itself.
        assert calibration.epsilon_of_fewer(epsilon, 1 - 1e-9) == pytest.approx(epsilon, rel=1e-6)


def test_below_a_half_no_epsilon_removes_the_floor() -> None:
    assert calibration.floor_of_fewer(0.3) == pytest.approx(math.log(7 / 3))
    assert calibration.epsilon_of_fewer(1e-9, 0.3) == pytest.approx(math.log(7 / 3), abs=1e-3)
    assert calibration.epsilon_of_fewer(1e-9, 0.6) < 0.05
    assert calibration.floor_of_fewer(0.6) == 0


@pytest.mark.parametrize("part", [0.3, 0.8])
def test_the_loss_is_largest_between_zero_and_one(part: float) -> None:
    z = np.arange(-300, 301)
    log = log_probability(z, part, to_units(0.5))
    assert np.exp(log).sum() == pytest.approx(1, abs=1e-12)
    worst = np.abs(np.diff(log)).max()
    assert worst == pytest.approx(calibration.epsilon_of_fewer(0.5, part), rel=1e-9)


def test_survivors_and_honest_ones() -> None:
    assert [calibration.fewest(n, 0.1) for n in (100, 1000, 10_000)] == [77, 862, 8880]
    assert calibration.honest(10_000, 0.1, 0.05) == 8380
    assert calibration.fewest(1000, 0.0) == 1000
    with pytest.raises(InputError, match="make shards larger"):
        calibration.honest(5, 0.3, 0.1)


@pytest.mark.parametrize("dropped", [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.9])
def test_one_shard_in_ten_thousand_is_refused_at_most(dropped: float) -> None:
    for size in (*range(2, 400), 1_000, 10_000, 1_000_000):
        fewest = calibration.fewest(size, dropped)
        # Only where a single survivor is asked for, a shard of nobody may be likelier.
        assert fewest == 1 or binom.cdf(fewest - 1, size, 1 - dropped) <= 1e-4


@pytest.mark.parametrize(("asked", "size"), [(10, 3), (10_001, 10_000), (999_999, 10_000), (5, 9)])
def test_no_shard_is_short(asked: int, size: int) -> None:
    number = calibration.shards(asked, size)
    starts = calibration.shard_of(asked, number)
    sizes = np.diff(starts)
    assert starts[0] == 0
    assert starts[-1] == asked
    assert sizes.max() <= size
    # The calibration is for the smallest, floor(s / K); with ceil the last would be refused.
    assert sizes.min() == asked // number
    assert sizes.max() - sizes.min() <= 1
    person = np.arange(asked)
    assert np.array_equal(np.repeat(np.arange(number), sizes), person * number // asked)


def exact_tail(epsilon: float, shape: float, k: int) -> float:
    """P(X - Y >= k) of negative binomials, summed over all Y that matter."""
    q = math.exp(-epsilon)
    y = np.arange(int(60 / epsilon + 40 * shape / epsilon))
    return float(np.sum(nbinom.pmf(y, shape, 1 - q) * nbinom.sf(k + y - 1, shape, 1 - q)))


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 4.0])
@pytest.mark.parametrize("shape", [1.0, 1.05, 1.193, 1.5, 2.7, 10.0])
def test_the_bits_hold_noise_of_any_shape_and_no_more(epsilon: float, shape: float) -> None:
    low = calibration.lowest(epsilon, 64, 3, 1, shape)
    chance = [2 * 64 * 3 * exact_tail(epsilon, shape, k) for k in (low + 1, low)]
    assert chance[0] <= calibration.OVERFLOW
    # Near shape 1 the bound is exact; at 10 it may be one too many.
    assert chance[1] > calibration.OVERFLOW * (1 if shape < 10 else math.exp(-epsilon))


def test_the_bound_for_one_shape_alone_was_too_low_for_others() -> None:
    # ceil(ln(2 v K / 1e-9) / epsilon) of the build note, in a shard half of whom may drop out.
    note = math.ceil(math.log(2 * 64 / 1e-9))
    assert 2 * 64 * exact_tail(1.0, 1.0, note + 1) < 1e-9
    assert 2 * 64 * exact_tail(1.0, 2.7, note + 1) > 5e-9
    plan = Protocol(1000, 0.5, 0.05).round(1000, to_units(1.0), 64)
    assert 1000 / plan.honest > 2
    assert 2 * 64 * exact_tail(1.0, 1000 / plan.honest, plan.low + 1) <= calibration.OVERFLOW


def test_neighbours_are_those_of_trying_every_even_degree() -> None:
    # From a loop over k = 2, 4, 6, .. without steps in between, which took seconds for the last.
    tried = {
        (50, 0.0, 0.0): (2, 2),
        (60, 0.3, 0.3): (38, 19),
        (350, 0.45, 0.2): (172, 63),
        (777, 0.05, 0.4): (98, 76),
        (1000, 0.9, 0.05): (804, 51),
        (100_000, 0.1, 0.05): (52, 24),
        (5000, 0.6, 0.3): (2574, 904),
        (20_000, 0.6, 0.3): (4362, 1533),
    }
    assert {case: calibration.neighbours(*case) for case in tried} == tried


@pytest.mark.parametrize("size", [2, 3, 4, 5, 8, 12, 20, 30])
def test_small_shards_have_neighbours_too(size: int) -> None:
    for dropped in (0.0, 0.1, 0.3):
        for corrupt in (0.0, 0.05, 0.2):
            degree, threshold = calibration.neighbours(size, dropped, corrupt)
            assert 1 <= threshold <= degree < size
            assert degree % 2 == 0 or degree == size - 1


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
