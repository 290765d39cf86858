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
from explorer.app.classroom.participant import ParticipantView
from explorer.app.classroom.projector import ProjectorView
from explorer.app.classroom.sentences import about_answers, about_own, about_question, answer_tables
from explorer.app.classroom.teacher import TeacherView
from explorer.app.classroom.teaching import Teachers
from explorer.app.curator.data import load_city
from explorer.app.kit.reach import Reach
from explorer.errors import InputError
from explorer.teaching import classrooms
from explorer.teaching.classrooms import ClassRooms
from explorer.teaching.codes import spaced
from explorer.teaching.pool import Answer, Pool, Question, QuestionSettings
from explorer.views.teaching.pooled import Bars, PooledChart, ends
from tests.app.press import download, find, press, text
from tests.helpers import city


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

    assert true in texts(teacher)
    assert true not in texts(pupil)
    assert room.look().question.true not in numbers()
    assert not pupil.body.select(lambda each: getattr(each, "label", "") == "Ask the class")
    teacher.view.reveal.value = True
    assert true in texts(pupil)
    assert room.look().question.true in numbers()
    teacher.view.reveal.value = False
    assert true not in texts(pupil)
    assert room.look().question.true not in numbers()


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


def test_drawing_without_a_question_is_a_sentence(rooms) -> None:
    teacher = page(rooms)
    teacher.create()
    pupil = join(rooms, teacher.view.room.code)
    assert "will appear here" in texts(pupil)
    pupil.view.draw()
    assert "not asked yet" in texts(pupil)


def test_a_teacher_comes_back_with_the_key(rooms, monkeypatch) -> None:
    teacher, room = teach(rooms)
    teacher.close()
    address = property(lambda _self: {"teach": [room.key.encode()]})
    monkeypatch.setattr(type(pn.state), "session_args", address)
    again = page(rooms)
    assert isinstance(again.view, TeacherView)
    assert "How many people" in texts(again)


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


def test_a_teacher_signs_in_where_there_are_passwords(rooms, monkeypatch) -> None:
    teachers = Teachers.who_sign_in()
    came_by(monkeypatch, teach="")
    one = page(rooms, teachers=teachers)
    assert "./login?next=class" in texts(one)
    one.create()
    assert len(rooms) == 0
    monkeypatch.setattr("explorer.app.classroom.teaching.own_name", lambda: "ada")
    teacher = page(rooms, teachers=teachers)
    assert "log in" not in texts(teacher)
    teacher.create()
    assert isinstance(teacher.view, TeacherView)


def test_bad_choices_are_refused_before_anything_starts() -> None:
    with pytest.raises(InputError, match="no city"):
        ClassResult("atlantis")
    with pytest.raises(InputError, match="side"):
        ClassResult(side=7)


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


# Words and chart.


def summary(values, true=100.0, sd=5.0):
    pool = Pool(true)
    for value in values:
        pool.add(1, Answer(value, sd))
    return pool.summary()


def test_the_sentence_states_the_numbers() -> None:
    found = summary([95.0, 106.0, 100.0])
    said = about_answers(found, True)
    assert "3 answers of 1 participant" in said
    assert "true count 100" in said
    assert "67 % are within 5 %" in said
    assert "100 % within 10 %" in said
    assert "previews" in said
    hidden = about_answers(found, False)
    assert "true" not in hidden
    assert "within" not in hidden
    assert "theory" not in answer_tables(found, False)
    assert "nobody is in the box" in about_answers(summary([1.0], true=0.0), True)
    assert "vary more than the noise" in about_answers(summary([80.0, 120.0] * 10), True)
    assert "misses the truth" in about_answers(summary([119.0, 121.0] * 10), True)


def test_own_answer_and_question_in_words() -> None:
    found = summary([95.0, 95.5, 106.0])
    said = about_own((106.0, 95.0), 7, found, True)
    assert "Your answer: 95" in said
    assert "2 answers are there" in said
    assert "−5 off (5.0 %)" in said
    assert "You have drawn 2" in said
    assert "off" not in about_own((95.0,), 7, found, False)
    town = Question.of(city(), "Town", QuestionSettings(box=(0.25, 0.5, 0.75, 1.0), epsilon=0.2))
    assert "west 16 to east 48, south 32 to north 64 cells" in about_question(town)
    assert "AG with epsilon 0.2" in about_question(town)


def test_the_chart_holds_the_truth_only_when_given() -> None:
    chart, found = PooledChart(), summary([90.0, 110.0])
    bars = Bars(found.edges, found.counts, float("nan"), float("nan"), (90.0,))
    chart.show(bars, "two answers")
    assert chart.figure.html_attributes["aria-label"] == "two answers"
    assert not len(chart.truth.data["x"])
    assert not len(chart.curve.data["x"])
    low, high = ends(bars)
    assert low < 90
    assert high > 110
    chart.show(Bars(found.edges, found.counts, 300.0, 5.0), "with the truth")
    assert list(chart.truth.data["x"]) == [300.0]
    assert chart.figure.x_range.end > 315
    # The bell curve has the area of the bars.
    area = np.trapezoid(chart.curve.data["y"], chart.curve.data["x"])
    assert area == pytest.approx(2 * found.width, rel=1e-3)
    kept = chart.bars.data
    chart.show(Bars(found.edges, found.counts, 300.0, 5.0), "again")
    assert chart.bars.data is kept, "the same bars are not sent again"
    chart.clear("nothing")
    assert not len(chart.bars.data["top"])


# What is kept, and what is asked before it is forgotten.


def test_nothing_is_forgotten_by_one_press(rooms) -> None:
    teacher, room = teach(rooms)
    pupil = join(rooms, room.code)
    pupil.view.draw()
    press(teacher, "Forget the answers")
    assert room.look().summary.answers == 1
    # A double click lands on the way back.
    press(teacher, "Keep the answers")
    assert room.look().summary.answers == 1
    assert find(teacher, "Forget the answers").visible
    press(teacher, "Close the class")
    press(teacher, "Keep the class")
    assert not room.look().closed
    # A client can press what is not shown.
    teacher.view.end.sure.clicks += 1
    assert not room.look().closed
    press(teacher, "Close the class")
    press(teacher, "Close it for 1 participant, lose 1 answer")
    assert room.look().closed
    assert "The class is over." in texts(pupil)


def test_a_class_without_answers_or_people_closes_at_once(rooms) -> None:
    teacher, room = teach(rooms)
    press(teacher, "Close the class")
    assert room.look().closed


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


def test_a_participants_map_is_their_own_and_holds_nothing_exact(rooms) -> None:
    teacher, room = teach(rooms)
    pupils = [join(rooms, room.code), join(rooms, room.code)]
    assert not pupils[0].view.map.view.visible
    for pupil in pupils:
        pupil.view.draw()
    drawn = [pupil.view.map.map.small.image.data["image"][0] for pupil in pupils]
    assert drawn[0].dtype == np.uint8
    assert (drawn[0] != drawn[1]).any(), "each has noise of their own"
    truth = teacher.view.where.map.small.image.data["image"][0]
    assert drawn[0].shape != truth.shape or (drawn[0] != truth).any()
    teacher.view.ask()
    assert not pupils[0].view.map.view.visible


def test_a_screen_says_in_the_bar_what_it_holds(rooms) -> None:
    teacher, room = teach(rooms)
    pupil = page(rooms)
    bar = pupil.page().header[0]
    assert "no exact counts" in bar.object
    pupil.join(room.code)
    assert "no exact counts" in bar.object
    teacher.view.reveal.value = True
    assert "true count" in bar.object
    teacher.view.reveal.value = False
    assert "no exact counts" in bar.object
    desk = page(rooms)
    bar = desk.page().header[0]
    desk.create()
    assert "Contains exact counts" in bar.object


def test_the_projector_shows_no_truth_until_the_class_may_see_it(rooms) -> None:
    teacher, room = teach(rooms, mechanism="uniform")
    pupil = join(rooms, room.code)
    pupil.view.draw()
    wall = ProjectorView(room, "http://192.0.2.7:5006", "", list, told=bool)
    true = f"{room.look().question.true:,.0f}"
    assert spaced(room.code) in text(wall)
    assert "192.0.2.7:5006/class" in text(wall)
    assert "1 answer" in text(wall)
    assert true not in text(wall)
    assert not len(wall.chart.truth.data["x"])
    teacher.view.reveal.value = True
    assert true in text(wall)
    assert list(wall.chart.truth.data["x"]) == [room.look().question.true]


def test_the_address_is_one_that_others_can_open(rooms) -> None:
    alone = page(rooms, reach=Reach("127.0.0.1", 5006, ("localhost:5006", "127.0.0.1:5006")))
    alone.create()
    assert "Only this computer can open it" in texts(alone)
    assert "--address 0.0.0.0" in texts(alone)
    assert "<svg" not in texts(alone).split("Ask a question")[0]
    names = ("localhost:5006", "127.0.0.1:5006", "0.0.0.0:5006", "192.0.2.7:5006")
    open_one = page(rooms, reach=Reach("0.0.0.0", 5006, names))
    open_one.create()
    code = open_one.view.room.code
    assert f"http://192.0.2.7:5006/class?class={code}" in texts(open_one)
    assert "QR code of the address" in texts(open_one)


def test_the_default_question_fits_its_theory() -> None:
    asked = Question.of(load_city("madeup", 256).matrix, "Port Amber", QuestionSettings())
    pool = Pool(asked.true)
    for seed in range(60):
        pool.add(seed, asked.draw(seed))
    found = pool.summary()
    # Five standard errors of a standard deviation and of a mean of 60.
    assert abs(found.sd / found.theory - 1) < 5 / np.sqrt(2 * 59)
    assert abs(found.mean - found.true) < 5 * found.theory / np.sqrt(60)
    assert not found.is_wider
    assert not found.is_off


def test_the_bell_curve_is_never_cut_off() -> None:
    chart, found = PooledChart(), summary([9_000.0, 10_000.0, 11_000.0], true=10_000.0)
    chart.show(Bars(found.edges, found.counts, 10_000.0, 20.0), "little noise")
    assert chart.figure.y_range.end > max(chart.curve.data["y"])
