"""Memory that is used again belongs to one array at a time, is bounded, and changes no result."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from explorer import all_mechanisms
from explorer.grid import aligned, rooms
from explorer.grid.aligned import cleared, roomy
from explorer.grid.rooms import LEAST, MOST, Rooms

SIZES = [LEAST, LEAST + 8, 3 * 2**20, 2**23 + 8, MOST]


@pytest.fixture
def own():
    """Rooms that nobody else takes from."""
    return Rooms(3 * MOST)


def begin(array) -> int:
    return array.__array_interface__["data"][0]


@pytest.mark.parametrize("size", SIZES)
def test_memory_is_taken_again_once_the_last_view_is_gone(own, size) -> None:
    first = own.take(size)
    assert first.nbytes == size
    place, numbers = begin(first), first[: size // 8 * 8].view(np.int64).reshape(-1, 1)
    reader = np.asarray(numbers[5:9].data.toreadonly())
    numbers[:] = 7
    del first, numbers
    other = own.take(size)
    other[:] = 0
    assert begin(other) != place
    assert (reader == 7).all()
    assert own.ready == 0
    del reader
    assert size <= own.ready <= 1.25 * size + 8
    assert begin(own.take(size)) == place


def test_what_is_kept_is_bounded_and_goes_in_the_order_in_which_it_was_taken(own) -> None:
    held = [own.take(size) for size in (MOST, 2**22, MOST, 2**20, MOST, MOST)]
    places = [begin(room) for room in held]
    del held
    # The first went for the fifth, the second and the third for the sixth.
    assert own.ready == 2**20 + 2 * MOST
    assert begin(own.take(2**20)) == places[3]
    last = own.take(MOST), own.take(MOST)
    assert [begin(room) for room in last] == places[5:3:-1]


def test_what_is_in_use_for_long_is_no_longer_known_and_nobody_elses(own) -> None:
    held = own.take(2**22)
    held[:] = 1
    for _ in range(3):
        at_once = [own.take(MOST) for _ in range(4)]
        del at_once
    assert own.ready <= 3 * MOST
    again = [own.take(2**22) for _ in range(3)]
    assert begin(held) not in {begin(each) for each in again}
    assert (held == 1).all()


def test_nothing_is_left_after_forgetting(own) -> None:
    held, gone = own.take(2**20), own.take(2**20)
    held[:] = 5
    place = begin(held)
    del gone
    assert own.ready > 0
    own.forget()
    assert own.ready == 0
    again = own.take(2**20)
    assert begin(again) != place
    assert (held == 5).all()


def test_who_finds_another_at_work_gets_memory_of_its_own(own, monkeypatch) -> None:
    inner = []
    plain = np.empty

    def come_back(shape, dtype):
        # As a finaliser may that Python runs in the middle of it.
        if not inner:
            inner.append(None)
            inner[0] = own.take(2**20)
        return plain(shape, dtype)

    monkeypatch.setattr(np, "empty", come_back)
    outer = own.take(2**20)
    monkeypatch.undo()
    assert inner[0].nbytes == 2**20
    assert not np.shares_memory(outer, inner[0])


@pytest.mark.parametrize("size", [LEAST - 8, MOST + 8])
def test_what_is_small_or_huge_is_an_array_like_others(size) -> None:
    assert roomy(size // 8, np.int64).nbytes == size


def test_zeros_are_zeros_wherever_they_lie() -> None:
    for _ in range(3):
        found = cleared((300, 200), np.int64)
        assert not found.any()
        found[:] = -1
        del found


def test_no_two_arrays_share_memory_whoever_asks() -> None:
    def work(name: int) -> bool:
        rng, held = np.random.default_rng(name), []
        for turn in range(300):
            array = roomy(int(rng.integers(2**15, 2**17)), np.int64)
            array[:] = mark = name * 1000 + turn
            held.append((array, mark))
            if len(held) > 4:
                array, mark = held.pop(int(rng.integers(len(held))))
                if not (array == mark).all():
                    return False
        return all((array == mark).all() for array, mark in held)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(1, 5)))


class _Filled:
    """numpy, but that all bytes of an empty array are alike."""

    def __init__(self, byte: int) -> None:
        self.byte, self.made = byte, 0

    def __getattr__(self, name: str):
        return getattr(np, name)

    def empty(self, shape, dtype):
        array = np.empty(shape, dtype)
        array.view(np.uint8).fill(self.byte)
        self.made += 1
        return array


@pytest.mark.parametrize("side", [16, 256])
@pytest.mark.parametrize("key", sorted(k for k, m in all_mechanisms().items() if 2 in m.dimensions))
def test_what_lies_in_memory_changes_no_preview(key, side, monkeypatch) -> None:
    counts = np.random.default_rng(5).poisson(np.outer(np.linspace(0, 3, side), np.ones(side)))
    found = []
    for byte in (0, 0xFF, 0x55):
        filled = _Filled(byte)
        for module in (rooms, aligned):
            monkeypatch.setattr(module, "np", filled)
        rooms.forget()
        tree = all_mechanisms()[key](epsilon=1.0).release(counts, rng=3).tree
        assert filled.made > 0
        found.append([tree.lower, tree.upper, tree.parent, tree.value, tree.precision, tree.draws])
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two)
