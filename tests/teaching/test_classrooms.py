"""Classes of a server: nobody guesses a code, shuts a class for others, or takes all places."""

import pytest

from explorer.app.classroom.page import MOST_TRIES
from explorer.errors import InputError
from explorer.serving import entrance
from explorer.teaching import classrooms
from explorer.teaching.classrooms import CHARACTERS, LENGTH, ClassRooms
from explorer.teaching.pool import Answer
from tests.teaching.test_classroom import asked, nothing

WRONG = "ACDEFGHK"


@pytest.fixture
def rooms(clock) -> ClassRooms:
    return ClassRooms(clock)


def guess(rooms, tries, address="") -> list[str]:
    """What wrong codes are told."""
    said = []
    for _ in range(tries):
        with pytest.raises(InputError) as refused:
            rooms.find(WRONG, address)
        said.append(str(refused.value))
    return said


def test_codes_are_long_random_and_cannot_be_misread(rooms) -> None:
    codes = {rooms.create().code for _ in range(classrooms.MOST_CLASSES)}
    assert len(codes) == classrooms.MOST_CLASSES
    assert all(len(code) == 8 and set(code) <= set(CHARACTERS) for code in codes)
    assert not set("IO01LSB58Z2U") & set(CHARACTERS)
    # All guesses that an address has in a day, against as many classes as there can be.
    guesses = (entrance.AT_ONCE + entrance.A_SECOND * 86_400) * MOST_TRIES
    assert guesses * classrooms.MOST_CLASSES / len(CHARACTERS) ** LENGTH < 1e-3


@pytest.mark.parametrize("typed", ["", "AAAAAAAA", "x" * 10_000, None, 7, [1], {"a": 1}, "é\0"])
def test_a_wrong_code_is_one_sentence(rooms, typed) -> None:
    rooms.create()
    with pytest.raises(InputError, match="no class with this code"):
        rooms.find(typed)


@pytest.mark.parametrize("address", ["", "192.0.2.7"])
def test_a_right_code_and_the_key_are_never_refused_because_of_guesses(rooms, address) -> None:
    room = rooms.create()
    said = guess(rooms, classrooms.GUESSES + 5, address)
    assert "no class" in said[classrooms.GUESSES - 1]
    assert "wait 1 s" in said[-1]
    with pytest.raises(InputError, match="wait"):
        rooms.back("a wrong key", address)
    # From where guesses come, and from elsewhere.
    for where in (address, "192.0.2.8"):
        assert rooms.find(room.code, where) is room
        assert rooms.back(room.key, where) is room


def test_one_address_uses_up_its_own_guesses_and_all_together_a_larger_number(rooms, clock) -> None:
    room = rooms.create()
    guess(rooms, 3 * classrooms.GUESSES, "192.0.2.7")
    assert "no class" in guess(rooms, 1, "192.0.2.8")[0]
    clock.now += 0.5
    assert ["wait" in each for each in guess(rooms, 2, "192.0.2.7")] == [False, True]
    for one in range(classrooms.ALL_GUESSES // 10):
        guess(rooms, 10, f"198.51.100.{one}")
    assert "wait" in guess(rooms, 1, "192.0.2.9")[0]
    assert rooms.find(room.code, "192.0.2.9") is room


def test_the_teachers_key_leads_back_and_a_code_does_not(rooms) -> None:
    room = rooms.create()
    assert rooms.back(room.key) is room
    assert len(room.key) >= 32
    for key in (room.code, "", None):
        with pytest.raises(InputError, match="over"):
            rooms.back(key)


def test_classes_are_bounded_and_empty_ones_make_room(rooms, clock) -> None:
    held = [rooms.create() for _ in range(classrooms.MOST_CLASSES)]
    held[0].enter(nothing)
    with pytest.raises(InputError, match="classes on this server"):
        rooms.create()
    clock.now += classrooms.EMPTY + 1
    rooms.create()
    assert rooms.find(held[0].code) is held[0]
    assert held[1].look().closed


def test_an_idle_class_is_forgotten_and_a_busy_one_is_not(rooms, clock) -> None:
    idle, busy = asked(rooms), asked(rooms)
    who = busy.enter(nothing)
    told = []
    idle.enter(lambda: told.append(1))
    clock.now += classrooms.IDLE - 1
    busy.answer(who, 1, Answer(5, 1))
    clock.now += 2
    with pytest.raises(InputError):
        rooms.find(idle.code)
    assert rooms.find(busy.code) is busy
    assert len(rooms) == 1
    assert len(told) == 2  # of entering, and of the end
    with pytest.raises(InputError, match="over"):
        idle.enter(nothing)
