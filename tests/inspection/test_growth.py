"""The growth of a released tree: tilings, totals, budget, cuts at heights, for every mechanism."""

import numpy as np
import pytest

from explorer import InputError, QuadTree, all_mechanisms
from explorer.inspection.growth import Growth
from explorer.releases.file import check_tree
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
        cut = growth.at(step)
        covered = np.zeros(MATRIX.shape, dtype=int)
        for (r0, c0), (r1, c1) in zip(cut.lower, cut.upper, strict=True):
            covered[r0:r1, c0:c1] += 1
        assert (covered == 1).all(), step
        assert cut.n_leaves == growth.pieces(step)
        check_tree(cut.tree, MATRIX.shape)
        at = growth.nodes(step)
        np.testing.assert_array_equal(cut.lower, growth.release.tree.lower[at])
        np.testing.assert_array_equal(cut.counts, growth.release.tree.value[at])
        assert cut.counts.sum() == pytest.approx(growth.release.total, abs=1e-4)
        assert cut.density().sum() == pytest.approx(growth.release.total, abs=1e-4)


def test_the_first_step_is_the_whole_map_and_the_last_the_leaves(growth) -> None:
    release = growth.release
    whole, last = growth.at(0), growth.at(growth.n_splits)
    assert (whole.lower == 0).all()
    assert (whole.upper == MATRIX.shape).all()
    np.testing.assert_array_equal(growth.nodes(growth.n_splits), release.tree.leaves)
    assert last is release
    answered, wanted = whole.answer(BOXES), release.answer(BOXES)
    assert answered.value[0] == pytest.approx(wanted.value[0])
    # What lies below the whole map has gone into its count: its noise is that of the release.
    assert answered.sd[0] == pytest.approx(wanted.sd[0])
    assert whole.n_leaves == 1
    assert growth.ended(growth.n_splits) == release.n_leaves


def test_each_split_divides_one_piece(growth) -> None:
    for step in some_steps(growth)[1:]:
        before, after = growth.nodes(step - 1), growth.nodes(step)
        node = growth.split_node(step)
        children = np.flatnonzero(growth.release.tree.parent == node)
        assert set(before) - set(after) == {node}
        assert set(after) - set(before) == set(children)
        assert set(after[growth.new(step)]) == set(children)


def test_the_cut_at_a_height_holds_pieces_of_at_most_so_many_cuts(growth) -> None:
    tree = growth.release.tree
    leaf = tree.fan_out == 0
    assert growth.levels == tree.depth.max()
    for height in range(growth.levels + 1):
        expected = np.flatnonzero((tree.depth == height) | (leaf & (tree.depth < height)))
        step = int(growth.level_ends[height])
        np.testing.assert_array_equal(growth.nodes(step), expected)
        depth = growth.at(step).height
        deepest = growth.release.facts.get("height", growth.levels)
        np.testing.assert_array_equal(depth, deepest - tree.depth[expected])
        assert growth.level(step) == height
        assert growth.ended(step) == np.count_nonzero(leaf & (tree.depth <= height))
        if step < growth.n_splits:
            assert growth.level(step + 1) in (height, height + 1)


@pytest.mark.parametrize("inference", ["leaves", "least squares"])
def test_the_noise_of_whole_pieces_is_that_of_the_release(inference) -> None:
    growth = Growth(QuadTree(epsilon=0.8, inference=inference).release(MATRIX, rng=3))
    for step in some_steps(growth):
        cut = growth.at(step)
        boxes = cut.boxes()[:: max(1, cut.n_leaves // 20)]
        # Halves hold several pieces: the noise that these share is kept as well.
        halves = [[0, 0, 64, 24], [32, 0, 64, 48]] if step >= growth.level_ends[1] else []
        boxes = np.concatenate([boxes, np.reshape(halves, (-1, 4))])
        wanted, found = growth.release.answer(boxes), cut.answer(boxes)
        np.testing.assert_allclose(found.value, wanted.value, atol=1e-6)
        np.testing.assert_allclose(found.sd, wanted.sd, rtol=1e-9)
        assert sum(row.epsilon for row in cut.ledger) <= growth.release.epsilon + 1e-9


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


@pytest.mark.parametrize("step", [-1, 22, 10**12])
def test_a_step_that_does_not_exist_is_one_sentence(step) -> None:
    growth = Growth(QuadTree(epsilon=1.0, height=3).release(MATRIX, rng=1))
    assert growth.n_splits == 21
    with pytest.raises(InputError, match="0 to 21"):
        growth.at(step)
