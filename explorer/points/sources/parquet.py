"""Parquet and GeoParquet, read in batches into arrays of known length."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyproj
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.gdal import check_fields
from explorer.grid.projection import foreign_crs
from explorer.grid.stated_crs import ASSUMED
from explorer.points.identity import codes
from explorer.points.sources.tables import MAX_ROWS, Columns, not_numbers, refuse_rows
from explorer.points.sources.vector import coordinates, refuse_shapes

#: Rows at a time: what a batch takes stays in the caches, 4 MB a column is too much.
BATCH = 2**16
# Byte order, type 1 (point), x, y: what nearly every point in a GeoParquet file looks like.
_WKB_POINT = np.dtype([("order", "u1"), ("kind", "<u4"), ("x", "<f8"), ("y", "<f8")])

# With a CRS, a height and a measure, a point is no longer than this.
_LONGEST = 41
_KINDS = {2: "LineString", 3: "Polygon", 4: "MultiPoint", 5: "MultiLineString", 6: "MultiPolygon"}


class ParquetTable:
    """A Parquet file of which only the footer has been read.

    The number of rows and the types are checked first: a file of 300 kB can unpack to gigabytes.
    """

    def __init__(self, file: Path | bytes, max_rows: int = MAX_ROWS) -> None:
        self._file = file
        try:
            with self._open() as opened:
                self._schema: pa.Schema = opened.schema_arrow
                self._rows = int(opened.metadata.num_rows)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise _damaged() from error
        refuse_rows(self._rows, max_rows)
        check_fields(len(self._schema.names))
        self.names = tuple(str(name) for name in self._schema.names)
        self._column, self.crs = geometry_of(self._schema)
        self.geometry = self._column is not None

    def read(
        self, place: tuple[str, str] | None, user: str | None, weight: str | None, time: str | None
    ) -> Columns:
        """Read named columns, or the geometry, in small batches."""
        x, y = np.empty(self._rows), np.empty(self._rows)
        heavy = np.empty(self._rows) if weight is not None else None
        users: list[pa.Array] = []
        times: list[NDArray[Any]] = []
        for name in (*(place or ()), weight):
            if name is not None:
                self._refuse_text(name)
        where = list(place or (str(self._column),))
        wanted = list(dict.fromkeys([*where, *(n for n in (user, weight, time) if n is not None)]))
        start = 0
        try:
            # Long names repeated in every row stay a dictionary and cannot fill the memory.
            # So do shapes: a file of 38 kB can hold one of 3 MB in each of its rows.
            shape = self._column if place is None and self._is_wkb() else None
            long = [name for name in (user, shape) if name is not None]
            with self._open(long) as opened:
                for batch in opened.iter_batches(BATCH, columns=wanted):
                    part = slice(start, start + batch.num_rows)
                    start = part.stop
                    if place is None:
                        x[part], y[part] = places_of(batch[where[0]])
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
            raise _damaged() from error
        if start != self._rows:
            raise _damaged()
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

    def _is_wkb(self) -> bool:
        kind = self._schema.field(str(self._column)).type
        kind = getattr(kind, "storage_type", kind)
        return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))

    def _refuse_text(self, name: str) -> None:
        kind = self._schema.field(name).type
        numeric = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
        if not any(is_kind(kind) for is_kind in numeric):
            raise not_numbers(name)


def geometry_of(schema: pa.Schema) -> tuple[str | None, pyproj.CRS | None]:
    """Return the geometry column that the GeoParquet metadata names and its CRS."""
    raw = (schema.metadata or {}).get(b"geo")
    if raw is None:
        return None, None
    try:
        described = json.loads(raw)
        column = str(described["primary_column"])
        about = described["columns"][column]
        kinds, crs = about.get("geometry_types", []), about.get("crs", "absent")
        encoding = str(about["encoding"])
        schema.field(column)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            "The description of the geometry in this GeoParquet file is damaged; write it again."
        ) from error
    refuse_shapes([str(kind) for kind in kinds])
    if encoding not in {"WKB", "point"}:
        raise InputError(
            f"This GeoParquet file stores shapes as {encoding!r}; write it with points as WKB."
        )
    # The standard: no entry means degrees, an entry of null means unknown.
    if crs == "absent":
        return column, ASSUMED
    return column, None if crs is None else foreign_crs(crs)


def places_of(shapes: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return x and y of a batch of points stored as WKB, or as a struct of x and y."""
    if isinstance(shapes, pa.ExtensionArray):
        shapes = shapes.storage
    if pa.types.is_struct(shapes.type):
        x, y = shapes.field("x"), shapes.field("y")
        missing = shapes.is_null().to_numpy(zero_copy_only=False)
        return np.where(missing, np.nan, floats(x)), np.where(missing, np.nan, floats(y))
    import shapely

    if pa.types.is_dictionary(shapes.type):
        # Each different shape once; a null stands for none.
        x, y = (np.append(part, np.nan) for part in places_of(shapes.dictionary))
        number = shapes.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return x[number], y[number]
    plain = shapes.cast(pa.large_binary())
    offsets = np.frombuffer(plain.buffers()[1], np.int64)[plain.offset :][: len(plain) + 1]
    if not plain.null_count and np.all(np.diff(offsets) == _WKB_POINT.itemsize):
        data = np.frombuffer(plain.buffers()[2] or b"", np.uint8)[offsets[0] : offsets[-1]]
        points = data.view(_WKB_POINT)
        if np.all(points["order"] == 1) and np.all(points["kind"] == 1):
            return points["x"], points["y"]
    long = np.flatnonzero(np.diff(offsets) > _LONGEST)
    if long.size:
        # Before any is made: a shape of megabytes is no point.
        begin = plain[int(long[0])].as_py()[:5]
        kind = int.from_bytes(begin[1:], "little" if begin[:1] == b"\1" else "big")
        # The thousands, and the bits above, say whether there are heights.
        refuse_shapes([_KINDS.get((kind & 0xFFFF) % 1000, "Geometry")])
    try:
        geometries = shapely.from_wkb(plain.to_numpy(zero_copy_only=False))
    except shapely.errors.GEOSException as error:
        raise _damaged() from error
    return coordinates(geometries)


def floats(column: pa.Array) -> NDArray[np.float64]:
    """Return a column of numbers as float64, nulls as NaN; without a copy where it can be."""
    if not pa.types.is_float64(column.type):
        column = column.cast(pa.float64(), safe=False)
    if len(column) and not column.null_count:
        # As `to_numpy` has it, which would load pandas.
        values = np.frombuffer(column.buffers()[1], np.float64)
        return values[column.offset :][: len(column)]
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _damaged() -> InputError:
    return InputError("This file could not be read as Parquet; it may be damaged, write it again.")
