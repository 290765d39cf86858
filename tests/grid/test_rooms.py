"""Memory that is used again belongs to one array at a time, is bounded, and changes no result."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from explorer import all_mechanisms
from explorer.grid import rooms
from explorer.grid.aligned import cleared, roomy

SIZES = [rooms.LEAST, rooms.LEAST + 8, 3 * 2**20, 2**23 + 8, rooms.MOST]


@pytest.fixture(autouse=True)
def _none_left():
    gc.collect()
    rooms.forget()
    yield
    rooms.forget()


def begin(array) -> int:
    return array.__array_interface__["data"][0]


@pytest.mark.parametrize("size", SIZES)
def test_memory_is_taken_again_once_the_last_view_is_gone(size) -> None:
    first = roomy(size // 8, np.int64)
    place, view = begin(first), first[5:9]
    view[:] = 7
    del first
    other = roomy(size // 8, np.int64)
    other[:] = 0
    assert begin(other) != place
    assert (view == 7).all()
    assert rooms.kept_bytes() == 0
    del view
    assert size <= rooms.kept_bytes() <= 1.25 * size + 8
    assert begin(roomy(size // 8, np.int64)) == place


@pytest.mark.parametrize("size", [rooms.LEAST - 8, rooms.MOST + 8])
def test_what_is_small_or_huge_is_not_kept(size) -> None:
    found = roomy(size // 8, np.int64)
    assert found.nbytes == size
    del found
    assert rooms.kept_bytes() == 0


def test_what_lies_ready_is_bounded_and_the_latest_sizes_stay() -> None:
    held = [roomy(rooms.MOST, np.uint8) for _ in range(3)]
    held.clear()
    assert rooms.kept_bytes() <= rooms.MOST_KEPT
    small = [roomy(2**22, np.uint8) for _ in range(20)]
    places = {begin(each) for each in small}
    small.clear()
    assert rooms.kept_bytes() <= rooms.MOST_KEPT
    again = [roomy(2**22, np.uint8) for _ in range(20)]
    assert {begin(each) for each in again} == places
    again.clear()
    rooms.forget()
    assert rooms.kept_bytes() == 0


def test_zeros_are_zeros_wherever_they_lie() -> None:
    for _ in range(2):
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
    assert rooms.kept_bytes() <= rooms.MOST_KEPT


def _fill_rooms(byte: int) -> None:
    """Leave memory ready that holds a byte, two arrays of every size up to 8 MB."""
    sizes = [part << bits for bits in range(16, 21) for part in (4, 5, 6, 7)]
    held = [roomy(size, np.uint8) for size in sizes for _ in range(2)]
    for each in held:
        each[:] = byte


@pytest.mark.parametrize("key", sorted(all_mechanisms()))
def test_what_others_left_in_memory_changes_no_preview(key) -> None:
    mechanism = all_mechanisms()[key]
    if 2 not in mechanism.dimensions:
        pytest.skip(f"{key} is not for maps")
    counts = np.random.default_rng(5).poisson(np.outer(np.linspace(0, 3, 256), np.ones(256)))
    found = []
    for byte in (None, 0xFF, 0x55):
        rooms.forget()
        if byte is not None:
            _fill_rooms(byte)
        tree = mechanism(epsilon=1.0).release(counts, rng=3).tree
        found.append([tree.lower, tree.upper, tree.parent, tree.value, tree.precision, tree.draws])
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two)
