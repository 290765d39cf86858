"""Reads a GeoTIFF of ours, from anywhere: what is not laid out as `geotiff` does it is refused.

Sizes are looked at before anything is unpacked, and no tile may unpack to more than a tile.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from explorer.grid.grid import MAX_CELLS
from explorer.publish.geotiff import CODES, SIZES, TILE

Floats = NDArray[np.float64]
_MOST_LEVELS = 32


class NotOurs(ValueError):
    """Raised for a picture that `geotiff` does not write, with the reason."""


@dataclass(frozen=True, eq=False)
class Picture:
    """What a file holds.

    Attributes
    ----------
    levels : the whole picture, (rows, cols) with row 0 south, and its overviews
    tags : what its first directory says
    places : where the tiles of each level begin
    """

    levels: list[Floats]
    tags: dict[int, tuple[int, Any]]
    places: list[list[int]]


def read(path: Path) -> Picture:
    """Read a file.

    Raises
    ------
    NotOurs
        For another layout, sizes that cannot be, and tiles that are damaged.
    """
    size = path.stat().st_size
    with path.open("rb") as file:

        def piece(at: int, length: int) -> bytes:
            if at < 0 or length < 0 or at + length > size:
                raise NotOurs("it points beyond its end")
            file.seek(at)
            return file.read(length)

        mark, version, at = struct.unpack("<2sHI", piece(0, 8))
        if (mark, version, at) != (b"II", 42, 8):
            raise NotOurs("it is no TIFF of this program")
        directories: list[dict[int, tuple[int, Any]]] = []
        while at:
            if len(directories) == _MOST_LEVELS:
                raise NotOurs("it has too many overviews")
            tags, at = _directory(piece, at)
            directories.append(tags)
        levels = [_level(file, directory, size) for directory in directories]
        return Picture(levels, directories[0], [directory[324][1] for directory in directories])


def _directory(
    piece: Callable[[int, int], bytes], at: int
) -> tuple[dict[int, tuple[int, Any]], int]:
    (number,) = struct.unpack("<H", piece(at, 2))
    tags: dict[int, tuple[int, Any]] = {}
    for entry in range(number):
        tag, kind, count, place = struct.unpack("<HHI4s", piece(at + 2 + 12 * entry, 12))
        if kind not in SIZES or tag in tags:
            raise NotOurs("a tag is of another kind")
        length = SIZES[kind] * count
        begin = struct.unpack("<I", place)[0]
        packed = place[:length] if length <= 4 else piece(begin, length)
        tags[tag] = (
            kind,
            packed if kind == 2 else list(struct.unpack(f"<{count}{CODES[kind]}", packed)),
        )
    (following,) = struct.unpack("<I", piece(at + 2 + 12 * number, 4))
    if following and following <= at:
        raise NotOurs("its directories go in a circle")
    return tags, following


def _level(file: BinaryIO, tags: dict[int, tuple[int, Any]], size: int) -> Floats:
    one = {tag: values[0] for tag, (kind, values) in tags.items() if kind != 2 and values}
    layout = {258: 64, 259: 8, 277: 1, 284: 1, 322: TILE, 323: TILE, 339: 3}
    if any(one.get(tag) != value for tag, value in layout.items()):
        raise NotOurs("it is packed in another way")
    rows, cols = int(one.get(257, 0)), int(one.get(256, 0))
    if rows < 1 or cols < 1 or rows * cols > MAX_CELLS:
        raise NotOurs("it has more pixels than a map has cells")
    high, wide = -(-rows // TILE), -(-cols // TILE)
    places, lengths = tags[324][1], tags[325][1]
    if not len(places) == len(lengths) == high * wide:
        raise NotOurs("tiles are missing")
    whole = np.empty((high * TILE, wide * TILE))
    for number, (begin, length) in enumerate(zip(places, lengths, strict=True)):
        if begin + length > size:
            raise NotOurs("a tile lies beyond its end")
        file.seek(begin)
        y, x = (TILE * index for index in divmod(number, wide))
        whole[y : y + TILE, x : x + TILE] = _tile(file.read(length))
    return whole[:rows, :cols][::-1]


def _tile(packed: bytes) -> Floats:
    unpacking = zlib.decompressobj()
    try:
        content = unpacking.decompress(packed, 8 * TILE * TILE + 1)
    except zlib.error as error:
        raise NotOurs("a tile is damaged") from error
    if len(content) != 8 * TILE * TILE or not unpacking.eof or unpacking.unused_data:
        raise NotOurs("a tile unpacks to another size")
    return np.frombuffer(content, "<f8").reshape(TILE, TILE)
