"""What a Parquet file says of itself, without reading its rows."""

from __future__ import annotations

from pathlib import Path


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
