"""Which part of each cell of a lattice is in a polygon.

Exact, and as cheap as the polygon's edges: an edge is cut where it leaves a cell, and what is
between it and the right side of its cell is a trapezoid. (GEOS, asked cell by cell, needs forty
times as long.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import shapely
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]

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
