"""The polygons of a scenario, as text in the standard form (WKT)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import shapely

from explorer.errors import InputError
from explorer.queries.boxes import DECIMALS, NAME_LENGTH
from explorer.queries.shapes import shape_of_text
from explorer.scenario import checks

#: The longest text of one polygon, in characters: some five thousand corners.
MOST_TEXT = 100_000
#: No projected coordinate on the Earth is larger.
_FARTHEST = 1e8


@dataclass(frozen=True)
class Polygon:
    """A named polygon in the grid's unit (metres or cells), corners rounded to a thousandth.

    Parameters
    ----------
    wkt : str
        POLYGON or MULTIPOLYGON as well-known text.
    name : str

    Raises
    ------
    InputError
        For a text that is no polygon, too long, or without area, or a name above 40 characters.

    Examples
    --------
    >>> Polygon("POLYGON ((0 0, 5 0, 0 5.00049, 0 0))", "Corner").plain()
    {'name': 'Corner', 'polygon': 'POLYGON ((0 0, 5 0, 0 5, 0 0))'}
    """

    wkt: str
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "wkt", _clean(self.wkt))
        object.__setattr__(self, "name", checks.text(self.name, NAME_LENGTH, "name of a polygon"))

    @classmethod
    def of(cls, shape: Any, name: str = "") -> Self:
        """A polygon of shapely."""
        return cls(shapely.to_wkt(shape, rounding_precision=DECIMALS), name)

    @classmethod
    def read(cls, entry: Any) -> Self:
        """A polygon of a file: {"name": ..., "polygon": "POLYGON ((...))"}."""
        if isinstance(entry, cls):
            return entry
        parts = checks.entries(entry, ("name", "polygon"), "polygon of a scenario")
        return cls(parts["polygon"], parts.get("name", ""))

    @cached_property
    def shape(self) -> Any:
        """As a geometry of shapely."""
        return shape_of_text(self.wkt)

    @property
    def edges(self) -> tuple[float, float, float, float]:
        """West, south, east, north of the box around it."""
        x0, y0, x1, y1 = self.shape.bounds
        return x0, y0, x1, y1

    def plain(self) -> dict[str, Any]:
        """For YAML and JSON."""
        named = {"name": self.name} if self.name else {}
        return {**named, "polygon": self.wkt}


def is_polygon(entry: Any) -> bool:
    """Whether an entry of a file's boxes is a polygon."""
    return isinstance(entry, Polygon) or (isinstance(entry, Mapping) and "polygon" in entry)


def _clean(text: Any) -> str:
    if not isinstance(text, str):
        raise InputError("A polygon of the scenario is no text: give POLYGON ((x y, x y, ...)).")
    if len(text) > MOST_TEXT:
        raise InputError(
            f"A polygon of the scenario has more than {MOST_TEXT:,} characters: simplify it, or "
            "save the boxes as GeoJSON."
        )
    try:
        shape = shapely.force_2d(shape_of_text(text))
    except ValueError as error:
        raise InputError(
            "A polygon of the scenario cannot be read: give POLYGON ((x y, x y, ...))."
        ) from error
    corners = shapely.get_coordinates(shape)
    sound = shape.geom_type in ("Polygon", "MultiPolygon") and shape.area > 0
    if not sound or not np.isfinite(corners).all() or np.abs(corners).max() > _FARTHEST:
        raise InputError("A polygon of the scenario has no area, or corners that are no numbers.")
    return str(shapely.to_wkt(shape, rounding_precision=DECIMALS))
