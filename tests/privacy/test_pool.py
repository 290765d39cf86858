"""Plans side by side: the same draws as one after another, in fewer calls; failures end all."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from explorer import FrequencyMatrix, InputError
from explorer.mechanisms import HTF, KDStandard, Mosaic, PrivTree
from explorer.privacy import pool
from explorer.privacy.curator import BudgetExceeded, Curator
from explorer.privacy.forest import ForestCurator
from explorer.privacy.noise import NoiseSource, PreviewNoise, ReleaseNoise
from explorer.privacy.pool import side_by_side
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


def test_rows_of_the_ledger_are_shared_as_by_inner_curators() -> None:
    finer, units = maps(3), to_units(1)
    curator, areas = nation(finer, PreviewNoise(1), units)
    curator.forest(areas, finer, PrivTree(epsilon=1).plan)
    assert {row.stage for row in curator.ledger} == {"inside: structure", "inside: leaves"}
    assert curator.spent == units


def test_a_release_is_one_inside_too() -> None:
    finer, units = maps(2), to_units(1)
    for noise, preview in ((ReleaseNoise(), False), (NoNoise(), True)):
        curator, areas = nation(finer, noise, units)
        assert curator.forest(areas, finer, lambda inner: inner.preview) == [preview, preview]


def test_what_one_cannot_pay_ends_all_before_it_is_drawn() -> None:
    finer, noise = maps(4), Counting(0)
    curator, areas = nation(finer, noise, 100)

    def greedy(inner: Curator) -> None:
        root = inner.open()
        inner.count(root, 101 if inner.shape == finer[2].shape else 1, "all")

    before = threading.active_count()
    with pytest.raises(BudgetExceeded):
        curator.forest(areas, finer, greedy)
    assert noise.calls == 0
    assert threading.active_count() == before, "nobody waits for ever"
    assert curator.spent <= 100


def test_counts_of_another_bound_are_refused_before_anything_is_drawn() -> None:
    noise = Counting(0)
    curator, areas = nation(maps(2), noise, 100)
    users = FrequencyMatrix.from_array([[1]], contribution_bound=2)
    with pytest.raises(InputError, match="one bound"):
        curator.forest(areas, [maps(1)[0], users], lambda inner: inner.count(inner.open(), 1, "x"))
    assert noise.calls == 0


def test_a_source_that_fails_ends_all() -> None:
    class Broken(PreviewNoise):
        def laplace(self, *_):
            raise OSError("no dice")

    def ask(source: NoiseSource) -> None:
        one = np.array([1])
        source.laplace(one, 1, one, one.astype(np.uint64), "stage")

    before = threading.active_count()
    with pytest.raises(OSError, match="no dice"):
        side_by_side(Broken(0), [ask, ask, ask])
    assert threading.active_count() == before


def test_more_plans_than_run_at_once(monkeypatch) -> None:
    monkeypatch.setattr(pool, "AT_ONCE", 3)
    key = np.array([1], dtype=np.uint64)

    def ask(number: int):
        value = np.array([number])
        return lambda source: source.laplace(value, 1, np.array([10**12]), key, "stage")[0]

    assert side_by_side(NoNoise(), [ask(number) for number in range(8)]) == list(range(8))
    assert side_by_side(NoNoise(), []) == []
