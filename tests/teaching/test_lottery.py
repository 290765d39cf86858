"""What a choice of cuts sees: true costs against all cells, chances against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from explorer import DAFHomogeneity
from explorer.teaching import lottery
from explorer.teaching.lottery import Level, seen
from explorer.trips.matrix import TripMatrix


@pytest.fixture(scope="module")
def matrix() -> TripMatrix:
    rng = np.random.default_rng(5)
    where = np.clip(rng.normal(5, 2.5, (20_000, 4)), 0, 11).astype(np.int64)
    return TripMatrix.from_coordinates(where, [12, 12])


def level(costs, epsilon: float) -> Level:
    costs = np.atleast_2d(np.asarray(costs, dtype=np.float64))
    boxes = np.zeros((len(costs), 4), dtype=np.int64)
    return Level(0, boxes, boxes + 12, np.full(len(costs), 2), costs, epsilon)


def test_true_costs_are_those_of_all_cells_and_the_release_is_the_mechanisms(matrix) -> None:
    dense = np.zeros(matrix.shape, dtype=np.int64)
    np.add.at(dense, tuple(matrix.cells.T), matrix.multiplicities)
    found = seen(matrix, 1.0, 0.3, 10, seed=4)
    release = DAFHomogeneity(epsilon=1.0, q=0.3, p=10).release(matrix, rng=4)
    assert found.leaves == len(release.counts)
    assert sum(each is not None for each in found.levels) == 4
    tree = release.tree
    for each in found.levels:
        for node in (0, len(each) - 1):
            lower, upper = each.lower[node], each.upper[node]
            # Its parts are the boxes that agree with it on every axis but the one cut across.
            apart = np.arange(4) != each.axis
            same = (tree.lower[:, apart] == lower[apart]) & (tree.upper[:, apart] == upper[apart])
            inside = (tree.lower[:, each.axis] >= lower[each.axis]) & (
                tree.upper[:, each.axis] <= upper[each.axis]
            )
            whole = (tree.lower == lower).all(axis=1) & (tree.upper == upper).all(axis=1)
            parts = np.flatnonzero(same.all(axis=1) & inside & ~whole)
            boxes = np.unique(np.hstack([tree.lower[parts], tree.upper[parts]]), axis=0)
            assert len(boxes) == each.parts[node]
            cost = 0.0
            for box in boxes:
                cells = dense[tuple(slice(*edges) for edges in box.reshape(2, 4).T)]
                cost += np.abs(cells - cells.mean()).sum()
            # The chosen candidate is one of those looked at; each part is rounded down to 2^-10.
            nearest = np.abs(each.costs[node] - cost).min()
            assert nearest <= len(boxes) * 2.0**-10


@pytest.mark.parametrize("gap", [0.0, 1.0, 4.0])
def test_two_candidates_win_as_often_as_they_should(gap) -> None:
    one = level([10.0, 10.0 + gap], epsilon=2.0)
    rng = np.random.default_rng(3)
    # A difference of two Laplace draws of scale b passes g with e^(-g/b) (1/2 + g / 4b).
    b = one.noise
    paper = 1 - math.exp(-gap / b) * (0.5 + gap / (4 * b))
    # An exponential draw passes another by g with e^(-g/s) / 2.
    least = 1 - math.exp(-gap / one.noise_of_least) / 2
    assert (b, one.noise_of_least) == (2.0, 2.0)
    for rule, wanted in (("noised costs", paper), ("noisy-min", least)):
        wins = one.wins(0, rule, rng)
        assert wins.sum() == pytest.approx(1)
        assert abs(wins[0] - wanted) < 5 * math.sqrt(0.25 / lottery.PLAYED)


def test_a_gain_is_that_of_a_lottery_or_of_the_best() -> None:
    rng = np.random.default_rng(8)
    costs = rng.uniform(0, 1, (30, 10))
    assert level(costs, 1e9).gained(rng) == (pytest.approx(1), pytest.approx(1))
    # Blind: of the mean of 30 boxes and many draws nothing is left but chance.
    possible = costs.mean(axis=1) - costs.min(axis=1)
    draws = lottery.PLAYED if 300 * lottery.PLAYED < 80_000 else 80_000 // 300
    slack = 5 * costs.std(axis=1).mean() / math.sqrt(30 * draws) / possible.mean()
    assert max(map(abs, level(costs, 1e-9).gained(rng))) < slack
    assert level(np.ones((2, 3)), 1.0).gained(rng) == (0.0, 0.0)
    # Noise for p costs is p / 2 times that for one index.
    assert level(costs, 1.0).noise == 5 * level(costs, 1.0).noise_of_least
