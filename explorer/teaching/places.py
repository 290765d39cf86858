"""Places on any map: boxes and points as parts of its width and height, snapped to whole cells.

A lesson must fit every city, so it says 0 to 1 from west to east and from south to north.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.points.truth import exact

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Box = tuple[float, float, float, float]


def cells_of(box: Sequence[float], grid: Grid) -> Ints:
    """Whole cells of a box in parts of the map, (2, 2) lower and upper; one cell or more.

    >>> cells_of((0.26, 0.0, 0.49, 0.01), Grid.cells((8, 8))).tolist()
    [[0, 2], [1, 4]]
    """
    rows, cols = grid.shape
    col0, col1 = _span(box[0], box[2], cols)
    row0, row1 = _span(box[1], box[3], rows)
    return np.array([[row0, col0], [row1, col1]], dtype=np.int64)


def on_map(box: Sequence[float], grid: Grid) -> Floats:
    """The same whole cells as x0, y0, x1, y1 in the grid's unit, (4,)."""
    return grid.from_cells(cells_of(box, grid)[None])[0]


def people_in(matrix: FrequencyMatrix, box: Sequence[float]) -> float:
    """Exact count of the same whole cells."""
    return float(exact(matrix, [on_map(box, matrix.grid)])[0])


def cell_of(place: Sequence[float], grid: Grid) -> tuple[int, int]:
    """Row and column of a place in parts of the map; the far edges belong to the last cell.

    >>> cell_of((1.0, 0.5), Grid.cells((8, 4)))
    (4, 3)
    """
    rows, cols = grid.shape
    return min(int(place[1] * rows), rows - 1), min(int(place[0] * cols), cols - 1)


def part_of(x: float, y: float, grid: Grid) -> tuple[float, float]:
    """A coordinate of the grid in parts of the map, held inside it."""
    x0, y0, _, _ = grid.bounds
    along, up = (x - x0) / grid.width, (y - y0) / grid.height
    return min(max(along, 0.0), 1.0), min(max(up, 0.0), 1.0)


def _span(low: float, high: float, cells: int) -> tuple[int, int]:
    # Rounding to the nearest edge keeps what a person drew as near as whole cells can.
    first = min(int(np.rint(low * cells)), cells - 1)
    return first, min(max(int(np.rint(high * cells)), first + 1), cells)
