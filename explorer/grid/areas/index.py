"""Which area covers a place: a raster of labels, and GEOS in the cells that a border touches.

A cell that no edge touches is in the same areas everywhere, and so are cells next to each other:
one place answers for all of them. Places in the other cells are asked of the polygons themselves.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from explorer.grid.kept import kept
from explorer.grid.plane import edges_of

Floats = NDArray[np.float64]
Numbers = NDArray[np.int32]

#: Labels: no area, and a cell that a border touches.
NONE, BORDER = -1, -2
# Cells along a side of the raster: this times the root of the number of edges, in these bounds.
_FINENESS, _SIDES = 12.0, (64, 2048)
# An edge is marked at places so many cells apart, and so far around each of them.
_STEP, _AROUND = 0.5, 0.3
# So many of these places are worked out together, about 60 bytes each.
_TOGETHER = 2**19
_MOST_LONGITUDE = 1_000.0
# GEOS completes a prepared polygon when it is asked first, in one thread at a time.
_PREPARED = threading.Lock()


@dataclass(frozen=True, eq=False)
class AreaIndex:
    """The index of m areas.

    Attributes
    ----------
    geometry : (m,) valid polygons and multipolygons
    frame : (4,) west, south, and cells per unit of x and of y
    labels : (rows, cols) int32: an area, `NONE` or `BORDER`; beyond them there is no area
    """

    geometry: NDArray[Any]
    frame: Floats
    labels: Numbers

    @classmethod
    def of(cls, geometry: NDArray[Any], key: str) -> AreaIndex:
        """The index of polygons whose SHA-256 is ``key``, from its cache file if there is one."""
        worth = int(shapely.get_num_coordinates(geometry).sum())
        arrays = kept("index2", key, ("frame", "labels"), lambda: _built(geometry), worth)
        return cls(geometry, **arrays)

    def find(self, x: Floats, y: Floats, in_degrees: bool = False) -> Numbers:
        """The first area that covers each place, closed, and -1 for none.

        Parameters
        ----------
        x, y : (n,)
        in_degrees : whether x is a longitude, which another turn does not change
        """
        x = in_one_turn(x) if in_degrees else x
        west, south, across, along = self.frame
        rows, cols = self.labels.shape
        with np.errstate(invalid="ignore", over="ignore"):
            u, v = (x - west) * across, (y - south) * along
            inside = np.flatnonzero((u >= 0) & (u < cols) & (v >= 0) & (v < rows))
        covering = np.full(len(x), NONE, np.int32)
        cells = v[inside].astype(np.int64), u[inside].astype(np.int64)
        covering[inside] = self.labels[cells]
        near = np.flatnonzero(covering == BORDER)
        covering[near] = first_covering(self.geometry, x[near], y[near])
        return covering


def in_one_turn(lon: Floats) -> Floats:
    """Longitudes as -180 to 180; one that is already keeps every bit."""
    # Further away it is no longitude, and what is left of it after turning is rounding.
    other = (np.abs(lon) > 180.0) & (np.abs(lon) < _MOST_LONGITUDE)
    if not other.any():
        return lon
    turned = np.array(lon)
    turned[other] -= 360.0 * np.floor((lon[other] + 180.0) / 360.0)
    return turned


def first_covering(geometry: NDArray[Any], x: Floats, y: Floats) -> Numbers:
    """What GEOS says: the first polygon that covers each of (n,) places, closed; -1 for none."""
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    covering = np.full(len(x), NONE, np.int32)
    west, south, east, north = shapely.bounds(geometry).T
    first, behind = np.searchsorted(x, west), np.searchsorted(x, east, side="right")
    for number in np.flatnonzero(first < behind).tolist():
        part = slice(first[number], behind[number])
        open_ones = (y[part] >= south[number]) & (y[part] <= north[number])
        open_ones &= covering[part] == NONE
        at = first[number] + np.flatnonzero(open_ones)
        shape = geometry[number]
        with _PREPARED:
            shapely.prepare(shape)
            covering[at[shapely.intersects_xy(shape, x[at], y[at])]] = number
    in_order = np.empty_like(covering)
    in_order[order] = covering
    return in_order


def _built(geometry: NDArray[Any]) -> dict[str, NDArray[Any]]:
    from scipy import ndimage

    edges, _ = edges_of(geometry)
    side = int(np.clip(_FINENESS * np.sqrt(len(edges)), *_SIDES))
    low, high = edges[:, :2].min(axis=0), edges[:, :2].max(axis=0)
    # The outermost cells stay free of edges, so that what is beyond is known.
    steps = (side - 4) / (high - low)
    origin = low - 2.0 / steps
    free = ~_touched((edges.reshape(-1, 2, 2) - origin) * steps, side)
    parts, number = ndimage.label(free)
    cells = np.full(number + 1, -1)
    cells[parts.ravel()] = np.arange(side * side)
    places = np.stack([cells[1:] % side, cells[1:] // side], axis=1) + 0.5
    answers = first_covering(geometry, *(places / steps + origin).T)
    labels = np.concatenate([[BORDER], answers]).astype(np.int32)[parts]
    return {"frame": np.concatenate([origin, steps]), "labels": labels}


def _touched(edges: Floats, side: int) -> NDArray[np.bool_]:
    """Cells (side, side) that edges (k, 2, 2) touch, and a few next to them."""
    touched = np.zeros((side, side), dtype=np.bool_)
    begin, way = edges[:, 0], edges[:, 1] - edges[:, 0]
    pieces = np.maximum(np.ceil(np.abs(way).max(axis=1) / _STEP), 1).astype(np.int64)
    ends = np.cumsum(pieces + 1)
    first = 0
    while first < len(edges):
        # One edge at least: it has 4,097 places at most.
        already = ends[first - 1] if first else 0
        behind = max(int(np.searchsorted(ends, already + _TOGETHER, side="right")), first + 1)
        edge = np.repeat(np.arange(first, behind), pieces[first:behind] + 1)
        number = already + np.arange(len(edge)) - (ends[edge] - pieces[edge] - 1)
        col, row = (begin[edge] + way[edge] * (number / pieces[edge])[:, None]).T
        # No place of an edge is more than half a step away from one of these.
        for right in (-_AROUND, _AROUND):
            for up in (-_AROUND, _AROUND):
                touched[(row + up).astype(np.int64), (col + right).astype(np.int64)] = True
        first = behind
    return touched
