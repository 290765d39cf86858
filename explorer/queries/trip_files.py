"""Boxes on several places as files: CSV with columns for each place, or a file for each place."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid.frames import place_of
from explorer.grid.grid import Grid
from explorer.grid.places import TripDomain
from explorer.queries.files import (
    check_number,
    clean_name,
    content_of,
    no_formula,
    read_csv,
    read_rectangles,
    refuse_degrees,
)
from explorer.queries.geojson import EDGES, finite

Floats = NDArray[np.float64]


def read_trip_boxes(
    source: str | Path | bytes, domain: TripDomain, name: str = ""
) -> tuple[Floats, list[str]]:
    """Read boxes on all places from CSV.

    Parameters
    ----------
    source : path, or the content of a file as bytes
        Columns such as o_x0, o_y0, o_x1, o_y1, d_x0, .., in the unit of each place's grid; the
        part before the edge is the place's name, or a word for it such as "from". Four empty
        cells, or no columns, mean anywhere. A column "name" if there is one.
    domain : TripDomain
    name : str
        What to call content that is given as bytes.

    Returns
    -------
    boxes : (n, k, 4) float64, NaN for anywhere
    names : n texts, "Q1", "Q2" .. where the file has none

    Raises
    ------
    InputError
        For a file that is missing, too large, or has something else in it.
    """
    content, label = content_of(source, name)
    table = read_csv(content, label)
    at = _columns(table.header, domain, label)
    check_number(table.rows, label)
    boxes = np.full((len(table.rows), len(domain.grids), 4), np.nan)
    for place, columns in at.items():
        cells = zip(*map(table.column, columns), strict=True)
        for row, texts in enumerate(cells):
            if any(text.strip() for text in texts):
                advice = "give all four edges, or none for anywhere"
                boxes[row, place] = table.numbers(row, columns, advice)
    values = table.column("name") if "name" in table.header else [None] * len(boxes)
    names = [clean_name(name, row) for row, name in enumerate(values)]
    for place in at:
        _check(boxes[:, place], domain.grids[place], label, names)
    return boxes, names


def read_place(
    source: str | Path | bytes,
    grid: Grid,
    name: str = "",
    note: Callable[[str], None] | None = None,
) -> tuple[Floats, list[str]]:
    """Read the boxes of one place, GeoJSON or CSV; a Feature without a shape is anywhere.

    Parameters, returns and errors are as of `read_rectangles`, but for boxes of NaN.
    """
    content, label = content_of(source, name)
    if content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] != b"{":
        return read_rectangles(content, grid, label, note)
    try:
        document = json.loads(content.decode("utf-8-sig"))
        features = document["features"] if document["type"] == "FeatureCollection" else [document]
        has_shape = np.array([_has_shape(feature) for feature in features], dtype=bool)
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return read_rectangles(content, grid, label, note)  # refuses it
    if has_shape.all() or not len(has_shape):
        return read_rectangles(content, grid, label, note)
    check_number(features, label)
    boxes = np.full((len(features), 4), np.nan)
    facts = [feature.get("properties") for feature in features]
    names = [
        clean_name(fact.get("name") if isinstance(fact, dict) else None, number)
        for number, fact in enumerate(facts)
    ]
    if has_shape.any():
        with_shape = [feature for feature, has in zip(features, has_shape, strict=True) if has]
        rest = {**document, "type": "FeatureCollection", "features": with_shape}
        boxes[has_shape] = read_rectangles(json.dumps(rest).encode(), grid, label, note)[0]
    return boxes, names


def write_trip_boxes(
    boxes: ArrayLike,
    names: Sequence[str],
    domain: TripDomain,
    columns: Mapping[str, ArrayLike] | None = None,
) -> str:
    """Return boxes (n, k, 4) and further columns (n,) as CSV that `read_trip_boxes` reads back.

    Raises
    ------
    InputError
        For columns of another length.
    """
    flat = np.asarray(boxes, dtype=np.float64).reshape(-1, 4 * len(domain.grids))
    extra = {label: np.asarray(values) for label, values in (columns or {}).items()}
    odd = any(values.shape != (len(flat),) for values in extra.values())
    if odd or len(names) != len(flat):
        raise InputError("Names and columns need one value for each row of boxes.")
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    edges = [f"{place}_{edge}" for place in domain.names for edge in EDGES]
    writer.writerow(["name", *map(no_formula, [*edges, *extra])])
    for number, (name, box) in enumerate(zip(names, flat.tolist(), strict=True)):
        cells = [*box, *(values[number].item() for values in extra.values())]
        writer.writerow([no_formula(str(name)), *map(finite, cells)])
    return text.getvalue()


def _columns(header: list[str], domain: TripDomain, label: str) -> dict[int, list[str]]:
    """Columns of the four edges of every place that has them."""
    columns: dict[int, list[str]] = {}
    for column in header:
        word, _, edge = column.rpartition("_")
        if edge != EDGES[0] or not word:
            continue
        of_place = [f"{word}_{side}" for side in EDGES]
        if not set(of_place) <= set(header):
            raise InputError(f"{label} lacks some of {', '.join(of_place)}; give all four.")
        place = place_of(word, domain.names)
        if place in columns:
            raise InputError(f"{label} has boxes of {domain.names[place]} twice; give them once.")
        columns[place] = of_place
    if not columns:
        example = ",".join(f"{domain.names[0]}_{edge}" for edge in EDGES)
        raise InputError(
            f"{label} is no CSV with columns of places such as name,{example}; the places are "
            f"{', '.join(domain.names)}."
        )
    return columns


def _check(boxes: Floats, grid: Grid, label: str, names: Sequence[str]) -> None:
    """Refuse what is inside out, or degrees where metres are wanted; NaN is fine."""
    there = np.flatnonzero(~np.isnan(boxes[:, 0]))
    inside_out = there[np.any(boxes[there, :2] > boxes[there, 2:], axis=1)]
    if len(inside_out):
        raise InputError(
            f"The row {names[inside_out[0]]!r} in {label} is inside out; give west before east and "
            "south before north."
        )
    if len(there):
        refuse_degrees(boxes[there], grid, label)


def _has_shape(feature: Any) -> bool:
    geometry = feature["geometry"]
    return geometry is not None and geometry.get("coordinates") != []
