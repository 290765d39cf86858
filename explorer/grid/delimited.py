"""Delimited text (CSV, TSV): the names of its columns, and where each record ends.

Every line of a file is part of a record, blank, or refused by its number. No sentence of this
module repeats a value of a record.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
from numba import njit

from explorer.errors import InputError
from explorer.grid.gdal import MOST_FIELDS, check_fields
from explorer.grid.table_values import (
    cells_of,
    delimiter_of,
    is_record,
    names_place,
    refuse_title,
    unwrapped,
)


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


Result = TypeVar("Result")

#: Bytes that are read at a time, and bytes of the longest record.
BLOCK, LONGEST = 2**23, 2**24
_HEAD = 2**16
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")
_COMMENT = re.compile(r"[#%!]+|//|/\*")
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?', re.IGNORECASE)
# Lines after the first one that help to tell the delimiter.
_COMPARED = 20

# What the bytes of a file are to the scanner.
_PLAIN, _DELIMITER, _QUOTE, _LF, _CR, _ESCAPE = range(6)
# What it finds.
_FINE, _TEXT_AFTER_QUOTE, _OTHER_NUMBER, _WHOLE_LINES, _OPEN_QUOTE = range(5)


class BadRow(InputError):
    """A record that cannot be read; another way of quoting may read it.

    Attributes
    ----------
    line : of the file, counted from 1
    """

    def __init__(self, sentence: str, line: int) -> None:
        super().__init__(sentence)
        self.line = line


@dataclass(frozen=True)
class Quoting:
    """A way in which values may be quoted.

    Attributes
    ----------
    quotes : whether values may be in double quotes, with delimiters and line breaks in them
    escape : whether a backslash makes the next character an ordinary one
    whole_lines : whether a quoted value may contain what looks like whole records
    """

    quotes: bool = True
    escape: bool = False
    whole_lines: bool = False

    def for_csv(self) -> dict[str, Any]:
        """The arguments of `csv.reader`."""
        if not self.quotes:
            return {"quoting": csv.QUOTE_NONE}
        return {"strict": True, "escapechar": "\\" if self.escape else None}


STANDARD, BACKSLASH, NO_QUOTES = Quoting(), Quoting(escape=True), Quoting(quotes=False)
_ANY_QUOTED = Quoting(whole_lines=True)


class Delimited:
    """A delimited text file of which the first lines have been read.

    The delimiter is the one of comma, semicolon, tab and bar that divides the line of names and
    the lines below it alike. Lines of comments before the names, and a first line such as
    ``sep=;``, are no records. Encodings are UTF-8, UTF-16 with its mark, and else Latin-1.

    Parameters
    ----------
    file : path, or content

    Attributes
    ----------
    names : of the columns
    delimiter : one character
    quoting : the way of quoting that is tried, or has read all lines
    size : bytes of the file

    Raises
    ------
    InputError
        For a file that is no text, and for a first line that is a record and no line of names.
    """

    def __init__(self, file: Path | bytes) -> None:
        self._file, self._returns = file, False
        self.size = len(file) if isinstance(file, bytes) else file.stat().st_size
        with self._raw() as opened:
            head = opened.read(_HEAD)
        self._encoding = encoding_of(head)
        with self._open() as stream:
            text = stream.read(_HEAD).decode(errors="ignore").removeprefix("\ufeff")
        self._returns = "\r" in text and "\n" not in text
        lines = [match[0] for match in _LINE.finditer(text)]
        if len(head) == _HEAD and len(lines) == 1 and not lines[0].endswith(("\r", "\n")):
            raise InputError(
                "The first line of this file is longer than 64 kB; begin it with the names of the "
                f"columns, {MOST_FIELDS:,} at most."
            )
        if "\0" in text or not text.strip():
            raise InputError("This file could not be read as a table; give CSV with a header.")
        if len(head) == _HEAD and not lines[-1].endswith(("\r", "\n")):
            lines.pop()
        self._read_names(lines)
        check_fields(len(self.names))
        others = (NO_QUOTES, BACKSLASH) if self.delimiter == "\t" else (BACKSLASH, NO_QUOTES)
        self._ways: tuple[Quoting, ...] = (STANDARD, *others, _ANY_QUOTED)
        self.quoting = STANDARD
        self._has_quotes = self._has_escapes = False

    def settled(self, read: Callable[[], Result], whole: bool = True) -> Result:
        """What a reading of all records gives, begun again with other ways of quoting.

        With tabs a quote is an ordinary sign unless it wraps a whole value; elsewhere quotes are
        read as the standard says (RFC 4180), and otherwise only if every line of the file then has
        as many values as there are names.

        Parameters
        ----------
        read : goes through `blocks`, and raises `BadRow` for what is no record
        whole : whether it goes through all of them, so that its way of quoting is the right one

        Raises
        ------
        BadRow
            Of the way that reads most lines, if none reads all.
        """
        last: BadRow | None = None
        for quoting in self._ways:
            self.quoting = quoting
            try:
                result = read()
            except BadRow as error:
                last = error if last is None or error.line > last.line else last
                if not (self._has_quotes or self._has_escapes):
                    break
            else:
                self._ways = (quoting,) if whole else self._ways
                return result
        assert last is not None
        raise last

    def blocks(self, size: int | None = None) -> Iterator[tuple[float, int, memoryview]]:
        """The records in blocks of whole ones, in UTF-8.

        Yields the fraction of the file that has been read, where the block begins (for `line_of`),
        and the block, whose bytes are there until the next one is asked for; ``size`` is how many
        bytes are read at a time.

        Raises
        ------
        BadRow
            For quotes that do not go with the way of quoting, and for records of more than 16 MB.
        """
        step = size or BLOCK
        with self._raw() as raw, self._open(raw) as stream:
            begin, left_over, data = len(stream.read(self._start)), 0, bytearray(step)
            while True:
                if len(data) < left_over + step:
                    data = data[:left_over] + bytearray(step)
                more = stream.read_into(memoryview(data)[left_over : left_over + step])
                length = left_over + more
                if not length:
                    return
                end = self._end(data, length, begin, final=not more)
                if end:
                    yield min(raw.tell() / self.size, 1.0), begin, memoryview(data)[:end]
                    begin += end
                elif length > LONGEST:
                    raise _too_long(self._lines(begin))
                left_over = length - end
                data[:left_over] = data[end:length]

    def refuse_fault(self, block: memoryview, begin: int) -> None:
        """Raise `BadRow` for the first record of a block that has not one value for each name."""
        self._refuse(self._scan(block, final=True), begin)

    def line_of(self, block: memoryview, begin: int, record: int) -> int:
        """The line of the file in which a record of a block begins; blank lines are no records."""
        return self._lines(begin) + int(self._scan(block, final=True, target_record=record)[2])

    def records(self, check: Callable[[int], None] | None = None) -> list[tuple[int, list[str]]]:
        """All records and the line in which each begins; one may have fewer values than names.

        ``check`` is called with how many there are so far, and raises for too many.

        Raises
        ------
        BadRow
            For quotes that end nowhere, or in the middle of a value, and for too many values.
        """
        return self.settled(lambda: self._records(check))

    def _records(self, check: Callable[[int], None] | None) -> list[tuple[int, list[str]]]:
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST))
        raw: list[str] = []
        reader = csv.reader(
            self._lines_into(raw), delimiter=self.delimiter, **self.quoting.for_csv()
        )
        rows, read, columns = [], 0, len(self.names)
        try:
            for row in reader:
                line, read = self._first_line + read, reader.line_num
                surplus = any(cell.strip() for cell in row[columns:])
                if surplus or (self.quoting is NO_QUOTES and row and len(row) != columns):
                    raise _other_number(line, len(row), columns)
                whole = all(part.count(self.delimiter) + 1 == columns for part in raw)
                if len(raw) > 1 and whole and not self.quoting.whole_lines:
                    raise _whole_lines(line)
                raw.clear()
                if any(cell.strip() for cell in row):
                    rows.append((line, row))
                    if check is not None:
                        check(len(rows))
        except csv.Error as error:
            raise _bad_quote(self._first_line + read) from error
        if not self.quoting.quotes:
            return [(line, [unwrapped(cell) for cell in row]) for line, row in rows]
        return rows

    def _lines_into(self, raw: list[str]) -> Iterator[str]:
        """The lines of all records one by one; each is added to ``raw``, too."""
        decoder, left = codecs.getincrementaldecoder("utf8")("replace"), ""
        number = self._first_line
        with self._open() as stream:
            stream.read(self._start)
            while data := stream.read(BLOCK):
                left += decoder.decode(data)
                lines = [match[0] for match in _LINE.finditer(left)]
                # The last one may go on in the next block.
                left = lines.pop()
                for line in lines:
                    yield self._noted(line, raw)
                number += len(lines)
                if len(left) > LONGEST:
                    raise _too_long(number)
            for match in _LINE.finditer(left + decoder.decode(b"", True)):
                yield self._noted(match[0], raw)

    def _noted(self, line: str, raw: list[str]) -> str:
        self._has_quotes |= '"' in line
        self._has_escapes |= "\\" in line
        raw.append(line)
        return line

    def _read_names(self, lines: list[str]) -> None:
        """Find the line of names, the delimiter, and where the records begin."""
        at, comments, forced, ends = 0, 0, "", ""
        while at < len(lines) - 1:
            plain = lines[at].strip()
            separator = _SEPARATOR_LINE.fullmatch(lines[at].strip("\r\n"))
            if separator is not None:
                forced = separator[1]
            elif ends or _COMMENT.match(plain):
                ends = "*/" if (ends or plain.startswith("/*")) and "*/" not in plain else ""
                comments += 1
            elif plain:
                break
            at += 1
        below = [line for line in lines[at + 1 :] if line.strip()][:_COMPARED]
        self.delimiter = forced or delimiter_of(lines[at], below)
        names, used = cells_of(lines[at:], self.delimiter)
        next_cells = cells_of(below, self.delimiter)[0] if below else []
        marked = cells_of([lines[at - 1]], self.delimiter)[0] if comments else []
        if len(names) == len(marked) > 1 and not (names_place(names) or is_record(marked, [])):
            # Some programs write the names as the last comment.
            at, names, used = at - 1, marked, 1
            plain = _COMMENT.sub("", names[0]).strip()
            # A name may begin with such a sign; that of a place is then not recognised.
            if comments > 1 or names_place([plain, "lon"]) or names_place([plain, "lat"]):
                names[0] = plain
        elif is_record(names, next_cells) or (
            len(names) == 1 and is_record(names[0].split(), below[0].split() if below else [])
        ):
            raise InputError(
                "The first line of this file is a record and not the names of its columns; write "
                f"a line of names above it, one for each value, such as {self._example(names)}."
            )
        elif len(names) == 1 and below:
            refuse_title(lines, at, below)
        self.names = tuple(names)
        self._first_line = at + used + 1
        self._start = len("".join(lines[: at + used]).encode())
        with self._open() as stream:
            self._start += 3 * (stream.read(3) == codecs.BOM_UTF8)

    def _example(self, cells: Sequence[str]) -> str:
        usual = ["id", "time", "lon", "lat"] if len(cells) > 3 else ["id", "lon", "lat"]
        usual = usual[-len(cells) :]
        usual += [f"column{number}" for number in range(len(usual) + 1, len(cells) + 1)]
        return self.delimiter.join(usual[:8]) + (self.delimiter + "..." if len(usual) > 8 else "")

    def _raw(self) -> IO[bytes]:
        return io.BytesIO(self._file) if isinstance(self._file, bytes) else self._file.open("rb")

    def _open(self, raw: IO[bytes] | None = None) -> Utf8:
        return Utf8(raw or self._raw(), self._encoding, self._returns)

    def _end(self, data: bytearray, length: int, begin: int, final: bool) -> int:
        """Where the last whole record of so many bytes ends."""
        quotes, escapes = (data.find(sign, 0, length) >= 0 for sign in (b'"', b"\\"))
        self._has_quotes |= quotes
        self._has_escapes |= escapes
        if (quotes and self.quoting.quotes) or (escapes and self.quoting.escape):
            outcome = self._scan(memoryview(data)[:length], final)
            self._refuse(outcome, begin)
            return int(outcome[0])
        return length if final else data.rfind(b"\n", 0, length) + 1

    def _scan(self, data: memoryview, final: bool, target_record: int = -1) -> tuple[int, ...]:
        kinds = np.zeros(256, np.uint8)
        kinds[ord(self.delimiter)] = _DELIMITER
        kinds[[10, 13]] = _LF, _CR
        if self.quoting.quotes:
            kinds[34] = _QUOTE
        if self.quoting.escape:
            kinds[92] = _ESCAPE
        wary = not self.quoting.whole_lines
        outcome: tuple[int, ...] = scan(
            np.frombuffer(data, np.uint8), kinds, len(self.names), wary, final, target_record
        )
        return outcome

    def _refuse(self, outcome: tuple[int, ...], begin: int) -> None:
        _, fault, line, values = outcome
        if fault == _FINE:
            return
        line += self._lines(begin)
        if fault == _OTHER_NUMBER:
            raise _other_number(line, values, len(self.names))
        if fault == _WHOLE_LINES:
            raise _whole_lines(line)
        raise _bad_quote(line)

    def _lines(self, position: int) -> int:
        """The number of the line at a position in the UTF-8 text of the file."""
        lines, left, ended = 1, position, b""
        with self._open() as stream:
            while left and (part := stream.read(min(left, BLOCK))):
                left -= len(part)
                lines += part.count(b"\n") + part.count(b"\r") - part.count(b"\r\n")
                lines -= ended == b"\r" and part.startswith(b"\n")
                ended = part[-1:]
        return lines


def _other_number(line: int, values: int, names: int) -> BadRow:
    return BadRow(
        f"Line {line} of this file has {'more' if values > names else 'fewer'} values than there "
        "are names of columns; mend that line, or delete it if it is no record.",
        line,
    )


def _too_long(line: int) -> BadRow:
    return BadRow(
        f"The row that begins in line {line} is longer than {LONGEST // 2**20} MB, perhaps by an "
        "open quote; close it.",
        line,
    )


def _whole_lines(line: int) -> BadRow:
    return BadRow(
        f"A quoted value of the row that begins in line {line} contains whole lines; write quotes "
        'inside of a value twice ("").',
        line,
    )


def _bad_quote(line: int) -> BadRow:
    return BadRow(
        f'A quote (") in line {line} of this file is not closed, or something follows where it is '
        'closed; write quotes inside of a value twice (""), or take them out.',
        line,
    )


@njit(cache=True, nogil=True)
def scan(data, kinds, columns, wary, final, target_record):  # type: ignore[no-untyped-def]
    """Walk over records that begin with the data.

    Returns the end of the last whole record, the first fault, its line (counted from 0; that of a
    target record where there is no fault before) and the number of values of that record.
    """
    n = data.size
    i = end = line = first_line = records = 0
    values, in_line, begins, blank, breaks, whole = 1, 1, True, True, False, True
    while i <= n:
        kind = _LF if i == n else kinds[data[i]]
        if i == n and (not final or end == n):
            break
        if kind == _PLAIN or (kind == _QUOTE and not begins):
            blank &= data[i] == 32 or data[i] == 9
            begins = False
            i += 1
            while not blank and i < n and kinds[data[i]] == _PLAIN:
                i += 1
        elif kind == _DELIMITER:
            values += 1
            in_line += 1
            begins, blank = True, False
            i += 1
        elif kind == _ESCAPE:
            begins = blank = False
            i += 2
            if i > n:
                break
        elif kind == _QUOTE:
            begins = blank = False
            i += 1
            while i < n:
                kind = kinds[data[i]]
                if kind == _PLAIN:
                    i += 1
                    continue
                if kind == _QUOTE:
                    if i + 1 == n or kinds[data[i + 1]] != _QUOTE:
                        break
                    i += 1
                elif kind == _DELIMITER:
                    in_line += 1
                elif kind == _ESCAPE:
                    i += 1
                elif kind in (_LF, _CR):
                    if kind == _CR and i + 1 < n and kinds[data[i + 1]] == _LF:
                        i += 1
                    whole &= in_line == columns
                    in_line, breaks = 1, True
                    line += 1
                i += 1
            if i >= n:
                if final:
                    return end, _OPEN_QUOTE, first_line, values
                break
            i += 1
            if i == n and not final:
                break
            if i < n and (kinds[data[i]] == _PLAIN or kinds[data[i]] >= _ESCAPE):
                return end, _TEXT_AFTER_QUOTE, line, values
        else:
            if kind == _CR and i + 1 == n and not final:
                break
            if not blank or (columns == 1 and i > end):
                if records == target_record:
                    return end, _FINE, first_line, values
                if values != columns:
                    return end, _OTHER_NUMBER, first_line, values
                if wary and breaks and whole and in_line == columns:
                    return end, _WHOLE_LINES, first_line, values
                records += 1
            if kind == _CR and i + 1 < n and kinds[data[i + 1]] == _LF:
                i += 1
            i += 1
            line += 1
            end = min(i, n)
            first_line = line
            values, in_line, begins, blank, breaks, whole = 1, 1, True, True, False, True
    return end, _FINE, first_line, values
