"""What all requests share: the releases, pages that are made once, pictures made in turns."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from explorer.audience.releases import ServedReleases
from explorer.audience.statics import Compressed

Result = TypeVar("Result")

#: Jobs of one address that may wait, and of all.
MOST_WAITING, MOST_OF_ALL = 200, 2_000
#: Bytes of what is kept.
MOST_KEPT = 48_000_000
#: Seconds after its last job for which an address counts as present.
RECENT = 2.0
_MOST_KNOWN = 10_000


class Busy(Exception):
    """Raised where an address, or all together, ask for more than may wait."""


class FairQueue:
    """Work in threads, one job of an address at a time and the addresses in turn.

    While others are present, an address that had work done rests for as long as that took: who
    floods the server waits for the own requests.

    Parameters
    ----------
    threads : that work at a time
    """

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, "pictures")
        self._free = threads
        self._waiting: OrderedDict[str, deque[tuple[Callable[[], object], Any]]] = OrderedDict()
        # Addresses that have a job done, or rest; and when each had its last.
        self._held: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._last: dict[str, float] = {}

    async def run(self, address: str, work: Callable[[], Result]) -> Result:
        """What ``work`` returns, once it is this address's turn; raises `Busy`."""
        queue = self._waiting.get(address, deque())
        if len(queue) >= MOST_WAITING or sum(map(len, self._waiting.values())) >= MOST_OF_ALL:
            raise Busy
        self._waiting[address] = queue
        done = asyncio.get_running_loop().create_future()
        queue.append((work, done))
        self._begin()
        return cast(Result, await done)

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


class ResponseCache:
    """The latest `MOST_KEPT` bytes of responses; what is being made is waited for."""

    def __init__(self, queue: FairQueue, capacity: int = MOST_KEPT) -> None:
        self._queue, self._most, self._size = queue, capacity, 0
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._under_way: dict[Hashable, asyncio.Task[bytes]] = {}
        #: How many were made.
        self.count = 0

    async def get(self, key: Hashable, address: str, make: Callable[[], bytes]) -> bytes:
        """What is under a key, made where no one has asked for it lately; raises `Busy`."""
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
            result = await self._queue.run(address, make)
        finally:
            del self._under_way[key]
        self.count += 1
        self._kept[key] = result
        self._size += len(result)
        while self._size > self._most:
            _, old = self._kept.popitem(last=False)
            self._size -= len(old)
        return result


@dataclass(eq=False)
class AppState:
    """What all handlers share.

    Parameters
    ----------
    releases : that are served
    origins : of pages that may frame a map, such as "https://example.org"
    threads : that make pictures
    """

    releases: ServedReleases
    origins: tuple[str, ...] = ()
    threads: int = 2
    responses: ResponseCache = field(init=False)
    pages: dict[Any, Compressed] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.responses = ResponseCache(FairQueue(self.threads))

    def page(self, key: Any, make: Callable[[], bytes]) -> Compressed:
        """A page, made once as long as the same maps are served."""
        result = self.pages.get(key)
        if result is None:
            if len(self.pages) > 4 * len(self.releases) ** 2 + 20:
                self.pages.clear()
            result = self.pages[key] = Compressed.of(make())
        return result

    def check_files(self) -> None:
        """Let go of maps whose files are not as they were."""
        if self.releases.drop_changed():
            self.pages.clear()
