"""Workloads: the fixed sets of questions on which mechanisms are compared.

    random            rectangles with uniform centre, height and width (htf-2022, section 7.1)
    sq2, sq6, sq10    squares of 2, 6 and 10 % of the area, uniform inside the map (ditto)
    q1 ... q6         boxes of the map's own form, sides doubling up to half of it (grids-2013, V-A)
    cells             every cell once: what the map itself is off by
    total             the whole map

"htf" represents the first four, "ag" for q1 to q6. A name and a seed give the same boxes every
time, whatever else is asked for. On trips, of any number of axes, they are others:

    random              per axis two different edges, uniform ("random shape and size", trips-2022)
    cov1, cov5, cov10   cubes of 1, 5, 10 % of every side, uniform inside; of 4 axes mostly empty
    near10, near25      cubes of 10, 25 % of every side around a random trip: the curator's alone
    place               a random box on one place, anywhere elsewhere
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.grid.pieces import Shapes
from explorer.grid.range_queries import RangeQueries

RANDOM_QUERIES = 2000  # htf-2022, for rectangles and squares alike
AG_QUERIES = 200  # grids-2013, for each size
SEED = 20130408

SQUARES = {"sq2": 0.02, "sq6": 0.06, "sq10": 0.10}
AG_SIZES = tuple(f"q{i}" for i in range(1, 7))
GROUPS = {"htf": ("random", *SQUARES), "ag": AG_SIZES}
NAMES = ("random", *SQUARES, *AG_SIZES, "cells", "total")
TRIP_QUERIES = 1000  # trips-2022, section 6.1
TRIP_NAMES = ("random", "cov1", "cov5", "cov10", "near10", "near25", "place")


@dataclass(frozen=True, eq=False)
class Workload:
    """A named set of n boxes, some of which may represent a polygon inside them.

    Attributes
    ----------
    name : str
    boxes : (n, 2, d) lower and upper
        In cells, half open; whole numbers in the papers' workloads, fractions allowed.
    truth : (n,) true answers, optional
        For when they do not come from the matrix that is released, such as a coarser one.
    shapes : n polygons of shapely, None for a box; empty where all are boxes
        In cells, x along columns and y along rows. They are asked by area, as everywhere.
    """

    name: str
    boxes: NDArray[Any]
    truth: NDArray[np.float64] | None = field(default=None, repr=False)
    shapes: tuple[Any, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if self.boxes.ndim != 3 or self.boxes.shape[1] != 2 or len(self.boxes) == 0:
            raise InputError(
                f"The workload {self.name!r} has boxes of shape {self.boxes.shape}: give at least "
                "one box of cells, (n, 2, 2): lower and upper edge, row before column."
            )
        if len(self.shapes) not in (0, len(self.boxes)):
            raise InputError(
                f"The workload {self.name!r} has {len(self.boxes):,} boxes and "
                f"{len(self.shapes):,} shapes: give each box its polygon or None, or leave the "
                "shapes out."
            )

    @classmethod
    def of(cls, name: str, where: Any, grid: Grid, *, crs: Any = None) -> Workload:
        """A workload of one's own questions on a grid.

        Parameters
        ----------
        name : str
        where : (n, 4) array, polygons, frame, path or `RangeQueries`
            x0, y0, x1, y1 in the grid's unit, or shapes as of `Release.answer`.
        grid : Grid
        crs : of numbers and geometries that have none of their own, as of `Release.answer`

        Raises
        ------
        InputError
            For bad rectangles, shapes that are no polygons, and for one that is wholly outside
            the grid: its answer is 0, whatever the mechanism.

        Examples
        --------
        >>> from shapely import Polygon
        >>> one = Workload.of("mine", Polygon([(0, 0), (2, 0), (0, 2)]), Grid.cells((4, 4)))
        >>> one.boxes.tolist(), [each.area for each in one.shapes]
        ([[[0.0, 0.0], [2.0, 2.0]]], [2.0])
        """
        edges, polygons = _questions(where, grid, crs)
        cells = grid.to_cells(edges)
        outside = np.flatnonzero(~inside(cells, grid.shape))
        if len(outside):
            raise InputError(
                f"Box {outside[0] + 1} of the workload {name!r} lies outside the grid, which goes "
                f"from {grid.bounds[0]:g}, {grid.bounds[1]:g} to {grid.bounds[2]:g}, "
                f"{grid.bounds[3]:g} {grid.unit}: leave it out, or give it in the grid's unit."
            )
        if not any(polygon is not None for polygon in polygons):
            return cls(name, cells)
        return cls(name, cells, shapes=tuple(_in_cells(polygon, grid) for polygon in polygons))

    def __len__(self) -> int:
        return len(self.boxes)

    def polygons(self) -> list[tuple[int, Any]]:
        """Rows that are polygons, each with its polygon in cells."""
        return [(row, shape) for row, shape in enumerate(self.shapes) if shape is not None]

    @cached_property
    def key(self) -> str:
        """SHA-256 of name and questions: tells whether a run has answered these."""
        digest = hashlib.sha256(self.name.encode())
        # Columns first, as ever: a store keeps what has been done under this key.
        columns_first = self.boxes[:, :, ::-1]
        digest.update(np.ascontiguousarray(columns_first, dtype="<f8").tobytes())
        if self.truth is not None:
            digest.update(np.ascontiguousarray(self.truth, dtype="<f8").tobytes())
        for row, shape in self.polygons():
            digest.update(row.to_bytes(8, "little") + shapely.to_wkb(shape, byte_order=1))
        return digest.hexdigest()


def _questions(where: Any, grid: Grid, crs: Any) -> tuple[Any, Any]:
    """Edges (n, 4) of questions in the grid's unit, and n valid polygons, None for a box."""
    if not isinstance(where, RangeQueries):
        shapes = Shapes.of(where, crs)
        if shapes is None:
            return where, ()
        polygons = shapes.on(grid)
        return shapely.bounds(polygons), polygons
    edges, polygons = where.boxes.copy(), np.full(len(where), None, dtype=object)
    for rows, part in where.parts():
        if isinstance(part, Shapes):
            polygons[rows] = part.on(grid)
            edges[rows] = shapely.bounds(polygons[rows])
    return edges, polygons


def _in_cells(polygon: Any, grid: Grid) -> Any:
    """A polygon with x in columns and y in rows of a grid; None stays."""
    corner, steps = grid.bounds[:2], (grid.cell_width, grid.cell_height)
    return None if polygon is None else shapely.transform(polygon, lambda at: (at - corner) / steps)


def inside(boxes: NDArray[Any], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which boxes of cells (n, 2, d) have a part on a domain, (n,).

    >>> inside(np.array([[[0, 0], [2, 2]], [[4, 0], [5, 2]]]), (4, 4)).tolist()
    [True, False]
    """
    return np.asarray(((boxes[:, 1] > 0) & (boxes[:, 0] < shape)).all(axis=1))


def workload(name: str, shape: tuple[int, int], n: int | None = None, seed: int = SEED) -> Workload:
    """One workload by name.

    Parameters
    ----------
    name : one of `NAMES`
    shape : (rows, columns) of the grid
    n : number of boxes, by default the paper's; "cells" and "total" have their own
    seed : of the boxes

    Raises
    ------
    InputError
        For another name.
    """
    if name not in NAMES:
        names = ", ".join((*GROUPS, *NAMES))
        raise InputError(f"There is no workload {name!r}: choose some of {names}.")
    rng = np.random.default_rng([seed, NAMES.index(name)])
    rows, cols = shape
    if name == "random":
        return Workload(name, random_rectangles(shape, n or RANDOM_QUERIES, rng))
    if name in SQUARES:
        side = max(1, round(np.sqrt(SQUARES[name] * rows * cols)))
        # On a long, narrow map the square would stick out: it is cut to the map's width.
        extent = min(side, rows), min(side, cols)
        return Workload(name, _placed(shape, extent, n or RANDOM_QUERIES, rng))
    if name in AG_SIZES:
        part = 2.0 ** (AG_SIZES.index(name) - len(AG_SIZES))
        extent = max(1, round(rows * part)), max(1, round(cols * part))
        return Workload(name, _placed(shape, extent, n or AG_QUERIES, rng))
    if name == "cells":
        row, col = (axis.ravel() for axis in np.indices(shape))
        cells = np.stack([row, col], axis=1)
        return Workload(name, np.stack([cells, cells + 1], axis=1))
    return Workload(name, np.array([[[0, 0], [rows, cols]]], dtype=np.int64))


def workloads(
    names: str | Iterable[str], shape: tuple[int, int], n: int | None = None, seed: int = SEED
) -> list[Workload]:
    """Workloads by their names and those of groups, each once, in the order asked for."""
    listed = [names] if isinstance(names, str) else names
    expanded = [name for entry in listed for name in GROUPS.get(entry, (entry,))]
    return [workload(name, shape, n, seed) for name in dict.fromkeys(expanded)]


def trip_workload(
    name: str,
    shape: Sequence[int],
    cells: NDArray[np.int64] | None = None,
    multiplicities: NDArray[np.int64] | None = None,
    n: int = TRIP_QUERIES,
    seed: int = 0,
) -> Workload:
    """One workload on trips by name; of boxes (n, 2, d) of whole cells.

    Parameters
    ----------
    name : one of `TRIP_NAMES`
    shape : d sides in cells, two for each place; of an odd number the last place has one
    cells, multiplicities : (m, d) and (m,) of occupied cells, for "near10" and "near25" alone
    n : number of boxes
    seed : of the boxes

    Raises
    ------
    InputError
        For another name, or boxes near trips where there are none.
    """
    if name not in TRIP_NAMES:
        raise InputError(f"There is no workload {name!r}: choose some of {', '.join(TRIP_NAMES)}.")
    rng = np.random.default_rng([seed, TRIP_NAMES.index(name)])
    sides = np.asarray(shape, dtype=np.int64)
    d = len(sides)
    if name in ("random", "place"):
        # Drawn and not used: the boxes of the reference figures come after these.
        rng.integers(0, np.broadcast_to(sides + 1, (8, n, d)))
        rng.integers(0, np.broadcast_to(sides, (n, d)))
        one = rng.integers(0, np.broadcast_to(sides + 1, (n, d)))
        other = rng.integers(0, np.broadcast_to(sides, (n, d)))
        other = other + (other >= one)
        lower, upper = np.minimum(one, other), np.maximum(one, other)
        if name == "place":
            places = max(1, d // 2)
            chosen = rng.integers(0, places, n)
            # A last axis without a partner belongs to the last place.
            of_axis = np.minimum(np.arange(d) // 2, places - 1)
            elsewhere = chosen[:, None] != of_axis
            lower, upper = np.where(elsewhere, 0, lower), np.where(elsewhere, sides, upper)
        return Workload(name, np.stack([lower, upper], axis=1))
    part = float(name.removeprefix("cov").removeprefix("near")) / 100
    extent = np.maximum(1, np.rint(part * sides)).astype(np.int64)
    if name.startswith("cov"):
        lower = rng.integers(0, np.broadcast_to(sides - extent + 1, (n, d)))
    elif cells is None or multiplicities is None or not len(cells):
        raise InputError(f"Boxes of {name!r} lie around trips, and there are none.")
    else:
        at = rng.choice(len(cells), n, p=multiplicities / multiplicities.sum())
        lower = np.clip(cells[at] - extent // 2, 0, sides - extent)
    return Workload(name, np.stack([lower, lower + extent], axis=1).astype(np.int64))


def _placed(
    shape: tuple[int, int], extent: tuple[int, int], n: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Boxes (n, 2, 2) of `extent` (rows, columns), each place inside the map equally likely."""
    row = rng.integers(0, shape[0] - extent[0] + 1, n)
    col = rng.integers(0, shape[1] - extent[1] + 1, n)
    lower = np.stack([row, col], axis=1)
    return np.stack([lower, lower + extent], axis=1)


def random_rectangles(
    shape: tuple[int, int], n: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The HTF workload: centre cell uniform, height and width uniform, clipped to the grid.

    Returns
    -------
    (n, 2, 2) int64 lower and upper, half open, in cells, row first
    """
    boxes = np.empty((n, 2, len(shape)), dtype=np.int64)
    for axis, cells in enumerate(shape):
        centre = rng.integers(0, cells, n)
        extent = rng.integers(1, cells + 1, n)
        start = centre - extent // 2
        boxes[:, 0, axis] = np.clip(start, 0, cells)
        boxes[:, 1, axis] = np.clip(start + extent, 0, cells)
    return boxes
