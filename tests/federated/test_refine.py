"""The threshold from measured unevenness."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.federated.refine import LEAST, MOST, UNKNOWN, expected, levels_down, unevenness
from explorer.releases.quarters import KeyTree


def test_unevenness_of_exact_groups() -> None:
    tree = KeyTree.even(4, 1)
    # Shares .4 .3 .2 .1: squares of deviations .0225 + .0025 + .0025 + .0225 = .05.
    sums = np.array([4e6, 3e6, 2e6, 1e6])
    found = unevenness(tree, sums, 0.0)
    assert found[1] == pytest.approx(0.05, rel=1e-5)
    assert found[0] == UNKNOWN
    assert np.all(found[2:] == found[1])


def test_unevenness_is_within_its_bounds() -> None:
    tree = KeyTree.even(3, 2)
    alike = np.full(16, 1e6)
    assert unevenness(tree, alike, 0.0)[2] == LEAST
    one = np.zeros(16)
    one[::4] = 1e6
    assert unevenness(tree, one, 0.0)[2] == pytest.approx(MOST, rel=1e-5)


def test_groups_that_lack_a_sibling_do_not_count() -> None:
    for missing in (4, 5, 7):
        tree = KeyTree.even(3, 1).without([missing])
        sums = np.arange(1.0, tree.v + 1) * 1000
        assert np.all(unevenness(tree, sums, 0.0) == UNKNOWN)


@pytest.mark.statistical
def test_unevenness_is_unbiased_under_noise_and_sampling() -> None:
    rng = np.random.default_rng(1)
    tree, sd = KeyTree.even(5, 4), 8.0
    share = np.tile([0.4, 0.3, 0.2, 0.1], 64)
    found = []
    for _ in range(300):
        sums = rng.poisson(share * 100).astype(np.float64)
        sums += rng.normal(0, sd, len(sums))
        found.append(unevenness(tree, sums, sd)[4])
    mean, error = np.mean(found), np.std(found) / np.sqrt(len(found))
    # A ratio of means over 64 groups: its own bias is below a twentieth of its value.
    assert abs(mean - 0.05) < 4 * error + 0.0025
    # Without the correction noise would be taken for streets: about (.05 P^2 + 3 sd^2 + 3 P / 4)
    # / (P^2 + 4 sd^2 + P) = .15 at P = 100 and sd 20, four times the truth's own spread above it.
    noisy = rng.poisson(share * 100) + rng.normal(0, 20.0, 256)
    assert unevenness(tree, noisy, 0.0)[4] > 0.1


def test_trends_go_on_and_never_rise() -> None:
    found = expected(np.array([0.3, 0.3, 0.15, 0.6, 0.01]))
    assert found == pytest.approx([0.3, 0.3, 0.075, 0.6, 0.0025])


def test_what_is_uneven_is_divided_and_what_is_even_is_not() -> None:
    tree = KeyTree.even(6, 2)
    uneven = np.tile([900.0, 50.0, 30.0, 20.0], 4)
    even = np.full(16, 250.0)
    assert levels_down(tree, uneven, 1.0, uneven, 1.0).max() >= 1
    assert levels_down(tree, even, 1.0, even, 1.0).max() == 0
    # Next to sums with much noise nothing pays.
    assert levels_down(tree, uneven, 1.0, uneven, 1e4).max() == 0


def test_levels_follow_the_rule_of_the_note() -> None:
    rng = np.random.default_rng(2)
    tree, sd, next_sd = KeyTree.even(6, 3), 2.0, 5.0
    sums = rng.poisson(rng.gamma(0.3, 300, tree.v)).astype(np.float64)
    y = np.maximum(sums, 0) * 3
    h = expected(unevenness(tree, sums, sd))[3]
    found = levels_down(tree, sums, sd, y, next_sd)
    for at in range(tree.v):
        wanted = 0
        for j in (1, 2, 3):
            f = y[at] / 4 ** (j - 1)
            clear = sums[at] > 2 * sd if j == 1 else sums[at] / 4 ** (j - 1) > sd
            if not (4 * h * f**2 > 15 * next_sd**2 + 3 * f and clear):
                break
            wanted = j
        assert found[at] == wanted
    assert set(found.tolist()) >= {0, 3}
    assert levels_down(tree, sums, sd, y, next_sd, furthest=1).max() == 1


def test_nothing_is_divided_below_the_finest_level() -> None:
    tree = KeyTree.even(2, 2)
    sums = np.zeros(16)
    sums[0] = 1e9
    assert levels_down(tree, sums, 1.0, sums, 1.0).max() == 0
