"""Regions and their book: tiling, accounts, refusals, any dimension."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.regions import Book


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
