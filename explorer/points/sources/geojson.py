"""GeoJSON and other JSON: points with properties, read without GDAL (see `grid.geojson`)."""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from explorer.errors import InputError
from explorer.grid.gdal import check_fields, damaged
from explorer.grid.geojson import Features
from explorer.grid.geometry_columns import GeometryColumn
from explorer.grid.geometry_values import SAMPLE, point_coordinates
from explorer.grid.place_texts import not_points
from explorer.points.identity import codes
from explorer.points.sources.tables import (
    MAX_ROWS,
    Columns,
    Table,
    not_numbers,
    numbers,
    refuse_rows,
)
from explorer.points.sources.text import times


class GeoJSONFile(Table):
    """A file of JSON whose places have been read."""

    def __init__(self, file: Path | bytes, max_rows: int = MAX_ROWS) -> None:
        content = file if isinstance(file, bytes) else file.read_bytes()
        self._features = Features(content)
        self._x, self._y = array("d"), array("d")
        self._other: str | None = None
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
        if self._features.taken:
            self.notes = (self._features.taken, *self.notes)

    def look(self, name: str) -> Any:
        """Some values of a column."""
        return np.array([*self._some[name], None], dtype=object)[:-1]

    def read(
        self, place: tuple[str, str] | None, user: str | None, weight: str | None, time: str | None
    ) -> Columns:
        """Read the geometry, or two named columns, and what else is named."""
        texts = self.column if self.column is not None and self.column.found else None
        where = place or (() if texts is None else (texts.name,))
        wanted = [name for name in (*where, user, weight, time) if name is not None]
        kept: dict[str, list[Any]] = {name: [] for name in wanted}
        if kept:
            for feature in self._features:
                facts = _properties(feature)
                for name, values in kept.items():
                    values.append(_plain(facts.get(name)))
        if place is not None:
            x, y = (_numbers(kept[name], name) for name in place)
        elif texts is not None:
            x, y = point_coordinates(np.array(kept[texts.name], dtype=object), texts)
        else:
            if self._other is not None:
                raise not_points(self._other)
            x, y = np.array(self._x), np.array(self._y)
        return Columns(
            x,
            y,
            None if user is None else codes(kept[user]),
            None if weight is None else _numbers(kept[weight], weight),
            None if time is None else times(_column(kept[time])),
        )

    def _place(self, geometry: Any) -> tuple[float, float]:
        """Coordinates of a point, NaN for none; other shapes are remembered."""
        if geometry is None:
            return np.nan, np.nan
        try:
            kind, within = geometry["type"], geometry.get("geometries")
            if kind == "GeometryCollection" and len(within) < 2:
                # Some programs write every point as a collection, or a MultiPoint, of one.
                return self._place(within[0] if within else None)
            if kind not in ("Point", "MultiPoint"):
                self._other = self._other or str(kind)[:20]
                return np.nan, np.nan
            corner = geometry["coordinates"]
            if kind == "MultiPoint" and corner:
                if len(corner) > 1:
                    self._other = self._other or kind
                corner = corner[0]
            return (float(corner[0]), float(corner[1])) if corner else (np.nan, np.nan)
        except (TypeError, ValueError, KeyError, IndexError, OverflowError) as error:
            raise damaged() from error


def _properties(feature: Mapping[str, Any]) -> dict[str, Any]:
    facts = feature.get("properties")
    if facts is not None and not isinstance(facts, dict):
        raise damaged()
    return facts or {}


def _plain(value: Any) -> Any:
    """A value that a table can hold: lists and objects become their text."""
    return json.dumps(value) if isinstance(value, dict | list) else value


def _column(values: list[Any]) -> np.ndarray:
    import pandas

    return np.asarray(pandas.Series(values))


def _numbers(values: list[Any], name: str) -> np.ndarray:
    """Numbers, also those that are written as texts."""
    import pandas

    try:
        plain = [_number(value) if isinstance(value, str) else value for value in values]
    except ValueError as error:
        raise not_numbers(name) from error
    return numbers(pandas.Series(plain, dtype=object), name)


def _number(text: str) -> float:
    return float(text) if text.strip() else np.nan
