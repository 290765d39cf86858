"""The growth of a released tree: tilings, totals, budget, cuts at heights, for every mechanism."""

import numpy as np
import pytest

from explorer import InputError, QuadTree, all_mechanisms
from explorer.inspection.growth import Growth
from explorer.releases.units import UNITS_PER_EPSILON
from tests.helpers import city

MATRIX = city((48, 64), 8000)
BOXES = [[0, 0, 64, 48], [3.5, 10, 41, 40.25], [20, 20, 30, 30]]


@pytest.fixture(scope="module", params=list(all_mechanisms()))
def growth(request) -> Growth:
    return Growth(all_mechanisms()[request.param](epsilon=0.8).release(MATRIX, rng=3))


def some_steps(growth: Growth) -> list[int]:
    """The ends of all levels, and steps inside them."""
    inside = np.linspace(0, growth.n_splits, 9).astype(int)
    return sorted({*map(int, growth.level_ends), *map(int, inside)})


def test_every_step_tiles_the_domain(growth) -> None:
    for step in some_steps(growth):
        cut = growth.cut(step)
        covered = np.zeros(MATRIX.shape, dtype=int)
        for (r0, c0), (r1, c1) in zip(cut.lower, cut.upper, strict=True):
            covered[r0:r1, c0:c1] += 1
        assert (covered == 1).all(), step
        assert len(cut) == growth.pieces(step)


def test_the_first_step_is_the_whole_map_and_the_last_the_leaves(growth) -> None:
    release = growth.release
    whole, last = growth.cut(0), growth.cut(growth.n_splits)
    assert (whole.lower == 0).all()
    assert (whole.upper == MATRIX.shape).all()
    np.testing.assert_array_equal(last.nodes, release.tree.leaves)
    np.testing.assert_array_equal(last.lower, release.lower)
    np.testing.assert_allclose(last.counts, release.counts)
    np.testing.assert_allclose(last.density(), release.density())
    np.testing.assert_allclose(last.answer(BOXES), release.answer(BOXES).value, rtol=1e-6)
    assert growth.ended(growth.n_splits) == release.n_leaves


def test_every_step_keeps_the_total(growth) -> None:
    for step in some_steps(growth):
        cut = growth.cut(step)
        assert cut.counts.sum() == pytest.approx(growth.release.total, abs=1e-4)
        assert cut.density().sum() == pytest.approx(growth.release.total, abs=1e-4)


def test_each_split_divides_one_piece(growth) -> None:
    for step in some_steps(growth)[1:]:
        before, after = growth.cut(step - 1), growth.cut(step)
        node = growth.split_node(step)
        children = np.flatnonzero(growth.release.tree.parent == node)
        assert set(before.nodes) - set(after.nodes) == {node}
        assert set(after.nodes) - set(before.nodes) == set(children)
        assert set(after.nodes[after.new]) == set(children)


def test_the_cut_at_a_height_holds_pieces_of_at_most_so_many_cuts(growth) -> None:
    tree = growth.release.tree
    leaf = tree.fan_out == 0
    assert growth.levels == tree.depth.max()
    for height in range(growth.levels + 1):
        expected = np.flatnonzero((tree.depth == height) | (leaf & (tree.depth < height)))
        step = int(growth.level_ends[height])
        np.testing.assert_array_equal(growth.cut_at_height(height).nodes, expected)
        assert growth.level(step) == height
        assert growth.ended(step) == np.count_nonzero(leaf & (tree.depth <= height))
        if step < growth.n_splits:
            assert growth.level(step + 1) in (height, height + 1)


def test_the_budget_never_falls_and_ends_at_epsilon(growth) -> None:
    release = growth.release
    spent = np.array(
        [[part for _, part in growth.spent(step)] for step in range(growth.n_splits + 1)]
    )
    assert (np.diff(spent, axis=0) >= -1e-15).all()
    assert [stage for stage, _ in growth.spent(0)] == [stage for stage, _ in release.stages()]
    np.testing.assert_allclose(spent[-1], [part for _, part in release.stages()], atol=1e-9)
    # Accounts are whole numbers of 10^-12, and HTF's geometric shares leave the last few over.
    assert spent[-1].sum() == pytest.approx(release.epsilon, rel=1e-9)


def test_the_budget_of_a_height_is_the_mean_over_paths(growth) -> None:
    tree = growth.release.tree
    height = growth.levels // 2
    paid = np.where(tree.depth[:, None] <= height, tree.spent, 0)
    path = np.zeros_like(paid)
    for node in range(len(tree)):
        above = path[tree.parent[node]] if node else 0
        path[node] = paid[node] + above
    expected = path[tree.leaves].mean(axis=0) / UNITS_PER_EPSILON
    spent = dict(growth.spent(int(growth.level_ends[height])))
    np.testing.assert_allclose([spent[stage] for stage in tree.stages], expected, atol=1e-12)


def test_pieces_since_an_earlier_step_are_new() -> None:
    growth = Growth(QuadTree(epsilon=1.0, height=3).release(MATRIX, rng=1))
    cut = growth.cut(int(growth.level_ends[2]), since=int(growth.level_ends[1]))
    assert len(cut) == 16
    assert cut.new.all()
    assert growth.cut(int(growth.level_ends[2])).new.sum() == 4


@pytest.mark.parametrize("step", [-1, 22, 10**12])
def test_a_step_that_does_not_exist_is_one_sentence(step) -> None:
    growth = Growth(QuadTree(epsilon=1.0, height=3).release(MATRIX, rng=1))
    assert growth.n_splits == 21
    with pytest.raises(InputError, match="0 to 21"):
        growth.cut(step)
    with pytest.raises(InputError, match="0 to 3"):
        growth.cut_at_height(4 if step > 0 else step)
