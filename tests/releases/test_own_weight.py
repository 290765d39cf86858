"""A draw that decides its own weight is moved so that it pulls nothing, in exact expectations."""

from __future__ import annotations

import numpy as np
import pytest

from explorer import AG, FrequencyMatrix
from explorer.mechanisms.grids import guideline_2, where_guideline_2_begins
from explorer.releases.own_weight import ratio_of, without_own_pull


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


@pytest.mark.parametrize("q", [0.3, 0.9, 0.99])
def test_no_average_is_moved_further_than_the_noise_is_wide(q):
    # All steps together are at most 1, and each moves by its part of 2 q / (1 - q^2).
    rng = np.random.default_rng(1)
    thresholds = np.sort(rng.choice(300, 7, replace=False))
    weights = np.sort(rng.uniform(0.1, 1.0, 8))
    draws = np.arange(-300.0, 600.0)
    weight = weights[np.searchsorted(thresholds, draws, side="right")]
    moved = without_own_pull(draws, thresholds, weights, 2 * q / (1 - q) ** 2)
    by = weight * (draws - moved)
    assert (by >= 0).all(), "a growing weight pulls upwards"
    assert by.max() <= (weights[-1] - weights[0]) * 2 * q / (1 - q**2)


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


def test_cells_of_uneven_sides_have_weights_of_their_own():
    # 3 x 3 coarse cells of 13 x 22 cells have four shapes, and each of nine totals is unbiased.
    counts = np.random.default_rng(0).poisson(1.5, (13, 22))
    edges = [np.arange(3) * side // 3 for side in counts.shape]
    true = np.add.reduceat(np.add.reduceat(counts, edges[0], axis=0), edges[1], axis=1).ravel()
    mechanism, matrix = (
        AG(epsilon=0.3, first_size=3, c2=0.5),
        FrequencyMatrix.from_array(counts).prepare(),
    )
    found = []
    for seed in range(600):
        tree = mechanism.release(matrix, rng=seed).tree
        found.append(tree.value[tree.parent == 0])
    error = np.mean(found, axis=0) - true
    # Nine at once: 4 standard errors.
    assert (np.abs(error) < 4 * np.std(found, axis=0) / np.sqrt(len(found))).all()
