"""How much one visitor may ask of a server that others use, too.

Opening a page costs about half a second of a processor, so an address may open a few at once and
then two a second, and there are no more sessions than the memory bears: who comes beyond that gets
a small page that tries again by itself. Messages of one connection are not refused but waited with,
before they are read on: who sends too many waits for their own, and nobody else does.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

from bokeh.server.views.ws import WSHandler
from tornado.web import RequestHandler

from explorer.app.work.ending import ENDING

#: Pages an address may open at once and a second; a class in one room may share an address.
AT_ONCE, A_SECOND = 12, 2.0
#: Sessions of all visitors; one takes 6 to 30 MB.
MOST_SESSIONS = 150
#: Parts of messages a second and at once. A message has three parts, five with an array: a quick
#: drag sends sixty messages a second.
PARTS, PARTS_AT_ONCE = 240.0, 600
#: Bytes a second and at once, for uploads.
BYTES, BYTES_AT_ONCE = 8e6, 64e6
#: Seconds after which the page for who comes too late asks again.
AGAIN = 4


class Bucket:
    """An allowance that fills up again: ``rate`` a second, at most ``size``."""

    def __init__(self, rate: float, size: float) -> None:
        self.rate, self.size = rate, size
        self._left, self._at = size, time.monotonic()

    def take(self, amount: float = 1.0) -> float:
        """Take so much; returns the seconds until there was enough, 0 where there is."""
        now = time.monotonic()
        self._left = min(self.size, self._left + (now - self._at) * self.rate)
        self._at = now
        self._left -= amount
        return max(0.0, -self._left / self.rate)

    def has(self, amount: float = 1.0) -> bool:
        """Whether there is so much, which is taken; else nothing is."""
        if self.take(amount) > 0:
            self._left += amount
            return False
        return True


class Buckets:
    """A bucket for each of the last ``most`` keys."""

    def __init__(self, rate: float, size: float, most: int = 10_000) -> None:
        self._rate, self._size, self._most = rate, size, most
        self._of: OrderedDict[Hashable, Bucket] = OrderedDict()

    def __getitem__(self, key: Hashable) -> Bucket:
        bucket = self._of.get(key)
        if bucket is None:
            bucket = self._of[key] = Bucket(self._rate, self._size)
            if len(self._of) > self._most:
                self._of.popitem(last=False)
        self._of.move_to_end(key)
        return bucket


class Entrance:
    """Whether another page may be opened now.

    Parameters
    ----------
    sessions : how many there are
    most : of all visitors
    """

    def __init__(self, sessions: Callable[[], int], most: int = MOST_SESSIONS) -> None:
        self._sessions, self._most = sessions, most
        self._opened = Buckets(A_SECOND, AT_ONCE)

    def full(self) -> bool:
        """Whether nobody else can have a page."""
        return ENDING.begun or self._sessions() >= self._most

    def admits(self, address: str) -> bool:
        """Whether a visitor from this address may open a page; counts as one if so."""
        if self.full():
            return False
        return self._opened[address].has()


class Later(RequestHandler):
    """The page for who comes too late: it tries again by itself, and has no session."""

    def prepare(self) -> None:
        """Answer any method."""
        self.set_status(429)
        self.set_header("Retry-After", str(AGAIN))
        self.finish(
            f'<!doctype html><html lang="en"><meta charset="utf-8">'
            f'<meta http-equiv="refresh" content="{AGAIN}"><title>One moment</title>'
            f'<body style="font: 18px system-ui, sans-serif; margin: 4em auto; max-width: 32em">'
            f"<h1>One moment</h1><p>Many people are opening the explorer just now. "
            f"This page tries again by itself in {AGAIN} seconds.</p></body></html>"
        )


def slow_down_floods() -> bool:
    """Let who sends too much wait for the own messages; False if it is done already."""
    plain = WSHandler.on_message
    if hasattr(plain, "original"):
        return False

    async def on_message(self: Any, fragment: str | bytes) -> None:
        buckets = self.__dict__.get("_explorer_buckets")
        if buckets is None:
            buckets = self._explorer_buckets = (
                Bucket(PARTS, PARTS_AT_ONCE),
                Bucket(BYTES, BYTES_AT_ONCE),
            )
        parts, size = buckets
        # Tornado reads a connection's next part when this one has been dealt with.
        wait = max(parts.take(), size.take(len(fragment)))
        if wait > 0:
            await asyncio.sleep(min(wait, 5.0))
        await plain(self, fragment)

    on_message.original = plain  # type: ignore[attr-defined]
    WSHandler.on_message = on_message
    return True
