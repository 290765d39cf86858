"""Files of polygons as frames, of every format that `containers` recognises and has shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
_TABLES = (containers.TEXT, containers.SHEETS, containers.DUCKDB, containers.ARROW)


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
        return _Reader(name, columns, what, optional, texts).read(path, "", layer)
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
    reader = _Reader(path.name, columns, what, optional, texts)
    return reader.read(path, path.suffix, behind or layer)


@dataclass(frozen=True)
class _Reader:
    """What is read of a file, see `read_frame`."""

    name: str
    columns: Sequence[str]
    what: str
    optional: Sequence[str]
    texts: int

    def read(self, file: Path | bytes, suffix: str, layer: str) -> Any:
        try:
            content = containers.recognised(file, suffix, layer, self.what, MAX_BYTES)
            # A corner that is no number is refused later, by the name of its area.
            with np.errstate(invalid="ignore"):
                if content.kind == containers.PARQUET:
                    return self._parquet(content.file)
                if content.kind == containers.GEOJSON:
                    return self._geojson(content.file)
                if content.kind in _TABLES:
                    return self._table(content)
                return self._layer(content)
        except InputError as error:
            sentence = str(error)
            # Of several files the sentence says which one it is about.
            if not sentence.startswith("This file"):
                raise
            raise type(error)(sentence.replace("This file", self.name, 1)) from error
        except Exception as error:  # each reader has errors of its own
            raise self._unreadable() from error

    def _parquet(self, file: Path | bytes) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        # They load libraries of tables, which maps without such a file do not need.
        from explorer.grid.geometry_columns import described
        from explorer.grid.parquet import look_at

        if isinstance(file, Path):
            check_counted(file)

        def opened() -> Any:
            return pa.BufferReader(file) if isinstance(file, bytes) else file

        with pq.ParquetFile(opened()) as parquet:
            schema, about = parquet.schema_arrow, parquet.metadata
        groups = [about.row_group(number) for number in range(about.num_row_groups)]
        # What is repeated takes little in the file: each value of nested numbers has 8 bytes.
        nested = [i for i in range(about.num_columns) if "." in about.schema.column(i).path]
        values = sum(group.column(i).num_values for group in groups for i in nested)
        size = max(sum(group.total_byte_size for group in groups), 8 * values)
        check_rows(about.num_rows, self.what)
        if size > MAX_BYTES:
            raise InputError(f"{self.name} unpacks to {size / 1e9:.1f} GB; simplify the polygons.")

        def look(name: str) -> Any:
            with pq.ParquetFile(opened()) as parquet:
                return look_at(parquet, name)

        def read(columns: list[str], texts: list[str]) -> Any:
            return pq.read_table(opened(), columns=columns, read_dictionary=texts)

        return self._frame(schema, described(schema, about.schema), look, read, "Parquet")

    def _table(self, content: Content) -> Any:
        """A table whose shapes are a column of texts or bytes."""
        # Maps without such a file do not need them.
        from explorer.grid.delimited import Delimited
        from explorer.grid.layers import read_table

        if content.kind != containers.TEXT:
            return self._of_columns(read_table(content))
        text = Delimited(content.file)
        records = text.records(check=lambda rows: check_rows(rows, self.what))
        return self._of_columns(
            {
                name: [row[i] if i < len(row) else None for _, row in records]
                for i, name in enumerate(text.names)
            }
        )

    def _of_columns(self, columns: Any) -> Any:
        import pandas
        import pyarrow as pa

        from explorer.grid.geometry_columns import described
        from explorer.grid.geometry_values import sample

        if isinstance(columns, pandas.DataFrame):
            columns = {str(name): _arrow(columns[name]) for name in columns}
        table = pa.table(columns)
        check_rows(table.num_rows, self.what)

        def read(columns: list[str], texts: list[str]) -> Any:
            return pa.table(
                {
                    name: table[name].dictionary_encode() if name in texts else table[name]
                    for name in columns
                }
            )

        place = described(table.schema)
        return self._frame(table.schema, place, lambda name: sample(table[name]), read)

    def _frame(
        self,
        schema: Any,
        place: Any,
        look: Callable[[str], Any],
        read: Callable[[list[str], list[str]], Any],
        kind: str = "a table",
    ) -> Any:
        """A frame of a table, whose geometry may be described; texts are read as dictionaries."""
        import geopandas
        import pyarrow as pa
        import shapely

        from explorer.grid.geometry_values import geometries, place_column

        gdal.check_fields(len(schema.names))
        if place is None:
            names = [field.name for field in schema if not pa.types.is_primitive(field.type)]
            place = place_column(names, look, of_points=False)
        if place is None:
            raise InputError(
                f"{self.name} is {kind} without a geometry; write it as GeoParquet, or with WKB "
                "or WKT in a column."
            )
        if place.refusal:
            raise InputError(f"{self.name} has several geometries; save it with one of them.")
        has = [name for name in schema.names if name != place.name]
        texts = [name for name in schema.names if _is_text(schema.field(name).type)]
        columns = self._chosen(has, [name for name in texts if name in has])
        # A value that is repeated in every row stays one value, and cannot fill the memory.
        table = read([*columns, place.name], texts)
        values: dict[str, Any] = {}
        for name in columns:
            column = table[name]
            if name in texts:
                column = column.unify_dictionaries()
                _check_text(column, name, self.what)
            values[name] = column.to_pandas().astype(object)
        chunks = [geometries(chunk, place) for chunk in table[place.name].chunks]
        shapes = np.concatenate(chunks) if chunks else np.empty(0, object)
        if place.edges != "planar" and place.crs is not None and place.crs.is_geographic:
            shapes = with_curved_edges(shapely.force_2d(shapes), place.edges)
        return geopandas.GeoDataFrame(values, geometry=shapes, crs=place.crs)

    def _chosen(self, has: Sequence[str], texts: Sequence[str]) -> list[str]:
        """The columns to read of those that there are, with so many of the texts."""
        check_columns(has, self.columns, self.what)
        optional = [name for name in self.optional if name in has]
        return [*dict.fromkeys([*self.columns, *optional, *texts[: self.texts]])]

    def _layer(self, content: Content) -> Any:
        source = layers_of(content)
        placed = [layer for layer in source.layers if layer.kind is not None]
        if not placed and source.layers:
            table, _ = chosen(source, content.layer, lambda _: True, self.what)
            check_rows(table.rows, self.what)
            return self._of_columns(source.read(table, list(table.fields), geometry=False))

        def may_be_meant(layer: Layer) -> bool:
            kind = str(layer.kind).split(" ")[0]
            return set(self.columns) <= set(layer.fields) and kind not in ("Point", "LineString")

        layer, _ = chosen(source, content.layer, may_be_meant, self.what)
        if layer.kind is None:
            raise self._unreadable()
        check_rows(layer.rows, self.what)
        return source.read(layer, self._chosen(layer.fields, layer.texts), geometry=True)

    def _geojson(self, file: Path | bytes) -> Any:
        import geopandas
        from shapely.geometry import shape

        features, texts = (
            Features(file if isinstance(file, bytes) else file.read_bytes()),
            self.texts,
        )
        columns: dict[str, list[Any]] = {name: [] for name in (*self.columns, *self.optional)}
        field_names: dict[str, None] = {}
        shapes = []
        for feature in features:
            geometry, facts = feature.get("geometry"), feature.get("properties") or {}
            shapes.append(None if geometry is None else shape(geometry))
            check_rows(len(shapes), self.what)
            field_names.update(dict.fromkeys(facts))
            gdal.check_fields(len(field_names))
            for name, value in facts.items():
                if texts and isinstance(value, str) and name not in columns:
                    columns[name], texts = [None] * (len(shapes) - 1), texts - 1
            for name, values in columns.items():
                values.append(facts.get(name))
        check_columns(list(field_names), self.columns, self.what)
        columns = {name: values for name, values in columns.items() if name in field_names}
        return geopandas.GeoDataFrame(columns, geometry=shapes, crs=features.crs)

    def _unreadable(self) -> InputError:
        return InputError(
            f"{self.name} could not be read as {self.what}; give polygons as {FORMATS}."
        )


def check_columns(has: Sequence[Any], required: Sequence[str], what: str) -> None:
    """Raise `InputError` for a column that is not there, and name those that are."""
    for column in required:
        if column not in has:
            listed = ", ".join(shown(str(name)) for name in has[:12]) or "no columns"
            raise InputError(f"The {what} have no column {shown(column)}; choose among {listed}.")


def _arrow(column: Any) -> Any:
    """A column of pandas in Arrow; of numbers and texts mixed all become texts."""
    import pyarrow as pa

    try:
        return pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if value is None else str(value) for value in column])


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
        lengths = np.array([len(value or "") for value in chunk.dictionary.to_pylist()] + [0])
        total += int(lengths[chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False)].sum())
    if total > _MOST_TEXT:
        raise InputError(f"The column {shown(name)} of the {what} holds too much text for names.")


def check_rows(rows: int, what: str) -> None:
    """Raise `InputError` for a table that is longer than any of polygons."""
    if rows > MAX_ROWS:
        raise InputError(f"There are {rows:,} {what}, more than {MAX_ROWS:,}; give fewer.")
