"""CSV and TSV, read block by block."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.csv as pc
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.gdal import MOST_FIELDS, check_fields
from explorer.points.identity import codes
from explorer.points.sources.tables import MAX_ROWS, Columns, Table, refuse_rows

# Bytes of the longest row that is read.
_BLOCK = 2**24
#: Bytes at a time where blocks are not kept: PyArrow reads some thirty of them ahead.
SMALL = 2**20
_HEAD = 2**16
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


class BadRow(InputError):
    """A row does not go with the first line, or is longer than what is read at a time."""


class TextTable(Table):
    """A delimited text file of which the first lines have been read.

    The delimiter is the one of comma, semicolon, tab and bar that the header holds most of; where
    semicolons delimit, each number may have a decimal comma or point of its own: one record never
    decides how the others are read.
    """

    def __init__(self, file: Path | bytes, max_rows: int = MAX_ROWS) -> None:
        self._file, self._max_rows = file, max_rows
        with self._open() as opened:
            head = opened.read(_HEAD)
        #: Bytes of the file.
        self.size = len(file) if isinstance(file, bytes) else file.stat().st_size
        self._encoding = "utf8"
        try:
            # A character may be cut at the end of what was read.
            text = head[: head.rfind(b"\n") + 1 or len(head)].decode("utf-8-sig")
        except UnicodeDecodeError:
            self._encoding = "latin1"
            text = head.decode("latin1")
        lines = text.splitlines()
        if len(head) == _HEAD and b"\n" not in head and b"\r" not in head:
            raise InputError(
                "The first line of this file is longer than 64 kB; begin it with the names of the "
                f"columns, {MOST_FIELDS:,} at most."
            )
        if not lines or not lines[0].strip() or "\0" in text:
            raise InputError("This file could not be read as a table; give CSV with a header.")
        self._delimiter = max(",;\t|", key=lines[0].count)
        self.names = tuple(next(csv.reader(lines[:1], delimiter=self._delimiter)))
        check_fields(len(self.names))
        if all(_is_number(name) for name in self.names):
            raise InputError(
                "The first line of this file holds numbers; begin it with the names of the "
                "columns, such as lon,lat."
            )
        # Such numbers are read as text first.
        self._commas = self._delimiter == ";"

    def read(
        self, place: tuple[str, str] | None, user: str | None, weight: str | None, time: str | None
    ) -> Columns:
        """Read named columns; numbers as float64, everything else as text."""
        assert place is not None, "a text file is read by columns"
        parts: dict[str, list[pa.Array]] = {}
        for _, batch in self.batches(place, user, weight, time):
            for name, read in batch.items():
                parts.setdefault(name, []).append(read)
        figures = [name for name in (*place, weight) if name is not None]
        kinds = {name: pa.string() for name in (user, time) if name is not None}
        kinds |= dict.fromkeys(figures, pa.float64())
        columns = {name: _joined(parts.pop(name, []), kind) for name, kind in kinds.items()}
        return Columns(
            columns[place[0]],
            columns[place[1]],
            None if user is None else codes(columns[user]),
            None if weight is None else columns[weight],
            None if time is None else times(columns[time]),
        )

    def batches(
        self,
        place: tuple[str, str],
        user: str | None,
        weight: str | None,
        time: str | None = None,
        block: int | None = None,
    ) -> Iterator[tuple[float, dict[str, pa.Array]]]:
        """Named columns block by block, numbers as float64 and everything else as text.

        Before each stands the fraction of the file that has been read.

        Raises
        ------
        BadRow
            For one that is none of this table, is longer than ``block`` bytes (16 MB by default),
            or has a line break in it where a block ends.
        InputError
            For columns that are there twice.
        """
        for name in place:
            if self.names.count(name) > 1:
                raise InputError(f"Two columns have the name {name!r}; rename one of them.")
        types = {name: pa.string() for name in (user, time) if name is not None}
        figures = [name for name in (*place, weight) if name is not None]
        types |= dict.fromkeys(figures, pa.string() if self._commas else pa.float64())
        commas = set(figures) if self._commas else set()
        rows = 0
        try:
            with self._open() as opened, self._reader(opened, types, block) as reader:
                for batch in reader:
                    rows += batch.num_rows
                    refuse_rows(rows, self._max_rows)
                    read = {name: batch[name] for name in types}
                    read |= {name: _with_commas(read[name]) for name in commas}
                    yield min(opened.tell() / self.size, 1.0), read
        except InputError:
            raise
        except (pa.ArrowException, OSError, ValueError, KeyError) as error:
            raise BadRow(
                f"This file could not be read as a table{self._reason(error)}; check that the "
                "chosen columns hold numbers and every row has all columns."
            ) from error

    def _open(self) -> IO[bytes]:
        return io.BytesIO(self._file) if isinstance(self._file, bytes) else self._file.open("rb")

    def _reader(
        self, opened: IO[bytes], types: dict[str, pa.DataType], block: int | None
    ) -> pc.CSVStreamingReader:
        return pc.open_csv(
            opened,
            pc.ReadOptions(block_size=block or _BLOCK, encoding=self._encoding),
            pc.ParseOptions(delimiter=self._delimiter, newlines_in_values=False),
            pc.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                strings_can_be_null=True,
            ),
        )

    def _reason(self, error: Exception) -> str:
        """What was wrong, without the value or the record that it is about."""
        said = str(error)
        column = re.search(r"CSV column #(\d+)", said)
        if column is not None and int(column[1]) < len(self.names):
            return f" (the column {self.names[int(column[1])]!r} holds something else than numbers)"
        if "Failed to parse string" in said:
            return " (a chosen column holds something else than numbers)"
        if re.search(r"Expected \d+ columns", said):
            return " (a row has more or fewer columns than the first line)"
        if "straddling" in said or "block" in said:
            return f" (a row is longer than {_BLOCK // 2**20} MB, perhaps by an open quote)"
        return ""


def _with_commas(read: pa.Array) -> pa.Array:
    """Numbers from texts, with a decimal point or a decimal comma each."""
    plain = compute.replace_substring(compute.utf8_trim_whitespace(read), ",", ".")
    return plain.cast(pa.float64())


def _joined(parts: list[pa.Array], kind: pa.DataType) -> NDArray[Any]:
    return np.asarray(pa.chunked_array(parts, type=kind).to_numpy())


def times(values: NDArray[Any]) -> NDArray[Any]:
    """Return ISO dates as datetime64 and anything else as the text it was."""
    if len(values) and not _DATE.match(str(values[0])):
        return values
    try:
        return values.astype("datetime64[ms]")
    except (TypeError, ValueError):
        return values


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
