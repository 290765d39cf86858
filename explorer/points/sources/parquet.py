"""Parquet and GeoParquet, read in batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from explorer.errors import InputError
from explorer.grid.parquet import geometry_of, look_at, unreadable
from explorer.points.columns import candidates
from explorer.points.sources.tables import MAX_ROWS, Batches, Table, refuse_rows

#: Rows at a time: what a batch takes stays in the caches, 4 MB a column is too much.
BATCH = 2**16
#: What PyArrow raises for a file that is damaged.
UNREADABLE = (pa.ArrowException, OSError, ValueError, KeyError)


class ParquetTable(Table):
    """A Parquet file of which only the footer has been read.

    The number of rows and the types are checked first: a file of 300 kB can unpack to gigabytes.
    ``file`` is a path, the content, or what opens it elsewhere than on this computer.
    """

    def __init__(
        self,
        file: Path | bytes | Callable[[], pa.NativeFile],
        max_rows: int = MAX_ROWS,
        name: str = "This file",
        is_far: bool = False,
    ) -> None:
        self._file, self._name, self._is_far = file, name, is_far
        try:
            with self._open() as opened:
                self._schema: pa.Schema = opened.schema_arrow
                about = opened.metadata
        except UNREADABLE as error:
            raise unreadable(name, error) from error
        self.rows: int = int(about.num_rows)
        refuse_rows(self.rows, max_rows)
        self.names = tuple(str(column) for column in self._schema.names)
        self._place_at(geometry_of(self._schema, about, bool(candidates(self.names)), self.look))

    def look(self, name: str) -> pa.Array:
        """Some values of a column; none of one that is damaged, or whose name is there twice."""
        if self.names.count(name) > 1:
            return pa.nulls(0)
        try:
            nested = pa.types.is_nested(self._schema.field(name).type)
            with self._open(None if nested else [name]) as opened:
                return look_at(opened, name)
        except UNREADABLE:
            # What is wrong is said once it is read: others do no harm.
            return pa.nulls(0)

    def look_at_text(self, name: str) -> pa.Array:
        """As `look`; what is far away is not fetched twice."""
        kind = self._schema.types[self.names.index(name)]
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        return self.look(name) if is_text and not self._is_far else pa.nulls(0)

    def batches(self, figures: Sequence[str], others: Sequence[str]) -> Batches:
        """Named columns, long texts that are repeated as a dictionary."""
        rows = 0
        # Long names repeated in every row stay a dictionary and cannot fill the memory.
        # So do shapes: a file of 38 kB can hold one of 3 MB in each of its rows.
        nested = "" if self.column is None or self.column.repeated else self.column.name
        names = list(dict.fromkeys([*figures, *others]))
        long = [name for name in names if name not in (*figures, nested)]
        try:
            with self._open(long) as opened:
                for batch in opened.iter_batches(BATCH, columns=names):
                    rows += batch.num_rows
                    if rows <= self.rows:
                        yield rows / self.rows, {name: batch[name] for name in names}
        except InputError:
            raise
        except UNREADABLE as error:
            raise unreadable(self._name, error) from error
        if rows != self.rows:
            raise unreadable(self._name)

    def _open(self, dictionaries: list[str] | None = None) -> pq.ParquetFile:
        file: Any = self._file() if callable(self._file) else self._file
        file = pa.BufferReader(file) if isinstance(file, bytes) else file
        return pq.ParquetFile(file, read_dictionary=dictionaries)
