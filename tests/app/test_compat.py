"""Each cure of a fault of Panel or Bokeh is still needed, and cures it."""

from __future__ import annotations

import asyncio
import gc
from contextlib import contextmanager
from functools import partial
from unittest.mock import Mock

import panel as pn
import pytest
from bokeh.document import Document
from bokeh.document.callbacks import invoke_with_curdoc
from bokeh.io import doc as pages
from panel.io import document
from panel.reactive import Syncable

from explorer._compat import BOKEH_GE_310, PANEL_GE_110
from explorer.app import compat
from tests.app.test_server import Running
from tests.benchmarks.websocket_client import Client

OLD_PANEL = pytest.mark.skipif(PANEL_GE_110, reason="Panel 1.10 queues events")
OLD_BOKEH = pytest.mark.skipif(BOKEH_GE_310, reason="Bokeh 3.10 restores the document")


@pytest.fixture(scope="module", autouse=True)
def applied() -> None:
    """The cures, as `serve` and a page apply them."""
    compat.apply()


def test_a_second_call_changes_nothing() -> None:
    before = document._dispatch_msgs, pages.patch_curdoc
    compat.apply()
    assert (document._dispatch_msgs, pages.patch_curdoc) == before


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


@OLD_PANEL
def test_the_second_of_two_messages_is_sent(monkeypatch) -> None:
    assert sent_with(monkeypatch, document._dispatch_msgs) == ["maps", "table"]


@OLD_PANEL
def test_without_the_cure_panel_leaves_it_lying(monkeypatch) -> None:
    # When this fails, Panel has mended it: remove the cure and these tests.
    assert sent_with(monkeypatch, document._dispatch_msgs.original) == ["maps"]


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
    # When this fails, Panel locks by itself: remove the cure and these two tests.
    getattr(Syncable, handler).lock = False
    try:
        assert scheduled_by(monkeypatch, handler).nolock
    finally:
        compat.apply()


def fail() -> None:
    """Handle a message, in vain."""
    raise ValueError("a wrong value")


def test_a_page_whose_handling_fails_is_taken_back() -> None:
    before = pages.curdoc()
    with pytest.raises(ValueError, match="a wrong value"):
        invoke_with_curdoc(Document(), fail)
    gc.collect()
    assert pages.curdoc() is before


def test_pages_that_are_handled_inside_each_other_are_taken_back_one_by_one() -> None:
    before, outer, seen = pages.curdoc(), Document(), []

    def handle() -> None:
        with pytest.raises(ValueError, match="a wrong value"):
            invoke_with_curdoc(Document(), fail)
        seen.append(pages.curdoc())

    invoke_with_curdoc(outer, handle)
    assert seen == [outer]
    assert pages.curdoc() is before


@OLD_BOKEH
def test_without_the_cure_a_failed_page_stays(monkeypatch) -> None:
    # When this fails, Bokeh takes it back by itself: remove the cure and these tests.
    monkeypatch.setattr(pages, "patch_curdoc", pages.patch_curdoc.original)
    failed = Document()
    with pytest.raises(ValueError, match="a wrong value"):
        invoke_with_curdoc(failed, fail)
    assert pages.curdoc() is failed
    pages._PATCHED_CURDOCS.pop()


def test_a_wrong_value_of_a_visitor_leaves_no_page_behind(monkeypatch) -> None:
    running, usual, failed = Running(), pages.patch_curdoc, []

    @contextmanager
    def seen(doc):
        try:
            with usual(doc):
                yield
        except ValueError:
            failed.append(doc)
            raise

    async def visit() -> None:
        client = Client(running.server.port)
        slider = await client.open_until("Epsilon")
        client.change(slider, "value", [1])
        while not failed:
            await asyncio.sleep(0.02)
        assert pn.state.curdoc is None
        client.close()

    monkeypatch.setattr(pages, "patch_curdoc", seen)
    running.do(visit)
    running.stop()
