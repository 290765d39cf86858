"""What is the same for all is made once; who floods waits for the own."""

from __future__ import annotations

import asyncio
import gc
import threading

import pytest

from explorer.audience import app_state as module
from explorer.audience.app_state import Busy, FairQueue, ResponseCache


def test_sixty_who_ask_for_the_same_have_it_made_once() -> None:
    made: list[int] = []

    def make() -> bytes:
        made.append(1)
        return b"picture"

    async def visit() -> None:
        shared = ResponseCache(FairQueue(2))
        asked = [shared.get("whole", str(i), make) for i in range(60)]
        assert {*await asyncio.gather(*asked)} == {b"picture"}
        assert await shared.get("whole", "later", make) == b"picture"
        assert await shared.get("other", "later", make) == b"picture"
        assert shared.count == len(made) == 2

    asyncio.run(visit())


def test_one_address_after_the_other_has_its_turn() -> None:
    done: list[str] = []
    gate = threading.Event()

    async def visit() -> None:
        turns = FairQueue(1)
        jobs = [asyncio.ensure_future(turns.run("first", gate.wait))]
        await asyncio.sleep(0)
        jobs += [
            asyncio.ensure_future(turns.run("flood", lambda: done.append("flood")))
            for _ in range(100)
        ]
        await asyncio.sleep(0)
        jobs += [
            asyncio.ensure_future(turns.run(name, lambda name=name: done.append(name)))
            for name in ("one", "two")
        ]
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(*jobs)

    asyncio.run(visit())
    assert {*done[:4]} == {"flood", "one", "two"}
    assert done.index("two") < 4
    assert len(done) == 102


def test_a_full_queue_refuses_and_goes_on(monkeypatch) -> None:
    monkeypatch.setattr(module, "MOST_OF_ALL", 1)
    gate, faults = threading.Event(), []

    async def visit() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, context: faults.append(context))
        queue = FairQueue(1)
        jobs = [asyncio.ensure_future(queue.run("one", gate.wait))]
        await asyncio.sleep(0)
        jobs.append(asyncio.ensure_future(queue.run("two", int)))
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await queue.run("three", int)
        gate.set()
        assert await asyncio.gather(*jobs) == [True, 0]
        # Until all that follows from the last job is done.
        await asyncio.sleep(0.1)

    asyncio.run(visit())
    gc.collect()
    assert faults == []


def test_who_asks_for_more_than_one_may_wait_for_is_put_off(monkeypatch) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 3)
    gate = threading.Event()

    async def visit() -> None:
        turns = FairQueue(1)
        first = asyncio.ensure_future(turns.run("one", gate.wait))
        await asyncio.sleep(0)
        waiting = [asyncio.ensure_future(turns.run("one", int)) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await turns.run("one", int)
        other = asyncio.ensure_future(turns.run("other", int))
        gate.set()
        await asyncio.gather(first, *waiting, other)
        # None is kept of who has been served.
        assert not turns._waiting

    asyncio.run(visit())
