"""GeoJSON and other JSON: points with properties, read without GDAL (see `grid.geojson`)."""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.gdal import check_fields, damaged
from explorer.grid.geojson import Features
from explorer.grid.geometry_columns import GeometryColumn
from explorer.grid.geometry_values import SAMPLE, coordinates
from explorer.grid.place_texts import not_points
from explorer.grid.table_values import NotANumber, number
from explorer.points.sources.tables import (
    MAX_ROWS,
    Batches,
    Floats,
    Table,
    not_numbers,
    numbers,
    refuse_rows,
)
from explorer.points.sources.text import times

_DAMAGED = (
    TypeError,
    ValueError,
    LookupError,
    AttributeError,
    OverflowError,
    shapely.GEOSException,
)


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
        self._find(GeometryColumn("geometry", "objects", self._features.crs) if placed else None)
        self._own = "geometry" if placed else None
        self.notes = (self._features.taken,) if self._features.taken else ()

    def look(self, name: str) -> Any:
        """Some values of a column."""
        return np.array([*self._some[name], None], dtype=object)[:-1]

    def batches(self, figures: Sequence[str], others: Sequence[str]) -> Batches:
        """Named properties of all features, numbers also where they are written as texts."""
        columns: dict[str, list[Any]] = {name: [] for name in (*figures, *others)}
        if columns and [*columns] != [self._own]:
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
            if geometry["type"] == "Point":
                corner = geometry["coordinates"]
                return (float(corner[0]), float(corner[1])) if corner else (np.nan, np.nan)
            if geometry["type"] not in ("MultiPoint", "GeometryCollection"):
                raise not_points(str(geometry["type"])[:20])
            (x,), (y,) = coordinates(np.array([shapely.geometry.shape(geometry)], dtype=object))
            return x, y
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

    try:
        plain = [number(value, ",") if isinstance(value, str) else value for value in values]
    except NotANumber as error:
        raise not_numbers(name) from error
    return numbers(pandas.Series(plain, dtype=object), name)
