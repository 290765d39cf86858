"""The boxes and polygons of one visitor: the only truth; table and maps are views of it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from explorer.app.kit.numbers import finite
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.grid.range_queries import Queries, range_queries
from explorer.queries.boxes import DECIMALS, MOST_BOXES, NAME_LENGTH, example_rows, rounded
from explorer.views.markup import safe_text
from explorer.views.viewport import Viewport

Floats = NDArray[np.float64]
Box = tuple[float, float, float, float]

#: Corners of all polygons on a page: what a browser draws and a server asks at once.
MOST_CORNERS = 200_000
#: A polygon of more corners has none that can be dragged: they would overlap.
MOST_HANDLES = 60
_POLYGONS = ("Polygon", "MultiPolygon")


def polygon_of(corners: Any) -> Any:
    """The polygon with these corners, (k, 2) from a browser; InputError for other things."""
    try:
        places = np.asarray(corners, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("A corner of a polygon is two numbers, x and y.") from error
    if places.ndim != 2 or places.shape[1] != 2 or not np.isfinite(places).all():
        raise InputError("A corner of a polygon is two numbers, x and y.")
    if not 3 <= len(places) <= MOST_CORNERS:
        raise InputError("A polygon has three corners at least: click three places.")
    return shapely.Polygon(places)


def kept(shape: Any, bounds: Box) -> Any:
    """A polygon as it is kept: valid, within ``bounds``, its corners rounded.

    Sides that cross each other make parts, as where a release is asked.

    Raises
    ------
    InputError
        For what is no polygon, has no area, too many corners, or is outside.
    """
    if getattr(shape, "geom_type", "") not in _POLYGONS or shape.is_empty:
        raise InputError("A question is a polygon: lines and points hold nothing.")
    corners = shapely.get_coordinates(shape)
    if not np.isfinite(corners).all():
        raise InputError("A polygon has a corner that is not a finite number; mend it.")
    if len(corners) > MOST_CORNERS:
        raise InputError(
            f"A polygon has {len(corners):,} corners, more than {MOST_CORNERS:,}: simplify it."
        )
    # Far beyond the map nothing is asked, and differences of such numbers lose all digits.
    shape = _valid(shapely.force_2d(shape))
    if not within(shape, bounds):
        shape = _flat(shapely.intersection(shape, shapely.box(*_rounded_inwards(bounds))))
        if shape.is_empty:
            raise InputError("This polygon lies outside the map: draw it within.")
    polygon = _valid(shapely.transform(shape, _rounded))
    if polygon.is_empty or polygon.area <= 0:
        raise InputError("This polygon has no area: draw one whose corners are not on one line.")
    # Of one part it is plain, so that its corners can be dragged.
    parts = shapely.get_parts(polygon)
    return parts[0] if len(parts) == 1 else polygon


def within(shape: Any, bounds: Box) -> bool:
    """Whether no part of a polygon is beyond ``bounds``."""
    x0, y0, x1, y1 = shape.bounds
    return bool(x0 >= bounds[0] and y0 >= bounds[1] and x1 <= bounds[2] and y1 <= bounds[3])


def _as_box(shape: Any) -> Box | None:
    """The edges of a polygon that is a rectangle along the axes; None for any other."""
    x0, y0, x1, y1 = shape.bounds
    if shape.geom_type != "Polygon" or len(shape.interiors):
        return None
    corners = shapely.get_coordinates(shape)
    on_edge = np.isin(corners[:, 0], (x0, x1)) & np.isin(corners[:, 1], (y0, y1))
    is_box = bool(on_edge.all()) and shape.area == (x1 - x0) * (y1 - y0)
    return (x0, y0, x1, y1) if is_box or shape.equals(shapely.box(x0, y0, x1, y1)) else None


def _moved(shape: Any, right: float, up: float, bounds: Box) -> Any:
    """A polygon elsewhere, whole: it stops at the edges of the map."""
    x0, y0, x1, y1 = shape.bounds
    right = float(np.clip(right, min(bounds[0] - x0, 0), max(bounds[2] - x1, 0)))
    up = float(np.clip(up, min(bounds[1] - y0, 0), max(bounds[3] - y1, 0)))
    return shapely.transform(shape, lambda places: places + np.array([right, up]))


def dragged(before: Any, corners: Any, bounds: Box) -> Any:
    """What a drag has made of a polygon.

    Parameters
    ----------
    before : the polygon at the start of the drag
    corners : of its outline now, as a browser sent them
    bounds : of the map

    Returns
    -------
    The polygon elsewhere where all of it was dragged; else one with these corners, and of one in
    parts or with holes nothing but the polygon itself.
    """
    start, now = outline(before), shapely.get_coordinates(polygon_of(corners))[:-1]
    if len(now) == len(start):
        by = now - start
        # As far as a browser's pixels go, all corners have moved alike.
        if np.ptp(by, axis=0).max() <= 1e-6 * max(bounds[2] - bounds[0], bounds[3] - bounds[1]):
            right, up = by.mean(axis=0).tolist()
            return _moved(before, right, up, bounds)
    return polygon_of(corners) if len(shape_handles(before)) else before


def shape_handles(shape: Any) -> Floats:
    """The corners of a polygon that can be dragged, (k, 2); none of one in parts or with holes."""
    simple = shape.geom_type == "Polygon" and not len(shape.interiors)
    corners: Floats = shapely.get_coordinates(shape)[:-1]
    return corners if simple and len(corners) <= MOST_HANDLES else np.zeros((0, 2))


def outline(shape: Any) -> Floats:
    """The corners of the largest part of a polygon, (k, 2): what a drag of all of it begins in."""
    largest = max(shapely.get_parts(shape), key=lambda part: part.area)
    corners: Floats = shapely.get_coordinates(largest.exterior)[:-1]
    return corners


def _rounded_inwards(bounds: Box) -> Box:
    """The edges of a map to a thousandth, none of them beyond it."""
    parts = 10**DECIMALS
    x0, y0 = (math.ceil(edge * parts) / parts for edge in bounds[:2])
    x1, y1 = (math.floor(edge * parts) / parts for edge in bounds[2:])
    return x0, y0, x1, y1


def _rounded(places: Floats) -> Floats:
    return np.round(places, DECIMALS) + 0.0


def _valid(shape: Any) -> Any:
    if shape.is_valid:
        return shape
    return _flat(shapely.make_valid(shape, method="structure", keep_collapsed=False))


def _flat(shape: Any) -> Any:
    """The polygons of what may be a collection."""
    if shape.geom_type in _POLYGONS:
        return shape
    parts = [part for part in shapely.get_parts(shape) if part.geom_type in _POLYGONS]
    return shapely.union_all(parts) if parts else shapely.Polygon()


_NUMBERED = re.compile(r"Q\d+")
EDGES = ("west", "south", "east", "north")
_ANYWHERE = np.full(4, np.nan)
#: What is said where a row has a box for each of several maps.
ONE_MAP = "A polygon is a question to one map, and a row here asks about several: draw boxes."


def was_dragged(box: Sequence[Any], view: Viewport) -> bool:
    """Whether a browser's rectangle (x0, y0, x1, y1) is one: a click without a drag is not."""
    if not all(isinstance(edge, int | float) for edge in box):
        return False
    try:
        x0, y0, x1, y1 = (finite(edge, "An edge") for edge in box)
    except InputError:
        return False
    return bool((x1 - x0) * view.pixels_per_x >= 3 and (y1 - y0) * view.pixels_per_y >= 3)


class Rectangles:
    """Named rectangles on a grid, in its unit (metres or cells), to a thousandth of it.

    Every change is checked and clipped to the grid; what cannot be used raises InputError and
    changes nothing. Edges are rounded here, so that a scenario, which keeps them rounded, gets the
    very same answers.

    A row may represent a polygon; its box is then the one around it.

    With several grids, one for each place, a row has a box for every place, and a place without
    one is not limited: there the row asks about anywhere.

    Parameters
    ----------
    *grids : Grid, at least one
    places : what the places are called in the table; needed where there are several
    """

    def __init__(self, *grids: Grid, places: Sequence[str] = ("",)) -> None:
        if len(grids) != len(places):
            raise ValueError("every grid of several needs the name of its place")
        self.grids, self.places = grids, tuple(places)
        self._rows = np.zeros((0, len(grids), 4))
        self._shapes: tuple[Any, ...] = ()
        self.names: list[str] = []
        self.selected: list[int] = []
        self.held = True

    def __len__(self) -> int:
        return len(self.names)

    @property
    def grid(self) -> Grid:
        """The grid; of several the first."""
        return self.grids[0]

    @grid.setter
    def grid(self, grid: Grid) -> None:
        self.grids = (grid, *self.grids[1:])

    @property
    def boxes(self) -> NDArray[np.float64]:
        """A copy of the rectangles, (n, 4) x0, y0, x1, y1; of k places (n, k, 4) with gaps NaN."""
        return self._rows[:, 0].copy() if len(self.grids) == 1 else self._rows.copy()

    @property
    def shapes(self) -> tuple[Any, ...]:
        """The polygon of each row, None for a box."""
        return self._shapes

    @property
    def queries(self) -> Queries:
        """What is asked: the boxes, and the polygons where there are some."""
        return range_queries(self.boxes, self._shapes)

    def reset(self, *grids: Grid, examples: bool = True) -> None:
        """Start anew on other grids, with two examples or without any box."""
        self.__init__(*grids, places=self.places)  # type: ignore[misc]
        for row in example_rows(grids) if examples else ():
            self.add_row(row)

    def replace(
        self, boxes: Sequence[Any], names: Sequence[str], shapes: Sequence[Any] = ()
    ) -> int:
        """Put rows in place of all others; returns how many of them are on the map."""
        self.__init__(*self.grids, places=self.places)  # type: ignore[misc]
        for box, name, shape in zip(boxes, names, shapes or [None] * len(names), strict=True):
            with suppress(InputError):
                self._add(box, name, shape)
        return len(self)

    def put(self, boxes: Any, names: Sequence[str], shapes: Sequence[Any] = ()) -> None:
        """Put rows, as `add_many` takes them, in place of all others; or leave all as they were."""
        before = self._rows, self._shapes, self.names, self.selected
        self._rows, self._shapes, self.names, self.selected = self._rows[:0], (), [], []
        try:
            self.add_many(boxes, names, shapes)
        except InputError:
            self._rows, self._shapes, self.names, self.selected = before
            raise

    def add_many(self, boxes: Any, names: Sequence[str], shapes: Sequence[Any] = ()) -> None:
        """Add all of (n, 4) or (n, k, 4) ``boxes`` or none of them.

        ``shapes`` are the polygons that some of them represent, None for a box.
        """
        before = self._rows, self._shapes, list(self.names)
        try:
            for box, name, shape in zip(boxes, names, shapes or [None] * len(names), strict=True):
                self._add(box, name, shape)
        except InputError:
            self._rows, self._shapes, self.names = before
            raise

    def add(self, box: Sequence[float], name: str = "", place: int = 0) -> int:
        """Add a rectangle (x0, y0, x1, y1), elsewhere anywhere; returns its row."""
        row: list[Sequence[float] | None] = [None] * len(self.grids)
        row[place] = box
        return self.add_row(row, name)

    def add_row(self, boxes: Sequence[Sequence[float] | None], name: str = "") -> int:
        """Add a row with a box for every place, None for anywhere; returns its number."""
        if all(box is None for box in boxes):
            raise InputError("A row needs a box on one map at least.")
        checked = [
            _ANYWHERE if box is None else self._checked(box, place)
            for place, box in enumerate(boxes)
        ]
        return self._append(checked, None, name)

    def add_shape(self, shape: Any, name: str = "") -> int:
        """Add a polygon of shapely in the unit of the grid; returns its row.

        A rectangle along the axes is a box.
        """
        polygon = self._checked_shape(shape)
        box = _as_box(polygon)
        if box is not None:
            return self.add(box, name)
        polygons = [shape for shape in (*self._shapes, polygon) if shape is not None]
        if sum(shapely.get_num_coordinates(polygons)) > MOST_CORNERS:
            raise InputError(
                f"The polygons have more than {MOST_CORNERS:,} corners together: "
                "simplify them, or take fewer."
            )
        return self._append([np.array(polygon.bounds)], polygon, name)

    def reshape(self, row: int, shape: Any) -> None:
        """Put another polygon in place of that of a row."""
        self._known(row)
        polygon = self._checked_shape(shape)
        self._put(row, 0, np.array(polygon.bounds))
        self._shapes = (*self._shapes[:row], polygon, *self._shapes[row + 1 :])

    def draw(self, box: Sequence[float], place: int = 0) -> int:
        """Take a dragged box: for the selected row where it has none here, else for a new row."""
        if self.fills(place):
            row = self.selected[0]
            self._put(row, place, self._checked(box, place))
            return row
        return self.add(box, place=place)

    def fills(self, place: int) -> bool:
        """Whether a box that is drawn now goes into the selected row, which has none there."""
        chosen = self.selected
        return len(chosen) == 1 and bool(np.isnan(self._rows[chosen[0], place]).all())

    def add_middle(self, view: Sequence[float], place: int = 0) -> int:
        """Add a rectangle in the middle of a view (x0, y0, x1, y1), a quarter of its sides."""
        x0, y0, x1, y1 = view
        cx, cy, w, h = (x0 + x1) / 2, (y0 + y1) / 2, (x1 - x0) / 8, (y1 - y0) / 8
        return self.add((cx - w, cy - h, cx + w, cy + h), place=place)

    def edit(self, row: int, edge: str, value: float, place: int = 0) -> None:
        """Move one edge ("west", "south", "east", "north") of a row to ``value``.

        Where the row had no box, the other three edges are those of the map.
        """
        self._known(row)
        if self._shapes[row] is not None:
            raise InputError(
                "The edges of a polygon are those of the box around it: drag the polygon or its "
                "corners on the map."
            )
        box = list(self._rows[row, place])
        if np.isnan(box).all():
            box = list(self.grids[place].bounds)
        box[EDGES.index(edge)] = value
        self._put(row, place, self._checked(box, place))

    def move(self, row: int, box: Sequence[float], place: int = 0) -> None:
        """Put another rectangle (x0, y0, x1, y1) in place of that of a row on one map.

        A polygon moves as a whole with the lower left corner of the box around it.
        """
        self._known(row)
        shape = self._shapes[row]
        if shape is not None:
            by = np.asarray(box[:2], dtype=np.float64) - self._rows[row, 0, :2]
            self.reshape(row, _moved(shape, by[0], by[1], self.grid.bounds))
            return
        self._put(row, place, self._checked(box, place))

    def at(self, x: float, y: float, place: int = 0) -> int | None:
        """The row whose box holds a place, the smallest if several do; None where none does."""
        x0, y0, x1, y1 = self._rows[:, place].T
        with np.errstate(invalid="ignore"):
            inside = (x0 <= x) & (x <= x1) & (y0 <= y) & (y <= y1)
        size = (x1 - x0) * (y1 - y0)
        for row in np.flatnonzero(inside):
            shape = self._shapes[row]
            if shape is not None:
                inside[row], size[row] = bool(shapely.intersects_xy(shape, x, y)), shape.area
        area = np.where(inside, size, np.inf)
        return int(np.argmin(area)) if inside.any() else None

    def clear(self, row: int, place: int) -> None:
        """Ask about anywhere on one of several maps; one of them must keep its box."""
        self._known(row)
        if np.isnan(np.delete(self._rows[row], place, axis=0)).all():
            raise InputError("A row needs a box on one map at least: delete the row instead.")
        self._put(row, place, _ANYWHERE)

    def rename(self, row: int, name: str) -> None:
        """Give a row another name."""
        self._known(row)
        self.names[row] = self._name(name, ignore=row)

    def remove(self, row: int) -> None:
        """Delete a row; the selection is cleared, since rows have moved."""
        self._known(row)
        self._rows = np.delete(self._rows, row, axis=0)
        self._shapes = self._shapes[:row] + self._shapes[row + 1 :]
        del self.names[row]
        self.selected = []

    def select(self, rows: Sequence[Any], *, held: bool = True) -> None:
        """Highlight rows; rows that do not exist are ignored.

        ``held`` says that a person chose them, so that they can be dragged; what a page is about
        by itself cannot be dragged, and a drag there draws.
        """
        self.held = held
        self.selected = [row for row in rows if isinstance(row, int) and 0 <= row < len(self)]

    def _known(self, row: int) -> None:
        if not 0 <= row < len(self):
            raise InputError("This row does not exist any more.")

    def _add(self, box: Any, name: str, shape: Any) -> int:
        if shape is not None:
            return self.add_shape(shape, name)
        row = [box]
        if len(self.grids) > 1:
            row = [None if np.isnan(edges).all() else edges for edges in np.asarray(box, float)]
        return self.add_row(row, name)

    def _append(self, boxes: Sequence[Any], shape: Any, name: str) -> int:
        if len(self) >= MOST_BOXES:
            raise InputError(
                f"There are {MOST_BOXES} boxes already: delete some before adding more."
            )
        self._rows = np.concatenate([self._rows, [boxes]])
        self._shapes = (*self._shapes, shape)
        self.names.append(self._name(name))
        return len(self) - 1

    def _checked_shape(self, shape: Any) -> Any:
        if len(self.grids) > 1:
            raise InputError(ONE_MAP)
        return kept(shape, self.grid.bounds)

    def _put(self, row: int, place: int, box: NDArray[np.float64]) -> None:
        # A new array: anyone who holds the old one keeps what it answered.
        self._rows = self._rows.copy()
        self._rows[row, place] = box

    def _name(self, name: str, ignore: int = -1) -> str:
        clean = safe_text(name, NAME_LENGTH)
        other_names = {other for i, other in enumerate(self.names) if i != ignore}
        # A file without names numbers its boxes from Q1, as this page does: number them on.
        if clean and not (clean in other_names and _NUMBERED.fullmatch(clean)):
            return clean
        return next(f"Q{k}" for k in range(1, MOST_BOXES + 2) if f"Q{k}" not in other_names)

    def _checked(self, box: Sequence[float], place: int) -> NDArray[np.float64]:
        try:
            west, south, east, north = box
        except (TypeError, ValueError) as error:
            raise InputError("A box has four edges: west, south, east, north.") from error
        x0, y0, x1, y1 = (
            rounded(finite(edge, "An edge of the box")) for edge in (west, south, east, north)
        )
        if x0 >= x1:
            raise InputError("West must be smaller than east: the box was left as it was.")
        if y0 >= y1:
            raise InputError("South must be smaller than north: the box was left as it was.")
        gx0, gy0, gx1, gy1 = _rounded_inwards(self.grids[place].bounds)
        clipped = (max(x0, gx0), max(y0, gy0), min(x1, gx1), min(y1, gy1))
        if clipped[0] >= clipped[2] or clipped[1] >= clipped[3]:
            raise InputError("This box lies outside the map: give edges within it.")
        return np.array(clipped)


@dataclass(frozen=True, eq=False)
class Chosen:
    """Some of the boxes.

    Attributes
    ----------
    names : of the boxes
    boxes : (n, 4) x0, y0, x1, y1 in grid units, or some of them polygons; of k places (n, k, 4)
        with gaps NaN
    sentence : which they are, where that is not all
    """

    names: tuple[str, ...]
    boxes: Queries
    sentence: str

    def __len__(self) -> int:
        return len(self.names)


def chosen(rectangles: Rectangles, limit: int) -> Chosen:
    """The selected boxes, all when none is selected, at most ``limit`` of them."""
    picked = sorted(rectangles.selected)
    rows = picked or list(range(len(rectangles)))
    kind = "selected boxes" if picked else "boxes"
    sentence = ""
    if not rows:
        sentence = "No box has been drawn: drag one on a map."
    elif len(rows) > limit:
        sentence = f"The first {limit} of {len(rows)} {kind}; select rows of the table for others."
    elif picked and len(rows) < len(rectangles):
        sentence = f"Only the {len(rows)} selected of {len(rectangles)} boxes."
    rows = rows[:limit]
    return Chosen(tuple(rectangles.names[row] for row in rows), rectangles.queries[rows], sentence)
