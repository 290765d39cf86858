"""Regions and their book: tiling, accounts, refusals, any dimension."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.privacy.regions import Book
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
    book = Book(tuple(shape), 0, 100)
    cells = book.root().grid(np.array(parts[: len(shape)]))
    assert np.all(covered(cells, shape) == 1)
    sides = cells.shape
    assert np.all(sides.max(axis=0) - sides.min(axis=0) <= 1)


def test_split_tiles_and_inherits_what_was_spent():
    book = Book((4, 6), 0, 100)
    root = book.root()
    book.spent[root.ids] += 7
    halves = root.split(1, np.array([2]))
    assert np.all(covered(halves, (4, 6)) == 1)
    assert halves.spent.tolist() == [7, 7]
    assert halves.parent.tolist() == [0, 0]


def test_a_region_that_was_split_is_closed():
    book = Book((4, 4), 0, 100)
    root = book.root()
    root.grid(np.array([2, 2]))
    with pytest.raises(ValueError, match="was split"):
        root.split(0, np.array([1]))
    with pytest.raises(ValueError, match="was split"):
        book.require_whole(root)


def test_a_region_named_twice_is_refused():
    book = Book((4, 4), 0, 100)
    cells = book.root().grid(np.array([2, 2]))
    with pytest.raises(ValueError, match="only once"):
        book.require_whole(cells.select(np.array([1, 1])))


@pytest.mark.parametrize("position", [0, 4])
def test_a_cut_at_the_edge_is_refused(position):
    with pytest.raises(ValueError, match="strictly inside"):
        Book((4, 4), 0, 100).root().split(0, np.array([position]))


def test_keys_depend_on_the_way_and_differ_everywhere():
    first, again, other = (Book((64, 64), name, 1).root() for name in (0, 0, 1))
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
    book = Book(tuple(data.draw(sides)), 3, 100)
    nodes = book.root()
    for level in range(2):
        chosen = data.draw(st.lists(st.booleans(), min_size=len(nodes), max_size=len(nodes)))
        nodes = nodes.select(np.array(chosen, dtype=bool))
        nodes.book.pay(nodes, np.arange(len(nodes)) + level)
        parts = [data.draw(sides) for _ in range(len(nodes))]
        children = nodes.grid(np.array(parts, dtype=np.int64).reshape(-1, dimensions))
        expected = []
        for i, wanted in enumerate(parts):
            low, extent = nodes.lower[i], nodes.shape[i]
            number = np.minimum(wanted, extent)
            for order, index in enumerate(np.ndindex(*number)):
                key = int(nodes.keys[i]) + (order + 1) * 0x9E3779B97F4A7C15
                expected.append(
                    [
                        *(low + np.array(index) * extent // number),
                        *(low + (np.array(index) + 1) * extent // number),
                        nodes.ids[i],
                        nodes.spent[i],
                        scrambled(key % 2**64),
                    ]
                )
        found = [children.lower, children.upper, children.parent, children.spent, children.keys]
        rows = zip(*(column.tolist() for column in found), strict=True)
        assert [[*low, *high, p, s, k] for low, high, p, s, k in rows] == expected
        assert children.cells.tolist() == [int(np.prod(shape)) for shape in children.shape]
        assert book.is_split[nodes.ids].all()
        assert not book.is_split[children.ids].any()
        assert depths(book.parent)[children.ids].tolist() == [level + 1] * len(children)
        nodes = children


def test_the_dearest_account_is_known_before_anybody_pays():
    book = Book((4, 4), 0, 100)
    cells = book.root().grid(np.array([4, 4]))
    some = cells.select(np.array([1, 2, 7]))
    assert book.dearest(some, np.array([5, 9, 2])) == 9
    assert not book.spent.any()
    book.pay(some, np.array([5, 9, 2]))
    assert book.dearest(cells, np.ones(16, dtype=np.int64)) == 10
    assert cells.spent.tolist() == [0, 5, 9, 0, 0, 0, 0, 2] + [0] * 8
    # What was read stays as it was when accounts go on.
    before = cells.spent
    book.pay(cells, np.ones(16, dtype=np.int64))
    assert before.sum() == 16
