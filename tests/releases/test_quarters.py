"""Trees of keys against brute force."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.errors import InputError
from explorer.releases.quarters import KeyTree, descendants, interleave, key_of, level_of, separate


def brute(depth: int, keys: set[int]) -> np.ndarray:
    """The key that owns every finest cell, by going up from each."""
    owner = np.empty(4**depth, dtype=np.int64)
    for code in range(4**depth):
        key = (1 << 2 * depth) | code
        while key not in keys:
            key >>= 2
        owner[code] = key
    return owner


def random_keys(rng: np.random.Generator, depth: int) -> set[int]:
    every = np.concatenate([key_of(level, np.arange(4**level)) for level in range(depth + 1)])
    return {1, *rng.choice(every, rng.integers(0, min(60, len(every)) + 1)).tolist()}


def test_codes_interleave_column_and_row_bits() -> None:
    assert int(interleave(12, 5)) == 0b10_11_00_01
    rng = np.random.default_rng(1)
    column, row = rng.integers(0, 2**31, (2, 1000))
    code = interleave(column, row)
    found = separate(code)
    assert np.array_equal(found[0], column)
    assert np.array_equal(found[1], row)
    by_hand = [int("".join(a + b for a, b in zip(f"{c:031b}", f"{r:031b}", strict=True)), 2)
               for c, r in zip(column[:20].tolist(), row[:20].tolist(), strict=True)]  # fmt: skip
    assert code[:20].tolist() == by_hand


def test_owners_areas_and_indices_against_brute_force() -> None:
    rng = np.random.default_rng(2)
    for _ in range(300):
        depth = int(rng.integers(0, 5))
        keys = random_keys(rng, depth)
        tree = KeyTree.of(depth, sorted(keys))
        owner = brute(depth, keys)
        assert set(tree.keys[tree.open]) == set(owner)
        assert np.array_equal(tree.keys[tree.open][tree.table], owner)
        assert np.array_equal(tree.area, np.bincount(tree.table, minlength=tree.v))
        assert tree.area.min() > 0
        values = rng.normal(size=tree.v)
        spread = tree.spread(values)
        assert np.allclose(np.bincount(tree.table, spread), values)
        starts, _ = tree.runs
        assert starts[0] == 0
        assert np.all(np.diff(starts) > 0)


def test_split_and_collapse_against_brute_force() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        depth = int(rng.integers(1, 5))
        tree = KeyTree.of(depth, sorted(random_keys(rng, depth)))
        nodes = rng.choice(tree.v, rng.integers(0, tree.v + 1), replace=False)
        levels = rng.integers(1, 4, len(nodes))
        wanted = set(tree.keys.tolist())
        for key, down in zip(tree.keys[tree.open[nodes]].tolist(), levels.tolist(), strict=True):
            for j in range(1, down + 1):
                if int(level_of(key)) + j <= depth:
                    wanted |= set(descendants([key], j).tolist())
        assert set(tree.split(nodes, levels).keys.tolist()) == wanted
        gone = set(tree.keys[tree.open[nodes]].tolist()) - {1}
        assert set(tree.collapse(nodes).keys.tolist()) == set(tree.keys.tolist()) - gone


def test_a_node_of_three_children_may_own_nothing() -> None:
    # Child 3 is missing, all its own children are there: erratum 39.
    tree = KeyTree.of(2, [1, 4, 5, 6, *descendants([7], 1)])
    assert 1 not in tree.keys[tree.open]
    # One cell of it comes free: the root owns that one alone.
    less = tree.without([descendants([7], 1)[2]])
    assert less.area[less.open == 0].tolist() == [1]


def test_complete_trees_have_four_children_or_none_and_keep_owners() -> None:
    rng = np.random.default_rng(4)
    for _ in range(100):
        tree = KeyTree.of(4, sorted(random_keys(rng, 4)))
        whole = tree.complete
        children = np.bincount(np.searchsorted(whole.keys, whole.keys[1:] >> 2),
                               minlength=len(whole))  # fmt: skip
        assert set(children) <= {0, 4}
        assert set(tree.keys) <= set(whole.keys)
        owner = tree.owners(whole)
        assert np.array_equal(owner[whole.table], tree.table)
        # Nothing is there that need not be: an inner node lies above a key.
        inner = whole.keys[children == 4]
        below = np.concatenate([tree.keys >> 2 * j for j in range(1, 5)])
        assert set(inner) <= set(below)


@pytest.mark.parametrize("depth", [30, 31])
def test_deep_trees_find_places_without_a_table(depth: int) -> None:
    rng = np.random.default_rng(5)
    tree = KeyTree.even(depth, 2)
    for _ in range(6):
        tree = tree.split(rng.integers(0, tree.v, 5), 3)
    tree = tree.collapse(rng.integers(0, tree.v, 9))
    codes = rng.integers(0, 1 << 2 * depth, 200)
    codes = np.concatenate([codes, tree.first])
    found = tree.keys[tree.open[tree.index(codes)]]
    keys = set(tree.keys.tolist())
    for code, key in zip(codes.tolist(), found.tolist(), strict=True):
        own = (1 << 2 * depth) | code
        while own not in keys:
            own >>= 2
        assert own == key
    assert int(tree.area.sum()) == 4**depth
    deepest = KeyTree.of(depth, [(1 << 2 * depth + 1) - 1])
    assert deepest.area.tolist() == [4**depth - 1, 1]


@pytest.mark.parametrize("depth", [-1, 32])
def test_depths_that_do_not_fit_are_refused(depth: int) -> None:
    with pytest.raises(InputError, match="0 to 31"):
        KeyTree.of(depth, [1])


def test_keys_below_the_finest_level_are_refused() -> None:
    with pytest.raises(InputError, match="no node"):
        KeyTree.of(1, [1, 16])
