"""Whoever does not read what is sent is waited for, and then dropped.

What a browser has not taken yet lies in the server's memory, and Panel looks every 10 ms whether it
goes on: a client that never reads would fill the one and busy the other. A slow line that moves
on is not cut; pictures wait until the earlier ones have left (`backlog`).
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from bokeh.server.views.ws import WSHandler
from panel.io import document

logger = logging.getLogger(__name__)

#: Seconds in which a connection takes nothing at all.
PATIENCE = 12.0
#: Messages that may wait for one connection.
MOST = 400
#: Messages that may wait before another picture is made.
FEW = 6
#: Seconds between two looks.
_LOOK = 1.0


def backlog(doc: Any) -> int:
    """How many messages wait for the slowest browser of a document."""
    # Panel 1.10 queues events under another name and writes them together: nothing to wait for.
    waiting = getattr(document, "_WRITE_MSGS", {}).get(doc, {})
    return max(map(len, waiting.values()), default=0)


def drop_who_never_reads() -> bool:
    """Let connections end that take nothing; False if they do already."""
    plain = WSHandler.write_message
    if hasattr(plain, "original"):
        return False

    async def write_message(
        self: Any, message: Any, binary: bool = False, locked: bool = True
    ) -> None:
        watch = self.__dict__.get("_explorer_watch")
        if watch is None or watch.done():
            self._explorer_writing = 0
            watch = self._explorer_watch = asyncio.ensure_future(watch_over(self))
        self._explorer_writing += 1
        try:
            await plain(self, message, binary, locked)
        finally:
            self._explorer_writing -= 1

    write_message.original = plain  # type: ignore[attr-defined]
    WSHandler.write_message = write_message
    return True


async def watch_over(handler: Any) -> None:
    """Look at a connection while something is being written, and end it when nothing moves."""
    loop = asyncio.get_running_loop()
    taken, moved = -1, loop.time()
    while True:
        await asyncio.sleep(_LOOK)
        stream = getattr(handler.ws_connection, "stream", None)
        if not handler._explorer_writing or stream is None or stream.closed():
            return
        now = stream._total_write_done_index
        if now != taken:
            taken, moved = now, loop.time()
        session = getattr(handler.connection, "session", None)
        waiting = 0 if session is None else backlog(session.document)
        if loop.time() - moved > PATIENCE or waiting > MOST:
            logger.warning("A visitor's browser takes nothing any more: its connection is ended.")
            stream.close()
            return
