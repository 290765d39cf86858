"""Points of any kind: read whole, or looked at and counted while they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from glob import has_magic
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from explorer.errors import InputError
from explorer.grid.containers import split_layer
from explorer.grid.gdal import is_geodatabase
from explorer.points.partitions import PointFiles, is_parquet, scan_points
from explorer.points.partitions.text import TextPoints, look_at_text
from explorer.points.points import Points, read_points

COLUMNS = ("lon", "lat", "crs", "user", "weight", "name", "layer", "keep_zero")


def as_points(
    source: Any, columns: Mapping[str, Any] | None = None
) -> Points | PointFiles | TextPoints:
    """Points of a file, frame or arrays; of Parquet, CSV and TSV those that are never held.

    Parameters
    ----------
    source : as of `read_points`, or of `scan_points`: a folder, a pattern, an address of fsspec or
        a list of paths
    columns : lon, lat, crs, user, weight, name, layer and keep_zero, as of either

    Raises
    ------
    InputError
        For other names of columns, and as either does.
    """
    columns = dict(columns or {})
    unknown = [name for name in columns if name not in COLUMNS]
    if unknown:
        raise InputError(f"There is no {unknown[0]}=...; there are {', '.join(COLUMNS)}.")
    of_arrays = any(
        columns.get(role) is not None and not isinstance(columns[role], str)
        for role in ("user", "weight")
    )
    if in_parts(source) and not of_arrays:
        if columns.pop("layer", None):
            raise InputError("Points in parts have no layers; leave out layer=...")
        return scan_points(source, **columns)
    if isinstance(source, str | PathLike) and not of_arrays and not columns.get("layer"):
        text = look_at_text(source, columns)
        if text is not None:
            return text
    return read_points(source, **columns)


def in_parts(source: Any) -> bool:
    """Whether points are Parquet, which is counted part by part and never held.

    >>> in_parts("s3://bucket/points"), in_parts("points.csv"), in_parts({"lon": [], "lat": []})
    (True, False, False)
    """
    if isinstance(source, str | PathLike):
        text = fspath(source)
        if not isinstance(text, str):
            return False
        path = Path(text).expanduser()
        if path.is_file():
            return is_parquet(path)
        if path.is_dir():
            return not is_geodatabase(path)
        return "://" in text or (has_magic(text) and not split_layer(path)[1])
    if isinstance(source, Sequence) and not isinstance(source, bytes | bytearray):
        return bool(source) and all(isinstance(each, str | PathLike) for each in source)
    return False
