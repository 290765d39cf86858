"""GeoJSON and other JSON: points with properties, read without GDAL (see `grid.geojson`)."""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.gdal import check_fields, damaged
from explorer.grid.geojson import Features
from explorer.grid.geometry_columns import GeometryColumn
from explorer.grid.geometry_values import SAMPLE
from explorer.grid.place_texts import not_points
from explorer.grid.table_values import NotANumber, advice_on
from explorer.grid.table_values import numbers as numbers_in_texts
from explorer.points.sources.tables import (
    MAX_ROWS,
    Batches,
    Floats,
    Table,
    not_numbers,
    numbers,
    refuse_rows,
    unused_name,
)
from explorer.points.sources.text import times

_DAMAGED = (TypeError, ValueError, LookupError, AttributeError, OverflowError)


class GeoJSONFile(Table):
    """A file of JSON whose places have been read."""

    def __init__(self, file: Path | bytes, max_rows: int = MAX_ROWS) -> None:
        content = file if isinstance(file, bytes) else file.read_bytes()
        self._features = Features(content)
        self._x, self._y = array("d"), array("d")
        self._other: InputError | None = None
        self._some: dict[str, list[Any]] = {}
        placed = False
        for feature in self._features:
            refuse_rows(len(self._x) + 1, max_rows)
            geometry = feature.get("geometry")
            placed |= geometry is not None
            x, y = self._place(geometry)
            self._x.append(x)
            self._y.append(y)
            for name, value in _properties(feature).items():
                some = self._some.setdefault(name, [])
                if len(some) < SAMPLE and value is not None:
                    some.append(_plain(value))
            check_fields(len(self._some))
        if not self._x:
            raise InputError("This JSON holds no features, so there are no points in it.")
        self.names = tuple(self._some)
        self._own = unused_name("geometry", self.names) if placed else ""
        crs = self._features.crs
        self._find(GeometryColumn(self._own, "objects", crs) if placed else None)
        self.notes = (self._features.taken,) if self._features.taken else ()

    def look(self, name: str) -> Any:
        """Some values of a column."""
        return np.array([*self._some[name], None], dtype=object)[:-1]

    def batches(self, figures: Sequence[str], others: Sequence[str]) -> Batches:
        """Named properties of all features, numbers also where they are written as texts."""
        names = [name for name in (*figures, *others) if name != self._own]
        columns: dict[str, list[Any]] = {name: [] for name in names}
        if columns:
            for feature in self._features:
                facts = _properties(feature)
                for name, values in columns.items():
                    values.append(_plain(facts.get(name)))
        yield 1.0, columns | {name: _numbers(columns[name], name) for name in figures}

    def coordinates(self, batch: Mapping[str, Any], place: Sequence[str]) -> tuple[Floats, Floats]:
        """Coordinates of the geometry, or of columns."""
        if [*place] != [self._own]:
            return super().coordinates(batch, place)
        if self._other is not None:
            raise self._other
        return np.array(self._x), np.array(self._y)

    def times(self, parts: list[Any]) -> NDArray[Any]:
        """ISO dates as datetime64."""
        import pandas

        return times(np.asarray(pandas.Series(parts[0])))

    def _place(self, geometry: Any) -> tuple[float, float]:
        """Coordinates of a point, NaN for none; other shapes are remembered."""
        if geometry is None:
            return np.nan, np.nan
        try:
            kind = geometry["type"]
            # Some programs write every point as a MultiPoint, or a collection, of one.
            while kind == "GeometryCollection" and len(geometry["geometries"]) == 1:
                (geometry,) = geometry["geometries"]
                if geometry is None:
                    return np.nan, np.nan
                kind = geometry["type"]
            if kind not in ("Point", "MultiPoint", "GeometryCollection"):
                raise not_points(str(kind)[:20])
            corner = geometry["geometries" if kind == "GeometryCollection" else "coordinates"]
            if kind != "Point" and len(corner) > 1:
                raise not_points(kind)
            if kind == "MultiPoint" and corner:
                (corner,) = corner
            if not corner or None in corner:
                return np.nan, np.nan
            return float(corner[0]), float(corner[1])
        except InputError as error:
            # Columns may be chosen in its place.
            self._other = self._other or error
            return np.nan, np.nan
        except _DAMAGED as error:
            raise damaged() from error


def _properties(feature: Mapping[str, Any]) -> dict[str, Any]:
    facts = feature.get("properties")
    if facts is not None and not isinstance(facts, dict):
        raise damaged()
    return facts or {}


def _plain(value: Any) -> Any:
    """A value that a table can hold: lists and objects become their text."""
    return json.dumps(value) if isinstance(value, dict | list) else value


def _numbers(values: list[Any], name: str) -> np.ndarray:
    """Numbers, also those that are written as texts."""
    import pandas

    texts = [at for at, value in enumerate(values) if isinstance(value, str)]
    plain = list(values)
    try:
        for at, value in zip(
            texts, numbers_in_texts([values[at] for at in texts], ",", set()), strict=True
        ):
            plain[at] = value
    except NotANumber as error:
        kind = error.args[0]
        if "comma" not in kind:
            raise not_numbers(name) from error
        raise InputError(f"The column {name!r} has {kind}; {advice_on(kind)}.") from error
    return numbers(pandas.Series(plain, dtype=object), name)
