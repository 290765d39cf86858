"""Messages: sentences are escaped, refusals end with their cause, news go, three can stand."""

from panel.io.state import set_curdoc

from explorer.app.kit import ui
from explorer.app.kit.message import MOST, MessageArea
from explorer.errors import InputError
from tests.app.acts import words
from tests.app.press import send
from tests.app.visitor import Visitor


def test_a_refusal_is_an_alert_and_is_escaped() -> None:
    area = MessageArea()
    assert not area.view.visible
    area.refuse("<b>5</b> is no number & cannot be used.")
    assert area.view.visible
    assert 'role="alert"' in words(area.view)
    assert "<b>" not in words(area.view)


def test_a_refusal_stays_when_work_ends_and_a_notice_goes() -> None:
    area = MessageArea()
    area.inform("Reading …")
    area.done()
    assert not area.view.visible
    area.refuse("No.")
    area.done()
    assert area.view.visible
    area.close()
    assert not area.view.visible
    assert words(area.view) == ""


def test_some_stand_one_above_the_other_and_each_can_be_closed() -> None:
    area = MessageArea()
    for number in range(MOST + 1):
        area.refuse(f"No {number}.")
    assert [f"No {n}." in words(area.view) for n in range(MOST + 1)] == [False, True, True, True]
    second = area.view.objects[1].select(ui.Button)[0]
    second.clicks += 1
    assert "No 2." not in words(area.view)
    assert "No 1." in words(area.view)
    assert area.sentence == "No 3."


def test_a_refusal_ends_with_the_next_attempt_of_the_same_control() -> None:
    area = MessageArea()

    def even(value: int) -> None:
        if value % 2:
            raise InputError(f"{value} is odd: give an even number.")

    one, other = (ui.IntInput(label="Even", value=0) for _ in range(2))
    for each in (one, other):
        ui.bind(each, even, area.refuse)
    one.value = 3
    assert area.sentence == "3 is odd: give an even number."
    assert one.value == 0
    assert one.error_state
    other.value = 4
    assert area.sentence, "another control has nothing to do with it"
    one.value = 2
    assert area.sentence == ""
    assert not one.error_state
    # What no browser sends is refused by the widget itself, which sends the old value back.
    send(one, value="much")
    assert "cannot be" in area.sentence
    assert one.error_state
    one.value = 6
    assert area.sentence == ""


def test_news_and_refusals_go_after_a_while() -> None:
    visitor, waiting = Visitor(), []
    visitor.add_timeout_callback = lambda do, ms: waiting.append((ms, do))
    area = MessageArea()
    with set_curdoc(visitor):
        area.inform("Done.")
        area.refuse("No.")
        area.working("Reading …")
    assert [ms for ms, _ in waiting] == [6000, 20000]
    waiting[1][1]()
    assert area.sentence == "Reading …"
    assert "No." not in words(area.view)
