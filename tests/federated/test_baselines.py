"""Baselines: least squares over levels, sketches."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.federated.baselines import (
    ROWS,
    WIDTH,
    Level,
    agreeing,
    count_min,
    decomposition,
    flat,
    hierarchical,
    least,
    levels,
)
from explorer.federated.people import People
from explorer.points.matrix import FrequencyMatrix
from tests.federated.town import session, town

TOWN = town(128, 60_000)


def test_levels_agree_as_in_least_squares() -> None:
    rng = np.random.default_rng(1)
    sums = [rng.normal(size=4**k) * 10 for k in (1, 2)]
    variances = [2.0, 5.0]
    found = agreeing([Level(k, y, v, 0.0, 1) for k, y, v in zip((1, 2), sums, variances,
                                                               strict=True)])  # fmt: skip
    # x minimises |y1 - A x|^2 / v1 + |y2 - x|^2 / v2, A adding up quarters.
    a = np.kron(np.eye(4), np.ones((1, 4)))
    normal = a.T @ a / variances[0] + np.eye(16) / variances[1]
    x = np.linalg.solve(normal, a.T @ sums[0] / variances[0] + sums[1] / variances[1])
    assert np.allclose(found[1].sums, x)
    assert np.allclose(found[0].sums, a @ x)
    inverse = np.linalg.inv(normal)
    assert found[1].variance == pytest.approx(inverse[0, 0])
    assert found[0].variance == pytest.approx((a @ inverse @ a.T)[0, 0])


def test_the_chosen_level_is_among_the_best() -> None:
    def squared(level: Level, truth: np.ndarray) -> float:
        exact = truth.reshape(len(level.sums), -1).sum(axis=1)
        return float(((level.sums - exact) ** 2).sum()) / 4.0 ** (7 - level.number) + float(
            ((truth - np.repeat(exact, 4 ** (7 - level.number)) / 4 ** (7 - level.number)) ** 2)
            .sum()
        )  # fmt: skip

    cells = People.of_matrix(FrequencyMatrix.from_array(TOWN)).cells
    truth = np.bincount(cells, minlength=4**7).astype(np.float64)
    for seed in range(4):
        found, _ = levels(session(seed), [1.0] * 7)
        errors = {level.number: squared(level, truth) for level in found}
        # Noise of sums of squares may take the neighbour of the best: never worse than by half.
        assert errors[least(found, 7).number] <= 1.5 * min(errors.values())


def test_what_is_asked_and_what_it_costs() -> None:
    for plan in (hierarchical, decomposition):
        _, rows = plan(session(), 60_000)
        assert [row.cells for row in rows] == [4**k for k in range(1, 8)]
        assert sum(row.units for row in rows) == 10**12
    _, rows = decomposition(session(), 60_000)
    assert rows[-1].units > rows[0].units
    _, rows = decomposition(session(), 60_000, to_root=True)
    assert rows[-1].units < rows[0].units
    _, rows = count_min(session(), 60_000)
    assert [row.cells for row in rows] == [4**k for k in range(1, 7)] + [WIDTH] * ROWS
    assert sum(row.units for row in rows) == 10**12
    _, rows = flat(session(), 60_000)
    assert [(row.cells, row.units) for row in rows] == [(4**7, 10**12)]


def test_a_sketch_without_much_noise_counts_no_less_than_there_are() -> None:
    found, _ = levels(session(epsilon=10.0), [1.0] * 6 + [600.0], hashed=True)
    cells = People.of_matrix(FrequencyMatrix.from_array(TOWN)).cells
    truth = np.bincount(cells, minlength=4**7)
    sketch = found[-1]
    sd = np.sqrt(max(sketch.variance, 0.0))
    assert (sketch.sums - truth).min() > -8 * sd
    # Collisions of 4,096 and more cells in 2,000 counters, least of four.
    assert np.median(sketch.sums - truth) >= -sd
