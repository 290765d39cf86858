"""Polygons as questions: from their files, and answered."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.errors import InputError
from explorer.grid.polygon_files import read_frame
from explorer.grid.stated_crs import crs_of_polygons
from explorer.queries.files import MAX_RECTANGLES, clean_name, no_formula
from explorer.queries.geojson import finite
from explorer.queries.name_columns import values_of


def read_polygons(
    path: str | Path, name_column: str = "", crs: Any = None
) -> tuple[Any, list[str]]:
    """A GeoSeries of the polygons of a file, and their names.

    Parameters
    ----------
    path : any format of polygons, as of `Areas.read`
        With a CRS.
    name_column : str
        The column with the names; without one "name", if there is such a column.
    crs : int, str or CRS, optional
        Of the polygons, where the file has none or one that their corners contradict.

    Returns
    -------
    shapes : (n,) GeoSeries, to be given to `Release.answer`
    names : n texts, "Q1", "Q2" .. where the file has none

    Raises
    ------
    InputError
        For a file that is none, holds no row or too many, or has no such column or no CRS.
    """
    required = [name_column] if name_column else []
    frame = read_frame(path, required, "polygons", optional=("name",))
    if not len(frame) or len(frame) > MAX_RECTANGLES:
        raise InputError(
            f"{Path(path).name} holds {len(frame):,} polygons; give 1 to {MAX_RECTANGLES:,}."
        )
    stated = crs_of_polygons(
        frame.crs, crs, frame.geometry.to_numpy(), f"polygons in {Path(path).name}"
    )
    frame = frame.set_crs(stated, allow_override=True)
    column = name_column or "name"
    values = values_of(frame, column) if column in frame.columns else [None] * len(frame)
    return frame.geometry, [clean_name(name, number) for number, name in enumerate(values)]


def write_polygons(
    shapes: Any, names: Sequence[str], format: str, columns: Mapping[str, ArrayLike]
) -> str:
    """Answers to polygons as the text of a file.

    Parameters
    ----------
    shapes : (n,) GeoSeries with a CRS
    names : n texts
    format : "geojson", with the polygons in WGS 84, or "csv", without them
    columns : further columns by name, (n,) each
    """
    extra = {label: np.asarray(values).tolist() for label, values in columns.items()}
    rows = [dict(zip(extra, row, strict=True)) for row in zip(*extra.values(), strict=True)]
    if format == "geojson":
        degrees = shapes.to_crs(4326).__geo_interface__["features"]
        features = [
            {
                "type": "Feature",
                "properties": {"name": name, **{key: finite(value) for key, value in row.items()}},
                "geometry": shape["geometry"],
            }
            for shape, name, row in zip(degrees, names, rows, strict=True)
        ]
        return json.dumps({"type": "FeatureCollection", "features": features}) + "\n"
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["name", *extra])
    for name, row in zip(names, rows, strict=True):
        writer.writerow([no_formula(name), *(finite(value) for value in row.values())])
    return text.getvalue()
