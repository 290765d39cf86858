"""How much a visitor may take of a server that others use: options of Bokeh, Tornado and Python.

How many pages may be opened says `explorer.serving.entrance`. Messages of one connection are dealt
with one after the other, so that a flood waits for itself; what these options leave open is for a
proxy in front, see ``notebooks/design/2026-11-27-a-public-server.md``.
"""

from __future__ import annotations

import gc
from typing import Any

#: Bytes of a message of a browser; a file comes in pieces of 1 MB (`explorer.app.kit.ui.Upload`).
MESSAGE = 2_000_000
#: Bytes that may be sent with a request: there is one form, of a name and a password.
REQUEST = 64_000
#: Seconds until a browser that does not take what it is sent, or is gone, is given up: a ping waits
#: behind all that was sent before, which takes a slow line a while.
PATIENCE = 45

#: For `panel.serve`.
OPTIONS: dict[str, Any] = {
    "http_server_kwargs": {"max_body_size": REQUEST},
    "websocket_max_message_size": MESSAGE,
    "websocket_ping_interval": PATIENCE,
    "websocket_ping_timeout": PATIENCE,
    # Bokeh's own pings, which no one looks for the answers of.
    "keep_alive_milliseconds": 0,
    # A page that no browser has come for, which takes a slow line a while, or has left.
    "unused_session_lifetime_milliseconds": 40_000,
    "check_unused_sessions_milliseconds": 5_000,
}

#: New objects before garbage is searched for among them: a page is some 200,000.
_NEW_OBJECTS = 10_000


def collect_garbage_less_often() -> None:
    """Leave what a server began with out of every search for garbage: it stays to the end.

    A search through all of it takes as long as half a page, and came with every third. Searches of
    new objects come less often than after Python's 700: they took a fifth of the time of opening a
    page.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, *gc.get_threshold()[1:])
