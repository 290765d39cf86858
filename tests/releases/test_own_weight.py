"""A draw that decides its own weight is moved so that it pulls nothing, in exact expectations."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.mechanisms.grids import guideline_2, where_guideline_2_begins
from explorer.releases.inference import ratio_of, without_own_pull
from explorer.releases.nodes import MANY
from explorer.releases.units import UNITS_PER_EPSILON, laplace_variance


@pytest.mark.parametrize("q", [0.02, 0.3, 0.9, 0.99])
@pytest.mark.parametrize("count", [-20, 0, 50, 151, 400])
def test_the_pull_of_any_steps_is_gone_for_every_true_count(q, count):
    rng = np.random.default_rng(4)
    thresholds = np.sort(rng.choice(300, 7, replace=False))
    weights = rng.uniform(0.1, 1.0, 8)
    reach = int(45 / -np.log(q)) + 1
    draws = np.arange(count - reach, count + reach + 1.0)
    law = (1 - q) / (1 + q) * q ** np.abs(draws - count)
    weight = weights[np.searchsorted(thresholds, draws, side="right")]
    pulled = law @ (weight * (draws - count))
    moved = without_own_pull(draws, thresholds, weights, 2 * q / (1 - q) ** 2)
    assert abs(law @ (weight * (moved - count))) < 1e-9
    if q == 0.99:
        # There is something to be cured.
        assert abs(pulled) > 0.1


def test_a_weight_that_never_changes_moves_nothing():
    draws = np.array([-5.0, 0.0, 7.0])
    none = np.array([], dtype=np.int64)
    assert without_own_pull(draws, none, np.array([0.4]), 800.0).tolist() == [-5, 0, 7]
    assert without_own_pull(draws, np.array([3]), np.array([0.2, 0.9]), 0.0).tolist() == [-5, 0, 7]


@pytest.mark.parametrize("q", [1e-9, 0.1, 0.5, 0.999, 1 - 1e-9])
def test_the_ratio_of_a_law_follows_from_its_variance(q):
    variance = 2 * q / (1 - q) ** 2
    assert (1 - ratio_of(variance)) / (1 - q) == pytest.approx(1, rel=1e-6)
    assert ratio_of(variance) == pytest.approx(q, rel=1e-6)


@pytest.mark.parametrize(("epsilon", "c2"), [(0.025, 5.0), (0.5, 5.0), (0.1, 1.0), (3.7, 0.3)])
def test_guideline_2_begins_where_it_is_said_to(epsilon, c2):
    parts = np.arange(2, 600)
    begins = where_guideline_2_begins(parts, epsilon, c2)
    assert (guideline_2(begins, epsilon, c2) >= parts).all()
    assert (guideline_2(begins - 1, epsilon, c2) < parts).all()


def one_by_one(units: np.ndarray, sensitivity: int) -> np.ndarray:
    """The documented formula."""
    half = units / (2.0 * UNITS_PER_EPSILON * sensitivity)
    return 0.5 / np.sinh(np.minimum(half, 300.0)) ** 2


@pytest.mark.parametrize("number", [0, 1, MANY, MANY + 1, 5 * MANY])
@pytest.mark.parametrize("length", [1, 7, 10**6])
def test_runs_of_equal_budgets(number: int, length: int) -> None:
    rng = np.random.default_rng(3)
    units = np.repeat(rng.integers(1, 10**13, number // length + 1), length)[:number]
    units.flags.writeable = False
    np.testing.assert_array_equal(laplace_variance(units, 3), one_by_one(units, 3))
    alike = np.broadcast_to(np.int64(7 * 10**10), number)
    np.testing.assert_array_equal(laplace_variance(alike, 3), one_by_one(alike, 3))
