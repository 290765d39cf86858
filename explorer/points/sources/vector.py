"""GeoPackage, Shapefile and GeoDataFrames: tables whose place is a geometry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyproj

from explorer.errors import InputError
from explorer.grid import gdal
from explorer.grid.geometry_values import coordinates
from explorer.grid.place_texts import refuse_shapes
from explorer.grid.projection import as_crs
from explorer.points.columns import listed
from explorer.points.identity import codes
from explorer.points.sources.tables import MAX_ROWS, Columns, Table, numbers, refuse_rows


class VectorFile(Table):
    """A GeoPackage or Shapefile, of which the header has been read."""

    def __init__(self, file: Path | bytes, max_rows: int = MAX_ROWS) -> None:
        import pyogrio

        # A package goes by its ending; one with another name is read as if it had none.
        named = isinstance(file, Path) and file.suffix.lower() in (".gpkg", ".shp")
        self._file = gdal.checked(file if named or isinstance(file, bytes) else file.read_bytes())
        try:
            with gdal.unnamed(self._file):
                layers = [str(name) for name, _ in pyogrio.list_layers(self._file)]
                about = pyogrio.read_info(self._file, layer=0, force_feature_count=True)
        except Exception as error:  # each driver has errors of its own
            raise gdal.damaged() from error
        gdal.check_driver(about)
        if len(layers) > 1:
            raise InputError(
                f"This file has {len(layers)} layers ({listed(layers)}); save the one with the "
                "points as a file of its own."
            )
        refuse_rows(int(about["features"]), max_rows)
        self.geometry = about["geometry_type"] is not None
        if self.geometry:
            refuse_shapes([str(about["geometry_type"])])
        self.names = tuple(str(name) for name in about["fields"])
        self.crs: pyproj.CRS | None = as_crs(about["crs"]) if about["crs"] else None

    def read(
        self, place: tuple[str, str] | None, user: str | None, weight: str | None, time: str | None
    ) -> Columns:
        """Read the geometry, or two named columns, and what else is named."""
        import pyogrio

        wanted = dict.fromkeys(n for n in (*(place or ()), user, weight, time) if n is not None)
        try:
            with gdal.unnamed(self._file):
                frame = pyogrio.read_dataframe(
                    self._file,
                    layer=0,
                    columns=list(wanted),
                    read_geometry=place is None,
                    # Else whole numbers with gaps would be floats, and long ids others.
                    use_arrow=True,
                    arrow_to_pandas_kwargs={"integer_object_nulls": True},
                )
        except Exception as error:
            raise gdal.damaged() from error
        return _columns(frame, place, user, weight, time)


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
