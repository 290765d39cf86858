"""Exact answers against brute force, in cells and in metres, and the HTF workload."""

import numpy as np
import pytest

from explorer import HTF, FrequencyMatrix, Grid, Identity, InputError, exact
from explorer.evaluate.workloads import random_rectangles
from explorer.grid.places import TripDomain
from explorer.inspection.errors import error_split
from tests.helpers import NoNoise, city, run
from tests.releases.test_domains import made


def test_exact_counts_cells_by_area():
    counts = np.arange(12).reshape(3, 4)
    matrix = FrequencyMatrix.from_array(counts)
    assert exact(matrix, [[0, 0, 4, 3]])[0] == counts.sum()
    assert exact(matrix, [[1, 0, 2, 3]])[0] == counts[:, 1].sum()
    assert exact(matrix, [[0.5, 0, 1.25, 1]])[0] == pytest.approx(0.25 * 1 + 0.5 * 0)
    assert exact(matrix, [[-5, -5, 100, 0.5]])[0] == pytest.approx(counts[0].sum() / 2)


class Sparse:
    """Trips as a list of cells: counts that are not dense."""

    def __init__(self, domain, records):
        self.domain, self.records = domain, records

    def count(self, lower, upper):
        inside = (lower[:, None] <= self.records) & (self.records < upper[:, None])
        return inside.all(axis=2).sum(axis=1)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("shape", [(7, 9), (4, 5, 3, 6), (2, 3, 4, 2, 3, 2)], ids=len)
def test_counts_of_any_dimension_are_exact_and_cells_count_by_area(shape, whole):
    rng = np.random.default_rng(len(shape))
    grids = tuple(Grid.cells(pair) for pair in np.reshape(shape, (-1, 2)).tolist())
    domain = TripDomain(grids) if len(grids) > 1 else grids[0]
    records = rng.integers(0, shape, (300, len(shape)))
    boxes = np.sort(rng.uniform(-1, np.array(shape) + 1, (40, 2, len(shape))), axis=1)
    # Some lie inside a single cell along some axis, some have no extent there.
    boxes[30:, 1] = boxes[30:, 0] + rng.choice([0.0, 0.3, 2.0], (10, len(shape)))
    boxes = np.round(boxes) if whole else boxes
    found = exact(Sparse(domain, records), domain.from_cells(boxes))
    # Each record lies evenly in its cell.
    held = np.minimum(boxes[:, None, 1], records + 1) - np.maximum(boxes[:, None, 0], records)
    wanted = np.clip(held, 0, 1).prod(axis=2).sum(axis=1)
    assert found == pytest.approx(wanted, abs=1e-9)
    if whole:
        assert np.array_equal(found, np.round(found))
    if len(grids) == 1:
        dense = np.zeros(shape, dtype=int)
        np.add.at(dense, tuple(records.T), 1)
        matrix = FrequencyMatrix.from_array(dense)
        assert found == pytest.approx(exact(matrix, domain.from_cells(boxes)), abs=1e-9)


def test_error_split_of_four_axes_adds_up():
    release = made(3)
    records = np.random.default_rng(1).integers(0, release.domain.shape, (500, 4))
    counts = Sparse(release.domain, records)
    cells = np.sort(np.random.default_rng(2).uniform(0, release.domain.shape, (20, 2, 4)), axis=1)
    boxes = np.concatenate([release.domain.from_cells(cells), release.boxes()])
    split = error_split(counts, release, boxes)
    difference = release.answer(boxes).value - exact(counts, boxes)
    assert split.noise + split.uniformity == pytest.approx(difference, abs=1e-6)
    # Leaves are not cut through.
    assert split.uniformity[20:] == pytest.approx(0, abs=1e-6)
    assert np.abs(split.uniformity[:20]).max() > 1
    with pytest.raises(InputError, match="another grid"):
        error_split(city(), release, boxes)


def test_metres_and_cells_ask_the_same():
    counts = city().counts
    grid = Grid.around(10, 50, 6400, shape=64)
    metres = exact(FrequencyMatrix(counts, grid), [[-1000, -2000, 500, 3150]])
    cells = exact(FrequencyMatrix.from_array(counts), [[22, 12, 37, 63.5]])
    assert metres == pytest.approx(cells)


def test_identity_without_noise_answers_exactly():
    matrix = city((30, 20), 900)
    release, _ = run(Identity(), matrix, NoNoise())
    rng = np.random.default_rng(1)
    low = rng.uniform(0, 15, (50, 2))
    boxes = np.concatenate([low, low + rng.uniform(0, 15, (50, 2))], axis=1)
    assert release.answer(boxes).value == pytest.approx(exact(matrix, boxes), abs=1e-6)


def test_random_rectangles_lie_on_the_grid():
    boxes = random_rectangles((30, 80), 5000, np.random.default_rng(1))
    assert np.all(boxes[:, 0] < boxes[:, 1])
    assert boxes.min() == 0
    assert boxes[:, 1].max(axis=0).tolist() == [30, 80]


@pytest.mark.parametrize("inside", ["uniform", "interpolated"])
def test_error_split_adds_up_and_names_the_cause(inside):
    matrix = city()
    boxes = [[0, 0, 64, 64], [3.5, 10, 41, 50.25], [20, 20, 30, 30]]
    release = HTF(epsilon=0.3, inside=inside).release(matrix, rng=1)
    split = error_split(matrix, release, boxes)
    difference = release.answer(boxes).value - exact(matrix, boxes)
    assert split.noise + split.uniformity == pytest.approx(difference)
    # The whole map cuts through no leaf.
    assert split.uniformity[0] == pytest.approx(0, abs=1e-6)
    assert abs(split.uniformity[1]) > 1
    quiet, _ = run(HTF(epsilon=0.3), matrix, NoNoise())
    assert error_split(matrix, quiet, boxes).noise == pytest.approx(0, abs=1e-6)


def test_error_split_wants_the_same_grid():
    release = HTF().release(city((32, 32)), rng=1)
    with pytest.raises(InputError, match="another grid"):
        error_split(city(), release, [[0, 0, 1, 1]])
    here, there = (Grid.around(lon, 37.7, 6400, shape=64) for lon in (-122.4, -30))
    release = HTF().release(FrequencyMatrix(city().counts, here), rng=1)
    with pytest.raises(InputError, match="another grid"):
        error_split(FrequencyMatrix(city().counts, there), release, [[0, 0, 1, 1]])
