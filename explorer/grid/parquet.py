"""What a Parquet file says of itself, without reading more than a few of its rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from explorer.errors import InputError
from explorer.grid.geometry_columns import GeometryColumn, described
from explorer.grid.geometry_values import SAMPLE, place_column
from explorer.grid.place_texts import not_points, refuse_shapes

# Rows of a column that are looked at until some values are seen.
_LOOK_ROWS, _LOOK_BATCH = 2**17, 2**12


def has_metadata(path: str | Path, key: bytes) -> bool:
    """Whether a file is Parquet with metadata under a key: told by content, not by name.

    Returns
    -------
    bool
        False also for what is no file, no Parquet, or cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not Path(path).is_file():
        return False
    try:
        return key in (pq.read_schema(path).metadata or {})
    except (pa.ArrowException, OSError, ValueError):
        return False


def geometry_of(
    schema: Any, metadata: Any, is_named: bool, look: Callable[[str], Any]
) -> GeometryColumn | None:
    """The column of points of a Parquet file: the one that it describes, or whose values are some.

    Parameters
    ----------
    schema : `pyarrow.Schema` of the file
    metadata : `pyarrow.parquet.FileMetaData`
    is_named : whether columns are named as a place, so that no values are looked at
    look : as of `place_column`

    Raises
    ------
    InputError
        For a description that is damaged, and for shapes that are no points.
    """
    column = described(schema, metadata.schema)
    if column is None and not is_named:
        column = place_column([field.name for field in schema if _may_hold(field.type)], look)
    if column is None:
        return None
    refuse_shapes(column.kinds)
    leaves = [metadata.schema.column(i).path for i in range(metadata.num_columns)]
    numbers = [i for i, path in enumerate(leaves) if path.startswith(f"{column.name}.")]
    for group in range(metadata.num_row_groups):
        about = metadata.row_group(group)
        # The list of points in a row may be as long as it likes.
        if any(about.column(i).num_values > 4 * about.num_rows for i in numbers):
            raise not_points("MultiPoint")
    return column


def _may_hold(kind: Any) -> bool:
    import pyarrow as pa

    numeric = (pa.types.is_primitive, pa.types.is_null, pa.types.is_map, pa.types.is_decimal)
    return not any(is_kind(kind) for is_kind in numeric)


def look_at(file: Any, name: str) -> Any:
    """Some values of a column of a `pyarrow.parquet.ParquetFile`, those that are null left out."""
    import pyarrow as pa

    rows = 0
    for batch in file.iter_batches(_LOOK_BATCH, columns=[name], use_threads=False):
        present = batch.column(0).drop_null()
        rows += batch.num_rows
        if len(present) or rows > _LOOK_ROWS:
            return present[:SAMPLE]
    return pa.nulls(0)


def unreadable(title: str, error: Exception | None = None) -> InputError:
    """The error for a file that is no Parquet, or of which PyArrow does not know a type."""
    if "LogicalType that is not recognized" in str(error):
        return InputError(
            f"{title} has a type, such as GEOMETRY, that the installed PyArrow does not know; "
            "install pyarrow 21 or newer."
        )
    return InputError(f"{title} could not be read as Parquet; it may be damaged, write it again.")
