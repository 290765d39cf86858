"""What is the same for all is made once, in the turns of those who asked first."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar, cast

Made = TypeVar("Made")
_Job = tuple[Callable[[], object], Any]

#: Jobs of one address that may wait, and of all.
MOST_WAITING, MOST_OF_ALL = 200, 2_000
#: Bytes of what is kept.
MOST_KEPT = 48_000_000


#: Seconds after its last job for which an address counts as there.
RECENT = 2.0
_MOST_KNOWN = 10_000


class Busy(Exception):
    """Raised for who asks for more than one may wait for."""


class Turns:
    """Work in threads, one job of an address at a time and the addresses in turn.

    Who floods waits for the own: while others are there, an address that had work done rests for as
    long as that took.

    Parameters
    ----------
    threads : that work at a time
    """

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, "pictures")
        self._free = threads
        self._waiting: OrderedDict[str, deque[_Job]] = OrderedDict()
        # Addresses that have a job done, or rest; and when each had its last.
        self._held: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._last: dict[str, float] = {}

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
        done = asyncio.get_running_loop().create_future()
        queue.append((work, done))
        self._begin()
        return cast(Made, await done)

    def _begin(self) -> None:
        for address in [client for client in self._waiting if client not in self._held]:
            if not self._free:
                return
            queue = self._waiting.pop(address)
            work, done = queue.popleft()
            if queue:
                # Behind all others.
                self._waiting[address] = queue
            if done.cancelled():
                self._begin()
                return
            self._free -= 1
            self._held.add(address)
            task = asyncio.get_running_loop().create_task(self._work(address, work, done))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _work(self, address: str, work: Callable[[], object], done: Any) -> None:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        try:
            result = await loop.run_in_executor(self._pool, work)
            if not done.done():
                done.set_result(result)
        except Exception as error:
            if not done.done():
                done.set_exception(error)
        self._free += 1
        now = loop.time()
        others = any(now - at < RECENT for other, at in self._last.items() if other != address)
        self._last[address] = now
        if len(self._last) > _MOST_KNOWN:
            self._last = {client: at for client, at in self._last.items() if now - at < RECENT}
        loop.call_later(min(now - begun, RECENT) if others else 0, self._rested, address)
        self._begin()

    def _rested(self, address: str) -> None:
        self._held.discard(address)
        self._begin()


class Shared:
    """Bytes that were made, the latest `MOST_KEPT` of them; what is being made is waited for."""

    def __init__(self, turns: Turns, capacity: int = MOST_KEPT) -> None:
        self._turns, self._most, self._size = turns, capacity, 0
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._under_way: dict[Hashable, asyncio.Task[bytes]] = {}
        self.made = 0

    async def get(self, key: Hashable, address: str, make: Callable[[], bytes]) -> bytes:
        """What is under a key, made where no one has asked for it lately.

        Raises
        ------
        Busy
            See `Turns.of`.
        """
        result = self._kept.get(key)
        if result is not None:
            self._kept.move_to_end(key)
            return result
        task = self._under_way.get(key)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._make(key, address, make))
            self._under_way[key] = task
        # Who leaves takes it from no one else.
        return await asyncio.shield(task)

    async def _make(self, key: Hashable, address: str, make: Callable[[], bytes]) -> bytes:
        try:
            result = await self._turns.of(address, make)
        finally:
            del self._under_way[key]
        self.made += 1
        self._kept[key] = result
        self._size += len(result)
        while self._size > self._most:
            _, old = self._kept.popitem(last=False)
            self._size -= len(old)
        return result
