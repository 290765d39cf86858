"""Panel leaves no message lying, and handles no event without the document's lock."""

import asyncio
import subprocess
import sys
import warnings
from functools import partial
from types import SimpleNamespace
from unittest.mock import Mock

import panel as pn
import pytest
from bokeh.core.serialization import Deserializer
from bokeh.document import Document
from bokeh.models import Slider
from panel.io import document
from panel.io.state import state
from panel.reactive import Syncable
from panel.viewable import Renderable

from explorer.app.work import panel_patches as delivery


class Doc:
    """Stands for a document: Panel keeps its queues by weak reference."""


class Writer:
    """A connection; while its first message is being written, a second one is queued."""

    def __init__(self) -> None:
        self.sent: list = []
        self._socket = self
        self.doc = Doc()

    def write(self, _conn, msg=None, **_) -> list:
        self.sent.append(msg)
        return [self.later()]

    async def later(self) -> None:
        await asyncio.sleep(0.005)
        if self.sent == ["maps"]:
            queue(self.doc, self, "table")


def queue(doc, connection, message) -> None:
    """What Panel does with a message while another is being written."""
    document._WRITE_BLOCK[doc] = True
    document._WRITE_MSGS.setdefault(doc, {}).setdefault(connection, []).append(message)
    document._dispatch_write_task(doc, document._dispatch_msgs, doc)


def sent_with(monkeypatch, dispatch) -> list:
    connection = Writer()
    monkeypatch.setitem(document.extra_socket_handlers, Writer, connection.write)
    monkeypatch.setattr(document, "_dispatch_msgs", dispatch)

    async def session() -> None:
        queue(connection.doc, connection, "maps")
        await asyncio.sleep(0.2)

    asyncio.run(session())
    return connection.sent


def test_the_second_of_two_messages_is_sent(monkeypatch) -> None:
    assert sent_with(monkeypatch, document._dispatch_msgs) == ["maps", "table"]


def test_without_the_cure_panel_leaves_it_lying(monkeypatch) -> None:
    # When this fails, Panel has mended it: remove `install` and these tests.
    assert sent_with(monkeypatch, document._dispatch_msgs.original) == ["maps"]


def test_installing_twice_changes_nothing() -> None:
    before = document._dispatch_msgs
    assert delivery.install() is False
    assert document._dispatch_msgs is before


def test_a_panel_with_other_internals_is_left_alone(monkeypatch) -> None:
    monkeypatch.delattr(document, "_WRITE_BLOCK")
    assert delivery.install() is False


def scheduled_by(monkeypatch, handler: str) -> object:
    """What Panel schedules when it puts this handler of a button off."""
    button, doc = pn.widgets.Button(), Mock()
    monkeypatch.setattr(type(pn.state), "curdoc", doc)
    pn.state.execute(partial(getattr(button, handler), doc, None), schedule=True)
    monkeypatch.undo()
    return doc.add_next_tick_callback.call_args.args[0]


@pytest.mark.parametrize("handler", ["_event_coroutine", "_change_coroutine"])
def test_what_is_put_off_runs_with_the_lock(monkeypatch, handler) -> None:
    assert not hasattr(scheduled_by(monkeypatch, handler), "nolock")


@pytest.mark.parametrize("handler", ["_event_coroutine", "_change_coroutine"])
def test_without_the_cure_it_runs_without(monkeypatch, handler) -> None:
    # When this fails, Panel locks by itself: remove `lock_handlers` and these two tests.
    getattr(Syncable, handler).lock = False
    try:
        assert scheduled_by(monkeypatch, handler).nolock
    finally:
        delivery.lock_handlers()


OVERLAPPING = """
import sys, threading, time, pyviz_comms
before = sys.stdout
if {ours}:
    import explorer.app
went = []

class Page(pyviz_comms.Comm):
    decode = classmethod(lambda cls, message: dict(message))

def handle(message):
    went.append(message["page"])
    time.sleep(message["page"] * 0.2)
    went.append(message["page"])

pages = [Page(on_msg=handle)._handle_msg for _ in "12"]
pages = [threading.Thread(target=do, args=({{"page": n}},)) for n, do in enumerate(pages, 1)]
for each in pages:
    each.start()
time.sleep(0.1)
print("printed by a cell")
for each in pages:
    each.join()
end = time.monotonic() + 60
while len(went) < 4 and time.monotonic() < end:
    time.sleep(0.01)
print(sys.stdout is before, went in ([1, 1, 2, 2], [2, 2, 1, 1]), file=sys.__stdout__)
"""


@pytest.mark.parametrize("ours", [True, False], ids=["ours", "alone"])
def test_messages_of_pages_are_handled_in_turn_and_a_cell_prints_meanwhile(ours) -> None:
    # When it does so alone, remove `handle_in_turn` and this test.
    code = OVERLAPPING.format(ours=ours)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    said = done.stdout.splitlines()
    assert said == (["printed by a cell", "True True"] if ours else ["False False"])


class Patch:
    """A message of a notebook's page: a figure got its size, and a slider was moved."""

    def __init__(self, *sliders: Slider) -> None:
        self.sliders = sliders

    def assemble(self, _message: object) -> "Patch":
        return self

    def apply_to_document(self, _doc: Document, setter: str) -> None:
        for each in self.sliders:
            each.set_from_json("value", each.value + 1, setter=setter)


def heard_with(on_message, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the sliders whose moves were heard, where the first holds the document."""
    doc, heard = Document(), []
    sliders = [Slider(start=0, end=9, value=0) for _ in range(3)]

    def moved(number: int, _attr: str, _old: int, _new: int) -> None:
        heard.append(number)
        doc.hold()

    for number, each in enumerate(sliders):
        doc.add_root(each)
        each.on_change("value", partial(moved, number))
    doc.hold()
    view = (None, sliders[0], doc, SimpleNamespace(id="a comm"))
    monkeypatch.setitem(state._views, "page", view)
    on_message(pn.Row(), "page", Patch(*sliders), {"content": {"events": []}})
    return heard


def test_all_changes_of_a_message_are_heard(monkeypatch) -> None:
    assert heard_with(Renderable._on_msg, monkeypatch) == [0, 1, 2]


def test_without_the_cure_the_first_hides_the_others(monkeypatch) -> None:
    # When this fails, Panel has mended it: remove `hear_all` and these tests.
    assert heard_with(Renderable._on_msg.original, monkeypatch) == [0]


@pytest.mark.parametrize("expected", [True, False], ids=["ours", "alone"])
def test_a_known_model_that_a_browser_sends_whole_is_kept(expected) -> None:
    # When it is silent alone, remove `expect_models_sent_back` and this test.
    known = Slider(start=0, end=9, value=1)
    sent = {"type": "object", "name": "Slider", "id": known.id, "attributes": {"value": 3}}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        if expected:
            delivery.expect_models_sent_back()
        assert Deserializer([known]).deserialize(sent) is known
    assert known.value == 1
    assert len(said) == (0 if expected else 1)
