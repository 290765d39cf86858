"""A heatmap of the points themselves, aggregated anew by datashader at every zoom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from explorer.views.viewport import Viewport

if TYPE_CHECKING:
    from explorer.grid.grid import Grid

# Tiles to a side: a zoomed view reads only the tiles it touches, not eleven million points.
TILES = 64


class PointHeat:
    """Points of a grid, projected once and kept in the order of 64 x 64 tiles.

    Curator's screen only: every pixel is an exact count.

    Parameters
    ----------
    x, y : (n,) float32
        Coordinates in the grid's CRS, inside the grid (`points_inside`).
    weight : (n,) float32 or None
        How many records a point stands for; None means one each.
    grid : Grid
        Its CRS is the one of the map.
    """

    def __init__(
        self,
        x: NDArray[np.float32],
        y: NDArray[np.float32],
        weight: NDArray[np.float32] | None,
        grid: Grid,
    ) -> None:
        self.grid = grid
        west, south = grid.bounds[:2]
        col = np.minimum(((x - west) * (TILES / grid.width)).astype(np.uint16), TILES - 1)
        row = np.minimum(((y - south) * (TILES / grid.height)).astype(np.uint16), TILES - 1)
        tile = row * np.uint16(TILES) + col
        order = np.argsort(tile, kind="stable")
        self._x, self._y = x[order], y[order]
        self._weight = None if weight is None else weight[order]
        self._start = np.searchsorted(tile[order], np.arange(TILES * TILES + 1))

    def __len__(self) -> int:
        return len(self._x)

    def render(self, view: Viewport, cell_area: float) -> NDArray[np.float32]:
        """Points per cell under each pixel of ``view`` -> (height, width) float32, row 0 south.

        A pixel's count divided by its area in cells of ``cell_area`` square units: the same unit
        as the gridded maps, so one colour scale serves both.
        """
        import datashader as ds

        frame = self._frame(view)
        canvas = ds.Canvas(
            plot_width=view.width,
            plot_height=view.height,
            x_range=(view.x0, view.x1),
            y_range=(view.y0, view.y1),
        )
        agg = ds.count() if self._weight is None else ds.sum("w")
        counted = canvas.points(frame, "x", "y", agg=agg).to_numpy()
        cells = 1 / (view.pixels_per_x * view.pixels_per_y * cell_area)
        density: NDArray[np.float32] = np.nan_to_num(counted.astype(np.float32)) / np.float32(cells)
        return density

    def _frame(self, view: Viewport) -> pd.DataFrame:
        """The points of the tiles that ``view`` touches; whole rows of tiles are contiguous."""
        west, south = self.grid.bounds[:2]
        col0, col1 = _tiles(view.x0 - west, view.x1 - west, self.grid.width)
        row0, row1 = _tiles(view.y0 - south, view.y1 - south, self.grid.height)
        if (col0, row0, col1, row1) == (0, 0, TILES - 1, TILES - 1):
            parts = [slice(None)]
        else:
            parts = [
                slice(self._start[row * TILES + col0], self._start[row * TILES + col1 + 1])
                for row in range(row0, row1 + 1)
            ]
        columns = {"x": self._x, "y": self._y}
        if self._weight is not None:
            columns["w"] = self._weight
        if len(parts) == 1:
            return pd.DataFrame({k: v[parts[0]] for k, v in columns.items()}, copy=False)
        return pd.DataFrame({k: np.concatenate([v[p] for p in parts]) for k, v in columns.items()})


def _tiles(start: float, stop: float, extent: float) -> tuple[int, int]:
    """First and last tile that the stretch ``start`` to ``stop`` touches."""
    first = int(np.clip(start / extent * TILES, 0, TILES - 1))
    last = int(np.clip(stop / extent * TILES, first, TILES - 1))
    return first, last
