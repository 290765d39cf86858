"""Plans on a server that adds noise of the summed law."""

from __future__ import annotations

import math

import numpy as np
import pytest

from explorer.federated.calibration import sigma
from explorer.federated.refine import LEAST, MOST, UNKNOWN, expected, levels_down, unevenness
from explorer.federated.rounds import (
    LEAST_PART,
    MOST_ROUNDS,
    divided,
    fewest_people,
    mended,
    once,
    paper,
)
from explorer.releases.quarters import KeyTree
from explorer.releases.rounds import Heard
from tests.federated.town import Bench, town

TOWN = town()


def even(level: int = 3) -> KeyTree:
    return KeyTree.even(6, level)


def test_everybody_is_asked_once_at_the_whole_budget() -> None:
    server = Bench(TOWN)
    rounds = list(once(server, even()))
    assert len(rounds) > 1
    assert sum(people for people, _, _ in server.asked) == server.people
    assert {units for _, units, _ in server.asked} == {server.units}
    assert all(fresh for _, _, fresh in server.asked)


@pytest.mark.parametrize("plan", [mended, paper])
def test_rounds_of_the_paper_cost_the_whole_budget_in_turn(plan) -> None:  # type: ignore[no-untyped-def]
    for epsilon in (0.01, 1.0, 4.0):
        server = Bench(TOWN, epsilon)
        list(plan(server, even(1)))
        assert sum(units for _, units, _ in server.asked) == server.units
        assert {people for people, _, _ in server.asked} == {server.people}
        assert not any(fresh for _, _, fresh in server.asked)


def test_the_smallest_round_is_the_smallest() -> None:
    for people, shard in ((10**6, 10_000), (10**6, 500)):
        server = Bench(TOWN, people=people, shard=shard)
        for v in (64, 832, 2_191, 4_234):
            s = fewest_people(v, 0.5, sigma(1.0), server)

            def enough(number: int, v: int = v, shard: int = shard) -> bool:
                noise = sigma(1.0) * math.sqrt(-(-number // shard))
                return math.hypot(noise, math.sqrt(number / v)) <= 0.5 * number / v

            assert s >= 1_000
            assert enough(s)
            assert s == 1_000 or not enough(s - 1)
    # The figures of the note's scenario of New York, and of small shards in San Francisco.
    server = Bench(TOWN, people=10**6)
    found = [fewest_people(v, 0.5, sigma(1.0), server) for v in (64, 832, 2_191, 4_234)]
    assert found == [1_000, 4_469, 13_865, 32_960]
    server = Bench(TOWN, people=10**6, shard=1_000)
    assert [fewest_people(v, 0.5, sigma(1.0), server) for v in (706, 649)] == [6_675, 5_804]


def test_the_schedule_is_eq_7() -> None:
    server = Bench(TOWN, people=20_000, shard=1_000)
    first = next(iter(paper(server, even(3), c=0.3)))
    target = 0.3 * 20_000 / (64 * math.sqrt(20))
    assert sigma(first.epsilon) == pytest.approx(target, rel=1e-6)
    assert first.noise == pytest.approx(target * math.sqrt(20), rel=1e-6)


def test_both_readings_of_eq_9_differ_by_one() -> None:
    # Remaining >= b e in the scripts; remaining - e >= b e in the text is b + 1 (erratum 35).
    units = [r.units for r in paper(Bench(TOWN, seed=3), even(1), b=2.0)]
    remaining = 10**12
    for at, each in enumerate(units[:-1]):
        assert remaining >= 2 * each
        remaining -= units[at]
    assert remaining == units[-1]


def heard(tree: KeyTree, sums: list[float], noise: float = 1.0) -> Heard:
    return Heard(cells=tree.v, people=100, answered=100, units=1, noise=noise, tree=tree,
                 sums=np.array(sums))  # fmt: skip


def test_split_and_collapse_look_at_the_old_tree() -> None:
    tree = KeyTree.even(3, 1)
    finer, after = divided(
        heard(tree, [9, 0, 9, 0]), np.array([1, 0, 2, 0]), np.array([False, True, False, True])
    )
    assert after.split.tolist() == [4, 6]
    assert after.collapsed.tolist() == [5, 7]
    assert finer.level.tolist() == [0, 1, 1, *[2] * 8, *[3] * 16]
    # What was given up is owned by the root again.
    assert 0 in finer.open


def test_what_was_closed_is_not_made_again() -> None:
    tree = KeyTree.of(2, [1, 4, 6, 7])
    finer, _ = divided(heard(tree, [50, 0, 0, 0]), np.array([1, 0, 0, 0]), np.zeros(4, bool),
                       np.array([5]))  # fmt: skip
    assert finer.keys.tolist() == [1, 4, 6, 7]
    again, _ = divided(heard(tree, [50, 0, 0, 0]), np.array([1, 0, 0, 0]), np.zeros(4, bool))
    assert again.keys.tolist() == [1, 4, 5, 6, 7]


def test_one_sigma_divides_empty_cells_and_both_do_not() -> None:
    # Erratum 36: noise of the round judged by what the next would have.
    empty = np.zeros((64, 64), dtype=np.int64)
    empty[0, 0] = 100_000

    def part(both: bool) -> float:
        rounds = list(paper(Bench(empty, seed=1), even(3), c=0.3, both=both))
        return len(rounds[0].split) / rounds[0].cells

    # The two are P(Z > 2 sigma(rem) / sigma(e)) and P(Z > 2 or more) of 63 empty cells; four
    # standard deviations of the latter, 3.6 % at most (erratum 37), are 9.4 %.
    assert part(True) < 0.15
    assert part(False) > 0.2


def test_refused_rounds_keep_the_tree_and_go_on() -> None:
    for plan in (once, mended, paper):
        server = Bench(TOWN, refuse=(1,))
        rounds = list(plan(server, even()))
        assert len(rounds) > 1
        assert np.array_equal(rounds[1].tree.keys, rounds[0].tree.keys)


def test_small_budgets_end_and_no_round_is_tiny() -> None:
    for epsilon, c in ((1e-6, 10.0), (1e-3, 10.0), (10.0, 0.01), (10.0, 10.0)):
        for plan in (once, mended, paper):
            server = Bench(TOWN, epsilon)
            rounds = list(plan(server, even(1), c=c, b=1.0))
            assert len(rounds) <= MOST_ROUNDS
            assert min(r.units for r in rounds) >= server.units // LEAST_PART
            assert min(r.people for r in rounds) >= min(1_000, server.people)


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
