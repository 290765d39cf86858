"""Regions and their book: tiling, accounts, refusals, any dimension."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.privacy.accounts import Accounts, shown
from explorer.privacy.regions import Boxes, Regions
from explorer.releases.nodes import depths


def covered(regions, shape):
    image = np.zeros(shape, dtype=int)
    for lower, upper in zip(regions.lower, regions.upper, strict=True):
        image[tuple(slice(a, b) for a, b in zip(lower, upper, strict=True))] += 1
    return image


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
    st.lists(st.integers(1, 12), min_size=4, max_size=4),
)
def test_a_grid_tiles_its_region_in_any_dimension(shape, parts):
    book = Boxes(tuple(shape), 0, 100)
    cells = book.root().grid(np.array(parts[: len(shape)]))
    assert np.all(covered(cells, shape) == 1)
    sides = cells.shape
    assert np.all(sides.max(axis=0) - sides.min(axis=0) <= 1)


def test_split_tiles_and_inherits_what_was_spent():
    book = Boxes((4, 6), 0, 100)
    root = book.root()
    book.pay(root.ids, np.array([7]))
    halves = root.split(1, np.array([2]))
    assert np.all(covered(halves, (4, 6)) == 1)
    assert halves.spent.tolist() == [7, 7]
    assert halves.parent.tolist() == [0, 0]


@pytest.mark.parametrize("ids", [[17, 18], [15, 16, 17], [-2, -1], [-1], [0, 17], [-1, 5]])
def test_boxes_that_the_book_does_not_have_are_not_shown_from_its_room(ids):
    book = Boxes((16, 16), 0, 100)
    book.root().grid(4)
    assert len(book) == 17
    for asked in ("lower", "upper", "shape", "cells"):
        with pytest.raises(IndexError, match="no such region"):
            getattr(Regions(np.array(ids), book), asked)
    assert Regions(np.array([], dtype=np.int64), book).cells.tolist() == []


@pytest.mark.parametrize("position", [0, 4])
def test_a_cut_at_the_edge_is_refused(position):
    with pytest.raises(ValueError, match="strictly inside"):
        Boxes((4, 4), 0, 100).root().split(0, np.array([position]))


def test_keys_depend_on_the_way_and_differ_everywhere():
    first, again, other = (Boxes((64, 64), name, 1).root() for name in (0, 0, 1))
    keys = [root.grid(np.array([64, 64])).keys for root in (first, again, other)]
    assert np.array_equal(keys[0], keys[1])
    assert len(np.unique(np.concatenate([keys[0], keys[2]]))) == 2 * 64 * 64


def scrambled(word: int) -> int:
    """Splitmix64's finaliser in Python's own numbers."""
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % 2**64
    return word ^ (word >> 31)


@given(st.integers(1, 3), st.data())
def test_compiled_loops_enter_what_the_definitions_say(dimensions, data):
    """Two levels of ragged grids on parts of a domain, box by box."""
    whole = st.integers(1, 7)
    sides = st.lists(whole, min_size=dimensions, max_size=dimensions)
    book = Boxes(tuple(data.draw(sides)), 3, 100)
    nodes = book.root()
    for level in range(2):
        chosen = data.draw(st.lists(st.booleans(), min_size=len(nodes), max_size=len(nodes)))
        nodes = nodes.select(np.array(chosen, dtype=bool))
        nodes.book.pay(nodes.ids, np.arange(len(nodes)) + level)
        parts = [data.draw(sides) for _ in range(len(nodes))]
        children = nodes.grid(np.array(parts, dtype=np.int64).reshape(-1, dimensions))
        expected = []
        for i, wanted in enumerate(parts):
            low, extent = nodes.lower[i], nodes.shape[i]
            number = np.minimum(wanted, extent)
            for order, index in enumerate(np.ndindex(*number)):
                key = scrambled((int(nodes.keys[i]) + (order + 1) * 0x9E3779B97F4A7C15) % 2**64)
                edges = [low + (np.array(index) + end) * extent // number for end in (0, 1)]
                expected.append([*edges[0], *edges[1], nodes.ids[i], nodes.spent[i], key])
        found = [children.lower, children.upper, children.parent, children.spent, children.keys]
        rows = zip(*(column.tolist() for column in found), strict=True)
        assert [[*low, *high, p, s, k] for low, high, p, s, k in rows] == expected
        assert children.cells.tolist() == [int(np.prod(shape)) for shape in children.shape]
        assert book.is_split[nodes.ids].all()
        assert not book.is_split[children.ids].any()
        assert depths(book.parent)[children.ids].tolist() == [level + 1] * len(children)
        nodes = children


@pytest.mark.parametrize("shape", [(256, 256), (100, 300), (7, 2000)])
def test_large_levels_are_those_that_are_cut_and_paid_part_by_part(shape) -> None:
    """What is read of a whole level at once is what its nodes are, one by one."""
    whole, apart = Boxes(shape, 0, 10**6), Boxes(shape, 0, 10**6)
    levels = [whole.root(), apart.root()]
    for level in range(8):
        whole.pay(levels[0].ids, np.broadcast_to(np.array([level + 1]), len(levels[0])))
        for i in range(len(levels[1])):
            apart.pay(levels[1].ids[i : i + 1], np.array([level + 1]))
        assert whole.most == apart.most
        above = levels[0]
        levels = [above.halves(), levels[1].grid(np.full((len(above), 2), 2))]
        with pytest.raises(ValueError, match="split or handed on"):
            whole.named(above.ids)
    for name in ("lower", "upper", "parent", "spent", "keys", "is_split"):
        assert np.array_equal(getattr(whole, name), getattr(apart, name))


def test_of_a_large_level_nothing_is_paid_or_cut_wrongly() -> None:
    book = Boxes((64, 64), 0, 100)
    cells = book.root().grid((64, 64))
    for units, says in ((-1, "below 0"), (2**61 + 1, "more than 2")):
        with pytest.raises(ValueError, match=says):
            book.pay(cells.ids, np.broadcast_to(np.array([units]), 4096))
    assert not book.spent.any()
    for ids in (cells.ids[::-1], cells.ids + 1, cells.ids - 2, np.zeros(4096, dtype=np.int64)):
        with pytest.raises(ValueError, match=r"no such region|named only once|split"):
            book.named(ids)
    assert book.named(cells.ids[::2]).tolist() == cells.ids[::2].tolist()
    book.hand_on(cells.ids[9:10])
    with pytest.raises(ValueError, match="handed on"):
        book.named(cells.ids)


def test_the_dearest_account_is_known_before_anybody_pays():
    book = Boxes((4, 4), 0, 100)
    cells = book.root().grid(np.array([4, 4]))
    some = cells.select(np.array([1, 2, 7]))
    assert book.dearest(some.ids, np.array([5, 9, 2])) == 9
    assert not book.spent.any()
    book.pay(some.ids, np.array([5, 9, 2]))
    assert book.dearest(cells.ids, np.ones(16, dtype=np.int64)) == 10
    assert cells.spent.tolist() == [0, 5, 9, 0, 0, 0, 0, 2] + [0] * 8
    # What was read stays as it was when accounts go on.
    before = cells.spent
    book.pay(cells.ids, np.ones(16, dtype=np.int64))
    assert before.sum() == 16


@given(st.lists(st.booleans(), min_size=16, max_size=16))
def test_regions_are_told_apart_by_a_mask(chosen):
    cells = Boxes((4, 4), 0, 100).root().grid(4)
    some, others = cells.separate(np.array(chosen))
    assert some.ids.tolist() == [i + 1 for i in range(16) if chosen[i]]
    assert others.ids.tolist() == [i + 1 for i in range(16) if not chosen[i]]
    assert some.book is others.book is cells.book
    assert (len(some.lower), len(others.keys)) == (sum(chosen), 16 - sum(chosen))


def test_accounts_are_not_saved():
    with pytest.raises(TypeError, match="stay in the process"):
        pickle.dumps(Boxes((4, 4), 0, 100).root())


def test_a_mask_is_of_all_regions():
    cells = Boxes((4, 4), 0, 100).root().grid(2)
    for wrong in ([False] * 5, [True] * 3):
        with pytest.raises(ValueError, match="one value for each"):
            cells.separate(np.array(wrong))


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_halves_cut_every_axis_that_can_be_cut(shape):
    cells = Boxes(tuple(shape), 0, 100).root().halves()
    assert len(cells) == 2 ** sum(side > 1 for side in shape)
    assert np.all(covered(cells, shape) == 1)
    again = Boxes(tuple(shape), 0, 100).root().grid(2)
    assert np.array_equal(cells.lower, again.lower)
    assert np.array_equal(cells.keys, again.keys)


def test_given_boxes_are_children_like_any_others():
    book = Boxes((4, 6), 0, 100)
    book.pay(np.array([0]), np.array([7]))
    lower, upper = np.array([[0, 0], [2, 0], [2, 5]]), np.array([[2, 6], [4, 5], [4, 6]])
    parts = book.root().divide(np.array([3]), lower, upper)
    assert np.all(covered(parts, (4, 6)) == 1)
    assert parts.spent.tolist() == [7, 7, 7]
    # The book has boxes of its own.
    lower[:] = 0
    assert parts.lower.tolist() == [[0, 0], [2, 0], [2, 5]]
    same = Boxes((4, 6), 0, 100).root().divide(np.array([1]), [[0, 0]], [[4, 6]])
    assert same.cells.tolist() == [24]
    for wrong in ([2], [3, 1], [-1]):
        with pytest.raises(ValueError, match="tile"):
            same.divide(np.array(wrong), lower[:2], upper[:2])


def test_the_dearest_path_is_known_at_any_time() -> None:
    book = Boxes((8, 8), 0, 100)
    book.pay(np.array([0]), np.array([5]))
    cells = book.root().halves()
    assert book.most == 5
    book.pay(cells.ids, np.array([1, 7, 0, 2]))
    assert book.most == 12 == book.spent.max()
    book.pay(cells.ids[:1], np.array([3]))
    assert book.most == 12


def test_what_was_handed_on_is_closed_and_no_parent() -> None:
    book = Boxes((8, 8), 0, 100)
    cells = book.root().halves()
    book.hand_on(cells.ids[1:2])
    assert book.is_split.tolist() == [True] + [False] * 4
    for again in (book.hand_on, book.named):
        with pytest.raises(ValueError, match="handed on"):
            again(cells.ids)
    with pytest.raises(ValueError, match="handed on"):
        cells.halves()
    book.pay_inside(2, 40)
    book.pay_inside(2, 30)
    assert book.spent.tolist() == [0, 0, 70, 0, 0]
    assert book.most == 70
    for number, units in ((2, -1), (1, 5), (0, 5)):
        with pytest.raises(ValueError, match="only an inner curator"):
            book.pay_inside(number, units)


def test_passes_under_a_region_have_names_of_their_own() -> None:
    outer = Boxes((4, 4), 0, 1).root().halves()
    names = [int(key) for key in outer.keys]
    names += [int(key) for key in outer.halves().keys]
    for key in outer.keys:
        names += [int(Accounts(name, 1, key).keys[0]) for name in range(3)]
    assert len(set(names)) == len(names) == 4 + 16 + 12
    assert Accounts(1, 1, outer.keys[2]).keys == Accounts(1, 1, outer.keys[2]).keys


def test_what_is_shown_follows_and_cannot_be_written_to() -> None:
    values = np.arange(6).reshape(3, 2)
    seen = shown(values)
    values[1, 1] = 9
    assert seen[1, 1] == 9
    for each in (seen, seen[1:], seen.reshape(-1), seen.T):
        with pytest.raises(ValueError, match="read-only"):
            each[...] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            each.flags.writeable = True
    assert shown(np.zeros((0, 2))).shape == (0, 2)
