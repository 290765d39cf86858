"""A connection that takes nothing is ended, and pictures wait for who takes them slowly."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from panel.io import document

from explorer.app.work import unread
from explorer.app.work.document import Visit


class Stream:
    def __init__(self) -> None:
        self._total_write_done_index = 0
        self.ended = False

    def closed(self) -> bool:
        return self.ended

    def close(self) -> None:
        self.ended = True


class Doc:
    """Stands for a document: Panel keeps its queues by weak reference."""


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unread, "_LOOK", 0.01)
    monkeypatch.setattr(unread, "PATIENCE", 0.2)


def handler(stream: Stream, doc: Any, writing: int = 1) -> Any:
    return SimpleNamespace(
        ws_connection=SimpleNamespace(stream=stream),
        connection=SimpleNamespace(session=SimpleNamespace(document=doc)),
        _explorer_writing=writing,
    )


@pytest.mark.usefixtures("quick")
def test_who_takes_nothing_is_dropped() -> None:
    stream = Stream()
    asyncio.run(asyncio.wait_for(unread.watch_over(handler(stream, Doc())), 10))
    assert stream.ended


@pytest.mark.usefixtures("quick")
def test_a_slow_line_that_moves_on_is_not() -> None:
    stream, one = Stream(), handler(Stream(), Doc())
    one.ws_connection.stream = stream

    async def line() -> None:
        watch = asyncio.ensure_future(unread.watch_over(one))
        for _ in range(60):
            await asyncio.sleep(0.01)
            stream._total_write_done_index += 1
        assert not stream.ended
        # All has been taken: nobody looks any more.
        one._explorer_writing = 0
        await asyncio.wait_for(watch, 10)
        assert not stream.ended

    asyncio.run(line())


@pytest.mark.usefixtures("quick")
def test_a_queue_without_end_is_dropped(monkeypatch) -> None:
    doc, stream = Doc(), Stream()
    monkeypatch.setitem(document._WRITE_MSGS, doc, {"connection": [None] * (unread.MOST + 1)})

    async def line() -> None:
        watch = asyncio.ensure_future(unread.watch_over(handler(stream, doc)))
        while not watch.done():
            await asyncio.sleep(0.005)
            stream._total_write_done_index += 1

    asyncio.run(asyncio.wait_for(line(), 10))
    assert stream.ended


def test_a_picture_waits_until_the_earlier_ones_have_left(monkeypatch) -> None:
    visit, doc = Visit(), Doc()
    visit._doc, order = doc, []
    monkeypatch.setitem(document._WRITE_MSGS, doc, {"connection": [None] * (unread.FEW + 1)})

    async def line() -> None:
        waiting = asyncio.ensure_future(visit.sent())
        waiting.add_done_callback(lambda _task: order.append("picture"))
        await asyncio.sleep(0.1)
        order.append("taken")
        document._WRITE_MSGS[doc].clear()
        await asyncio.wait_for(waiting, 10)

    asyncio.run(line())
    assert order == ["taken", "picture"]
