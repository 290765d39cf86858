"""Sparse counts of any number of axes: right for any box, and every mechanism takes them."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from explorer import (
    HTF,
    Grid,
    Identity,
    Mosaic,
    PrivTree,
    QuadTree,
    TripDomain,
    TripMatrix,
    Uniform,
    exact,
)
from explorer.privacy.audit.audit import replay_cases
from explorer.privacy.audit.surface import difference
from explorer.releases.file import check_tree
from explorer.testing import NoNoise, towns
from explorer.trips.synthetic import SIDES, gaussian, zipf
from tests.refusals import refuses

SHAPES = [(37,), (7, 9), (5, 4, 6), (4, 5, 3, 6), (3, 2, 4, 3, 2), (2, 3, 4, 2, 3, 2)]
SIDE = 16


def space(shape):
    """A domain of any number of axes; of four and more that are even, `TripDomain`."""
    if len(shape) % 2:
        return SimpleNamespace(kind="any", shape=shape, to_dict=lambda: {"shape": shape})
    grids = tuple(Grid.cells(pair) for pair in np.reshape(shape, (-1, 2)).tolist())
    return TripDomain(grids) if len(grids) > 1 else grids[0]


def sparse(dense, contribution_bound=1, unit="point"):
    cells = np.argwhere(dense)
    numbers = dense[tuple(cells.T)]
    return TripMatrix(cells, numbers, space(dense.shape), contribution_bound, unit)


def rough(shape, seed=0):
    """Counts of 0 to many in every cell, about half of the cells empty."""
    rng = np.random.default_rng(seed)
    return rng.poisson(rng.gamma(0.3, 6.0, shape)).astype(np.int64)


def trips(side=SIDE, people=3000):
    """Trips between two towns, and some from anywhere to anywhere."""
    rng = np.random.default_rng(8)
    towns_at = np.array([[0.2, 0.3], [0.7, 0.6]]) * side
    ends = towns_at[rng.integers(0, 2, (people, 2))] + rng.normal(0, side / 16, (people, 2, 2))
    ends[: people // 10] = rng.uniform(0, side, (people // 10, 2, 2))
    return TripMatrix.from_coordinates(
        np.clip(ends, 0, side - 1).astype(int).reshape(-1, 4), [side, side]
    )


def some_boxes(shape, number, rng, least=0):
    """Whole boxes, (n, d) lower and upper, at least so many cells long on every axis."""
    lower = np.stack([rng.integers(0, side - least + 1, number) for side in shape], axis=1)
    return lower, lower + np.stack(
        [rng.integers(least, side - low + 1) for side, low in zip(shape, lower.T, strict=True)],
        axis=1,
    )


def slices(low, high):
    return tuple(slice(a, b) for a, b in zip(low, high, strict=True))


@pytest.mark.parametrize("shape", SHAPES, ids=len)
def test_counts_of_any_boxes_are_those_of_the_dense_array(shape):
    dense = rough(shape)
    matrix = sparse(dense)
    lower, upper = some_boxes(shape, 300, np.random.default_rng(1))
    lower[0], upper[0] = 0, shape
    lower[1], upper[1] = -3, np.array(shape) + 3
    wanted = [
        dense[slices(np.maximum(low, 0), high)].sum()
        for low, high in zip(lower, upper, strict=True)
    ]
    assert np.array_equal(matrix.count(lower, upper), wanted)
    assert matrix.total == dense.sum()
    nothing = TripMatrix(np.zeros((0, len(shape))), [], space(shape))
    assert not nothing.count(lower, upper).any()


@pytest.mark.parametrize("shape", SHAPES, ids=len)
def test_split_costs_are_the_floored_distances_from_the_mean(shape):
    dense, rng = rough(shape, 2), np.random.default_rng(3)
    matrix = sparse(dense)
    lower, upper = some_boxes(shape, 60, rng, least=2)
    axis = rng.integers(0, len(shape), 60)
    costs, offsets = matrix.all_split_costs(lower, upper, axis)
    imbalances, same = matrix.all_imbalances(lower, upper, axis)
    assert np.array_equal(offsets, same)
    for i, (begin, stop) in enumerate(itertools.pairwise(offsets.tolist())):
        box = np.moveaxis(dense[slices(lower[i], upper[i])], axis[i], 0)
        assert stop - begin == len(box) - 1
        for k in range(1, len(box)):
            halves = [half.ravel().tolist() for half in (box[:k], box[k:])]
            # n |c - mu| = |n c - S| is whole: floored once, in whole numbers.
            wanted = sum(
                1024 * sum(abs(len(half) * c - sum(half)) for c in half) // len(half)
                for half in halves
            )
            assert costs[begin + k - 1] == wanted
            assert imbalances[begin + k - 1] == abs(sum(halves[0]) - sum(halves[1]))


@pytest.mark.parametrize("kind", [Identity, Uniform, QuadTree, PrivTree, Mosaic, HTF])
def test_a_map_is_released_alike_dense_or_sparse(kind):
    dense = towns((32, 32), 4000)
    mechanism = kind(epsilon=0.5)
    one = mechanism.release(dense, rng=7)
    other = mechanism.release(sparse(dense.counts), rng=7)
    assert difference(one, other) is None


CASES = [(Identity, 6), (Uniform, SIDE), (QuadTree, SIDE), (PrivTree, SIDE), (Mosaic, SIDE)]


@pytest.mark.parametrize(("kind", "side"), CASES)
def test_trips_of_four_axes_pass_a_mechanism(kind, side):
    matrix = trips(side)
    settings = {"height": 3} if kind is QuadTree else {}
    mechanism = kind(epsilon=1.0, **settings)
    release = mechanism.release(matrix, rng=1)
    assert sum(part for _, part in release.stages()) == pytest.approx(1.0, abs=1e-9)
    assert (release.tree.path_spent.sum(axis=1)[release.tree.leaves] <= release.units).all()
    check_tree(release.tree, matrix.shape)
    assert np.prod(release.upper - release.lower, axis=1).sum() == side**4

    low, high = some_boxes(matrix.shape, 25, np.random.default_rng(2))
    low[0], high[0] = 0, matrix.shape
    boxes = matrix.domain.from_cells(np.stack([low, high], axis=1))
    # Leaf by leaf: its count times the part of it that lies inside.
    inside = np.minimum(release.upper, high[:, None]) - np.maximum(release.lower, low[:, None])
    part = np.clip(inside, 0, None).prod(axis=2) / (release.upper - release.lower).prod(axis=1)
    # Sums of so many floats in two orders.
    slack = 1e-12 * np.abs(release.counts).sum()
    assert release.answer(boxes).value == pytest.approx(part @ release.counts, abs=slack)

    if kind is Mosaic:
        # Split inference leans towards its prior, whatever noise there really was.
        mechanism = mechanism.with_(inference="least squares")
    clear = mechanism.release(matrix, rng=NoNoise())
    leaves = matrix.domain.from_cells(np.stack([clear.lower, clear.upper], axis=1))
    assert clear.counts == pytest.approx(exact(matrix, leaves), abs=1e-6)
    assert clear.total == pytest.approx(matrix.total, abs=1e-6)
    if kind is Identity:
        assert clear.answer(boxes).value == pytest.approx(exact(matrix, boxes), abs=1e-6)


def folded(matrix, contribution_bound=None):
    """The counts of a map as cells of four axes: the same records, other neighbours."""
    shape = [4, 3, 4, 3]
    while np.prod(shape) < matrix.counts.size:
        shape[np.argmin(shape)] *= 2
    flat = np.zeros(np.prod(shape), dtype=np.int64)
    flat[: matrix.counts.size] = matrix.counts.ravel()
    bound = contribution_bound or matrix.contribution_bound
    return sparse(flat.reshape(shape), bound, "point" if bound == 1 else "user")


def of_trips(contribution_bound=None):
    """Run a mechanism on the trips that `folded` makes of the data sets of an audit."""
    return lambda mechanism: (
        lambda matrix, source: mechanism.release(folded(matrix, contribution_bound), rng=source)
    )


@pytest.mark.parametrize("kind", [kind for kind, _ in CASES])
def test_the_audit_finds_no_loss_beyond_epsilon_with_trips(kind):
    found = replay_cases(kind, range(40), seed=3, publish=of_trips())
    assert found.breach is None
    assert found.pairs == 40 * 4
    assert found.largest > 0


def test_the_audit_finds_trips_whose_bound_is_forgotten():
    assert replay_cases(Mosaic, range(40), seed=3, publish=of_trips(1)).breach is not None


def test_records_are_put_together_and_the_key_follows_them_alone():
    where = [[3, 1, 0, 2], [0, 0, 0, 0], [3, 1, 0, 2]]
    matrix = TripMatrix.from_coordinates(where, [4, 4])
    assert matrix.cells.tolist() == [[0, 0, 0, 0], [3, 1, 0, 2]]
    assert matrix.multiplicities.tolist() == [1, 2]
    named = TripDomain((Grid.cells(4, name="a"), Grid.cells(4, name="b")), ("home", "work"))
    assert TripMatrix([*matrix.cells, [1, 1, 1, 1]], [1, 2, 0], named).key == matrix.key
    assert TripMatrix(matrix.cells, [2, 1], named).key != matrix.key
    assert TripMatrix.from_coordinates(where, [4, (4, 5)]).key != matrix.key
    assert TripMatrix.from_coordinates(where, [4, 4], 3).unit == "user"
    assert "3" not in repr(matrix)
    with pytest.raises(ValueError, match="read-only"):
        matrix.multiplicities[0] = 5


@pytest.mark.parametrize(("cells", "numbers", "more", "words"), [
    ([[0, 0, 0, 4]], [1], {}, "outside the domain"),
    ([[0, 0, 0, np.nan]], [1], {}, "fractions or NaN"),
    ([[0, 0, 0, 0]], [-1], {}, "negative"), ([[0, 0, 0, 0]], [1.5], {}, "fractions"),
    ([[0, 0, 0, 0]], [10**12], {}, "100 billion"), ([[0, 0, 0, 0]], [1, 2], {}, "shape"),
    ([["a", "b", "c", "d"]], [1], {}, "not numbers"),
    ([[0, 0, 0, 0]], [1], {"contribution_bound": 0}, "contribution bound"),
    ([[0, 0, 0, 0]], [1], {"contribution_bound": 2}, "unit of privacy"),
])  # fmt: skip
def test_what_cannot_be_counted_is_refused_in_a_sentence(cells, numbers, more, words):
    refuses(words, TripMatrix, cells, numbers, TripDomain((Grid.cells(4), Grid.cells(4))), **more)


# The paper's made-up trips: their law, their shapes, and the sets of known results.


@pytest.mark.parametrize("axes", SIDES)
@pytest.mark.parametrize("make", [gaussian, zipf])
def test_an_odd_number_of_axes_gives_the_last_place_one_row(make, axes):
    matrix = make(axes, draws=2000, rng=1)
    side = SIDES[axes]
    assert [cells for cells in matrix.shape if cells > 1] == [side] * axes
    assert matrix.shape[-2] == (1 if axes % 2 else side)
    assert 0 < matrix.total <= 2000
    assert make(axes, draws=2000, rng=1).key == matrix.key
    assert make(axes, draws=2000, rng=np.random.default_rng(2)).key != matrix.key


@pytest.mark.parametrize(("make", "axes", "setting", "total", "occupied"), [
    (gaussian, 2, 0.05, 998_715, 73_107), (gaussian, 3, 0.2, 627_044, 240_054),
    (gaussian, 4, 0.2, 288_674, 104_911), (gaussian, 6, 0.2, 409_382, 91_863),
    (zipf, 2, 1.5, 951_869, 35_112), (zipf, 4, 2.5, 989_489, 8_691),
])  # fmt: skip
def test_reference_sets(make, axes, setting, total, occupied):
    """The sets of which reference figures are known, drawn from the same generators."""
    generator = np.random.default_rng([20220329, axes, int(1000 * setting), make is zipf])
    matrix = make(axes, setting, rng=generator)
    assert (matrix.total, len(matrix.cells)) == (total, occupied)


@pytest.mark.parametrize(("make", "settings", "words"), [
    (gaussian, {"axes": 1}, "2 to 6 axes"), (gaussian, {"share": 0}, "above 0"),
    (zipf, {"exponent": 1}, "above 1"), (zipf, {"draws": 0}, "1 or more"),
])  # fmt: skip
def test_what_no_set_is_made_of(make, settings, words):
    refuses(words, make, **settings)
