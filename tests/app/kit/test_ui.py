"""Widgets refuse what a raw client sends, and the page follows no other visitor."""

import io

import panel as pn
import pytest

from explorer.app.kit import ui
from explorer.errors import InputError
from tests.app.press import hand_out, send


def heard(widget) -> list[str]:
    said: list[str] = []
    widget.refused = said.append
    return said


@pytest.mark.parametrize(
    ("widget", "sent"),
    [
        (ui.FloatSlider(label="Epsilon", start=0, end=1, value=0.5), {"value": "abc"}),
        (ui.FloatSlider(label="Epsilon", start=0, end=1, value=0.5), {"value": [1]}),
        (ui.IntSlider(label="T", start=1, end=9, value=3), {"value": 2.5}),
        (ui.IntSlider(label="T", start=1, end=9, value=3), {"value": None}),
        (ui.Switch(label="Partition", value=True), {"value": "yes"}),
        (ui.Select(label="City", options=["a", "b"], value="a"), {"value": "c"}),
        (ui.RadioButtonGroup(label="Map", options=["a", "b"], value="a"), {"value": 7}),
        (ui.TextInput(label="Column", value="x"), {"value": 5}),
    ],
)
def test_a_value_of_the_wrong_kind_is_one_sentence_and_changes_nothing(widget, sent) -> None:
    said, before = heard(widget), widget.value
    send(widget, **dict(sent))
    assert widget.value == before
    assert len(said) == 1
    assert widget.label in said[0]


def test_what_was_sent_is_made_safe_before_it_is_repeated() -> None:
    widget = ui.Select(label="City", options=["a"], value="a")
    said = heard(widget)
    send(widget, value="<img src=x onerror=alert(1)>" * 9)
    assert "<" not in said[0]
    assert len(said[0]) < 150


def test_a_refused_choice_is_said_and_undone() -> None:
    widget = ui.IntSlider(label="T", start=1, end=9, value=3)
    said: list[str] = []
    taken: list[int] = []

    def apply(value):
        if value > 5:
            raise InputError("Too large.")
        taken.append(value)

    ui.bind(widget, apply, said.append)
    widget.value = 5
    widget.value = 9
    assert widget.value == 5
    assert said == ["Too large."]
    assert taken == [5]


def test_the_page_does_not_mirror_the_work_of_other_visitors() -> None:
    page = ui.Page(title="x")
    with pn.io.state.param.update(), pn.util.edit_readonly(pn.state):
        pn.state.busy = True
        try:
            assert page.busy is False
        finally:
            pn.state.busy = False


class Sender:
    """Sends a file to an upload widget in chunks, as the browser does."""

    def __init__(self, most: int) -> None:
        self.widget = ui.Upload(most, label="File")
        self.said = heard(self.widget)
        self.widget._send_msg = lambda *_: None

    def tell(self, message) -> None:
        """What a browser says to the widget."""
        self.widget._handle_msg(message)

    def chunk(self, data, chunk=1, total=1) -> None:
        self.tell(
            {
                "status": "upload_event",
                "name": "a.csv",
                "chunk": chunk,
                "total_chunks": total,
                "mime_type": "text/csv",
                "data": data,
            }
        )

    def end(self) -> None:
        self.tell({"status": "finished"})


def test_a_file_arrives_in_chunks() -> None:
    sender = Sender(100)
    sender.chunk(b"abc", 1, 2)
    sender.chunk(b"def", 2, 2)
    sender.end()
    assert sender.widget.value == b"abcdef"
    assert sender.widget.filename == "a.csv"
    assert not sender.said


def test_messages_of_a_file_may_change_places() -> None:
    sender = Sender(100)
    sender.chunk(b"def", 2, 2)
    sender.end()
    sender.tell({"status": "initializing"})
    sender.chunk(b"abc", 1, 2)
    assert sender.widget.value == b"abcdef"


@pytest.mark.parametrize("pieces", [3, 7])
def test_what_is_left_of_a_file_is_no_part_of_the_next(pieces) -> None:
    sender = Sender(100)
    for data, end in ((b"x" * 12, 2), (b"y" * 12, pieces)):
        sender.tell({"status": "initializing"})
        for number in range(1, end + 1):
            sender.chunk(data, number, 3 if end == 2 else pieces)
    assert sender.widget.value == b"y" * 12 * pieces
    assert not sender.said


def test_bytes_are_counted_on_the_server_whatever_the_chunks_say() -> None:
    sender = Sender(100)
    for number in range(1, 5):
        sender.chunk(b"x" * 40, number, 99)
    sender.end()
    assert sender.widget.value is None
    assert "larger than" in sender.said[0]
    held = sum(len(c) for f in sender.widget._file_buffer.values() for c in f["chunks"].values())
    assert held <= 100


@pytest.mark.parametrize("message", [None, {}, {"status": "no such"}, "text", {"status": None}])
def test_a_message_that_is_none_is_ignored(message) -> None:
    Sender(100).tell(message)


@pytest.mark.parametrize(("chunk", "total"), [(0, 1), (3, 2), ("1", 1), (None, None)])
def test_impossible_chunk_numbers_are_refused(chunk, total) -> None:
    sender = Sender(100)
    sender.chunk(b"abc", chunk, total)
    sender.end()
    assert sender.widget.value is None
    assert len(sender.said) == 1


def test_a_file_that_is_asked_for_again_is_sent_again() -> None:
    button = ui.FileDownload(label="Save", filename="a.csv", callback=lambda: io.BytesIO(b"x;y"))
    sent = []
    button.param.watch(lambda event: sent.append(event.new), "data")
    for _ in range(2):
        hand_out(button)
    first, between, again = sent
    assert first == again
    assert first.split(";base64,")[1] == "eDt5"
    assert between is None, "a browser hands out what is new"


@pytest.mark.parametrize(
    ("error", "said"),
    [(InputError("Draw first."), "Draw first."), (OSError(28, "No space left"), "No space left")],
)
def test_a_file_that_cannot_be_made_is_not_handed_out(error, said) -> None:
    def fail() -> io.BytesIO:
        raise error

    button = ui.FileDownload(label="Save", filename="a.csv", callback=fail)
    told = heard(button)
    hand_out(button)
    assert len(told) == 1
    assert said in told[0]
    assert not button.data
