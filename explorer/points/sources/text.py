"""CSV and TSV as columns, read block by block."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.csv as pc
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.delimited import BadRow, Delimited, recoded
from explorer.grid.geometry_values import sample
from explorer.grid.table_values import NotANumber, advice_on, numbers
from explorer.points.sources.tables import MAX_ROWS, Columns, Table, refuse_rows

# Bytes that are parsed at a time, on all cores.
_PARSED = 2**22
#: Bytes in which the first rows are looked at.
FIRST_BYTES = 2**16
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
# What the parser takes for a number.
_USUAL = r"^-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$"
_WRAPPED = r'(?s)^"(.*)"$'


class TextTable(Delimited, Table):
    """A delimited text file as a source of points."""

    def __init__(self, file: Path | bytes, max_rows: int = MAX_ROWS) -> None:
        super().__init__(file)
        self._max_rows = max_rows
        # Such numbers are read as text first.
        self._as_text = self.delimiter == ";"
        self._find(None)

    def look(self, name: str) -> Any:
        """Some values of a column, as text."""
        try:
            rows = self.first_rows((name,))
        except InputError:
            # What is wrong is said once all are read.
            rows = {}
        return sample(rows[name]) if rows else super().look(name)

    def first_rows(self, place: Sequence[str]) -> dict[str, pa.Array]:
        """The columns of a place in the first rows; empty where there are none."""
        figures, others = ((), place) if len(place) == 1 else (place, ())
        read = self.settled(lambda: next(self.batches(figures, others, FIRST_BYTES), None), False)
        return {} if read is None else read[1]

    def read(self, *args: Any, **named: Any) -> Columns:
        """As of any table, with the way of quoting that reads all of it."""
        return self.settled(lambda: super(TextTable, self).read(*args, **named))

    def times(self, parts: list[Any]) -> NDArray[Any]:
        """ISO dates as datetime64."""
        return times(super().times(parts))

    def batches(
        self, figures: Sequence[str], others: Sequence[str], block: int | None = None
    ) -> Iterator[tuple[float, dict[str, pa.Array]]]:
        """Named columns block by block, numbers as float64 and everything else as text.

        It goes through the file once, with one way of quoting, ``block`` bytes at a time. Raises
        `BadRow` for a line that is no record, or has no number where one should be, see `settled`.
        """
        figures, texts = list(figures), list(others)
        rows = 0
        commas: dict[str, set[str]] = {name: set() for name in figures}
        for done, begin, part in self.blocks(block):
            columns = self._columns(part, begin, figures, texts)
            for name in figures:
                if not pa.types.is_floating(columns[name].type):
                    columns[name] = self._numbers(name, columns[name], part, begin, commas[name])
            table = pa.table(columns)
            rows += table.num_rows
            refuse_rows(rows, self._max_rows)
            for batch in table.to_batches():
                yield done, {name: batch[name] for name in columns}

    def _columns(
        self, block: memoryview, begin: int, figures: list[str], texts: list[str]
    ) -> dict[str, pa.ChunkedArray]:
        """Columns of a block, those of numbers as text where one of them is none."""
        if not self._as_text:
            try:
                return self._parsed(block, figures, texts)
            except pa.ArrowInvalid:
                self.refuse_fault(block, begin)
                self._as_text = True
        try:
            return self._parsed(block, [], [*figures, *texts])
        except pa.ArrowInvalid as error:
            self.refuse_fault(block, begin)
            blank = rb"(?m)^ +\r?$" if self.delimiter == "\t" else rb"(?m)^[ \t]+\r?$"
            mended = re.sub(blank, b"", recoded(block))
            try:
                return self._parsed(memoryview(mended), [], [*figures, *texts])
            except pa.ArrowInvalid:
                line = self.line_of(block, begin, 0)
                raise BadRow(
                    f"A row from line {line} of this file on could not be read; save it again as "
                    "CSV in UTF-8.",
                    line,
                ) from error

    def _parsed(
        self, block: memoryview, figures: list[str], texts: list[str]
    ) -> dict[str, pa.ChunkedArray]:
        # Columns that are not read may have one name.
        numbered = {name: str(self.names.index(name)) for name in (*figures, *texts)}
        types = {numbered[name]: pa.string() for name in texts}
        types |= {numbered[name]: pa.float64() for name in figures}
        in_quotes = self._has_quotes and self.quoting.quotes
        table = pc.read_csv(
            pa.BufferReader(pa.py_buffer(block)),
            pc.ReadOptions(
                column_names=[str(number) for number in range(len(self.names))],
                # A line break in quotes must not end what is parsed at a time.
                block_size=max(_PARSED, len(block)) if in_quotes else _PARSED,
            ),
            pc.ParseOptions(
                delimiter=self.delimiter,
                quote_char='"' if self.quoting.quotes else False,
                escape_char="\\" if self.quoting.escape else False,
            ),
            pc.ConvertOptions(
                column_types=types, include_columns=list(types), strings_can_be_null=True
            ),
        )
        columns = {name: table[number] for name, number in numbered.items()}
        if in_quotes or not self._has_quotes:
            return columns
        return columns | {name: _unwrapped(columns[name]) for name in texts}

    def _numbers(
        self,
        name: str,
        column: pa.ChunkedArray,
        block: memoryview,
        begin: int,
        commas: set[str],
    ) -> pa.ChunkedArray:
        """Numbers from texts: those with a point or a decimal comma at once, others one by one."""
        plain = compute.utf8_trim_whitespace(column)
        decimal = self.delimiter != "," and "thousands" not in commas
        pointed = compute.replace_substring(plain, ",", ".") if decimal else plain
        try:
            values = pointed.cast(pa.float64())
            if decimal and compute.any(compute.match_substring(plain, ",")).as_py():
                commas.add("decimal")
            return values
        except pa.ArrowInvalid:
            usual = compute.fill_null(compute.match_substring_regex(plain, _USUAL), True)
        values = compute.if_else(usual, plain, None).cast(pa.float64()).to_numpy().copy()
        others = np.flatnonzero(~usual.to_numpy())
        try:
            texts = column.take(others).to_pylist()
            values[others] = numbers(texts, self.delimiter, commas)
        except NotANumber as error:
            kind, at = error.args
            line = self.line_of(block, begin, others[at])
            raise BadRow(
                f"The column {name!r} has {kind} in line {line} where a number should be; "
                f"{advice_on(kind)}.",
                line,
            ) from None
        return pa.chunked_array([pa.array(values, from_pandas=True)])


def _unwrapped(column: pa.ChunkedArray) -> pa.ChunkedArray:
    wrapped = compute.match_substring_regex(column, _WRAPPED)
    if not compute.any(wrapped).as_py():
        return column
    inner = compute.replace_substring_regex(column, _WRAPPED, r"\1")
    return compute.if_else(wrapped, compute.replace_substring(inner, '""', '"'), column)


def times(values: NDArray[Any]) -> NDArray[Any]:
    """Return ISO dates as datetime64 and anything else as the text it was."""
    try:
        is_date = not len(values) or _DATE.match(str(values[0]))
        return values.astype("datetime64[ms]") if is_date else values
    except (TypeError, ValueError):
        return values
