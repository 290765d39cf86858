"""Dear things are made once and the least used one goes."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from explorer.app.work.cache import Shelf


def test_the_least_used_goes_first() -> None:
    shelf: Shelf[str] = Shelf(2)
    made: list[str] = []
    for name in ("a", "b", "a", "c", "a", "b"):
        shelf.get(name, lambda name=name: made.append(name) or name)
    assert made == ["a", "b", "c", "b"]
    assert "a" in shelf
    assert "c" not in shelf


def test_it_is_made_once_for_all_who_ask_at_the_same_moment() -> None:
    shelf: Shelf[object] = Shelf(2)
    gate = threading.Barrier(6)

    def ask(_) -> object:
        gate.wait(20)
        return shelf.get("a", object)

    with ThreadPoolExecutor(6) as pool:
        assert len({id(each) for each in pool.map(ask, range(6))}) == 1


def test_what_cannot_be_made_is_tried_again() -> None:
    shelf: Shelf[int] = Shelf(2)
    with pytest.raises(ZeroDivisionError):
        shelf.get("a", lambda: 1 // 0)
    assert shelf.get("a", lambda: 7) == 7
