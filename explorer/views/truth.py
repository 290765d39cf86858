"""The true map of one viewport before it is coloured; its numbers are exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from explorer.views.heat import PointHeat
from explorer.views.raster import mean_per_cell
from explorer.views.viewport import Viewport

if TYPE_CHECKING:
    from explorer.grid.grid import Grid


#: Points are sparse enough to be drawn as dots if fewer pixels than this part hold one.
SPARSE = 0.05


@dataclass(frozen=True)
class Truth:
    """The true map of one viewport before colours: ``shown`` and its gridded counts ``cells``.

    Both (height, width) float32, points per cell. They differ when the points themselves are
    shown: a difference is always taken against the gridded counts, which the mechanism saw.
    """

    view: Viewport
    shown: NDArray[np.float32]
    cells: NDArray[np.float32]


def true_map(
    counts: NDArray[np.int64], grid: Grid, view: Viewport, heat: PointHeat | None = None
) -> Truth:
    """Resample exact ``counts`` (rows, cols) to ``view``; with ``heat`` show the points instead."""
    cells = mean_per_cell(counts, *view.cells(grid), view.height, view.width)
    if heat is None:
        return Truth(view, cells, cells)
    pixels = heat.render(view, grid.cell_width * grid.cell_height)
    return Truth(view, legible(pixels), cells)


def legible(points: NDArray[np.float32]) -> NDArray[np.float32]:
    """Points per cell, (height, width), with single points that a person can see.

    Where few pixels hold a point, each is a dot of three pixels in the colour of a cell that holds
    it alone: spread over the cells that a pixel covers it would be as good as black.
    """
    occupied = points > 0
    if not 0 < occupied.mean() < SPARSE:
        return points
    dots = np.pad(np.where(occupied, np.maximum(points, 1), np.float32(0)), 1)
    around: NDArray[np.float32] = sliding_window_view(dots, (3, 3)).max((2, 3))
    return around
