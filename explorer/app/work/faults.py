"""Faults of a visitor's messages in the log: one line a minute, without what was sent.

Bokeh writes each message that it refuses into the log, with its values and a traceback of 4 kB: one
client can fill a disk, and an exact number may be in a value. What goes wrong in our own code is
written as it is.
"""

from __future__ import annotations

import logging
import time
from traceback import walk_tb

from tornado.iostream import StreamClosedError
from tornado.websocket import WebSocketClosedError

#: Loggers of what comes over a websocket.
_LOGGERS = ("bokeh.server.protocol_handler", "bokeh.server.views.ws", "bokeh.server.session")
#: Loggers that say in a line what a client has asked for in vain, or that it has gone.
_OF_CLIENTS = ("bokeh.core.has_props", "bokeh.server.views.ws")
#: Where an exception ends that says no more than that a connection is not there any more.
_CONNECTIONS = ("bokeh.server.connection", "tornado.iostream", "tornado.websocket")
#: Seconds between two lines.
QUIET = 60.0
SELDOM = "A visitor asked for what is not there."
#: What Bokeh says of a visitor who goes while something is sent: closing a window is no fault.
WENT = "Failed sending message as connection was closed"
SAID = "A message of a visitor could not be used (%s); %d before it were not written here."


class Brief(logging.Filter):
    """Lets a fault of a message through as one line without its values, once a minute."""

    def __init__(self) -> None:
        super().__init__()
        self._last, self._unsaid = -QUIET, 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether it is written; what is written is changed."""
        error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        if record.levelno < logging.ERROR or error is None or _is_ours(error):
            return True
        now = time.monotonic()
        if now - self._last < QUIET:
            self._unsaid += 1
            return False
        record.msg, record.args = SAID, (type(error).__name__, self._unsaid)
        record.exc_info = record.exc_text = None
        self._last, self._unsaid = now, 0
        return True


class Seldom(logging.Filter):
    """Lets a warning that any client can make as often as it likes through once a minute."""

    def __init__(self) -> None:
        super().__init__()
        self._last = -QUIET

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether it is written; what is written is changed."""
        if record.levelno != logging.WARNING:
            return True
        if record.msg == WENT:
            return False
        now = time.monotonic()
        if now - self._last < QUIET:
            return False
        self._last = now
        record.msg, record.args = SELDOM, ()
        return True


class Left(logging.Filter):
    """Keeps out of the log that a visitor has left while something was being made or sent."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether it is written."""
        error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        if not isinstance(error, AssertionError | StreamClosedError | WebSocketClosedError):
            return True
        names = [frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__)]
        return not names or names[-1] not in _CONNECTIONS


def _is_ours(error: BaseException) -> bool:
    names = (frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__))
    return any(name.startswith("explorer.") for name in names)


def write_briefly() -> None:
    """Let all faults of messages be written so; installing it twice changes nothing."""
    for name in _LOGGERS:
        _filter_once(name, Brief())
    for name in _OF_CLIENTS:
        _filter_once(name, Seldom())
    # What asyncio says of tasks that no one waited for.
    for name in ("tornado.application", "asyncio"):
        _filter_once(name, Left())


def _filter_once(name: str, new: logging.Filter) -> None:
    logger = logging.getLogger(name)
    if not any(type(each) is type(new) for each in logger.filters):
        logger.addFilter(new)
