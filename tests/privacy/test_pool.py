"""Plans side by side: the same draws as one after another, in fewer calls; failures end all."""

from __future__ import annotations

import numpy as np
import pytest

from explorer import FrequencyMatrix, InputError
from explorer.mechanisms import HTF, KDStandard, Mosaic, PrivTree
from explorer.privacy.curator import BudgetExceeded, Curator
from explorer.privacy.forest import ForestCurator, side_by_side
from explorer.privacy.noise import NoiseSource, PreviewNoise
from explorer.releases.units import to_units
from explorer.testing import NoNoise


class Counting(PreviewNoise):
    """Counts the calls that reach it."""

    calls = 0

    def laplace(self, *asked):
        self.calls += 1
        return super().laplace(*asked)


def maps(n: int = 7) -> list[FrequencyMatrix]:
    rng = np.random.default_rng(3)
    shapes = rng.integers(3, 20, (n, 2))
    return [FrequencyMatrix.from_array(rng.poisson(3.0, shape)) for shape in shapes]


def nation(finer, noise: NoiseSource, units: int) -> tuple[ForestCurator, object]:
    totals = FrequencyMatrix.from_array([[int(each.counts.sum()) for each in finer]])
    curator = ForestCurator(totals, units, noise)
    first = np.array([[0, i] for i in range(len(finer))])
    return curator, curator.open().divide(np.array([len(finer)]), first, first + 1)


@pytest.mark.parametrize("kind", [HTF, Mosaic, PrivTree, KDStandard], ids=lambda kind: kind.key)
def test_side_by_side_is_one_after_another_in_fewer_calls(kind) -> None:
    finer, mechanism = maps(), kind(epsilon=0.7)
    units, found, calls, books = to_units(0.7), [], [], []
    for together in (False, True):
        noise = Counting(5)
        curator, areas = nation(finer, noise, units)
        curator.count(areas, units // 4, "areas")
        if together:
            made = curator.forest(areas, finer, mechanism.plan)
        else:
            each = [areas.select(np.array([i])) for i in range(len(finer))]
            made = [mechanism.plan(curator.within(*one)) for one in zip(each, finer, strict=True)]
        found.append(made)
        calls.append(noise.calls)
        books.append((curator.spent, curator.transcript(areas).spent.tolist()))
        assert curator.spent <= units
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one.value, other.value)
        np.testing.assert_array_equal(one.transcript.spent, other.transcript.spent)
    assert books[0] == books[1]
    assert calls[1] < calls[0] / 2


def test_what_one_cannot_pay_ends_all_before_it_is_drawn() -> None:
    finer, noise = maps(4), Counting(0)
    curator, areas = nation(finer, noise, 100)

    def greedy(inner: Curator) -> None:
        root = inner.open()
        inner.count(root, 101 if inner.shape == finer[2].shape else 1, "all")

    with pytest.raises(BudgetExceeded):
        curator.forest(areas, finer, greedy)
    assert noise.calls == 0
    assert curator.spent <= 100


def test_counts_of_another_bound_are_refused_before_anything_is_drawn() -> None:
    noise = Counting(0)
    curator, areas = nation(maps(2), noise, 100)
    users = FrequencyMatrix.from_array([[1]], contribution_bound=2)
    with pytest.raises(InputError, match="one bound"):
        curator.forest(areas, [maps(1)[0], users], lambda inner: inner.count(inner.open(), 1, "x"))
    assert noise.calls == 0


def twice(number: int, left: list[int], failure: BaseException, at_its_end: bool = False):
    """A plan that draws twice and notes its end; number 1 fails between, or 2 when it ends."""

    def plan(source: NoiseSource) -> None:
        one = np.array([1])
        try:
            source.laplace(one, 1, one, one.astype(np.uint64), "stage")
            if number == 1:
                raise failure
            source.laplace(one, 1, one, one.astype(np.uint64), "stage")
        finally:
            left.append(number)
            if at_its_end and number == 2:
                raise ValueError("no end")

    return plan


@pytest.mark.parametrize("at_its_end", [True, False])
@pytest.mark.parametrize("kind", [OSError, KeyboardInterrupt], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("in_a_plan", [True, False])
def test_a_failure_ends_all_where_they_wait(kind, in_a_plan: bool, at_its_end: bool) -> None:
    left: list[int] = []

    class Source(NoNoise):
        def laplace(self, *asked):
            if not in_a_plan:
                raise kind("no dice")
            return super().laplace(*asked)

    with pytest.raises(kind, match="no dice"):
        side_by_side(Source(), [twice(i, left, kind("no dice"), at_its_end) for i in range(4)])
    assert sorted(left) == [0, 1, 2, 3], "nobody waits for ever"


def test_a_plan_asks_for_noise_itself_and_until_it_ends() -> None:
    finer = maps(2)
    curator, areas = nation(finer, Counting(0), 100)
    kept = curator.forest(areas, finer, lambda inner: inner)
    with pytest.raises(RuntimeError, match="until it ends"):
        kept[0].count(kept[0].open(), 1, "later")


def test_plans_that_draw_nothing_or_unequally_often() -> None:
    key, paid = np.array([1], dtype=np.uint64), np.array([10**12])

    def ask(number: int):
        def plan(source: NoiseSource) -> int:
            return sum(
                int(source.laplace(np.array([number]), 1, paid, key, "stage")[0])
                for _ in range(number)
            )

        return plan

    assert side_by_side(NoNoise(), [ask(number) for number in range(8)]) == [
        n * n for n in range(8)
    ]
    assert side_by_side(NoNoise(), []) == []


def test_a_forest_inside_a_plan() -> None:
    """The pool of a forest inside another hands what it waits for to the outer pool."""
    key, paid = np.array([1], dtype=np.uint64), np.array([10**12])
    calls = []

    class Source(NoNoise):
        def laplace(self, *asked):
            calls.append(len(asked[0]))
            return super().laplace(*asked)

    def leaf(number: int):
        return lambda source: int(source.laplace(np.array([number]), 1, paid, key, "stage")[0])

    def inner(first: int):
        return lambda source: side_by_side(source, [leaf(first), leaf(first + 1)])

    assert side_by_side(Source(), [inner(0), inner(2), leaf(9)]) == [[0, 1], [2, 3], 9]
    assert calls == [5]


@pytest.mark.parametrize("kind", [HTF, Mosaic, PrivTree], ids=lambda kind: kind.key)
def test_a_preview_is_the_same_with_and_without_the_pool(kind) -> None:
    finer, units, found = maps(), to_units(0.7), []
    # One that inherits is asked for every draw, and so goes to the pool.
    for noise in (PreviewNoise(5), Counting(5)):
        curator, areas = nation(finer, noise, units)
        made = curator.forest(areas, finer, kind(epsilon=0.7).plan)
        found.append((made, curator.ledger, curator.transcript(areas).spent))
    (one, ledger, spent), (other, ledger_2, spent_2) = found
    for left, right in zip(one, other, strict=True):
        np.testing.assert_array_equal(left.value, right.value)
        assert left.transcript.stages == right.transcript.stages
    assert sorted(map(repr, ledger)) == sorted(map(repr, ledger_2))
    np.testing.assert_array_equal(spent, spent_2)
