"""Trips of four and five places: counted, drawn, asked and saved as those of two and three are."""

import re

import numpy as np
import pytest

from explorer import (
    EUG,
    Gravity,
    Grid,
    InputError,
    Ledger,
    Mosaic,
    QuadTree,
    Release,
    TripDomain,
    TripMatrix,
    Trips,
    exact,
)
from explorer.grid.places import MOST_CELLS
from explorer.mechanisms import trip_mechanisms
from tests.refusals import refuses

SHAPES = {4: [(4, 3), (2, 2), (3, 3), (2, 4)], 5: [(3, 2), (2, 2), (1, 3), (2, 2), (2, 3)]}
N = 3_000


def trips_of(k):
    rng = np.random.default_rng(k)
    x, y = rng.uniform(-0.05, 2.3, (2, k, N))
    return Trips(tuple(x), tuple(y), tuple(f"p{p}" for p in range(k)), crs=None)


def boxes_of(domain, n):
    """Boxes with edges inside cells, one place in three anywhere, (n, k, 4)."""
    rng = np.random.default_rng(9)
    boxes = np.sort(rng.uniform(0, 3, (n, len(domain.grids), 2, 2)), axis=2)
    boxes = boxes.reshape(n, len(domain.grids), 4)
    boxes[rng.random(boxes.shape[:2]) < 1 / 3] = np.nan
    return boxes


@pytest.fixture(params=SHAPES, scope="module")
def matrix(request):
    k = request.param
    return TripDomain([Grid.cells(shape) for shape in SHAPES[k]]).count(trips_of(k))


def test_every_cell_holds_its_trips(matrix):
    k = len(matrix.domain.grids)
    trips, counts = trips_of(k), np.zeros(matrix.shape, dtype=int)
    for ends in zip(*trips.x, *trips.y, strict=True):
        cells = [end for p in range(k) for end in (ends[k + p], ends[p])]
        if all(0 <= at <= side for at, side in zip(cells, matrix.shape, strict=True)):
            counts[tuple(int(at) for at in cells)] += 1
    assert counts.sum() > 300
    assert np.array_equal(np.argwhere(counts), matrix.cells)
    assert np.array_equal(counts[counts > 0], matrix.multiplicities)


def test_a_box_that_cuts_through_cells_counts_their_parts(matrix):
    boxes = boxes_of(matrix.domain, 40)
    expected = []
    for lower, upper in matrix.domain.to_cells(boxes):
        inside = np.minimum(matrix.cells + 1, upper) - np.maximum(matrix.cells, lower)
        expected.append((np.clip(inside, 0, 1).prod(axis=1) * matrix.multiplicities).sum())
    assert exact(matrix, boxes) == pytest.approx(np.array(expected), rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("key", trip_mechanisms())
def test_every_mechanism_draws_saves_and_answers(key, matrix, tmp_path):
    release = trip_mechanisms()[key](epsilon=10).release(matrix, rng=3)
    assert release.total == pytest.approx(matrix.total, abs=60)
    assert release.domain == matrix.domain
    boxes = boxes_of(matrix.domain, 10)
    release.save(tmp_path / "trips.parquet")
    again = Release.load(tmp_path / "trips.parquet")
    assert np.array_equal(again.answer(boxes).value, release.answer(boxes).value)
    anywhere = np.full((1, len(matrix.domain.grids), 4), np.nan)
    assert release.answer(anywhere).value[0] == pytest.approx(release.total)


@pytest.mark.parametrize(("k", "side", "most"), [(4, 182, 181), (5, 65, 64), (7, 64, 19)])
def test_what_does_not_fit_is_refused_with_what_does(k, side, most):
    with pytest.raises(InputError) as refused:
        TripDomain([Grid.cells(side)] * k)
    sentence = str(refused.value)
    advised = re.search(r"at most (\d+) x \1 cells", sentence)
    assert advised is not None, sentence
    assert int(advised[1]) == most
    assert most ** (2 * k) <= MOST_CELLS < (most + 1) ** (2 * k)
    if most < 1000:
        assert len(TripDomain([Grid.cells(most)] * k).shape) == 2 * k
    # Or fewer places, as it says.
    assert TripDomain([Grid.cells(min(side, 1000))] * 2).names == ("from", "to")


def test_more_places_than_cells_allow_are_refused():
    assert len(TripDomain([Grid.cells(2)] * 30).grids) == 30
    refuses("31 places; name up to 30", TripDomain, [Grid.cells(1)] * 31)


@pytest.mark.parametrize("made", [Mosaic(), Gravity(), Gravity(partition="PrivTree"), QuadTree()])
def test_what_would_publish_too_much_is_refused_before_a_draw(made, tmp_path):
    ledger = Ledger(tmp_path / "ledger", population="riders")
    matrix = TripMatrix.from_coordinates([[0] * 50], [2] * 25)
    refuses(r"numbers here, .* fewer places, .* are\.$", made.release, matrix, ledger=ledger)
    assert ledger.rows() == []
    # A grid whose parts follow a noisy total fits.
    assert EUG(epsilon=1).release(matrix, rng=1).n_leaves >= 1
