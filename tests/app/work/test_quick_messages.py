"""Messages are those that Bokeh writes by itself; what it finds out for nothing is left out."""

from __future__ import annotations

import json
import math
import re
from base64 import b64decode
from collections.abc import Callable
from gzip import decompress
from typing import Any

import numpy as np
import pytest
from bokeh.core.serialization import Deserializer, Serializer
from bokeh.document import Document
from bokeh.models import Button, Column, ColumnDataSource, Div
from bokeh.plotting import figure
from bokeh.protocol.messages.patch_doc import patch_doc

from explorer.app.work import quick_messages
from explorer.views.base_map import one_walk

Write = Callable[..., Any]
PLAIN: Write = quick_messages.PLAIN[patch_doc, "create"].__func__


def _page() -> tuple[Document, Column]:
    document = Document()
    column = Column(children=[Div(text="a"), Button(label="b")])
    document.add_root(column)
    document.to_json()  # the browser has it
    return document, column


def _changes(action: Callable[[Column], None], write: Write) -> list[Any]:
    """The messages of what is done to a page, ids counted as they come."""
    document, column = _page()
    messages: list[Any] = []
    ids: dict[str, str] = {}

    def note(event: Any) -> None:
        message = write(patch_doc, [event])
        text = json.dumps(message.content, default=lambda each: bytes(each.data).hex())
        # What is packed in the message reads as what stands beside it.
        text = re.sub(
            r'(?<="data": ")(H4sI[^"]+)', lambda found: decompress(b64decode(found[0])).hex(), text
        )
        text = re.sub(r"\bp\d+\b", lambda found: ids.setdefault(found[0], f"#{len(ids)}"), text)
        messages.append(json.loads(text))

    document.on_change(note)
    action(column)
    return messages


def _new_models(column: Column) -> None:
    shared = ColumnDataSource({"x": np.arange(3.0), "s": ["a", "b", "c"]})
    new = Div(text="new", tags=[shared, {"a": [1, None, True, 2**40, 0.5, math.nan, -math.inf]}])
    column.children = [*column.children, new, new]
    # Known from the message before: referred to, not written again.
    column.tags = [new, shared]
    other = Button(label="other", tags=[new])
    column.children = [other, column.children[0]]


def _plain_values(column: Column) -> None:
    column.children[0].text = "text"
    column.children[0].visible = False
    column.tags = [2**53, -(2**53), 2**70, 1.5, True, None, "é", (1, "b"), {"k": {1: 2}}, b"raw"]


@pytest.mark.filterwarnings("ignore:out of range integer")
@pytest.mark.parametrize("action", [_new_models, _plain_values])
def test_changes_are_written_as_bokeh_writes_them(
    action: Callable[[Column], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = _changes(action, lambda cls, events: cls.create(events))
    monkeypatch.setattr(Serializer, "encode", quick_messages.PLAIN[Serializer, "encode"])
    slow = _changes(action, PLAIN)
    assert quick == slow
    assert len(quick) == 3


def test_short_arrays_stand_in_the_message_and_long_ones_beside_it() -> None:
    document, column = _page()
    events: list[Any] = []
    document.on_change(events.append)
    column.tags = [np.arange(512.0), np.arange(513.0), np.array([math.nan])]
    message = patch_doc.create(events)
    assert [bytes(each.data) for each in message.buffers] == [np.arange(513.0).tobytes()]
    short, _, lone = message.content["events"][0]["new"]
    assert decompress(b64decode(short["array"]["data"])) == np.arange(512.0).tobytes()
    # As a browser reads it.
    read = Deserializer().deserialize(lone)
    assert np.isnan(read).all()
    assert read.shape == (1,)


def test_what_was_taken_away_is_written_whole_when_it_comes_back() -> None:
    document, column = _page()
    events: list[Any] = []
    document.on_change(events.append)
    gone = column.children[0]
    column.children = column.children[1:]
    patch_doc.create(events)
    events.clear()
    column.children = [gone, *column.children]
    [event] = patch_doc.create(events).content["events"]
    assert event["new"][0]["type"] == "object"
    assert list(event["new"][1]) == ["id"]


def test_events_of_two_documents_are_refused() -> None:
    events = []
    for document, column in (_page(), _page()):
        document.on_change(events.append)
        column.visible = False
    with pytest.raises(ValueError, match="more than one document"):
        patch_doc.create(events)
    with pytest.raises(ValueError, match="at least one event"):
        patch_doc.create([])


def test_a_page_is_walked_through_once_for_many_glyphs(monkeypatch: pytest.MonkeyPatch) -> None:
    document, plot = Document(), figure()
    document.add_root(plot)
    walks: list[int] = []
    plain = type(document.models).recompute
    monkeypatch.setattr(
        type(document.models), "recompute", lambda self: (walks.append(1), plain(self))[1]
    )
    with one_walk(document):
        glyph = plot.scatter([1], [2])
        plot.title.text = "Map"
        assert not walks
    assert len(walks) == 1
    assert glyph.document is document
    with pytest.raises(RuntimeError, match="wrong"), one_walk(document):
        raise RuntimeError("wrong")
    # It looks for models again afterwards.
    plot.add_tools("pan")
    assert len(walks) > 2
    with one_walk(None):
        figure()
