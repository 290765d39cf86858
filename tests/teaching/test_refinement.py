"""Dividing cells: errors against draws, thresholds against the rule, H against dense counts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.teaching import refinement
from explorer.teaching.refinement import Level, ask


def city(counts) -> FrequencyMatrix:
    return FrequencyMatrix.from_array(np.asarray(counts))


@pytest.fixture(scope="module")
def matrix() -> FrequencyMatrix:
    """A town of streets: every eighth column is full, a park in the south west."""
    counts = np.random.default_rng(2).poisson(1, (64, 64))
    counts[:, ::8] += 200
    counts[:24, :24] = 20
    return city(counts)


@pytest.mark.parametrize("h", [0.75, 0.1, 0.01])
@pytest.mark.parametrize("sd", [0.5, 10.0, 300.0])
def test_the_threshold_solves_the_rule(h, sd) -> None:
    y = refinement.threshold(h, sd)
    assert 4 * h * y**2 == pytest.approx(15 * sd**2 + 3 * y)
    assert refinement.threshold(h, 1e6) / 1e6 == pytest.approx(refinement.in_sds(h), rel=1e-3)
    assert refinement.in_sds(0.75) == pytest.approx(math.sqrt(5))


def test_errors_are_those_of_many_draws() -> None:
    quarters = np.array([[40.0, 0, 0, 0], [10, 10, 10, 10]])
    one = Level(0, np.array([40, 40]), quarters, 5.0, 1.0, 0.1)
    rng = np.random.default_rng(4)
    n = 40_000
    drawn = rng.poisson(quarters, (n, 2, 4))
    whole = drawn.sum(axis=2) + rng.normal(0, 5, (n, 2))
    spread = ((whole[..., np.newaxis] / 4 - quarters) ** 2).sum(axis=2)
    apart = ((drawn + rng.normal(0, 5, (n, 2, 4)) - quarters) ** 2).sum(axis=2)
    for said, seen in ((one.if_whole, spread), (one.if_divided, apart)):
        assert (np.abs(seen.mean(axis=0) - said) < 5 * seen.std(axis=0) / math.sqrt(n)).all()
    assert one.best().tolist() == [True, False]
    assert one.own.tolist() == [0.75, 0.0]
    both = np.array([True, True])
    assert one.error(both) == pytest.approx(math.sqrt(one.if_divided.mean() / 4))
    assert one.error(one.best()) < min(one.error(both), one.error(~both))


def test_counts_and_unevenness_are_those_of_the_map(matrix) -> None:
    found = ask(matrix, 10**9, 1.0)
    assert found.people == matrix.total
    assert found.part == 1
    for level in range(found.depth + 1):
        side = 2**level
        dense = matrix.counts.reshape(side, 64 // side, side, 64 // side).sum(axis=(1, 3))
        assert np.array_equal(refinement.as_map(found.counts[level]), dense)
    dense = matrix.counts.reshape(32, 2, 32, 2).transpose(0, 2, 1, 3).reshape(-1, 4)
    even = dense.sum(axis=1) / 4
    h = ((dense - even[:, np.newaxis]) ** 2).sum() / (16 * even**2).sum()
    assert found.truth[-1] == pytest.approx(h)


def test_too_small_or_empty_maps_are_refused_and_odd_ones_padded() -> None:
    with pytest.raises(InputError, match="too few cells"):
        ask(city([[3, 4], [1, 2]]), 10, 1.0)
    with pytest.raises(InputError, match="nobody to ask"):
        ask(city(np.zeros((8, 8), dtype=np.int64)), 10, 1.0)
    counts = np.arange(15).reshape(3, 5)
    grid = Grid.around(2.35, 48.85, 5000, 3000, shape=(3, 5))
    found = ask(FrequencyMatrix.from_array(counts, grid), 10**6, 1.0)
    dense = refinement.as_map(found.counts[found.depth])
    assert np.array_equal(dense[:3, :5], counts)
    assert dense.sum() == counts.sum()
    assert found.level(7).number == found.depth - 1
