"""The Class page: who sees what, and nothing is left of those who leave."""

import csv
import gc
import io
import weakref

import numpy as np
import panel as pn
import pytest
from bokeh.document import Document
from panel.io.state import set_curdoc

from explorer.app import ClassResult
from explorer.app.classroom.page import Teachers
from explorer.app.classroom.screens import ParticipantView, ProjectorView, TeacherView
from explorer.teaching import classrooms
from explorer.teaching.classrooms import ClassRooms, spaced
from tests.app.press import download, find, press, text


@pytest.fixture
def rooms() -> ClassRooms:
    return ClassRooms()


def page(rooms, **more) -> ClassResult:
    return ClassResult("madeup", rooms=rooms, **more)


def teach(rooms, mechanism="ug", epsilon=0.1):
    """A teacher's page that has asked, and its class."""
    teacher = page(rooms)
    teacher.create()
    assert isinstance(teacher.view, TeacherView)
    teacher.view.settings.put(mechanism=mechanism, epsilon=epsilon)
    teacher.view.ask()
    return teacher, teacher.view.room


def join(rooms, code) -> ClassResult:
    one = page(rooms)
    one.join(code)
    assert isinstance(one.view, ParticipantView)
    return one


def texts(one) -> str:
    """All that stands on a page."""
    return " ".join(str(each.object) for each in one.body.select(pn.pane.HTML))


# The page.


def test_a_class_from_code_to_histogram(rooms) -> None:
    teacher, room = teach(rooms)
    assert spaced(room.code) in texts(teacher)
    pupils = [join(rooms, room.code.lower()), join(rooms, spaced(room.code))]
    assert all("Nobody has answered yet" in texts(pupil) for pupil in pupils)
    for pupil in pupils:
        pupil.view.draw()
        pupil.view.draw()
    look = room.look()
    assert (look.summary.answers, look.summary.people, look.present) == (4, 2, 2)
    said = texts(teacher)
    assert f"true count {look.question.true:,.0f}" in said
    assert f"mean {look.summary.mean:,.0f}" in said
    assert "2 participants in the class now" in said
    own = list(pupils[1].view.result.chart.own.data["x"])
    assert len(own) == 2
    assert f"Your answer: {own[-1]:,.0f}" in texts(pupils[1])
    assert list(teacher.view.result.chart.own.data["x"]) == []
    assert sum(pupils[0].view.result.chart.bars.data["top"]) == 4


def test_participants_see_the_truth_only_when_it_is_shown(rooms) -> None:
    # The answers come from the mechanism: with noise on one total none of them is the true count.
    teacher, room = teach(rooms, mechanism="uniform")
    pupil = join(rooms, room.code)
    pupil.view.draw()
    true = f"{room.look().question.true:,.0f}"
    model = pupil.body.get_root()
    held = [ref for ref in model.references() if type(ref).__name__ == "ColumnDataSource"]

    def numbers() -> set[float]:
        columns = [np.asarray(each) for one in held for each in one.data.values()]
        return {v for each in columns if each.dtype.kind in "iuf" for v in each.ravel().tolist()}

    wall, bar = (
        ProjectorView(room, "http://192.0.2.7:5006", "", list, told=bool),
        pupil.page().header[0],
    )
    assert spaced(room.code) in text(wall)
    assert "192.0.2.7:5006/class" in text(wall)
    assert true in texts(teacher)
    assert not pupil.body.select(lambda each: getattr(each, "label", "") == "Ask the class")
    for shown in (False, True, False):
        teacher.view.reveal.value = shown
        assert (true in texts(pupil)) is shown
        assert (room.look().question.true in numbers()) is shown
        assert (true in text(wall)) is shown
        assert len(wall.chart.truth.data["x"]) == shown
        assert ("true count" in bar.object) is shown
    # A participant's map is their own, and not the true one.
    picture = pupil.view.map.map.small.image.data["image"][0]
    truth = teacher.view.where.map.small.image.data["image"][0]
    assert picture.shape != truth.shape or (picture != truth).any()


def test_a_wrong_code_is_a_sentence_and_twenty_are_enough(rooms) -> None:
    one = page(rooms)
    for _ in range(20):
        one.join("AAAAAAAA")
        assert "no class with this code" in texts(one)
    room = rooms.create()
    one.join(room.code)
    assert "open the page again" in texts(one)
    assert one.view is None


def test_the_address_of_a_visitor_is_what_classes_are_counted_by(rooms, monkeypatch) -> None:
    where = ["192.0.2.7"]
    monkeypatch.setattr("explorer.app.classroom.page.own_address", lambda: where[0])
    for _ in range(classrooms.MOST_OF_ONE):
        page(rooms).create()
    one = page(rooms)
    one.create()
    assert "classes from your address" in texts(one)
    for _ in range(classrooms.GUESSES // 20 + 1):
        guesser = page(rooms)
        for _ in range(20):
            guesser.join("AAAAAAAA")
    assert "wait" in texts(guesser)
    where[0] = "192.0.2.8"
    other = page(rooms)
    other.join("AAAAAAAA")
    assert "no class with this code" in texts(other)
    other.create()
    assert isinstance(other.view, TeacherView)


def test_a_new_question_forgets_and_the_end_leads_back(rooms) -> None:
    teacher, room = teach(rooms)
    pupil = join(rooms, room.code)
    pupil.view.draw()
    teacher.view.settings.put(epsilon=2.0)
    teacher.view.ask()
    assert "epsilon 2" in texts(pupil)
    assert "Nobody has answered yet" in texts(pupil)
    pupil.view.draw()
    press(teacher, "Forget the answers")
    press(teacher, "Forget 1 answer for good")
    assert room.look().summary is None
    assert "have not drawn" in texts(pupil)
    rooms.close(room)
    for each in (teacher, pupil):
        assert each.view is None
        assert "The class is over." in texts(each)
        assert "Take part" in texts(each)
    assert len(rooms) == 0


# A class alone: who may teach.


def came_by(monkeypatch, **query: str) -> None:
    """Let the next pages be opened with these arguments in their address."""
    address = {name: [value.encode()] for name, value in query.items()}
    monkeypatch.setattr(type(pn.state), "session_args", property(lambda _self: address))


def test_without_the_servers_key_nobody_creates_a_class(rooms, monkeypatch) -> None:
    teachers = Teachers.by_key()
    for typed in ({}, {"teach": "wrong"}, {"teach": ""}, {"class": teachers.key}):
        came_by(monkeypatch, **typed)
        one = page(rooms, teachers=teachers)
        assert "Take part" in texts(one)
        assert "Teach" not in texts(one)
        assert one.entrance.create_button not in one.body.select()
        # A client may press what it has not been sent.
        one.create()
        assert "only its teacher" in texts(one)
        assert one.view is None
    assert len(rooms) == 0
    assert teachers.key not in repr(teachers)


def test_a_teacher_has_the_servers_key_and_after_a_class_again(rooms, monkeypatch) -> None:
    teachers = Teachers.by_key()
    came_by(monkeypatch, teach=teachers.key)
    teacher = page(rooms, teachers=teachers)
    assert "Create a class, show its code" in texts(teacher)
    assert "other pages of this server" not in texts(teacher), "there are none"
    teacher.create()
    room = teacher.view.room
    # A reload comes with the key of the class.
    came_by(monkeypatch, teach=room.key)
    again = page(rooms, teachers=teachers)
    assert isinstance(again.view, TeacherView)
    rooms.close(room)
    assert "Create a class, show its code" in texts(again)
    again.create()
    assert isinstance(again.view, TeacherView)


# Who leaves.


def test_a_visit_that_ends_leaves_nothing_behind(rooms) -> None:
    _teacher, room = teach(rooms)
    before = len(pn.state.param.watchers.get("busy", {}).get("value", []))
    gone = []
    for _ in range(3):
        doc = Document()
        with set_curdoc(doc):
            pupil = join(rooms, room.code)
            whole = pupil.page()
        assert room.look().present == 1
        for ended in list(doc.session_destroyed_callbacks):
            ended(None)
        assert room.look().present == 0
        gone += [weakref.ref(pupil), weakref.ref(pupil.view or pupil)]
        del pupil, whole, doc, ended
    assert len(pn.state.param.watchers.get("busy", {}).get("value", [])) == before
    gc.collect()
    assert sum(each() is not None for each in gone) == 0


# What is kept, and what is asked before it is forgotten.


def test_a_new_question_keeps_the_answers_before_it_and_all_are_saved(rooms) -> None:
    teacher, room = teach(rooms)
    pupils = [join(rooms, room.code), join(rooms, room.code)]
    for pupil in (*pupils, pupils[0]):
        pupil.view.draw()
    first = room.look().summary
    teacher.view.settings.put(epsilon=2.0)
    teacher.view.ask()
    pupils[1].view.draw()
    teacher.view.ask()
    assert "Questions so far" in texts(teacher)
    rows = list(csv.DictReader(io.StringIO(download(teacher, "Save all answers").decode())))
    assert [row["question"] for row in rows] == ["1", "1", "1", "2", "3"]
    assert [row["participant"] for row in rows] == ["1", "2", "1", "2", ""]
    assert [row["epsilon"] for row in rows] == ["0.1", "0.1", "0.1", "2.0", "2.0"]
    of_first = [float(row["answer"]) for row in rows[:3]]
    assert np.mean(of_first) == pytest.approx(first.mean)
    assert {float(row["exact_count"]) for row in rows} == {room.look().question.true}
    assert find(teacher, "Save all answers").filename.endswith(".exact.csv")
    # Nobody but the teacher has the table, whose numbers are exact.
    assert "Questions so far" not in texts(pupils[0])


# Who comes back, and what their screens hold.


def test_a_participant_who_comes_back_has_the_answers_of_before(rooms) -> None:
    _teacher, room = teach(rooms)
    pupil, other = join(rooms, room.code), join(rooms, room.code)
    pupil.view.draw()
    token = room.token(pupil.view.number)
    assert len(token) >= 32
    assert token != room.token(other.view.number)
    again = ParticipantView(room, pupil.message, list, token=token, told=bool)
    assert room.look().present == 2
    again.show()
    assert "Your answer" in text(again)
    pupil.close()
    assert room.look().present == 2
    again.draw()
    assert "You have drawn 2." in text(again)
    assert room.look().summary.people == 1
