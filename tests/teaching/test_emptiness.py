"""Empty cells: probabilities against sums, counts against boxes, pictures against dense arrays."""

from __future__ import annotations

import math

import numpy as np
import pytest

from explorer.teaching import emptiness
from explorer.teaching.emptiness import Occupancy
from explorer.trips.matrix import TripMatrix


@pytest.fixture(scope="module")
def matrix() -> TripMatrix:
    """400 trips on 5 x 7 cells at either place, many of them alike."""
    rng = np.random.default_rng(1)
    return TripMatrix.from_coordinates(rng.integers(0, (5, 7, 5, 7), (400, 4)) // 2, [(5, 7)] * 2)


def pmf(epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    z = np.arange(-400, 401)
    q = math.exp(-epsilon)
    return z, (1 - q) / (1 + q) * q ** np.abs(z)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_tails_are_sums_of_probabilities(epsilon) -> None:
    z, p = pmf(epsilon)
    for k in (-30, -1, 0, 1, 2, 40):
        assert emptiness.reaching(k, epsilon) == pytest.approx(p[z >= k].sum(), abs=1e-12)
    variance = (z**2 * p).sum()
    assert emptiness.noise_of_one(epsilon) == pytest.approx(math.sqrt(variance), rel=1e-9)


def test_cells_are_counted_without_looking_at_all_of_them(matrix) -> None:
    dense = np.zeros(matrix.shape, dtype=np.int64)
    np.add.at(dense, tuple(matrix.cells.T), matrix.multiplicities)
    found = Occupancy.of(matrix)
    assert (found.cells, found.occupied) == (dense.size, (dense > 0).sum())
    assert found.empty == (dense == 0).sum()
    assert (found.trips, found.single, found.largest) == (400, (dense == 1).sum(), dense.max())
    assert found.standing_above(3) == (dense > 3).sum()
    z, p = pmf(0.5)
    for k in (1, 4, 9):
        shown = np.array([p[z >= k - count].sum() for count in dense.ravel()])
        empty = dense.ravel() == 0
        assert found.false_from(k, 0.5) == pytest.approx(shown[empty].sum())
        assert found.true_from(k, 0.5) == pytest.approx(shown[~empty].sum())
        wanted = (shown * dense.ravel()).sum()
        assert found.trips_from([k], 0.5).tolist() == [pytest.approx(wanted)]


@pytest.mark.parametrize("empty", [1, 1000, 16_728_366, 2**60])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_the_highest_false_count_is_the_median_of_the_maximum(empty, epsilon) -> None:
    found = Occupancy(empty, np.zeros(0, np.int64), np.zeros(0, np.int64))
    k = found.highest_false(epsilon)

    def at_most(k: int) -> float:
        """P(max <= k), with the logarithm for numbers of cells that no float counts."""
        return math.exp(empty * math.log1p(-float(emptiness.reaching(k + 1, epsilon))))

    assert at_most(k) >= 0.5 * (1 - 1e-9)
    assert k == 0 or at_most(k - 1) < 0.5
    # The rule of thumb, within what ln 2 and the whole numbers make of it.
    assert abs(k - math.log(empty) / epsilon) < 1 + 1 / epsilon
    assert found.highest_false(epsilon, 0.025) <= k <= found.highest_false(epsilon, 0.975)


def test_growing_boxes_hold_what_boxes_hold(matrix) -> None:
    for number in range(4):
        cell = emptiness.some_trip(matrix, number)
        found = emptiness.growing(matrix, cell)
        assert found.sides.tolist() == [1, 2, 4]
        for side, trips, cells in zip(found.sides, found.trips, found.cells, strict=True):
            lower, upper = emptiness.box_about(matrix, cell, int(side))
            assert (lower >= 0).all()
            assert (upper <= matrix.shape).all()
            assert ((lower <= cell) & (np.array(cell) < upper)).all()
            assert matrix.count(lower[None], upper[None])[0] == trips
            assert np.prod(upper - lower) == cells
        assert (np.diff(found.trips) >= 0).all()
        assert found.noise(0.5)[1] == pytest.approx(4 * emptiness.noise_of_one(0.5))


def test_a_slice_is_where_trips_go(matrix) -> None:
    dense = np.zeros(matrix.shape, dtype=np.int64)
    np.add.at(dense, tuple(matrix.cells.T), matrix.multiplicities)
    cell = emptiness.some_trip(matrix, 3)
    found = emptiness.slice_of(matrix, cell)
    assert found.whole
    assert found.corner == (0, 0)
    assert np.array_equal(found.true, dense[cell[0], cell[1]])
    # The same noise, less of it: signs stay, sizes shrink.
    wide, narrow = (found.noisy(epsilon, 7) - found.true for epsilon in (0.1, 1.0))
    assert (np.abs(narrow) <= np.abs(wide)).all()
    assert (narrow * wide >= 0).all()
    assert not np.array_equal(found.noisy(0.1, 7), found.noisy(0.1, 8))
