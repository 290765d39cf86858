"""Encodings of text files: everything is read as UTF-8."""

from __future__ import annotations

import codecs
from typing import IO


class Utf8:
    """A file in any encoding, read as UTF-8; single carriage returns become line feeds."""

    def __init__(self, raw: IO[bytes], encoding: str, returns: bool) -> None:
        self._raw, self._returns, self._left = raw, returns, b""
        self._decoder = None if encoding == "utf8" else codecs.getincrementaldecoder(encoding)
        self._decode = None if self._decoder is None else self._decoder("replace").decode

    def read(self, size: int) -> bytes:
        """So many bytes, fewer only at the end; all that are left for -1."""
        data = self._left
        while size < 0 or len(data) < size:
            more = self._raw.read(size if size < 0 else size - len(data))
            data += more if self._decode is None else self._decode(more, not more).encode()
            if not more:
                break
        size = len(data) if size < 0 else size
        data, self._left = data[:size], data[size:]
        return data.replace(b"\r", b"\n") if self._returns else data

    def read_into(self, room: memoryview) -> int:
        """As `read`, without a copy where the file is UTF-8; how many bytes were read."""
        if self._decode is None and not self._returns and not self._left:
            return int(self._raw.readinto(room))  # type: ignore[attr-defined]
        data = self.read(len(room))
        room[: len(data)] = data
        return len(data)

    def __enter__(self) -> Utf8:
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()


def encoding_of(head: bytes) -> str:
    """The encoding of a file by its first bytes: "utf8", "utf-16" or "latin1"."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        # A character may be cut at the end of what was read.
        head[: head.rfind(b"\n") + 1 or len(head)].decode()
    except UnicodeDecodeError:
        return "latin1"
    return "utf8"


def recoded(block: memoryview) -> bytes:
    """Lines that are no UTF-8 taken as Latin-1, each by itself, as UTF-8."""
    return b"\n".join(
        line if encoding_of(line) == "utf8" else line.decode("latin1").encode()
        for line in bytes(block).split(b"\n")
    )
