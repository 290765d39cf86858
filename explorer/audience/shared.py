"""What is the same for all is made once, in the turns of those who asked first."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar, cast

Made = TypeVar("Made")

#: Jobs of one address that may wait, and of all.
MOST_WAITING, MOST_OF_ALL = 200, 2_000
#: Bytes of what is kept.
MOST_KEPT = 96_000_000


class Busy(Exception):
    """Raised for who asks for more than one may wait for."""


class Turns:
    """Work in threads, one job of each address after the other: who floods waits for the own.

    Parameters
    ----------
    threads : that work at a time
    """

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, "pictures")
        self._free = threads
        self._waiting: OrderedDict[str, deque[tuple[Callable[[], object], Future[object]]]]
        self._waiting = OrderedDict()

    async def of(self, address: str, work: Callable[[], Made]) -> Made:
        """What ``work`` returns, once it is this address's turn.

        Raises
        ------
        Busy
            Where too much of it waits already.
        """
        queue = self._waiting.setdefault(address, deque())
        if len(queue) >= MOST_WAITING or sum(map(len, self._waiting.values())) >= MOST_OF_ALL:
            raise Busy
        done: Future[object] = Future()
        queue.append((work, done))
        self._begin()
        return cast(Made, await asyncio.wrap_future(done))

    def _begin(self) -> None:
        while self._free and self._waiting:
            address, queue = self._waiting.popitem(last=False)
            if not queue:
                continue
            work, done = queue.popleft()
            if queue:
                # Behind all others.
                self._waiting[address] = queue
            if not done.set_running_or_notify_cancel():
                continue
            self._free -= 1
            asyncio.get_running_loop().create_task(self._work(work, done))

    async def _work(self, work: Callable[[], object], done: Future[object]) -> None:
        loop = asyncio.get_running_loop()
        try:
            done.set_result(await loop.run_in_executor(self._pool, work))
        except Exception as error:
            done.set_exception(error)
        finally:
            self._free += 1
            self._begin()


class Shared:
    """Bytes that were made, the latest `MOST_KEPT` of them; what is being made is waited for."""

    def __init__(self, turns: Turns, most: int = MOST_KEPT) -> None:
        self._turns, self._most, self._size = turns, most, 0
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._under_way: dict[Hashable, asyncio.Task[bytes]] = {}
        self.made = 0

    async def get(self, key: Hashable, address: str, make: Callable[[], bytes]) -> bytes:
        """What stands under a key, made where nobody has asked for it lately.

        Raises
        ------
        Busy
            See `Turns.of`.
        """
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
            return found
        task = self._under_way.get(key)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._make(key, address, make))
            self._under_way[key] = task
        # Who leaves takes it from nobody else.
        return await asyncio.shield(task)

    async def _make(self, key: Hashable, address: str, make: Callable[[], bytes]) -> bytes:
        try:
            made = await self._turns.of(address, make)
        finally:
            del self._under_way[key]
        self.made += 1
        self._kept[key] = made
        self._size += len(made)
        while self._size > self._most:
            _, old = self._kept.popitem(last=False)
            self._size -= len(old)
        return made
