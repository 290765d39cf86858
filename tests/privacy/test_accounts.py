"""Accounts: growth, limits, and what was handed on."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.privacy.accounts import Accounts, shown
from explorer.privacy.regions import Boxes


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
