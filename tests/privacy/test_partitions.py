"""Candidate cuts are public, tile, and are judged over all cells; slabs of regions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer import InputError
from explorer.points.split_costs import LATTICE_BITS
from explorer.privacy.curator import BudgetExceeded, Curator
from explorer.privacy.noise import PreviewNoise
from explorer.privacy.partitions import Offers
from explorer.testing import NoNoise
from explorer.testing.counts import counted
from tests.country.nation import nation, people


def offers(low, high, parts, number: int, seed: int = 1) -> Offers:
    keys = np.arange(len(low), dtype=np.uint64) + np.uint64(seed)
    return Offers.of(keys, *(np.array(each) for each in (low, high, parts)), number)


SIDES = st.lists(
    st.tuples(st.integers(0, 50), st.integers(1, 40), st.floats(0, 1)), min_size=1, max_size=6
)


@given(SIDES, st.integers(1, 12), st.integers(0, 2**60))
def test_candidates_leave_every_slab_a_cell(sides, number: int, seed: int) -> None:
    low = [first for first, _, _ in sides]
    high = [first + length for first, length, _ in sides]
    parts = [1 + int(part * (length - 1)) for _, length, part in sides]
    found = offers(low, high, parts, number, seed)
    begin = 0
    for i, m in enumerate(parts):
        cuts = found.cuts[:, begin : begin + m - 1]
        edges = np.hstack([np.full((number, 1), low[i]), cuts, np.full((number, 1), high[i])])
        assert np.all(np.diff(edges, axis=1) >= 1)
        own = found.owner == i
        np.testing.assert_array_equal(found.start[:, own], edges[:, :-1])
        np.testing.assert_array_equal(found.stop[:, own], edges[:, 1:])
        # Within half a part of equal cuts, but where a slab had no room.
        equal = low[i] + np.arange(1, m) * (high[i] - low[i]) / m
        near = np.abs(cuts - equal) <= (high[i] - low[i]) / (2 * m) + 1
        assert near.all() or high[i] - low[i] < 2 * m
        begin += m - 1
    assert begin == found.cuts.shape[1]
    which = np.arange(len(sides)) % number
    np.testing.assert_array_equal(
        found.chosen(which), found.cuts[which[found.cut_owner], np.arange(begin)]
    )


def test_candidates_are_spread_evenly_around_equal_cuts() -> None:
    found = offers([0] * 500, [3000] * 500, [3] * 500, 20)
    for column, centre in ((0, 1000), (1, 2000)):
        drawn = (found.cuts[:, column::2] - centre) / 1000 + 0.5
        # Ten thousand even numbers: mean and square are known to .003 (one standard deviation).
        assert drawn.mean() == pytest.approx(1 / 2, abs=0.012)
        assert (drawn**2).mean() == pytest.approx(1 / 3, abs=0.012)
    # No two sets are alike, and a set's cuts do not move together.
    assert len(np.unique(found.cuts[:, :2], axis=0)) == 20
    together = np.corrcoef(found.cuts[:, 0::2].ravel(), found.cuts[:, 1::2].ravel())[0, 1]
    assert abs(together) < 0.04


def brute(array, low, high) -> int:
    """The cost of one box from all of its cells, in whole numbers."""
    box = array[tuple(map(slice, low, high))].astype(object)
    # n sum |c - mu| = sum |n c - s|, exactly.
    scaled = sum(abs(box.size * each - box.sum()) for each in box.ravel())
    return (int(scaled) << LATTICE_BITS) // box.size


@given(
    st.lists(st.integers(1, 6), min_size=2, max_size=5),
    st.sampled_from([0.05, 0.4, 3.0, 500.0]),
    st.integers(0, 2**32),
)
def test_costs_of_slabs_are_over_all_cells(shape, mean: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    array = rng.poisson(mean * rng.gamma(0.3, 3, shape))
    counts, axis = counted(array), int(rng.integers(len(shape)))
    low = np.stack([rng.integers(0, shape) for _ in range(3)])
    high = low + 1 + np.stack([rng.integers(0, shape - each) for each in low])
    owner = np.array([0, 0, 1, 2, 2])
    start = low[owner, axis] + rng.integers(0, (high - low)[owner, axis], (4, 5))
    stop = start + 1 + rng.integers(0, high[owner, axis] - start)
    found = counts.slab_costs(low, high, axis, owner, start, stop)
    for p in range(4):
        for k, box in enumerate(owner):
            first, last = low[box].copy(), high[box].copy()
            first[axis], last[axis] = start[p, k], stop[p, k]
            assert found[p, k] == brute(array, first, last)


@given(st.integers(0, 2**32), st.sampled_from([0.1, 1.0, 30.0]))
def test_one_record_moves_the_cost_of_a_set_by_two_at_most(seed: int, mean: float) -> None:
    rng = np.random.default_rng(seed)
    array = rng.poisson(mean, (7, 3, 2))
    more = array.copy()
    more[tuple(rng.integers(0, array.shape))] += 1
    low, high = np.zeros((1, 3), dtype=int), np.array([[7, 3, 2]])
    sets = offers([0], [7], [int(rng.integers(2, 6))], 8, seed)
    one, other = (sets.costs(counted(each), low, high, 0) for each in (array, more))
    assert one.shape == (1, 8)
    assert np.abs(one - other).max() <= 2 << LATTICE_BITS


def desk(array, noise=None) -> Curator:
    return Curator(counted(array), 10**12, noise or NoNoise())


def test_the_curator_takes_the_cheapest_and_charges_those_that_choose() -> None:
    array = np.zeros((24, 2, 2), dtype=np.int64)
    array[:7] = 90
    curator = desk(array)
    # The upper half has one slab: nothing to choose.
    halves = curator.open().grid((2, 1, 1))
    cuts = curator.partition(halves, 0, np.array([2, 1]), 10**11, 200)
    assert cuts.tolist() == [7]
    assert (curator.remaining(halves) == [9 * 10**11, 10**12]).all()
    (row,) = curator.ledger
    assert (row.draws, row.sensitivity, row.epsilon) == (200, 2.0, 0.1)
    slabs = halves.slice(0, np.array([2, 1]), cuts)
    assert slabs.lower[:, 0].tolist() == [0, 7, 12]
    assert slabs.upper[:, 0].tolist() == [7, 12, 24]
    with pytest.raises(BudgetExceeded):
        curator.partition(slabs, 1, np.array([2, 2, 2]), 2 * 10**12)
    assert len(curator.ledger) == 1


@pytest.mark.parametrize("rule", ["noised costs", "noisy-min"])
@pytest.mark.statistical
def test_choices_follow_their_laws(rule: str) -> None:
    """How often the better of two sets wins, against the law of the noise."""
    array = np.zeros((2000, 8, 2), dtype=np.int64)
    array[:, :2] = 3
    curator = desk(array, PreviewNoise(4))
    rows = curator.open().grid((2000, 1, 1))
    sets = Offers.of(rows.keys, rows.lower[:, 1], rows.upper[:, 1], np.full(2000, 2), 2)
    costs = sets.costs(counted(array), rows.lower, rows.upper, 1) / (1 << LATTICE_BITS)
    units = 10**12
    cuts = curator.partition(rows, 1, np.full(2000, 2), units, 2, rule)
    better, gap = costs.argmin(axis=1), np.abs(costs[:, 0] - costs[:, 1])
    differ = (gap > 0) & (sets.cuts[0] != sets.cuts[1])
    won = cuts[differ] == sets.chosen(better)[differ]
    if rule == "noised costs":
        # Two Laplace draws of scale b = 2 p / epsilon = 4 differ by more than x b with
        # probability (2 + x) e^-x / 4.
        x = gap[differ] / 4
        chance = 1 - (2 + x) * np.exp(-x) / 4
    else:
        # Permute-and-flip at scale 2 . 2 / epsilon: the worse first is taken with e^(-x/4).
        chance = 1 - np.exp(-gap[differ] / 4) / 2
    spread = np.sqrt((chance * (1 - chance)).sum())
    assert abs(won.sum() - chance.sum()) < 4 * spread
    assert differ.sum() > 500
    assert chance.mean() > 0.6


def test_counts_without_slabs_refuse_in_a_sentence() -> None:
    areas = nation().count(people())
    curator = Curator(areas, 10**12, NoNoise())
    with pytest.raises(InputError, match="cannot say how even"):
        curator.partition(curator.open(), 0, np.array([2]), 10**6)
