"""Parquet and GeoParquet, read in batches into arrays of known length."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.gdal import check_fields
from explorer.grid.geometry_values import floats, point_coordinates
from explorer.grid.parquet import geometry_of, look_at, unreadable
from explorer.points.columns import candidates
from explorer.points.identity import codes
from explorer.points.sources.tables import MAX_ROWS, Columns, Table, not_numbers, refuse_rows

#: Rows at a time: what a batch takes stays in the caches, 4 MB a column is too much.
BATCH = 2**16


class ParquetTable(Table):
    """A Parquet file of which only the footer has been read.

    The number of rows and the types are checked first: a file of 300 kB can unpack to gigabytes.
    """

    def __init__(self, file: Path | bytes, max_rows: int = MAX_ROWS) -> None:
        self._file = file
        try:
            with self._open() as opened:
                self._schema: pa.Schema = opened.schema_arrow
                about = opened.metadata
        except (pa.ArrowException, OSError, ValueError) as error:
            raise unreadable("This file", error) from error
        self._rows = int(about.num_rows)
        refuse_rows(self._rows, max_rows)
        check_fields(len(self._schema.names))
        self.names = tuple(str(name) for name in self._schema.names)
        is_named = bool(candidates(self.names))
        self._place_at(geometry_of(self._schema, about, is_named, self.look))

    def look(self, name: str) -> pa.Array:
        """Some values of a column."""
        try:
            nested = pa.types.is_nested(self._schema.field(name).type)
            with self._open(None if nested else [name]) as opened:
                return look_at(opened, name)
        except (pa.ArrowException, OSError, ValueError, KeyError) as error:
            raise unreadable("This file", error) from error

    def read(
        self, place: tuple[str, str] | None, user: str | None, weight: str | None, time: str | None
    ) -> Columns:
        """Read named columns, or that of geometries, in small batches."""
        x, y = np.empty(self._rows), np.empty(self._rows)
        heavy = np.empty(self._rows) if weight is not None else None
        users: list[pa.Array] = []
        times: list[NDArray[Any]] = []
        shape = self.column if place is None else None
        where = [*place] if place is not None else [str(shape and shape.name)]
        for name in (*(where if shape is None else ()), weight):
            if name is not None:
                self._refuse_text(name)
        wanted = list(dict.fromkeys([*where, *(n for n in (user, weight, time) if n is not None)]))
        start = 0
        try:
            # Long names repeated in every row stay a dictionary and cannot fill the memory.
            # So do shapes: a file of 38 kB can hold one of 3 MB in each of its rows.
            long = [name for name in (user, shape and shape.repeated) if name]
            with self._open(long) as opened:
                for batch in opened.iter_batches(BATCH, columns=wanted):
                    part = slice(start, start + batch.num_rows)
                    start = part.stop
                    if shape is not None:
                        x[part], y[part] = point_coordinates(batch[shape.name], shape)
                    else:
                        x[part], y[part] = floats(batch[where[0]]), floats(batch[where[1]])
                    if weight is not None and heavy is not None:
                        heavy[part] = floats(batch[weight])
                    if user is not None:
                        users.append(batch[user])
                    if time is not None:
                        times.append(batch[time].to_numpy(zero_copy_only=False))
        except InputError:
            raise
        except (pa.ArrowException, OSError, ValueError, KeyError) as error:
            raise unreadable("This file", error) from error
        if start != self._rows:
            raise unreadable("This file")
        when = np.concatenate(times) if times else np.empty(0)
        return Columns(
            x,
            y,
            None if user is None else codes(pa.chunked_array(users or [pa.nulls(0)])),
            heavy,
            None if time is None else when,
        )

    def _open(self, dictionaries: list[str] | None = None) -> pq.ParquetFile:
        file = pa.BufferReader(self._file) if isinstance(self._file, bytes) else self._file
        return pq.ParquetFile(file, read_dictionary=dictionaries)

    def _refuse_text(self, name: str) -> None:
        kind = self._schema.field(name).type
        numeric = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
        if not any(is_kind(kind) for is_kind in numeric):
            raise not_numbers(name)
