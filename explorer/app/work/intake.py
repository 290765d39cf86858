"""What one connection may send: messages and bytes a second, and the size of a message.

Browsers send at most thirty messages a second (`explorer.app.kit.gathered`), of a hundred bytes to
some kB; only a file that is sent is large, in pieces of 10 MB. A message has three parts: what it
is, about it, and its content; then two for each array, as which the pieces of a file come.
"""

from __future__ import annotations

from typing import Any

from explorer.grid.allowance import Bucket, Buckets

#: Messages a second and at once, of a connection.
MESSAGES, MESSAGES_AT_ONCE = 30.0, 200
#: Bytes a second and at once, of a connection, outside files.
BYTES, BYTES_AT_ONCE = 2e6, 4e6
#: Bytes a second and at once of files, of an address.
FILES, FILES_AT_ONCE = 8e6, 64e6
#: Bytes of a message that is no piece of a file, and of one that is; of what says what it is.
MOST, MOST_OF_FILE, MOST_OF_HEAD = 1_000_000, 12_000_000, 10_000
#: How a piece of a file says that it is one.
_PIECE = '"upload_event"'
_FILES = Buckets(FILES, FILES_AT_ONCE)


class TooLarge(Exception):
    """A message is larger than any that a browser sends."""


class Intake:
    """What one connection sends.

    Parameters
    ----------
    address : where it comes from
    """

    def __init__(self, address: str) -> None:
        self._messages = Bucket(MESSAGES, MESSAGES_AT_ONCE)
        self._bytes = Bucket(BYTES, BYTES_AT_ONCE)
        self._address = address
        self._size, self._piece = 0, False
        self._over = False

    def wait(self, part: str | bytes, kind: str) -> float:
        """Seconds to wait before the next part is read.

        Parameters
        ----------
        part : as it came
        kind : what the receiver of the connection takes it for: "header", "metadata", "content",
            "buffer_header" or "buffer_payload"

        Raises
        ------
        TooLarge
            For a message that no browser sends, and for all that comes after it.
        """
        size = len(part)
        begins = kind == "header"
        if begins:
            self._size, self._piece = 0, False
        elif kind == "content":
            self._piece = isinstance(part, str) and _PIECE in part[:MOST]
        self._size += size
        most = MOST_OF_FILE if self._piece else MOST
        large_head = size > MOST_OF_HEAD and kind in ("header", "buffer_header")
        self._over |= self._size > most or large_head
        if self._over:
            raise TooLarge
        # Three parts of a message have been paid for with its first.
        price = {"header": 1.0, "metadata": 0.0, "content": 0.0}.get(kind, 1 / 3)
        # Who sends a file makes nobody else at this address wait.
        of_file = self._piece and kind == "buffer_payload"
        allowed = _FILES[self._address] if of_file else self._bytes
        return max(self._messages.take(price), allowed.take(size))


def kind_of(connection: Any) -> str:
    """What the receiver of a websocket takes its next part for; "header" before it is there."""
    consumer = getattr(getattr(connection, "receiver", None), "_current_consumer", None)
    return getattr(consumer, "__name__", "_HEADER").strip("_").lower()
