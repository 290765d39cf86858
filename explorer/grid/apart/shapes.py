"""Shapes as plain arrays: their WKB one behind the other, and how long each is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray


def plain_shapes(shapes: Iterable[Any]) -> dict[str, NDArray[Any]]:
    """Shapes of shapely, None for none, as arrays.

    >>> restored = shapes_of(plain_shapes([shapely.box(0, 0, 1, 1), None]))
    >>> restored[0].area, restored[1]
    (1.0, None)
    """
    written = [b"" if shape is None else shapely.to_wkb(shape) for shape in shapes]
    return {
        "bytes": np.frombuffer(b"".join(written), np.uint8),
        "lengths": np.array([len(wkb) for wkb in written], np.int64),
    }


def shapes_of(plain: Any) -> NDArray[Any]:
    """Shapes from these arrays, (n,) objects.

    Raises
    ------
    ValueError
        For arrays that do not belong together, or hold something else.
    """
    lengths = np.asarray(plain["lengths"], np.int64)
    ends = np.cumsum(lengths)
    whole = np.asarray(plain["bytes"], np.uint8).tobytes()
    if (lengths < 0).any() or (len(ends) and ends[-1] != len(whole)):
        raise ValueError("lengths of other shapes")
    shapes = np.full(len(lengths), None, dtype=object)
    for row, (end, length) in enumerate(zip(ends.tolist(), lengths.tolist(), strict=True)):
        if length:
            shapes[row] = shapely.from_wkb(whole[end - length : end])
    return shapes
