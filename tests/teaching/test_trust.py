"""A masked shard: what the server has of one person, what failing costs, sizes of shards."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from explorer.federated import calibration
from explorer.federated.people import People
from explorer.points.matrix import FrequencyMatrix
from explorer.teaching.trust import in_a_shard


@pytest.fixture(scope="module")
def people() -> People:
    counts = np.random.default_rng(3).poisson(4, (32, 32))
    return People.of_matrix(FrequencyMatrix.from_array(counts))


@pytest.fixture(scope="module")
def shared(people):
    return in_a_shard(people, 1.0, 50, 0.1, 0.0)


def test_the_sum_is_what_all_sent_and_her_vector_is_her_cell_alone(shared) -> None:
    seen, modulus = shared.seen, 2**shared.plan.bits
    assert shared.survivors == 45
    assert sorted(seen.vector)[-2:] == [0, 1]
    assert shared.exact.sum() == 45
    # The server's sum is the decoded one modulo 2^b, and masks hide both her and it.
    assert np.array_equal(shared.total % modulus, seen.total)
    assert not np.array_equal(seen.masked_sum, seen.total)
    assert not np.array_equal(seen.masked, (seen.vector + seen.share) % modulus)
    assert 0 <= seen.masked.min() <= seen.masked.max() < modulus


def test_noise_has_the_variance_that_is_said(people) -> None:
    drawn = [in_a_shard(people, 0.5, 20, 0, 0, 0, seed) for seed in range(12)]
    noise = np.concatenate([each.total - each.exact for each in drawn])
    sd = drawn[0].noise
    # The kurtosis of shares that sum to one Laplace draw or more is 6 at most.
    slack = 5 * math.sqrt((6 - 1) / len(noise))
    assert noise.var() / sd**2 == pytest.approx(1, abs=slack)


def test_too_few_vectors_are_refused_and_one_more_is_enough(people) -> None:
    plan = in_a_shard(people, 1.0, 100, 0.0, 0.0).plan
    assert (plan.fewest, plan.honest) == (77, 72)
    refused, enough = (in_a_shard(people, 1.0, 100, gone, 0.0) for gone in (0.24, 0.23))
    assert refused.refused
    assert refused.seen is None
    assert not enough.refused
    assert enough.loss == 1.0


def test_losses_are_those_of_the_closed_form(people) -> None:
    found = in_a_shard(people, 0.5, 100, 0.0, 0.78)
    assert found.honest == 22
    assert found.loss == calibration.epsilon_of_fewer(0.5, 22 / 72)
    assert found.costs(0) == math.inf
    honest, loss, floor = found.curve()
    assert (np.diff(loss) <= 1e-12).all()
    assert (loss >= floor).all()
    assert loss[honest >= 72].tolist() == [0.5] * 29
    # Below a half no epsilon takes it below the floor, hundreds of times what was agreed here.
    least = math.log((72 - 22) / 22)
    assert floor[21] == pytest.approx(least)
    assert least < calibration.epsilon_of_fewer(0.001, 22 / 72) < found.loss


def test_masks_fall_with_too_many_corrupt_neighbours(people) -> None:
    found = in_a_shard(people, 1.0, 100, 0.0, 0.3)
    assert found.corrupt == 30
    chances = [replace(found, corrupt=c).unmasked for c in (0, 5, 30, 50, 90)]
    assert chances[0] == 0
    assert chances[1] < 2**-30 or chances[1] == 0
    assert chances == sorted(chances)
    # Against draws: t of k neighbours among 30 corrupt of 99 others.
    plan = found.plan
    drawn = np.random.default_rng(1).hypergeometric(30, 69, plan.degree, 4000) >= plan.threshold
    assert chances[2] == pytest.approx(drawn.mean(), abs=5 * 0.5 / math.sqrt(4000))
