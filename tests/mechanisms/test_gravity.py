"""Gravity: what it spends, what it answers, its options, and one place, which is Mosaic."""

from __future__ import annotations

import numpy as np
import pytest

from explorer import Gravity, InputError, Mosaic
from explorer.mechanisms.gravity import cuts_between, order_of_places, portion
from explorer.points.truth import exact
from explorer.releases.units import to_units
from explorer.testing import mechanism_checks
from explorer.testing.counts import counted
from explorer.trips.matrix import TripMatrix
from tests.helpers import city

OPTIONS = [
    {},
    {"maps_share": 0},
    {"zones": 4},
    {"partition": "fixed boxes", "box_cuts": 8},
    {"partition": "PrivTree"},
]


def crowds(people=30_000, shapes=((32, 32), (24, 20)), seed=1) -> TripMatrix:
    """Trips from three corners to three others, each with its own preference."""
    rng = np.random.default_rng(seed)
    kind, columns = rng.integers(0, 3, people), []
    for place, shape in enumerate(shapes):
        for side in shape:
            middle = np.array([0.2, 0.5, 0.85])[(kind + place) % 3] * side
            drawn = np.rint(rng.normal(middle, 0.06 * side + 0.1)).astype(int)
            columns.append(np.clip(drawn, 0, side - 1))
    return TripMatrix.from_coordinates(np.stack(columns, axis=1), shapes)


class OfTwoPlaces(Gravity):
    """What all mechanisms are checked for, in four dimensions."""

    key, dimensions = "gravity-of-two", (4,)


@pytest.mark.parametrize("check", mechanism_checks(OfTwoPlaces), ids=str)
def test_it_keeps_what_every_mechanism_promises(check) -> None:
    check()


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("shapes", [((32, 32), (24, 20)), ((9, 5), (1, 13)), ((3, 1), (7, 2))])
def test_counts_add_up_and_every_path_spends_epsilon(options, shapes) -> None:
    release = Gravity(epsilon=0.3, **options).release(crowds(shapes=shapes), rng=3)
    tree = release.tree
    assert np.all(tree.value >= 0)
    inner = np.flatnonzero(tree.fan_out)
    children = np.zeros(len(tree))
    np.add.at(children, tree.parent[1:], tree.value[1:])
    np.testing.assert_allclose(children[inner], tree.value[inner], atol=1e-8)
    paths = tree.path_spent[tree.leaves].sum(axis=1)
    maps = sum(to_units(part) for _, part in release.elsewhere)
    assert set((paths + maps).tolist()) == {to_units(0.3)}
    assert maps == (0 if "maps_share" in options else to_units(0.3) // 8 * 2)
    everything = [side for rows, cols in shapes for side in (0, 0, cols, rows)]
    assert release.answer([everything]).value[0] == pytest.approx(release.total)


@pytest.mark.parametrize("inference", ["split", "least squares", "leaves"])
def test_one_place_is_mosaic_bit_for_bit(inference) -> None:
    matrix = city((50, 33), 20_000)
    # Each with its own way to have no negative counts.
    same = {} if inference == "split" else {"inference": inference}
    # As read from a file: an equal text, not the same object.
    ours = Gravity(epsilon=0.4, inference="".join([*inference])).release(matrix, rng=5)
    mosaic = Mosaic(epsilon=0.4, **same).release(matrix, rng=5)
    for name in ("lower", "upper", "parent", "value", "precision", "spent", "draws"):
        assert getattr(ours.tree, name).tobytes() == getattr(mosaic.tree, name).tobytes(), name
    assert ours.density().tobytes() == mosaic.density().tobytes()
    assert ours.ledger == mosaic.ledger
    assert ours.inside == mosaic.inside


def test_maps_say_where_inside_leaves() -> None:
    """Two places that know nothing of each other: one leaf would do, if the maps are right."""
    rng = np.random.default_rng(4)
    ends = [np.clip(rng.normal(m, 2.0, (200_000, 2)), 0, 31).astype(int) for m in (8, 22)]
    matrix = TripMatrix.from_coordinates(np.hstack(ends), [32, 32])
    low = rng.integers(2, 14, (200, 4))
    boxes = np.stack([low[:, 0], low[:, 1], low[:, 0] + 3, low[:, 1] + 3], axis=1)
    boxes = np.hstack([boxes, boxes + 14])
    truth = exact(matrix, boxes)
    by_maps = Gravity(epsilon=0.5, partition="fixed boxes", box_cuts=4).release(matrix, rng=1)
    errors = [
        np.abs(release.answer(boxes).value - truth).mean()
        for release in (by_maps, by_maps.spread("uniform"))
    ]
    assert errors[0] < 0.2 * errors[1]


@pytest.mark.parametrize(
    ("shapes", "zones", "sizes", "leaves"),
    [
        (((32, 32), (24, 20)), 4, {(8, 8, 6, 5)}, 4**4),
        # Zones finer than the grid are its cells.
        (((5, 3), (1, 6)), 64, {(1, 1, 1, 1)}, 5 * 3 * 6),
    ],
)
def test_zones_have_draws_of_their_own(shapes, zones, sizes, leaves) -> None:
    tree = Gravity(epsilon=0.5, zones=zones).release(crowds(shapes=shapes), rng=1).tree
    first = np.flatnonzero(tree.parent == 0)
    assert len(first) == leaves
    assert set(map(tuple, (tree.upper - tree.lower)[first].tolist())) == sizes
    assert not np.isnan(tree.draws[first]).all(axis=1).any()


def test_more_flows_than_can_be_said_are_refused_with_their_number() -> None:
    matrix = TripMatrix.from_coordinates([[0] * 6], [64] * 3)
    with pytest.raises(InputError, match=r"^16 x 16 zones in each of 3 places have 16,777,216 flo"):
        Gravity(zones=16).release(matrix, rng=1)


@pytest.mark.parametrize("epsilon", [0.0001, 10.0])
def test_nobody_at_all_and_extreme_budgets(epsilon) -> None:
    empty = TripMatrix.from_coordinates(np.zeros((0, 4), dtype=int), [8, (1, 5)])
    for options in OPTIONS:
        release = Gravity(epsilon=epsilon, **options).release(empty, rng=1)
        assert np.isfinite(release.answer([[0, 0, 4, 4, 0, 0, 2, 1]]).value).all()


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_the_total_is_unbiased(epsilon) -> None:
    matrix = crowds(20_000).prepare()
    totals = [Gravity(epsilon=epsilon).release(matrix, rng=seed).total for seed in range(40)]
    # The root's own draw: discrete Laplace of 3 % of three quarters of epsilon.
    q = np.exp(-0.03 * 0.75 * epsilon)
    error = np.sqrt(2 * q) / (1 - q) / np.sqrt(40)
    assert abs(np.mean(totals) - matrix.total) < 3 * error
    assert np.std(totals) > 0


def test_places_are_cut_in_turn_in_the_middle_of_the_longer_side() -> None:
    order = order_of_places((8, 8, 4, 16))
    assert order.tolist() == [0, 1, 0, 1]
    parts, turn = cuts_between(np.array([[8, 8, 4, 16]]), np.array([0]), 5, order)
    # In turn columns (of equal sides), columns, rows, columns, columns.
    assert parts.tolist() == [[2, 4, 1, 4]]
    assert turn.tolist() == [1]


def test_what_cannot_be_cut_is_passed_over_and_one_row_has_half_the_turns() -> None:
    order = order_of_places((8, 8, 1, 8))
    assert order.tolist() == [0, 1, 0]
    parts, turn = cuts_between(np.array([[1, 1, 1, 8], [1, 1, 1, 1]]), np.array([0, 0]), 2, order)
    assert parts.tolist() == [[1, 1, 1, 4], [1, 1, 1, 1]]
    assert turn.tolist() == [2, 0]


def test_shares_add_up_to_all_that_is_left() -> None:
    # K draws in geometric shares: with the rest taken each time, the last takes all.
    worth, k, ratio = np.array([2.0**5]), 2, 1.19**2
    left = 1.0
    spent = []
    for terms in range(5, 0, -1):
        part = float(portion(2.0 ** (1.25 * np.array([terms - 1.0])), 2, 0, k, ratio)[0])
        spent.append(part * left)
        left *= 1 - part
    np.testing.assert_allclose(np.diff(np.log(spent)), np.log(ratio))
    assert left == pytest.approx(0, abs=1e-12)
    assert portion(worth, 2, 0, k, 1.0)[0] == pytest.approx(1 / 5)


def test_a_jump_to_zones_takes_the_share_of_the_note() -> None:
    """San Francisco, 64 cells, zones of 8: .43 of epsilon at .1 and .34 at 1."""
    for epsilon, share in ((0.1, 0.43), (1.0, 0.34)):
        rest = 0.75 * 0.97 * epsilon
        part = portion(np.array([357_561 * rest / 10]), 12, 12, 2, 1.0)[0]
        assert part * rest / epsilon == pytest.approx(share, abs=0.006)


def test_other_numbers_of_axes_are_refused() -> None:
    odd = counted(np.ones((2, 3, 2), dtype=np.int64))
    with pytest.raises(InputError, match=r"^Gravity takes counts of 2, 4 to 60 dimensions"):
        Gravity().release(odd, rng=1)
