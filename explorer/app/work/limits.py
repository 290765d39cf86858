"""How much one visitor may ask of a server that others use, too.

Opening a page costs about a second of a processor, so an address may open a few at once and then
two a second, and there are no more sessions than the memory bears: who comes beyond that gets a
small page that tries again by itself. Messages of one connection are not refused but waited with,
before they are read on: who sends too many waits for their own, and nobody else does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from bokeh.server.views.ws import WSHandler
from tornado.web import RequestHandler

from explorer.app.work.ending import ENDING
from explorer.grid.allowance import Bucket, Buckets

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

    def admits(self, address: str) -> bool:
        """Whether a visitor from this address may open a page; counts as one if so."""
        if ENDING.begun or self._sessions() >= self._most:
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
