"""Polygons as questions to a grid: the cells that each meets, and the part of each inside it."""

from __future__ import annotations

import threading
import warnings
from collections import OrderedDict
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyproj
import shapely
from numba import njit
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.degrees import Metric, refuse_degrees
from explorer.grid.extent import as_rectangles
from explorer.grid.plane import in_one_world, on_plane
from explorer.grid.polygon_files import read_frame
from explorer.grid.projection import as_crs
from explorer.grid.stated_crs import crs_of_polygons, refuse_metres

# What rounding leaves of a share of 0 or 1.
_ROUNDED = 1e-9


def add_polygon(shape: Any, origin: Floats, steps: Floats, cells: Floats) -> None:
    """Write the shares of cells into zeros.

    Parameters
    ----------
    shape : valid polygon or multipolygon; what is beyond the lattice is cut off
    origin : x and y of the lower left corner
    steps : width and height of a cell
    cells : (rows, cols) zeros at first, then 0 to 1
    """
    rings, part = shapely.get_rings(shapely.get_parts(shape), return_index=True)
    is_hole = np.diff(part, prepend=-1) == 0
    places, ring = shapely.get_coordinates(rings, return_index=True)
    sign = np.where(shapely.is_ccw(rings) == is_hole, 1.0, -1.0)
    _add_rings((places - origin) / steps, ring, sign, cells)
    np.cumsum(cells, axis=1, out=cells)
    cells[cells < _ROUNDED] = 0.0
    cells[cells > 1 - _ROUNDED] = 1.0


@njit(cache=True, nogil=True)
def _add_rings(places, ring, sign, cells):  # type: ignore[no-untyped-def]
    """What edges add to the cells that they pass; sums along the rows are shares afterwards."""
    rows, cols = cells.shape
    for k in range(len(places) - 1):
        if ring[k] != ring[k + 1]:
            continue
        xa, ya, xb, yb = places[k, 0], places[k, 1], places[k + 1, 0], places[k + 1, 1]
        if ya == yb:
            continue
        weight = sign[ring[k]]
        if ya > yb:
            xa, ya, xb, yb, weight = xb, yb, xa, ya, -weight
        slope = (xb - xa) / (yb - ya)
        for row in range(max(int(ya), 0), min(int(yb), rows - 1) + 1):
            low, high = max(ya, row), min(yb, row + 1.0)
            if high <= low:
                continue
            one, other = xa + (low - ya) * slope, xa + (high - ya) * slope
            west, east = min(one, other), max(one, other)
            if west < 0.0:
                # To the left of all cells: it counts for the whole row.
                beyond = 1.0 if east <= 0.0 else -west / (east - west)
                cells[row, 0] += weight * (high - low) * beyond
            if east < 0.0 or west >= cols:
                continue
            first, last = max(int(west), 0), min(int(east), cols - 1)
            for col in range(first, last + 1):
                left, right = max(west, col), min(east, col + 1.0)
                part = high - low
                if east > west:
                    part *= max(right - left, 0.0) / (east - west)
                # Of this height, what is in this cell to the right of the edge.
                inside = col + 1.0 - 0.5 * (left + right)
                cells[row, col] += weight * part * inside
                if col + 1 < cols:
                    cells[row, col + 1] += weight * part * (1.0 - inside)


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_FLAT = (3, 6)
# Cells of polygons that are kept: 16 bytes each.
_MOST_KEPT = 3_000_000
_KEPT: OrderedDict[Any, tuple[Ints, Floats]] = OrderedDict()
_LOCK = threading.Lock()


#: The one way in which shapes are asked: cells on a border count by the area inside.
COVERAGE = "coverage"


def check_by(by: str) -> None:
    """Raise `InputError` for another way to ask shapes than by coverage."""
    if by != COVERAGE:
        raise InputError(
            f"Shapes are asked by={COVERAGE!r} alone, cells on their border by area; not {by!r}."
        )


class OutsideWarning(UserWarning):
    """Polygons beyond the edge of a map; which are is public, as its extent is."""


def warn_outside(outside: int, level: int) -> None:
    """Say how many polygons lie where nothing was counted: latitudes first is a common slip.

    ``level`` says how many calls above this one the line is that asked.
    """
    if outside:
        lie = "1 polygon lies" if outside == 1 else f"{outside:,} polygons lie"
        warnings.warn(
            f"{lie} outside the map, where nothing was counted: the answer there is 0.",
            OutsideWarning,
            stacklevel=level + 1,
        )


class Cells(Metric, Protocol):
    """What of a grid is needed here."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""


class Shapes:
    """Polygons that someone asks for.

    Attributes
    ----------
    geometry : (n,) shapely
    crs : of all of them, or None for the grid's own
    rows : the frame or series that they came in, whose index answers keep, or None
    """

    def __init__(self, geometry: NDArray[Any], crs: pyproj.CRS | None, rows: Any = None) -> None:
        self.geometry = geometry
        self.crs = crs
        self.rows = rows

    @classmethod
    def of(cls, query: Any, crs: Any = None) -> Shapes | None:
        """The shapes in a question; None for boxes in the unit of the domain.

        Parameters
        ----------
        query : a geometry, a sequence of them, a frame, a file, or anything else that a release
            can be asked for
        crs : of geometries that have none of their own or one that their corners contradict, and
            of rectangles (n, 4), west, south, east, north

        Raises
        ------
        InputError
            For a file that holds no polygons, an unknown CRS, or a CRS of what can have none.
        """
        if isinstance(query, Shapes):
            return query
        stated_crs = None if crs is None else as_crs(crs)
        if isinstance(query, shapely.Geometry):
            return cls(np.array([query], dtype=object), stated_crs)
        if isinstance(query, str | PathLike):
            query = read_frame(Path(fspath(query)), (), "polygons", optional=("name",))
        series = getattr(query, "geometry", None)
        if series is not None and hasattr(series, "crs"):
            geometry = np.asarray(series.array, dtype=object)
            if series.crs is None and stated_crs is None:
                return cls(geometry, None, query)
            return cls(geometry, crs_of_polygons(series.crs, stated_crs, geometry), query)
        # One look, so that a million rectangles are not turned over.
        flat = isinstance(query, list | tuple | np.ndarray) and np.ndim(query[:1]) == 1
        if flat and len(query) and all(map(_is_shape, query)):
            return cls(np.array(query, dtype=object), stated_crs)
        if stated_crs is None:
            return None
        if isinstance(query, Mapping) or np.ndim(query) > 2:
            raise InputError("A CRS is of rectangles (n, 4) or polygons on one map; leave it out.")
        boxes = as_rectangles(query, ordered=not stated_crs.is_geographic)
        return cls(shapely.box(*boxes.T), stated_crs)

    def __len__(self) -> int:
        return len(self.geometry)

    def on(self, grid: Cells) -> NDArray[Any]:
        """Valid polygons in the unit of a grid, (n,).

        Raises
        ------
        InputError
            For what is no polygon, has a corner that is no place on the grid's plane, or a CRS
            where the grid has none.
        """
        shapes = shapely.force_2d(self.geometry)
        for number, shape in enumerate(shapes):
            parts = [] if shape is None else shapely.get_parts(shape)
            if not len(parts) or shape.is_empty:
                raise InputError(f"Polygon {number + 1} is missing; leave that row out.")
            if not any(part.geom_type in ("Polygon", "MultiPolygon") for part in parts):
                raise InputError(
                    f"Row {number + 1} is a {shape.geom_type}; give polygons, or rectangles."
                )
        if not np.isfinite(shapely.get_coordinates(shapes)).all():
            raise InputError("A polygon has a corner that is not a finite number; mend it.")
        shapes = np.array([_flat_parts(shape) for shape in shapes], dtype=object)
        if self.crs is not None:
            if grid.crs is None:
                raise InputError(
                    "This grid is measured in cells; give polygons in cells, without a CRS."
                )
            refuse_metres(self.crs, *shapely.get_coordinates(shapes).T)
            if self.crs.is_projected and self.rows is not None:
                refuse_degrees(grid, shapely.bounds(shapes))
            if self.crs.is_geographic and not self.crs.equals(grid.crs):
                shapes, _ = in_one_world(shapes)
            shapes = _valid(shapes)
            if shapely.is_empty(shapes).any():
                number = int(np.argmax(shapely.is_empty(shapes))) + 1
                raise InputError(
                    f"Polygon {number} has no area, or lies where there is no place; leave it out."
                )
            return on_plane(shapes, self.crs, grid.crs)
        refuse_degrees(grid, shapely.bounds(shapes))
        return _valid(shapes)


def _is_shape(value: Any) -> bool:
    return value is None or isinstance(value, shapely.Geometry)


def pieces(grid: Cells, shape: Any) -> tuple[Ints, Floats]:
    """See `Grid.pieces`; the shape is a valid polygon in the grid's unit."""
    rows, cols = grid.shape
    steps = np.array([grid.cell_width, grid.cell_height])
    corner = np.array(grid.bounds[:2])
    low, high = (np.array(shape.bounds).reshape(2, 2) - corner) / steps
    first = np.clip(np.floor(low), 0, (cols, rows)).astype(np.int64)
    behind = np.clip(np.ceil(high), 0, (cols, rows)).astype(np.int64)
    if (behind <= first).any():
        return np.zeros((0, 2), dtype=np.int64), np.zeros(0)
    cells = np.zeros((behind - first)[::-1])
    add_polygon(shape, corner + first * steps, steps, cells)
    indices = np.argwhere(cells > 0)
    return indices + first[::-1], cells[indices[:, 0], indices[:, 1]]


def flat_pieces(grid: Cells, shape: Any) -> tuple[Ints, Floats]:
    """As `pieces`, with the cells' numbers row by row, (k,); arrays that no one may change.

    One polygon is asked of the truth, of a release and of its causes, and again after every
    setting: what was found last is kept, by the polygon and the grid.
    """
    key = grid.bounds, grid.shape, shape
    with _LOCK:
        cached = _KEPT.get(key)
        if cached is not None:
            _KEPT.move_to_end(key)
            return cached
    cells, parts = pieces(grid, shape)
    numbers = cells[:, 0] * grid.shape[1] + cells[:, 1]
    numbers.flags.writeable = parts.flags.writeable = False
    with _LOCK:
        _KEPT[key] = numbers, parts
        while (
            len(_KEPT) > 1
            and sum(len(cell_numbers) for cell_numbers, _ in _KEPT.values()) > _MOST_KEPT
        ):
            _KEPT.popitem(last=False)
    return numbers, parts


def _flat_parts(shape: Any) -> Any:
    """The polygons of a collection, whatever else it holds."""
    if shapely.get_type_id(shape) in _FLAT:
        return shapely.multipolygons(shapely.get_parts(shape))
    flat = [part for part in shapely.get_parts(shape) if shapely.get_type_id(part) in _FLAT]
    return shapely.multipolygons(shapely.get_parts(shapely.union_all(flat)))


def _valid(shapes: NDArray[Any]) -> NDArray[Any]:
    bad = ~shapely.is_valid(shapes)
    if bad.any():
        shapes = shapes.copy()
        shapes[bad] = shapely.make_valid(shapes[bad], method="structure", keep_collapsed=False)
    return shapes
