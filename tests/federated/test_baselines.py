"""Baselines: least squares over levels, sketches."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.federated.adaptive_grid import adaptive_grid
from explorer.federated.baselines import (
    ROWS,
    WIDTH,
    Level,
    agreeing,
    count_min,
    decomposition,
    flat,
    hierarchical,
    levels,
)
from explorer.federated.people import People
from explorer.points.matrix import FrequencyMatrix
from explorer.releases.tree import Tree
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


def test_sizes_of_an_adaptive_grid() -> None:
    estimate, rows = adaptive_grid(session(), 60_000)
    # max(10, ceil(sqrt(60,000 / 10) / 4)) = 20 along a side; half of epsilon each.
    assert rows[0].cells == 400
    assert [row.units for row in rows] == [10**12 // 2] * 2
    tree = Tree.of(estimate)
    assert np.allclose(np.bincount(tree.parent[1:], tree.value[1:], len(tree))[tree.fan_out > 0],
                       tree.value[tree.fan_out > 0])  # fmt: skip
    fewer = adaptive_grid(session(), 60_000, by_shards=True)[1]
    assert fewer[0].cells == 169
    assert fewer[1].cells < rows[1].cells
