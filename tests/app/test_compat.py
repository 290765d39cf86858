"""The workarounds for faults of Panel and Bokeh do what they are for."""

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

from explorer._compat import PANEL_GE_110
from explorer.app import compat
from tests.app.test_server import Running
from tests.benchmarks.websocket_client import Client

OLD_PANEL = pytest.mark.skipif(PANEL_GE_110, reason="Panel 1.10 queues events")


@pytest.fixture(scope="module", autouse=True)
def applied() -> None:
    """The workarounds, as `serve` and a page apply them."""
    compat.apply()


def test_a_second_call_changes_nothing() -> None:
    before = document._dispatch_msgs, pages.patch_curdoc
    compat.apply()
    assert (document._dispatch_msgs, pages.patch_curdoc) == before


class Writer:
    """A connection; while its first message is being written, a second one is queued."""

    def __init__(self) -> None:
        self.sent: list = []
        self._socket = self

    def write(self, _conn, msg=None, **_) -> list:
        self.sent.append(msg)
        return [self.later()]

    async def later(self) -> None:
        await asyncio.sleep(0.005)
        if self.sent == ["maps"]:
            self.queue("table")

    def queue(self, message) -> None:
        """What Panel does with a message while another is being written."""
        document._WRITE_BLOCK[self] = True
        document._WRITE_MSGS.setdefault(self, {}).setdefault(self, []).append(message)
        document._dispatch_write_task(self, document._dispatch_msgs, self)


@OLD_PANEL
def test_the_second_of_two_messages_is_sent(monkeypatch) -> None:
    connection = Writer()
    monkeypatch.setitem(document.extra_socket_handlers, Writer, connection.write)

    async def session() -> None:
        connection.queue("maps")
        await asyncio.sleep(0.2)

    asyncio.run(session())
    assert connection.sent == ["maps", "table"]


@pytest.mark.parametrize("handler", ["_event_coroutine", "_change_coroutine"])
def test_what_is_put_off_runs_with_the_lock(monkeypatch, handler) -> None:
    button, doc = pn.widgets.Button(), Mock()
    monkeypatch.setattr(type(pn.state), "curdoc", doc)
    pn.state.execute(partial(getattr(button, handler), doc, None), schedule=True)
    monkeypatch.undo()
    assert not hasattr(doc.add_next_tick_callback.call_args.args[0], "nolock")


def test_a_page_whose_handling_fails_is_taken_back() -> None:
    def fail() -> None:
        raise ValueError("a wrong value")

    before = pages.curdoc()
    with pytest.raises(ValueError, match="a wrong value"):
        invoke_with_curdoc(Document(), fail)
    gc.collect()
    assert pages.curdoc() is before


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
