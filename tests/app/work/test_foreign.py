"""What visitors send: one file a visit, two in all, others wait and are told so."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bokeh.document import Document
from panel.io.state import set_curdoc

from explorer.app.kit.message import MessageArea
from explorer.app.work.foreign import ONE, Foreign
from explorer.app.work.job import WAITING, Background
from explorer.grid.apart import read_apart
from explorer.grid.apart import reading as apart
from tests.grid.apart import readers


def children() -> list[int]:
    """Readers that are at work."""
    warden = apart.warden()
    assert warden is not None
    return [int(pid) for pid in Path(f"/proc/{warden}/task/{warden}/children").read_text().split()]


async def until(what: Callable[[], object]) -> None:
    end = time.monotonic() + 30
    while not what():
        assert time.monotonic() < end, "it has not come to pass"
        await asyncio.sleep(0.02)


class Visitor:
    """A page with one form, and what was said and used on it."""

    def __init__(self) -> None:
        self.doc = Document()
        self.message = MessageArea()
        self.background = Background(self.message)
        self.used: list[Any] = []

    def send(self, work: Callable[..., Any], content: bytes = b"") -> None:
        with set_curdoc(self.doc):
            read = Foreign(lambda **how: read_apart(work, content, **how))
            self.background.run(read, self.used.append)

    def leave(self) -> None:
        self.background.close()


def test_fifty_presses_of_one_visitor_leave_one_reader_and_then_none(tmp_path: Path) -> None:
    async def visit() -> None:
        one, other = Visitor(), Visitor()
        read_apart(readers.repeat, b"")
        seen = 0
        for number in range(50):
            one.send(readers.sleep, str(tmp_path / str(number)).encode())
            await asyncio.sleep(0.01)
            seen = max(seen, len(children()))
        assert seen <= apart.MOST_READERS
        await until((tmp_path / "49").exists)
        await until(lambda: len(children()) == 1)
        # Meanwhile another one's file is read.
        other.send(readers.repeat, b"abc")
        await until(lambda: other.used)
        assert other.used[0]["size"] == 3
        one.leave()
        await until(lambda: not children())
        assert one.used == []

    asyncio.run(visit())


def test_a_file_that_waits_says_so_and_is_read_in_its_turn(tmp_path: Path) -> None:
    async def visit() -> None:
        first, second, third = Visitor(), Visitor(), Visitor()
        for each, name in ((first, "a"), (second, "b")):
            each.send(readers.sleep, str(tmp_path / name).encode())
        await until(lambda: len(list(tmp_path.iterdir())) == 2)
        third.send(readers.repeat, b"abc")
        await until(lambda: third.message.sentence == WAITING)
        assert len(children()) == 2
        assert third.used == []
        # Whoever leaves makes room.
        first.leave()
        await until(lambda: third.used)
        assert third.message.sentence == ""
        second.background.cancel()
        await until(lambda: not children())

    asyncio.run(visit())


def test_a_second_form_of_a_visit_has_to_wait(tmp_path: Path) -> None:
    async def visit() -> None:
        one = Visitor()
        one.send(readers.sleep, str(tmp_path / "a").encode())
        await until(lambda: list(tmp_path.iterdir()))
        form = Visitor()
        form.doc = one.doc
        form.send(readers.repeat)
        await until(lambda: form.message.sentence == ONE)
        assert len(children()) == 1
        one.leave()
        await until(lambda: not children())

    asyncio.run(visit())


def test_no_thread_of_the_pages_waits_for_a_file(tmp_path: Path) -> None:
    async def visit() -> None:
        visitors = [Visitor() for _ in range(40)]
        for number, each in enumerate(visitors):
            each.send(readers.sleep, str(tmp_path / str(number)).encode())
        await until(lambda: len(list(tmp_path.iterdir())) == 2)
        assert await asyncio.to_thread(os.getpid) == os.getpid()
        for each in visitors:
            each.leave()
        await until(lambda: not children())
        assert len(list(tmp_path.iterdir())) == 2

    asyncio.run(visit())
