"""A class: everything bounded, nothing lost between threads."""

import threading

import pytest

from explorer.errors import InputError
from explorer.teaching import classroom
from explorer.teaching.classrooms import ClassRooms
from explorer.teaching.pool import Answer, Question, QuestionSettings
from tests.helpers import city


@pytest.fixture
def rooms(clock) -> ClassRooms:
    return ClassRooms(clock)


def question(epsilon=1.0) -> Question:
    return Question.of(
        city((16, 16), 500), "Town", QuestionSettings(mechanism="uniform", epsilon=epsilon)
    )


def asked(rooms):
    room = rooms.create()
    room.ask(question())
    return room


def nothing() -> None:
    """What a participant who looks elsewhere does."""


def test_seats_are_bounded_and_given_back(rooms) -> None:
    room = rooms.create()
    seats = [room.enter(nothing) for _ in range(classroom.MOST_PARTICIPANTS)]
    with pytest.raises(InputError, match="full"):
        room.enter(nothing)
    screens = [room.enter(nothing, teacher=True) for _ in range(classroom.MOST_SCREENS)]
    with pytest.raises(InputError, match="full"):
        room.enter(nothing, teacher=True)
    assert room.look().present == len(seats)
    for each in seats + screens:
        room.leave(each)
        room.leave(each)
    assert room.empty
    room.enter(nothing)


def test_answers_are_pooled_and_a_new_question_forgets_them(rooms) -> None:
    room = asked(rooms)
    a, b = room.enter(nothing), room.enter(nothing)
    assert room.answer(a, 1, Answer(10, 1))
    assert room.answer(b, 1, Answer(20, 1))
    assert room.answer(b, 1, Answer(30, 1))
    look = room.look()
    assert (look.summary.answers, look.summary.people, look.summary.mean) == (3, 2, 20)
    assert room.own(b) == (20, 30)
    assert room.look() is look
    room.reveal(True)
    assert room.look().revealed
    room.reset()
    assert room.look().revealed
    assert room.look().summary is None
    assert room.own(b) == ()
    assert not room.answer(a, 1, Answer(10, 1)), "an answer to what was asked before"
    room.ask(question(2.0))
    assert not room.look().revealed
    assert room.look().number == 3


def test_everybody_is_told_and_the_end_reaches_all(rooms) -> None:
    room = asked(rooms)
    told = {"a": 0, "teacher": 0}

    def count(name):
        return lambda: told.__setitem__(name, told[name] + 1)

    a = room.enter(count("a"))
    room.enter(count("teacher"), teacher=True)
    before = dict(told)
    room.answer(a, 1, Answer(1, 1))
    assert told == {name: n + 1 for name, n in before.items()}
    rooms.close(room)
    assert told == {name: n + 2 for name, n in before.items()}
    look = room.look()
    assert look.closed
    assert look.question is None
    for act in (room.reset, lambda: room.ask(question()), lambda: room.seed(a)):
        with pytest.raises(InputError, match="over"):
            act()
    assert not room.answer(a, 1, Answer(1, 1))


def test_threads_lose_no_answer(rooms) -> None:
    room = asked(rooms)
    looks = []

    def take_part() -> None:
        who = room.enter(lambda: looks.append(room.look().present))
        for i in range(50):
            room.seed(who)
            assert room.answer(who, 1, Answer(i, 1))
        room.leave(who)

    threads = [threading.Thread(target=take_part) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(30)
    assert room.look().summary.answers == 400
    assert room.look().summary.people == 8
    assert room.empty
