"""A curator inside a region: what it may spend, who pays, and what stays closed."""

import numpy as np
import pytest

from explorer import FrequencyMatrix, InputError
from explorer.privacy.curator import BudgetExceeded, Curator
from explorer.testing import NoNoise

COARSE = np.array([[5, 3], [2, 7]])
FINE = np.array([[1, 0, 2], [0, 2, 0]])


def users(counts, bound=2):
    return FrequencyMatrix.from_array(counts, contribution_bound=bound)


def curator(units=100, noise=None):
    return Curator(users(COARSE), units, noise or NoNoise())


class Watching(NoNoise):
    """Writes down what the outer curator has spent at the moment of every draw."""

    desk = None

    def __init__(self):
        super().__init__()
        self.seen = []
        self.keys = []

    def laplace(self, values, sensitivity, units, keys, stage):
        self.seen.append(self.desk.spent)
        self.keys.append(keys.tolist())
        assert sensitivity == 2
        return super().laplace(values, sensitivity, units, keys, stage)


def quarters(desk, paid=40):
    cells = desk.open().grid(2)
    desk.count(cells, paid, "areas")
    return [cells.select(np.array([i])) for i in range(4)]


def test_what_is_spent_inside_is_charged_before_it_is_drawn():
    noise = Watching()
    noise.desk = desk = curator(noise=noise)
    one, two, *_ = quarters(desk)
    inner = desk.within(one, users(FINE))
    assert inner.units == 60
    first = inner.open(20)
    inner.count(first, 20, "pass 1")
    second = inner.open(30).grid(3)
    inner.count(second, 10, "pass 2")
    assert (inner.spent, desk.spent) == (30, 70)
    other = desk.within(two, users(FINE))
    other.count(other.open(), 25, "pass 1")
    assert desk.spent == 70, "regions beside each other cost the dearest of them"
    inner.count(second, 20, "pass 2, again")
    assert (inner.spent, desk.spent) == (50, 90)
    assert noise.seen == [40, 60, 70, 70, 90]
    assert desk.remaining(one).tolist() == [10]
    assert desk.remaining(two).tolist() == [35]


def test_a_region_that_was_handed_on_is_closed():
    desk = curator(noise=Watching())
    one = desk.open()
    desk.within(one, users(FINE))
    row = np.array([1])
    for closed in (
        lambda: desk.count(one, 1, "again"),
        lambda: desk.median(one, np.array([0]), 1),
        lambda: one.split(0, row),
        lambda: one.grid(2),
        lambda: desk.within(one, users(FINE)),
    ):
        with pytest.raises(ValueError, match="split or handed on"):
            closed()


def test_a_region_that_was_split_has_no_inner_curator():
    desk = curator()
    root = desk.open()
    halves = root.split(0, np.array([1]))
    with pytest.raises(ValueError, match="split or handed on"):
        desk.within(root, users(FINE))
    with pytest.raises(ValueError, match="one region"):
        desk.within(halves, users(FINE))
    with pytest.raises(ValueError, match="another curator"):
        curator().within(halves.select(np.array([0])), users(FINE))


@pytest.mark.parametrize(
    "finer",
    [users(FINE, 1), users(FINE, 3), FrequencyMatrix(FINE, users(FINE).grid, 1, "user")],
    ids=["a point", "a larger bound", "a smaller bound"],
)
def test_one_bound_and_one_unit_for_all(finer):
    desk = curator()
    root = desk.open()
    with pytest.raises(InputError, match="one bound"):
        desk.within(root, finer)
    assert desk.count(root, 100, "the region is still open").tolist() == [17]


def test_overspending_inside_is_refused_before_anything_is_drawn():
    noise = Watching()
    desk = curator(noise=noise)
    inner = desk.within(desk.open(30), users(FINE))
    with pytest.raises(BudgetExceeded, match="unclaimed"):
        inner.open(31)
    root = inner.open()
    with pytest.raises(BudgetExceeded, match="nothing was drawn"):
        inner.count(root, 31, "too dear")
    assert (inner.spent, desk.spent, desk.ledger, noise.seen) == (0, 0, (), [])


def test_regions_of_the_outer_book_are_foreign_inside():
    desk = curator()
    one, two, *_ = quarters(desk)
    inner = desk.within(one, users(FINE))
    with pytest.raises(ValueError, match="another curator"):
        inner.count(two, 1, "not mine")
    with pytest.raises(ValueError, match="another curator"):
        desk.count(inner.open(), 1, "not mine either")


def test_inside_of_inside():
    noise = Watching()
    noise.desk = desk = curator(noise=noise)
    one, *_ = quarters(desk)
    inner = desk.within(one, users(FINE))
    cells = inner.open(50).grid(3)
    inner.count(cells, 20, "cells")
    deeper = [
        inner.within(cells.select(np.array([i])), users(np.eye(2, dtype=int))) for i in range(2)
    ]
    assert [each.units for each in deeper] == [30, 30]
    roots = [each.open() for each in deeper]
    deeper[0].count(roots[0], 30, "deep")
    deeper[1].count(roots[1], 10, "deep")
    with pytest.raises(BudgetExceeded):
        deeper[1].count(roots[1], 21, "deep")
    assert (deeper[0].spent, deeper[1].spent, inner.spent, desk.spent) == (30, 10, 50, 90)
    assert noise.seen == [40, 60, 90, 90]
    named = [key for keys in noise.keys for key in keys]
    assert len(set(named)) == len(named)
    inner.count(inner.open(), 10, "the rest")
    assert desk.spent == 100
    stages = [(row.stage, row.draws) for row in desk.ledger]
    assert stages == [
        ("areas", 4),
        ("inside: cells", len(cells)),
        ("inside: inside: deep", 2),
        ("inside: the rest", 1),
    ]
    assert sum(row.epsilon for row in desk.ledger) == pytest.approx(desk.spent / 10**12, rel=1e-12)


def test_any_plan_stays_within_epsilon():
    """Random nesting that takes whatever it is not refused; `spent` never falls, nor passes it."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        desk = curator()
        desks, before = [(desk, desk.open(int(rng.integers(1, 101))))], 0
        for _ in range(40):
            here, regions = desks[rng.integers(len(desks))]
            what = rng.integers(4)
            one = regions.select(np.array([rng.integers(len(regions))]))
            try:
                if what == 0:
                    inner = here.within(one, users(FINE))
                    desks.append((inner, inner.open()))
                elif what == 1:
                    desks.append((here, one.halves()))
                elif what == 2:
                    desks.append((here, here.open(int(rng.integers(1, 60)))))
                else:
                    here.count(one, int(rng.integers(1, 40)), "any")
            except (BudgetExceeded, ValueError):
                pass
            assert before <= desk.spent <= desk.units
            before = desk.spent
        assert before > 0
