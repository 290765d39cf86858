"""How much a visitor may take of a server that others use: of its options, memory and log.

How many pages may be opened says `explorer.serving.entrance`. Messages of one connection are dealt
with one after the other, so that a flood waits for itself; what these options leave open is for a
proxy in front, see ``notebooks/design/2026-11-27-a-public-server.md``.
"""

from __future__ import annotations

import gc
import logging
import time
from traceback import walk_tb
from typing import Any

from tornado.iostream import StreamClosedError
from tornado.websocket import WebSocketClosedError

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
#: Loggers of what comes over a websocket; of what a client has asked for in vain; and of tasks that
#: no one waited for. The last ones log faults of our own as well.
_MESSAGES = ("bokeh.server.protocol_handler", "bokeh.server.views.ws", "bokeh.server.session")
_IN_VAIN = ("bokeh.core.has_props",)
_TASKS = ("tornado.application", "asyncio")
#: Where an exception ends that says no more than that a connection is not there any more.
_CONNECTIONS = ("bokeh.server.connection", "tornado.iostream", "tornado.websocket")
#: Seconds between two lines.
QUIET = 60.0
#: What Bokeh logs of a visitor who goes while something is sent: closing a window is no fault.
WENT = "Failed sending message as connection was closed"


def collect_garbage_less_often() -> None:
    """Leave what a server began with out of every search for garbage: it stays to the end.

    A search through all of it takes as long as half a page, and came with every third. Searches of
    new objects come less often than after Python's 700: they took a fifth of the time of opening a
    page.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, *gc.get_threshold()[1:])


class VisitorFaults(logging.Filter):
    """What any client can cause is one line a minute and level in the log, without what was sent.

    Bokeh logs each message that it refuses, with its values and a traceback of 4 kB: one client
    could fill a disk, and an exact number may be in a value. Faults of our own code are logged as
    they are, and that a visitor has left is not logged at all.

    Parameters
    ----------
    limited : whether the logger is for what clients cause alone
    """

    def __init__(self, limited: bool = True) -> None:
        super().__init__()
        self._limited, self._left_out = limited, 0
        self._last: dict[int, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether it is logged; a line about a visitor is changed."""
        error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        frames = walk_tb(error.__traceback__) if error is not None else ()
        modules = [str(frame.f_globals.get("__name__", "")) for frame, _ in frames]
        closed = isinstance(error, AssertionError | StreamClosedError | WebSocketClosedError)
        if record.msg == WENT or (closed and modules[-1:] and modules[-1] in _CONNECTIONS):
            return False
        ours = any(module.startswith("explorer.") for module in modules)
        plain_error = record.levelno >= logging.ERROR and error is None
        if not self._limited or record.levelno < logging.WARNING or ours or plain_error:
            return True
        now = time.monotonic()
        if now - self._last.get(record.levelno, -QUIET) < QUIET:
            self._left_out += 1
            return False
        kind = record.levelname.lower() if error is None else type(error).__name__
        record.msg = "A message of a visitor could not be used (%s); %d before it are not logged."
        record.args = kind, self._left_out
        record.exc_info = record.exc_text = None
        self._last[record.levelno], self._left_out = now, 0
        return True


def log_visitors_briefly() -> None:
    """Let all faults of visitors be logged so; a second call changes nothing."""
    for name in (*_MESSAGES, *_IN_VAIN, *_TASKS):
        logger = logging.getLogger(name)
        if not any(isinstance(log_filter, VisitorFaults) for log_filter in logger.filters):
            logger.addFilter(VisitorFaults(name not in _TASKS))
