"""The density as a Cloud Optimized GeoTIFF: written here, so that no second GDAL is needed.

One band of 64-bit floats in tiles packed by Deflate, with overviews, laid out as the format asks:
all directories first, then the tiles of the smallest overview, those of the whole map last. A value
is the private number of records in a cell, of an overview the mean of those below it.

`read` takes files from anywhere: what is not laid out in this way is refused, sizes are looked at
before anything is unpacked, and no tile may unpack to more than a tile.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from xml.sax.saxutils import escape

import numpy as np
import pyproj
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.grid import MAX_CELLS, Grid

Floats = NDArray[np.float64]
#: What a directory says: (type, values) by tag.
Tags = dict[int, tuple[int, Any]]

TILE = 256
# Types of TIFF: ASCII, short, long, double.
_SIZES = {2: 1, 3: 2, 4: 4, 12: 8}
_CODES = {3: "H", 4: "I", 12: "d"}
# Tags that every directory has alike: 64-bit floats, Deflate, small is dark, one band, tiles.
_LAYOUT = {258: 64, 259: 8, 262: 1, 277: 1, 284: 1, 322: TILE, 323: TILE, 339: 3}
_MOST, _MOST_LEVELS = 2**32 - 2**20, 32
_WGS84 = ("World Geodetic System 1984", "World Geodetic System 1984 ensemble")


def write(path: Path, density: Floats, grid: Grid, metadata: dict[str, str]) -> None:
    """Write a picture of a map.

    Parameters
    ----------
    path : file to write
    density : (rows, cols), row 0 at the southern edge
    grid : its extent, with a CRS
    metadata : what is said of it, short names and texts

    Raises
    ------
    InputError
        For a map of more than 4 GB.
    """
    levels = pyramid(np.ascontiguousarray(density[::-1], dtype="<f8"))
    tiles = [_tiles(level) for level in levels]
    if sum(len(tile) for level in tiles for tile in level) > _MOST:
        raise InputError("This map is too fine for a GeoTIFF of 4 GB: publish one of fewer cells.")
    tags = [
        _tags(level.shape, len(packed), number, grid if number == 0 else None, metadata)
        for number, (level, packed) in enumerate(zip(levels, tiles, strict=True))
    ]
    sizes = [_directory_size(tag) for tag in tags]
    begins = np.cumsum([8, *sizes]).tolist()
    # The smallest overview first: anyone who reads the beginning sees the whole map.
    at = begins[-1]
    offsets: list[list[int]] = [[] for _ in tiles]
    for number in reversed(range(len(tiles))):
        for tile in tiles[number]:
            offsets[number].append(at)
            at += len(tile)
    with path.open("wb") as file:
        file.write(struct.pack("<2sHI", b"II", 42, 8))
        for number, directory in enumerate(tags):
            directory[324] = (4, offsets[number])
            directory[325] = (4, [len(tile) for tile in tiles[number]])
            following = begins[number + 1] if number + 1 < len(tags) else 0
            file.write(_directory(directory, begins[number], following))
        for level in reversed(tiles):
            file.writelines(level)


def pyramid(picture: Floats) -> list[Floats]:
    """The picture and its halves, down to one tile."""
    levels = [picture]
    while max(levels[-1].shape) > TILE:
        last = levels[-1]
        # An odd edge counts twice, so that it keeps its mean.
        even = np.pad(last, [(0, side % 2) for side in last.shape], mode="edge")
        rows, cols = even.shape
        levels.append(even.reshape(rows // 2, 2, cols // 2, 2).mean(axis=(1, 3)))
    return levels


def _tiles(level: Floats) -> list[bytes]:
    rows, cols = (-side % TILE for side in level.shape)
    whole = np.pad(level, [(0, rows), (0, cols)])
    return [
        zlib.compress(np.ascontiguousarray(whole[y : y + TILE, x : x + TILE]).tobytes(), 6)
        for y in range(0, whole.shape[0], TILE)
        for x in range(0, whole.shape[1], TILE)
    ]


def _tags(
    shape: tuple[int, ...], tiles: int, number: int, grid: Grid | None, metadata: dict[str, str]
) -> Tags:
    """What a directory says: (type, values) by tag; places of tiles are filled in later."""
    rows, cols = shape
    tags: Tags = {
        254: (4, [1 if number else 0]),  # an overview, or the picture
        256: (4, [cols]),
        257: (4, [rows]),
        **{tag: (3, [value]) for tag, value in _LAYOUT.items()},
        324: (4, [0] * tiles),
        325: (4, [0] * tiles),
    }
    if grid is not None:
        x0, _, _, y1 = grid.bounds
        # GDAL takes entities out twice: as XML, and of each text.
        items = "".join(
            f'<Item name="{escape(name)}">{escape(escape(text))}</Item>'
            for name, text in metadata.items()
        )
        tags |= {
            33550: (12, [grid.cell_width, grid.cell_height, 0.0]),
            33922: (12, [0.0, 0.0, 0.0, x0, y1, 0.0]),
            42112: (2, f"<GDALMetadata>{items}</GDALMetadata>".encode() + b"\0"),
            **geo_keys(grid.crs),
        }
    return tags


def geo_keys(crs: Any) -> Tags:
    """The CRS as GeoTIFF says it: by its number, or by the parameters of Lambert's projection.

    Any other one is there as text alone, which few programs read: the GeoPackage says it too.
    """
    doubles: list[float] = []
    text = ""
    keys = [(1024, 0, 1, 1), (1025, 0, 1, 1)]  # projected; a pixel is an area
    number = crs.to_epsg(min_confidence=100)
    if number is not None:
        keys.append((3072, 0, 1, number))
    elif (projection := equal_area(crs)) is not None:
        lon, lat, east, north = projection
        doubles = [east, north, lon, lat]
        keys += [(2048, 0, 1, 4326), (3072, 0, 1, 32767), (3074, 0, 1, 32767), (3075, 0, 1, 10)]
        keys += [(3076, 0, 1, 9001), (3082, 34736, 1, 0), (3083, 34736, 1, 1)]
        keys += [(3088, 34736, 1, 2), (3089, 34736, 1, 3)]
    else:
        text = f"ESRI PE String = {crs.to_wkt('WKT1_ESRI')}|"
        keys += [(3072, 0, 1, 32767), (3073, 34737, len(text), 0)]
    directory = [1, 1, 0, len(keys), *(part for key in keys for part in key)]
    tags: Tags = {34735: (3, directory)}
    if doubles:
        tags[34736] = (12, doubles)
    if text:
        tags[34737] = (2, text.encode("ascii", "replace") + b"\0")
    return tags


def equal_area(crs: pyproj.CRS) -> tuple[float, float, float, float] | None:
    """Longitude, latitude, false easting and northing of Lambert's projection on WGS 84."""
    operation, base = crs.coordinate_operation, crs.geodetic_crs
    if operation is None or base is None or base.datum is None:
        return None
    greenwich = base.prime_meridian is not None and base.prime_meridian.longitude == 0
    if not greenwich or base.datum.name not in _WGS84:
        return None
    if operation.method_name != "Lambert Azimuthal Equal Area":
        return None
    parameters = {param.name: param.value for param in operation.params}
    origin = ("Longitude of natural origin", "Latitude of natural origin")
    lon, lat = (float(parameters[name]) for name in origin)
    return (
        lon,
        lat,
        float(parameters.get("False easting", 0)),
        float(parameters.get("False northing", 0)),
    )


def _directory_size(tags: Tags) -> int:
    """Bytes of a directory with what does not fit into it, even."""
    size = 2 + 12 * len(tags) + 4
    for kind, values in tags.values():
        length = _SIZES[kind] * len(values)
        size += (length + length % 2) if length > 4 else 0
    return size + size % 2


def _directory(tags: Tags, begin: int, following: int) -> bytes:
    entries, rest = b"", b""
    at = begin + 2 + 12 * len(tags) + 4
    for tag, (kind, values) in sorted(tags.items()):
        number = len(values)
        if kind == 2:
            packed = bytes(values)
        else:
            packed = struct.pack(f"<{number}{_CODES[kind]}", *values)
        if len(packed) > 4:
            packed += b"\0" * (len(packed) % 2)
            place = struct.pack("<I", at + len(rest))
            rest += packed
        else:
            place = packed.ljust(4, b"\0")
        entries += struct.pack("<HHI", tag, kind, number) + place
    whole = struct.pack("<H", len(tags)) + entries + struct.pack("<I", following) + rest
    return whole.ljust(_directory_size(tags), b"\0")


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
    tags: Tags
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
        directories: list[Tags] = []
        while at:
            if len(directories) == _MOST_LEVELS:
                raise NotOurs("it has too many overviews")
            tags, at = _read_directory(piece, at)
            directories.append(tags)
        levels = [_level(file, directory, size) for directory in directories]
        return Picture(levels, directories[0], [directory[324][1] for directory in directories])


def _read_directory(piece: Callable[[int, int], bytes], at: int) -> tuple[Tags, int]:
    (number,) = struct.unpack("<H", piece(at, 2))
    tags: Tags = {}
    for entry in range(number):
        tag, kind, count, place = struct.unpack("<HHI4s", piece(at + 2 + 12 * entry, 12))
        if kind not in _SIZES or tag in tags:
            raise NotOurs("a tag is of another kind")
        length = _SIZES[kind] * count
        begin = struct.unpack("<I", place)[0]
        packed = place[:length] if length <= 4 else piece(begin, length)
        tags[tag] = (
            kind,
            packed if kind == 2 else list(struct.unpack(f"<{count}{_CODES[kind]}", packed)),
        )
    (following,) = struct.unpack("<I", piece(at + 2 + 12 * number, 4))
    if following and following <= at:
        raise NotOurs("its directories go in a circle")
    return tags, following


def _level(file: BinaryIO, tags: Tags, size: int) -> Floats:
    one = {tag: values[0] for tag, (kind, values) in tags.items() if kind != 2 and values}
    if any(one.get(tag) != value for tag, value in _LAYOUT.items()):
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
