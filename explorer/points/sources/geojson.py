"""GeoJSON: points with properties, read without GDAL (see `grid.geojson`)."""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyproj

from explorer.errors import InputError
from explorer.grid.gdal import check_fields, damaged
from explorer.grid.geojson import Features
from explorer.points.identity import codes
from explorer.points.sources.tables import (
    MAX_ROWS,
    Columns,
    not_numbers,
    numbers,
    refuse_rows,
)
from explorer.points.sources.text import times
from explorer.points.sources.vector import refuse_shapes


class GeoJSONFile:
    """A GeoJSON file whose places have been read."""

    def __init__(self, file: Path | bytes, max_rows: int = MAX_ROWS) -> None:
        content = file if isinstance(file, bytes) else file.read_bytes()
        self._features = Features(content)
        self._x, self._y = array("d"), array("d")
        self._other: str | None = None
        names: dict[str, None] = {}
        placed = False
        for feature in self._features:
            refuse_rows(len(self._x) + 1, max_rows)
            geometry = feature.get("geometry")
            placed |= geometry is not None
            x, y = self._place(geometry)
            self._x.append(x)
            self._y.append(y)
            names.update(dict.fromkeys(_properties(feature)))
            check_fields(len(names))
        if not self._x:
            raise InputError("This GeoJSON holds no features, so there are no points in it.")
        self.geometry = placed
        self.names = tuple(names)
        self.crs: pyproj.CRS | None = self._features.crs

    def read(
        self, place: tuple[str, str] | None, user: str | None, weight: str | None, time: str | None
    ) -> Columns:
        """Read the geometry, or two named columns, and what else is named."""
        wanted = [name for name in (*(place or ()), user, weight, time) if name is not None]
        kept: dict[str, list[Any]] = {name: [] for name in wanted}
        if kept:
            for feature in self._features:
                facts = _properties(feature)
                for name, values in kept.items():
                    values.append(_plain(facts.get(name)))
        if place is None:
            if self._other is not None:
                refuse_shapes([self._other])
            x, y = np.array(self._x), np.array(self._y)
        else:
            x, y = (_numbers(kept[name], name) for name in place)
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
            if geometry["type"] != "Point":
                self._other = self._other or str(geometry["type"])[:20]
                return np.nan, np.nan
            corner = geometry["coordinates"]
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
    import pandas

    if any(isinstance(value, str) for value in values):
        raise not_numbers(name)
    return numbers(pandas.Series(values, dtype=object), name)
