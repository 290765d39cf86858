"""The questions of a scenario: a box or polygon on a map, a row of boxes about trips."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import shapely
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.grid.places import MOST_PLACES
from explorer.queries.boxes import DECIMALS, NAME_LENGTH, example_rows, rounded
from explorer.queries.shapes import shape_of_text
from explorer.scenario import checks

#: No projected coordinate on the Earth is larger.
_FARTHEST = 1e8
#: The longest text of one polygon, in characters: some five thousand corners.
MOST_TEXT = 100_000
#: What a file says where a row has no box.
ANYWHERE = "anywhere"
_ANYWHERE = (math.nan,) * 4
_ROW = (
    "A row of the scenario has a box for each of two or more places: give west, south, east, "
    "north for each, or anywhere."
)


@dataclass(frozen=True)
class Box:
    """A named rectangle in the grid's unit (metres or cells), edges rounded to a thousandth.

    Raises
    ------
    InputError
        For edges that are not finite numbers or have no area, or a name above 40 characters.
    """

    west: float
    south: float
    east: float
    north: float
    name: str = ""

    def __post_init__(self) -> None:
        for side in ("west", "south", "east", "north"):
            edge = checks.number(getattr(self, side), _FARTHEST, f"{side}ern edge of a box")
            object.__setattr__(self, side, rounded(edge))
        if self.west >= self.east or self.south >= self.north:
            raise InputError(
                "A box of the scenario has no area: give west, south, east, north with west "
                "below east and south below north."
            )
        object.__setattr__(self, "name", checks.text(self.name, NAME_LENGTH, "name of a box"))

    @classmethod
    def read(cls, entry: Any) -> Self:
        """A box of a file: {"name": ..., "edges": [west, south, east, north]}, or the edges."""
        if isinstance(entry, cls):
            return entry
        edges, name = entry, ""
        if not isinstance(entry, list | tuple):
            parts = checks.entries(entry, ("name", "edges"), "box of a scenario")
            edges, name = parts.get("edges"), parts.get("name", "")
        if not isinstance(edges, list | tuple) or len(edges) != 4:
            raise InputError("A box of the scenario has four edges: west, south, east, north.")
        west, south, east, north = edges
        return cls(west, south, east, north, name)

    @property
    def edges(self) -> tuple[float, float, float, float]:
        """West, south, east, north."""
        return self.west, self.south, self.east, self.north

    def plain(self) -> dict[str, Any]:
        """For YAML and JSON; whole numbers without a point."""
        named = {"name": self.name} if self.name else {}
        return {**named, "edges": [int(e) if e.is_integer() else e for e in self.edges]}


@dataclass(frozen=True)
class Row:
    """A named question about trips: a box for every place in turn, None for anywhere.

    Parameters
    ----------
    boxes : sequence
        `Box`, its four edges, or None; in a file "anywhere" represents None.
    name : str

    Raises
    ------
    InputError
        For a box that is none, boxes for fewer places than two or more than 30, a row that
        asks about anywhere alone, or a name above 40 characters.

    Examples
    --------
    >>> Row([[0, 0, 500, 500], None], "From here").plain()
    {'name': 'From here', 'edges': [[0, 0, 500, 500], 'anywhere']}
    """

    boxes: Sequence[Any]
    name: str = ""

    def __post_init__(self) -> None:
        boxes = _places(self.boxes)
        if not any(boxes):
            raise InputError("A row of the scenario needs a box for one of its places at least.")
        object.__setattr__(self, "boxes", boxes)
        object.__setattr__(self, "name", checks.text(self.name, NAME_LENGTH, "name of a row"))

    @classmethod
    def read(cls, entry: Any) -> Self:
        """A row of a file: {"name": ..., "edges": [[west, ...], "anywhere"]}, or the edges."""
        if isinstance(entry, cls):
            return entry
        if isinstance(entry, list | tuple):
            return cls(tuple(entry))
        parts = checks.entries(entry, ("name", "edges"), "row of a scenario")
        return cls(parts.get("edges", ()), parts.get("name", ""))

    @property
    def edges(self) -> tuple[tuple[float, ...], ...]:
        """West, south, east, north of every place; four NaN for anywhere."""
        return tuple(_ANYWHERE if box is None else box.edges for box in self.boxes)

    def plain(self) -> dict[str, Any]:
        """For YAML and JSON; whole numbers without a point."""
        named = {"name": self.name} if self.name else {}
        edges = [ANYWHERE if box is None else box.plain()["edges"] for box in self.boxes]
        return {**named, "edges": edges}


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


def row_of(edges: NDArray[np.float64], name: str, shape: Any = None) -> Box | Polygon | Row:
    """A row of the table of a page: (4,) a box or its polygon, (k, 4) a row, NaN for anywhere."""
    if shape is not None:
        return Polygon.of(shape, name)
    if edges.ndim == 1:
        return Box.read({"name": name, "edges": edges.tolist()})
    return Row([None if np.isnan(box).all() else box.tolist() for box in edges], name)


def example_boxes(*grids: Grid) -> tuple[Box, ...] | tuple[Row, ...]:
    """The two boxes that a page begins with on its grid, or two rows on several."""
    rows = [(row, f"Q{n}") for n, row in enumerate(example_rows(grids), 1)]
    if len(grids) > 1:
        return tuple(Row(row, name) for row, name in rows)
    return tuple(Box.read({"name": name, "edges": box}) for (box,), name in rows)


def _places(places: Any) -> tuple[Box | None, ...]:
    if not isinstance(places, list | tuple) or not 2 <= len(places) <= MOST_PLACES:
        raise InputError(_ROW)
    return tuple(_place(place) for place in places)


def _place(place: Any) -> Box | None:
    if place is None or place == ANYWHERE:
        return None
    if isinstance(place, Box):
        return Box(*place.edges)
    if not isinstance(place, list | tuple) or len(place) != 4:
        raise InputError(_ROW)
    return Box(*place)
