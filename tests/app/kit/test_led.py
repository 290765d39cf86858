"""A control that is moved from here takes no notice of a slow browser's echo."""

from __future__ import annotations

import pytest

from explorer.app.kit import ui
from tests.app.press import send


@pytest.mark.parametrize("kind", [ui.IntSlider, ui.FloatSlider])
def test_an_earlier_value_that_comes_back_is_no_choice_of_a_visitor(kind) -> None:
    slider = kind(label="Level", start=0, end=10, value=8)
    chosen = []
    slider.param.watch(lambda event: chosen.append(event.new), "value")
    for level in (0, 1, 2):
        slider.value = level
    send(slider, value=1)
    assert slider.value == 2
    # A visitor who insists gets the value, and goes on as far as he likes.
    send(slider, value=1)
    assert slider.value == 1
    for level in (2, 1, 2, 7):
        send(slider, value=level)
        assert slider.value == level


def test_what_a_browser_has_drawn_is_a_choice(monkeypatch) -> None:
    """A panel opened at its last level, Home was pressed at once, and was taken for an echo."""
    slider = ui.IntSlider(label="Level", start=0, end=16, value=0)
    slider.value = 16
    send(slider, value=0)
    assert slider.value == 0
    # Set from here long ago: it has been drawn since.
    now = ui.time.monotonic()
    slider.value = 9
    monkeypatch.setattr(ui.time, "monotonic", lambda: now + 10)
    slider.value = 4
    send(slider, value=9)
    assert slider.value == 9


def test_every_echo_of_a_slow_browser_is_none() -> None:
    """A browser six times slower wrote two earlier values back, and the second counted."""
    slider = ui.IntSlider(label="Splits", start=0, end=40, value=0)
    for step in (1, 3, 7, 15, 31):
        slider.value = step
    for echo in (3, 15):
        send(slider, value=echo)
        assert slider.value == 31


def moved(*texts: str) -> ui.TextInput:
    """A box that was moved to these texts from here, one right after the other."""
    box = ui.TextInput(label="Exact epsilon", value="1")
    for text in texts:
        box.param.update(value=text, value_input=text)
    return box


#: As a browser tells of a text that it draws: what counts, then what stands in the box; what comes
#: within 40 ms of a message is one message.
DRAWN = [
    [{"value": "0.79"}, {"value_input": "0.79"}],
    [{"value": "0.79", "value_input": "0.79"}],
    [{"value": "0.79"}, {"value_input": "0.89", "value": "0.89"}],
]


@pytest.mark.parametrize("messages", DRAWN)
def test_a_text_that_comes_back_is_no_entry(messages) -> None:
    """A slider's box followed it, came back late, and the slider jumped to where it had been."""
    box, chosen = moved("0.89", "0.79", "0.89", "0.71"), []
    box.param.watch(lambda event: chosen.append(event.new), "value")
    for message in messages:
        send(box, **message)
    assert (box.value, box.value_input) == ("0.71", "0.71")
    assert {*chosen} == {"0.71"}, "it is sent again, and no other one is chosen"
    # Nothing is left of it that a person who types would meet.
    for key in ("0", "0.", "0.7", "0.79", "0.795"):
        send(box, value_input=key)
        assert box.value_input == key
    send(box, value="0.795")
    assert box.value == "0.795"


@pytest.mark.parametrize("at_once", [False, True])
def test_a_text_that_is_typed_counts_though_the_box_held_it_before(at_once) -> None:
    box = moved("0.89", "0.79")
    for key in ("0", "0.", "0.8"):
        send(box, value_input=key)
    entry = [{"value_input": "0.89", "value": "0.89"}]
    for message in entry if at_once else [{"value_input": "0.89"}, {"value": "0.89"}]:
        send(box, **message)
    assert (box.value, box.value_input) == ("0.89", "0.89")


def test_a_label_that_comes_back_is_not_the_buttons() -> None:
    """After a double click it went on saying "Keep the class", and asked nothing."""
    button, sent = ui.Button(label="Close the class"), []
    for label in ("Keep the class", "Close the class"):
        button.label = label
    button.param.watch(lambda event: sent.append(event.new), "label", onlychanged=False)
    send(button, label="Keep the class")
    assert button.label == "Close the class"
    assert sent == ["Close the class"], "it is sent again"
    # What comes with it counts all the same.
    box = ui.TextInput(label="Name")
    send(box, disabled=True, value="here")
    assert (box.disabled, box.value) == (False, "here")
