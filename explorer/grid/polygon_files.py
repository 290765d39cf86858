"""Files of polygons as frames, of every format that `containers` recognises and has shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from explorer.errors import InputError
from explorer.grid import containers, gdal
from explorer.grid.containers import Content
from explorer.grid.geojson import Features
from explorer.grid.layers import Layer, chosen, layers_of
from explorer.grid.plane import with_curved_edges
from explorer.grid.table_folders import check_counted, refuse_folder
from explorer.grid.values import shown

FORMATS = containers.formats("polygons")
#: What the names of such files end with.
SUFFIXES = (*containers.LAYERS, ".parquet", ".shp", ".gdb", ".zip")
#: What a file may unpack to, in bytes, and the rows and bytes of text it may have.
MAX_BYTES, MAX_ROWS = 2**30, 100_000
# Names of a hundred thousand areas, each of a thousand letters.
_MOST_TEXT = 10**8
_WITHOUT_SHAPES = (containers.TEXT, containers.SHEETS, containers.DUCKDB, containers.ARROW)


def read_frame(
    path: str | Path | bytes,
    columns: Sequence[str],
    what: str,
    optional: Sequence[str] = (),
    texts: int = 0,
    name: str = "This file",
    layer: str = "",
) -> Any:
    """A GeoDataFrame of the named columns and the geometry of a file.

    Parameters
    ----------
    path : of a file on this computer, or its content, which says which format it is; a layer of
        several is behind the path, as in "city.gpkg::districts"
    columns : that it must have
    what : that the polygons are, such as "areas", for sentences
    optional : further columns, read where they are
    texts : so many more columns are read, those of text in the order of the file
    name : what to call content
    layer : of content that has several

    Raises
    ------
    InputError
        For a file that is missing, too large or damaged, or has no such columns.
    """
    if isinstance(path, bytes):
        return _read(_Given(path, name), columns, what, optional, texts, layer)
    path, behind = containers.split_layer(path)
    if path.is_dir() and not gdal.is_geodatabase(path):
        refuse_folder(path)
        raise InputError(f"{path.name} is a folder; give the file of {what} in it.")
    if not path.exists():
        raise InputError(f"There is no file {path.name}; check the path of the {what}.")
    if path.stat().st_size > MAX_BYTES:
        raise InputError(
            f"{path.name} has {path.stat().st_size / 1e9:.1f} GB, more than {what} may have; "
            "simplify the polygons."
        )
    return _read(_Given(path, path.name), columns, what, optional, texts, behind or layer)


@dataclass(frozen=True)
class _Given:
    """A file or its content, and what to call it."""

    file: Path | bytes
    name: str

    def content(self) -> bytes:
        return self.file if isinstance(self.file, bytes) else self.file.read_bytes()


def _read(
    given: _Given,
    columns: Sequence[str],
    what: str,
    optional: Sequence[str],
    texts: int,
    layer: str,
) -> Any:
    suffix = "" if isinstance(given.file, bytes) else given.file.suffix
    read_by_kind = {containers.PARQUET: _read_parquet, containers.GEOJSON: _read_geojson}
    try:
        content = containers.recognised(given.file, suffix, layer, what, MAX_BYTES)
        read = read_by_kind.get(content.kind)
        if read is not None:
            if isinstance(content.file, Path):
                check_counted(content.file)
            # A corner that is no number is refused later, by the name of its area.
            with np.errstate(invalid="ignore"):
                return read(replace(given, file=content.file), columns, what, optional, texts)
        if content.kind not in _WITHOUT_SHAPES:
            return _read_layer(given, content, columns, what, optional, texts)
    except InputError as error:
        sentence = str(error)
        # Of several files the sentence says which one it is about.
        if not sentence.startswith("This file"):
            raise
        raise type(error)(sentence.replace("This file", given.name, 1)) from error
    except Exception as error:  # each reader has errors of its own
        raise _unreadable(given, what) from error
    raise _unreadable(given, what)


def check_columns(has: Sequence[Any], wanted: Sequence[str], what: str) -> None:
    """Raise `InputError` for a column that is not there, and name those that are."""
    for column in wanted:
        if column not in has:
            listed = ", ".join(shown(str(each)) for each in has[:12]) or "no columns"
            raise InputError(f"The {what} have no column {shown(column)}; choose among {listed}.")


def _read_parquet(
    given: _Given, columns: Sequence[str], what: str, optional: Sequence[str], most: int
) -> Any:
    import geopandas
    import pyarrow as pa
    import pyarrow.parquet as pq
    import shapely

    # They load libraries of tables, which maps without such a file do not need.
    from explorer.grid.geometry_columns import described
    from explorer.grid.geometry_values import geometries, place_column
    from explorer.grid.parquet import look_at

    def opened_anew() -> Any:
        return pa.BufferReader(given.file) if isinstance(given.file, bytes) else given.file

    with pq.ParquetFile(opened_anew()) as opened:
        schema, about = opened.schema_arrow, opened.metadata
        rows = about.num_rows
        groups = [about.row_group(number) for number in range(about.num_row_groups)]
        size = sum(group.total_byte_size for group in groups)
        # What is repeated takes little in the file: each value of nested numbers has 8 bytes.
        nested = [i for i in range(about.num_columns) if "." in about.schema.column(i).path]
        size = max(size, 8 * sum(group.column(i).num_values for group in groups for i in nested))
    gdal.check_fields(len(schema.names))
    shapes_in = described(schema, about.schema)
    if shapes_in is None:
        texts_or_bytes = [field.name for field in schema if not pa.types.is_primitive(field.type)]

        def look(name: str) -> Any:
            with pq.ParquetFile(opened_anew()) as opened:
                return look_at(opened, name)

        shapes_in = place_column(texts_or_bytes, look, of_points=False)
    if shapes_in is None:
        raise InputError(
            f"{given.name} is Parquet without a geometry; write it as GeoParquet, or with WKB or "
            "WKT in a column."
        )
    if shapes_in.refusal:
        raise InputError(f"{given.name} has several geometries; save it with one of them.")
    shape = shapes_in.name
    has = [name for name in schema.names if name != shape]
    check_columns(has, columns, what)
    more = [name for name in has if _is_text(schema.field(name).type)][:most]
    columns = [*dict.fromkeys([*columns, *(name for name in optional if name in has), *more])]
    check_rows(rows, what)
    if size > MAX_BYTES:
        raise InputError(f"{given.name} unpacks to {size / 1e9:.1f} GB; simplify the polygons.")
    # A value that is repeated in every row stays one value, and cannot fill the memory.
    wanted = [*columns, shape]
    texts = [name for name in wanted if _is_text(schema.field(name).type)]
    table = pq.read_table(opened_anew(), columns=wanted, read_dictionary=texts)
    made: dict[str, Any] = {}
    for name in columns:
        column = table[name]
        if name in texts:
            column = column.unify_dictionaries()
            _check_text(column, name, what)
        made[name] = column.to_pandas().astype(object)
    chunks = [geometries(chunk, shapes_in) for chunk in table[shape].chunks]
    whole = np.concatenate(chunks) if chunks else np.empty(0, object)
    known = shapes_in.crs
    if shapes_in.edges != "planar" and known is not None and known.is_geographic:
        whole = with_curved_edges(shapely.force_2d(whole), shapes_in.edges)
    return geopandas.GeoDataFrame(made, geometry=whole, crs=known)


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary)
    return any(test(kind) for test in tests) or pa.types.is_large_binary(kind)


def _check_text(column: Any, name: str, what: str) -> None:
    """Refuse names that are short as different values and huge as a column."""
    total = 0
    for chunk in column.chunks:
        lengths = np.array([len(each or "") for each in chunk.dictionary.to_pylist()] + [0])
        total += int(lengths[chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False)].sum())
    if total > _MOST_TEXT:
        raise InputError(f"The column {shown(name)} of the {what} holds too much text for names.")


def _read_layer(
    given: _Given,
    content: Content,
    columns: Sequence[str],
    what: str,
    optional: Sequence[str],
    texts: int,
) -> Any:
    source = layers_of(content)
    placed = [layer for layer in source.layers if layer.kind is not None]
    if not placed:
        raise _unreadable(given, what)

    def may_be_meant(layer: Layer) -> bool:
        kind = str(layer.kind).split(" ")[0]
        return set(columns) <= set(layer.fields) and kind not in ("Point", "LineString")

    layer, _ = chosen(source, content.layer, may_be_meant, what)
    if layer.kind is None:
        raise _unreadable(given, what)
    check_columns(layer.fields, columns, what)
    check_rows(layer.rows, what)
    more = layer.texts[:texts]
    wanted = [*columns, *(name for name in optional if name in layer.fields), *more]
    return source.read(layer, [*dict.fromkeys(wanted)], geometry=True)


def _read_geojson(
    given: _Given, columns: Sequence[str], what: str, optional: Sequence[str], texts: int
) -> Any:
    import geopandas
    from shapely.geometry import shape

    features = Features(given.content())
    kept: dict[str, list[Any]] = {name: [] for name in (*columns, *optional)}
    seen: dict[str, None] = {}
    shapes = []
    for feature in features:
        geometry, facts = feature.get("geometry"), feature.get("properties") or {}
        shapes.append(None if geometry is None else shape(geometry))
        check_rows(len(shapes), what)
        seen.update(dict.fromkeys(facts))
        gdal.check_fields(len(seen))
        for name, value in facts.items():
            if texts and isinstance(value, str) and name not in kept:
                kept[name], texts = [None] * (len(shapes) - 1), texts - 1
        for name, values in kept.items():
            values.append(facts.get(name))
    check_columns(list(seen), columns, what)
    kept = {name: values for name, values in kept.items() if name in seen}
    return geopandas.GeoDataFrame(kept, geometry=shapes, crs=features.crs)


def check_rows(rows: int, what: str) -> None:
    """Raise `InputError` for a table that is longer than any of polygons."""
    if rows > MAX_ROWS:
        raise InputError(f"There are {rows:,} {what}, more than {MAX_ROWS:,}; give fewer.")


def _unreadable(given: _Given, what: str) -> InputError:
    return InputError(f"{given.name} could not be read as {what}; give polygons as {FORMATS}.")
