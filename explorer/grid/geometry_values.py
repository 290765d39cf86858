"""What is in columns of geometries, in any encoding: points, and shapes of shapely.

GeoParquet, GeoArrow, columns of WKB or of texts (`place_texts`), structs, and objects of shapely.
Nothing is read but what is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.geometry_columns import NAMED, GeometryColumn, damaged_description
from explorer.grid.place_texts import (
    not_points,
    point_texts,
    without_missing,
    without_srid,
    wkb_of_hex,
    written,
    written_shapes,
)
from explorer.grid.projection import as_crs
from explorer.grid.stated_crs import ASSUMED

Floats = NDArray[np.float64]
#: Values of a column that are looked at, to see how it writes places.
SAMPLE = 200
# Columns whose values are looked at.
_MOST_LOOKED_AT = 100
# Byte order, type 1 (point), x, y: what nearly every point of WKB looks like.
_WKB_POINT = np.dtype([("order", "u1"), ("kind", "<u4"), ("x", "<f8"), ("y", "<f8")])
# A MultiPoint of one point with a CRS, a height and a measure is no longer than this.
_LONGEST = 54
_KINDS = {2: "LineString", 3: "Polygon", 4: "MultiPoint", 5: "MultiLineString", 6: "MultiPolygon"}
# Fields of a struct that is a place, east first.
_FIELDS = (("x", "y"), ("lon", "lat"), ("lng", "lat"), ("long", "lat"), ("longitude", "latitude"))


def place_columns(
    names: Sequence[str], look: Callable[[str], Any], of_points: bool = True
) -> list[GeometryColumn]:
    """Columns whose values are places: WKB, texts, structs, or objects of shapely.

    Where some have a name that says so, they are all.

    Parameters
    ----------
    names : of the columns that may be it
    look : returns some values of a column, as an array of Arrow or numpy
    of_points : whether texts are of points alone, else of any shapes
    """
    columns = (_recognised(name, look(name), of_points) for name in names[:_MOST_LOOKED_AT])
    places = [replace(column, found=True) for column in columns if column is not None]
    return [column for column in places if NAMED.search(column.name.lower())] or places


def place_column(
    names: Sequence[str], look: Callable[[str], Any], of_points: bool = True
) -> GeometryColumn | None:
    """The one of `place_columns`; of several the first, with a refusal that lists them."""
    places = place_columns(names, look, of_points)
    if len(places) < 2:
        return places[0] if places else None
    listed = ", ".join(repr(column.name) for column in places[:6])
    return replace(
        places[0],
        refusal=f"More than one column could be the place: {listed}; choose one, for example "
        f"lon={places[0].name!r}, lat={places[0].name!r}.",
    )


def point_coordinates(values: Any, column: GeometryColumn) -> tuple[Floats, Floats]:
    """Coordinates x, y of a batch of points (n,), NaN for a missing one.

    Raises
    ------
    InputError
        For other shapes, MultiPoints of several, damaged WKB, or texts of another kind.
    """
    if column.refusal:
        raise InputError(column.refusal)
    if column.encoding == "objects":
        return coordinates(_shapes(values))
    array = _plain(values)
    if pa.types.is_dictionary(array.type):
        # Each different shape once; a null represents none.
        x, y = (np.append(part, np.nan) for part in point_coordinates(array.dictionary, column))
        number = array.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return x[number], y[number]
    if column.encoding == "GeoArrow":
        return _nested_points(array)
    if column.text is not None and column.encoding != "hex WKB":
        return point_texts(array, column.text, column.name)
    if column.encoding == "hex WKB":
        array = wkb_of_hex(array, column.name)
    return _wkb_points(array, column)


def sample(values: Any) -> Any:
    """Some values of a column in memory, those that are null left out; as an array."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values.drop_null()[:SAMPLE]
    kind = getattr(values, "dtype", None)
    if hasattr(values, "dropna"):
        values = values.dropna().iloc[:SAMPLE]
    if isinstance(kind, np.dtype) and kind.kind != "O" and kind.kind not in "UT":
        return np.empty(0)
    return np.asarray(values, dtype=object)


def geometries(values: Any, column: GeometryColumn) -> NDArray[Any]:
    """Shapes of shapely of a batch (n,), None for a missing one; a repeated one is made once.

    Raises
    ------
    InputError, shapely.errors.GEOSException
        For what is no shape.
    """
    import geopandas
    import shapely

    if column.encoding == "objects":
        return _shapes(values)
    array = _plain(values)
    if column.encoding == "GeoArrow":
        field = _geoarrow_field(array.type, column)
        table = pa.Table.from_arrays([array], schema=pa.schema([field]))
        return np.asarray(geopandas.GeoDataFrame.from_arrow(table).geometry.array, dtype=object)
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    different = encoded.dictionary
    if column.encoding == "hex WKB":
        different = wkb_of_hex(different, column.name)
    elif column.encoding != "WKB":
        different = without_missing(different)
    if column.encoding == "WKT":
        shapes = shapely.from_wkt(without_srid(different).to_numpy(zero_copy_only=False))
    elif column.encoding in ("WKB", "hex WKB"):
        shapes = shapely.from_wkb(different.to_numpy(zero_copy_only=False))
    else:
        shapes = shapely.from_geojson(different.to_numpy(zero_copy_only=False))
    number = encoded.indices.fill_null(len(shapes)).to_numpy(zero_copy_only=False)
    return np.array([*shapes, None], dtype=object)[number]


def coordinates(shapes: NDArray[Any]) -> tuple[Floats, Floats]:
    """Coordinates x, y of (n,) points, NaN for a null or an empty one; refuse other shapes."""
    import shapely

    kinds = shapely.get_type_id(shapes)
    placed = ~(shapely.is_missing(shapes) | shapely.is_empty(shapes))
    if (kinds[placed] != shapely.GeometryType.POINT).any():
        # Some programs write every point as a MultiPoint, or a collection, of one.
        alone = placed & (shapely.get_num_geometries(shapes) == 1)
        shapes = shapes.copy()
        shapes[alone] = shapely.get_geometry(shapes[alone], 0)
        other = shapes[placed & (shapely.get_type_id(shapes) != shapely.GeometryType.POINT)]
        if other.size:
            raise not_points(str(other[0].geom_type))
    x, y = np.full((2, len(shapes)), np.nan)
    x[placed], y[placed] = shapely.get_x(shapes[placed]), shapely.get_y(shapes[placed])
    return x, y


def floats(column: pa.Array) -> Floats:
    """Return a column of numbers as float64, nulls as NaN; without a copy where it can be."""
    if not pa.types.is_float64(column.type):
        column = column.cast(pa.float64(), safe=False)
    if len(column) and not column.null_count:
        # As `to_numpy` has it, which would load pandas.
        values = np.frombuffer(column.buffers()[1], np.float64)
        return values[column.offset :][: len(column)]
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _recognised(name: str, values: Any, of_points: bool) -> GeometryColumn | None:
    if isinstance(values, np.ndarray) and values.dtype == object:
        present = [value for value in values.tolist() if value is not None and value == value]
        if present and all(hasattr(value, "geom_type") for value in present):
            return GeometryColumn(name, "objects")
        present = [bytes(v) if isinstance(v, bytearray | memoryview) else v for v in present]
        try:
            values = pa.array(present)
        except (pa.ArrowException, TypeError, ValueError):
            return None
    if not isinstance(values, pa.Array | pa.ChunkedArray):
        return None
    array = _plain(values).drop_null()
    if not len(array):
        return None
    kind = array.type
    if pa.types.is_dictionary(kind):
        array = array.dictionary_decode()
        kind = array.type
    if pa.types.is_struct(kind) or pa.types.is_fixed_size_list(kind):
        nested = any(f in kind.names for _, f in _FIELDS) if pa.types.is_struct(kind) else True
        fits = _fields_of(kind) is not None if nested else False
        return GeometryColumn(name, "GeoArrow") if fits else None
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        first = [value for value in array.to_pylist() if _is_wkb(value)]
        if len(first) < len(array):
            return None
        srid = _srid(first[0])
        return GeometryColumn(name, "WKB", as_crs(srid) if srid else None, srid=srid)
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return None
    text = written(array.to_pylist(), name) if of_points else written_shapes(array.to_pylist())
    if text is None:
        return None
    srid = text.srid
    if text.encoding == "hex WKB":
        array = wkb_of_hex(array, name).drop_null()
        if not all(_is_wkb(value) for value in array.to_pylist()):
            return None
        srid = _srid(array[0].as_py()) if len(array) else 0
    crs = ASSUMED if text.encoding == "GeoJSON" else as_crs(srid) if srid else None
    return GeometryColumn(name, text.encoding, crs, text=text, srid=srid, refusal=text.refusal)


def _shapes(values: Any) -> NDArray[Any]:
    """Objects of shapely (n,), None for what is none."""
    objects = np.asarray(values, dtype=object)
    if str(getattr(values, "dtype", "")) == "geometry":
        return objects
    is_shape = np.fromiter((hasattr(value, "geom_type") for value in objects), bool, len(objects))
    return np.where(is_shape, objects, np.array(None))


def _is_wkb(value: bytes) -> bool:
    """Whether bytes begin as WKB of one of the seven kinds."""
    if len(value) < 5 or value[0] > 1:
        return False
    kind = int.from_bytes(value[1:5], "little" if value[0] else "big")
    return 1 <= (kind & 0xFFFF) % 1000 <= 7 and (kind & 0xFFFF) < 4000


def _srid(value: bytes) -> int:
    """The SRID of EWKB, 0 for none."""
    order = "little" if value[0] else "big"
    has = int.from_bytes(value[1:5], order) & 0x20000000  # type: ignore[arg-type]
    return int.from_bytes(value[5:9], order) if has else 0  # type: ignore[arg-type]


def _plain(values: Any) -> pa.Array:
    """One array, without an extension, of a type that is computed with."""
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    if not isinstance(array, pa.Array):
        array = pa.array(array, from_pandas=True)
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    view = {"binary_view": pa.large_binary(), "string_view": pa.large_string()}
    return array.cast(view[str(array.type)]) if str(array.type) in view else array


def _fields_of(kind: pa.DataType) -> tuple[str, str] | None:
    """Fields of a struct that are a place, east first; of a list of numbers none are needed."""
    if not pa.types.is_struct(kind):
        return ("", "")
    names = {kind.field(i).name.lower(): kind.field(i).name for i in range(kind.num_fields)}
    for east, north in _FIELDS:
        if east in names and north in names:
            return names[east], names[north]
    return None


def _nested_points(array: pa.Array) -> tuple[Floats, Floats]:
    """Points as structs, as lists of two to four numbers, or as lists of one such point."""
    missing = array.is_null().to_numpy(zero_copy_only=False)
    kind = array.type
    if pa.types.is_struct(kind):
        fields = _fields_of(kind)
        if fields is None:
            raise damaged_description()
        x, y = (floats(_plain(compute.struct_field(array, field))) for field in fields)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or _is_numbers(kind):
        lengths = compute.list_value_length(array).fill_null(0).to_numpy(zero_copy_only=False)
        inner = array.flatten()
        x, y = np.full((2, len(array)), np.nan)
        if not pa.types.is_nested(inner.type):
            # Two to four numbers for each point.
            starts = np.cumsum(lengths) - lengths
            numbers, placed = floats(inner), lengths >= 2
            x[placed], y[placed] = numbers[starts[placed]], numbers[starts[placed] + 1]
        else:
            if (lengths > 1).any():
                raise not_points("MultiPoint")
            x[lengths == 1], y[lengths == 1] = _nested_points(inner)
    else:
        raise damaged_description()
    return np.where(missing, np.nan, x), np.where(missing, np.nan, y)


def _is_numbers(kind: pa.DataType) -> bool:
    return bool(pa.types.is_fixed_size_list(kind) and 2 <= kind.list_size <= 4)


def _wkb_points(shapes: pa.Array, column: GeometryColumn) -> tuple[Floats, Floats]:
    plain = shapes.cast(pa.large_binary())
    offsets = np.frombuffer(plain.buffers()[1], np.int64)[plain.offset :][: len(plain) + 1]
    if not plain.null_count and np.all(np.diff(offsets) == _WKB_POINT.itemsize):
        data = np.frombuffer(plain.buffers()[2] or b"", np.uint8)[offsets[0] : offsets[-1]]
        points = data.view(_WKB_POINT)
        if np.all(points["order"] == 1) and np.all(points["kind"] == 1):
            return points["x"], points["y"]
    import shapely

    long = np.flatnonzero(np.diff(offsets) > _LONGEST)
    if long.size:
        # Before any is made: a shape of megabytes is no point.
        begin = plain[int(long[0])].as_py()[:5]
        kind = int.from_bytes(begin[1:], "little" if begin[:1] == b"\1" else "big")
        # The thousands, and the bits above, say whether there are heights.
        raise not_points(_KINDS.get((kind & 0xFFFF) % 1000, "GeometryCollection"))
    try:
        points = shapely.from_wkb(plain.to_numpy(zero_copy_only=False))
    except shapely.errors.GEOSException as error:
        raise InputError(
            f"The column {column.name!r} holds values that are no geometry as WKB; write it again."
        ) from error
    srids = set(np.unique(shapely.get_srid(points[~shapely.is_missing(points)])).tolist()) - {0}
    if len(srids | ({column.srid} - {0})) > 1:
        raise InputError(
            f"The places in {column.name!r} have different SRIDs; give those of one CRS at a time."
        )
    return coordinates(points)


def _geoarrow_field(kind: pa.DataType, column: GeometryColumn) -> pa.Field:
    shapes = [name.split(" ")[0].lower() for name in column.kinds] or ["point"]
    # GeoParquet names the narrower kind next to the wider one; the nesting tells which is stored.
    depth, inner = 0, kind
    while pa.types.is_list(inner) or pa.types.is_large_list(inner):
        depth, inner = depth + 1, inner.value_type
    depths = {"point": 0, "multipoint": 1, "linestring": 1}
    depths |= {"polygon": 2, "multilinestring": 2, "multipolygon": 3}
    fitting = [shape for shape in shapes if depths.get(shape) == depth]
    usual = ("point", "multipoint", "polygon", "multipolygon")[min(depth, 3)]
    about = {b"ARROW:extension:name": f"geoarrow.{fitting[0] if fitting else usual}".encode()}
    return pa.field(column.name, kind, metadata=about)
