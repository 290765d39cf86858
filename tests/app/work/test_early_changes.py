"""A change between a browser's copy of a page and its word that it is ready reaches the browser."""

from __future__ import annotations

from types import SimpleNamespace

import panel as pn
import pytest
from bokeh.document import Document
from bokeh.document.events import DocumentPatchedEvent, MessageSentEvent
from bokeh.models import Slider
from panel.io import document
from panel.io.state import set_curdoc

from explorer.app.work import early_changes

#: What Panel and Bokeh call them.
DRAIN, CONTEXT = "_drain_unconnected_events", "_session_context"


def changed(doc: Document, connections: set[object], *, lock: bool = True) -> list[object]:
    """What is sent where a held slider gets another range before the page is ready."""
    writes = [] if lock else None
    session = SimpleNamespace(_subscribed_connections=connections, _pending_writes=writes)
    setattr(doc, CONTEXT, lambda: SimpleNamespace(session=session, destroyed=False))
    slider = Slider(start=0, end=1, value=0)
    doc.add_root(slider)
    sent: list[object] = []
    doc.on_change(sent.append)
    with set_curdoc(doc):
        assert not pn.state.loaded
        with pn.io.hold(doc):
            slider.update(end=5, value=5)
    assert (slider.end, doc.callbacks.hold_value) == (5, None)
    return [each.attr for each in sent if isinstance(each, DocumentPatchedEvent)]


def test_who_has_a_copy_is_sent_what_changes() -> None:
    assert changed(Document(), {"a browser"}) == ["end", "value"]


def test_a_message_to_a_component_waits_until_that_listens() -> None:
    doc = Document()
    changed(doc, {"a browser"})
    sent: list[object] = []
    doc.on_change(sent.append)
    with set_curdoc(doc), pn.io.hold(doc):
        doc.callbacks.trigger_on_change(MessageSentEvent(doc, "ipywidgets_bokeh", {}))
    assert sent == []


def test_who_will_take_a_copy_finds_it_there() -> None:
    assert changed(Document(), set()) == []


def test_without_the_lock_it_is_sent_in_the_next_turn() -> None:
    doc = Document()
    assert changed(doc, {"a browser"}, lock=False) == []
    (waits,) = doc.session_callbacks
    sent: list[object] = []
    doc.on_change(sent.append)
    waits.callback()
    assert [each.attr for each in sent if isinstance(each, DocumentPatchedEvent)] == [
        "end",
        "value",
    ]


def test_without_the_cure_panel_drops_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, DRAIN, getattr(document, DRAIN).original)
    assert changed(Document(), {"a browser"}) == []


def test_installing_twice_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not early_changes.send_early_changes()
    monkeypatch.delattr(document, DRAIN)
    assert not early_changes.send_early_changes(), "a later Panel is not touched"
