"""Layers of files and GeoDataFrames: tables whose place is a geometry."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyproj

from explorer.grid.containers import Content
from explorer.grid.geometry_values import coordinates
from explorer.grid.layers import Layer, chosen, layers_of
from explorer.grid.place_texts import refuse_shapes
from explorer.grid.projection import as_crs
from explorer.points.identity import codes
from explorer.points.sources.tables import MAX_ROWS, Columns, Table, numbers, refuse_rows


class VectorFile(Table):
    """A layer of GDAL or a table of SQLite, of which the header has been read."""

    def __init__(self, content: Content, max_rows: int = MAX_ROWS) -> None:
        self._layers = layers_of(content)
        self._layer, choice = chosen(self._layers, content.layer, _of_points)
        refuse_rows(self._layer.rows, max_rows)
        self.geometry = self._layer.kind is not None
        if self._layer.kind is not None:
            refuse_shapes([self._layer.kind])
        self.names = self._layer.fields
        self.crs: pyproj.CRS | None = as_crs(self._layer.crs) if self._layer.crs else None
        #: What was chosen among several, for the curator's screen.
        self.notes = (f"The layer {self._layer.name!r} was read.",) if choice else ()

    def read(
        self, place: tuple[str, str] | None, user: str | None, weight: str | None, time: str | None
    ) -> Columns:
        """Read the geometry, or two named columns, and what else is named."""
        wanted = dict.fromkeys(n for n in (*(place or ()), user, weight, time) if n is not None)
        frame = self._layers.read(self._layer, list(wanted), place is None)
        return _columns(frame, place, user, weight, time)


def _of_points(layer: Layer) -> bool:
    return layer.kind is not None and layer.kind.split(" ")[0] in ("Point", "MultiPoint", "Unknown")


class GeoFrame(Table):
    """A GeoDataFrame."""

    geometry = True

    def __init__(self, frame: Any, max_rows: int = MAX_ROWS) -> None:
        self._frame = frame
        self.names = tuple(str(n) for n in frame.columns if n != frame.geometry.name)
        self.crs: pyproj.CRS | None = frame.crs
        refuse_rows(len(frame), max_rows)

    def read(
        self, place: tuple[str, str] | None, user: str | None, weight: str | None, time: str | None
    ) -> Columns:
        """Read the geometry, or two named columns, and what else is named."""
        return _columns(self._frame, place, user, weight, time)


def _columns(
    frame: Any,
    place: tuple[str, str] | None,
    user: str | None,
    weight: str | None,
    time: str | None,
) -> Columns:
    if place is None:
        x, y = coordinates(frame.geometry.to_numpy())
    else:
        x, y = (numbers(frame[name], name) for name in place)
    return Columns(
        x,
        y,
        None if user is None else codes(frame[user]),
        None if weight is None else numbers(frame[weight], weight),
        None if time is None else np.asarray(frame[time]),
    )
