"""The Class page: who sees what, and nothing is left of those who leave."""

import gc
import weakref

import numpy as np
import panel as pn
import pytest
from bokeh.document import Document
from panel.io.state import set_curdoc

from explorer.app import ClassResult
from explorer.app.classroom.participant import ParticipantView
from explorer.app.classroom.sentences import about_answers, about_own, about_question, answer_tables
from explorer.app.classroom.teacher import TeacherView
from explorer.errors import InputError
from explorer.teaching.classroom import ClassRooms, spaced
from explorer.teaching.pool import Answer, Pool, Question, QuestionSettings
from explorer.views.teaching.pooled import Bars, PooledChart, ends
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
        return {float(v) for one in held for column in one.data.values() for v in column}

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


def test_a_new_question_forgets_and_the_end_leads_back(rooms) -> None:
    teacher, room = teach(rooms)
    pupil = join(rooms, room.code)
    pupil.view.draw()
    teacher.view.settings.put(epsilon=2.0)
    teacher.view.ask()
    assert "epsilon 2" in texts(pupil)
    assert "Nobody has answered yet" in texts(pupil)
    pupil.view.draw()
    teacher.view.reset_button.clicks += 1
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
    assert "16 to 48 cells from the west and 32 to 64 cells" in about_question(town)
    assert "HTF with epsilon 0.2" in about_question(town)


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
