"""Values as bytes and back: numbers, texts, lists, dicts and arrays of numbers, and nothing else.

What a reader of untrusted files says is not to be trusted. So no object is rebuilt from it, as
`pickle` would: a head of JSON, and behind it the bytes of arrays whose types are looked at.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

#: Kinds of numpy's types that are plain: booleans, whole numbers, fractions, dates.
KINDS = "biufM"
_HEAD = struct.Struct("<Q")
_MOST_HEAD = 2**26
_ARRAY = "array "


class NotPlain(ValueError):
    """Raised for what is no plain value."""


def frames(value: Any) -> list[Any]:
    """The parts of a message with a value.

    >>> parts = frames({"x": np.arange(3.0), "name": "a"})
    >>> b"".join(bytes(part) for part in parts)[8:60]
    b'{"value": {"x": "array 0", "name": "text a"}, "array'
    """
    arrays: list[Any] = []
    packed = _packed(value, arrays)
    about = [[array.dtype.str, list(array.shape)] for array in arrays]
    head = json.dumps({"value": packed, "arrays": about}).encode()
    if len(head) > _MOST_HEAD:
        raise NotPlain("too many texts")
    return [_HEAD.pack(len(head)), head, *(array.reshape(-1).view(np.uint8) for array in arrays)]


def received(fill: Callable[[Any], None], max_bytes: int) -> Any:
    """The value of a message.

    Parameters
    ----------
    fill : fills a buffer with the bytes that come next
    max_bytes : what all arrays together may have

    Raises
    ------
    NotPlain
        For anything that `frames` does not make.
    """
    begin = bytearray(_HEAD.size)
    fill(begin)
    (size,) = _HEAD.unpack(begin)
    if size > _MOST_HEAD:
        raise NotPlain("the head is too long")
    head = bytearray(size)
    fill(head)
    try:
        header = json.loads(head)
        kinds = [(np.dtype(str(kind)), tuple(map(int, shape))) for kind, shape in header["arrays"]]
        if any(kind.kind not in KINDS or min(shape, default=0) < 0 for kind, shape in kinds):
            raise NotPlain("an array of another kind")
        if sum(kind.itemsize * math.prod(shape) for kind, shape in kinds) > max_bytes:
            raise NotPlain("the arrays are too large")
        arrays = []
        for kind, shape in kinds:
            array = np.empty(shape, kind)
            fill(array.reshape(-1).view(np.uint8))
            arrays.append(array)
        return _unpacked(header["value"], arrays)
    except (TypeError, KeyError, AttributeError, ValueError, IndexError, RecursionError) as error:
        raise NotPlain(str(error)) from error


def _packed(value: Any, arrays: list[Any]) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return f"text {value}"
    if isinstance(value, np.ndarray) and value.dtype.kind in KINDS:
        arrays.append(np.ascontiguousarray(value))
        return f"{_ARRAY}{len(arrays) - 1}"
    if isinstance(value, list | tuple):
        return [_packed(part, arrays) for part in value]
    if isinstance(value, Mapping) and all(type(key) is str for key in value):
        return {key: _packed(part, arrays) for key, part in value.items()}
    raise NotPlain(f"a {type(value).__name__}")


def _unpacked(packed: Any, arrays: list[Any]) -> Any:
    if isinstance(packed, str):
        if packed.startswith(_ARRAY):
            return arrays[int(packed.removeprefix(_ARRAY))]
        return packed.removeprefix("text ")
    if isinstance(packed, list):
        return [_unpacked(part, arrays) for part in packed]
    if isinstance(packed, dict):
        return {key: _unpacked(part, arrays) for key, part in packed.items()}
    return packed
