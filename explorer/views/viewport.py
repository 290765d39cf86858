"""What part of a grid is on screen, and on how many pixels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from explorer.grid.grid import Grid

# Wider pictures cost bandwidth and cannot be distinguished on a projector.
MAX_PIXELS = 1200
MIN_PIXELS = 16


@dataclass(frozen=True)
class Viewport:
    """A rectangle of the map in grid units (metres or cells) and its size in pixels.

    Parameters
    ----------
    x0, y0, x1, y1 : west, south, east, north edge in grid units; may reach beyond the grid.
    width, height : pixels, clipped to 16..1200 by `Viewport.of`.
    """

    x0: float
    y0: float
    x1: float
    y1: float
    width: int
    height: int

    @classmethod
    def of(
        cls, bounds: tuple[float, float, float, float], width: float, height: float, grid: Grid
    ) -> Viewport:
        """A viewport from numbers a browser sent: whatever is unusable falls back to the grid.

        A range that is not finite, is empty, or is beyond ten times the grid shows the whole
        grid; the narrowest view is a hundredth of a cell.
        """
        gx0, gy0, gx1, gy1 = grid.bounds
        x0, y0, x1, y1 = bounds
        inside = (
            all(map(math.isfinite, bounds))
            and x1 - x0 > grid.cell_width / 100
            and y1 - y0 > grid.cell_height / 100
            and x1 - x0 < 10 * grid.width
            and y1 - y0 < 10 * grid.height
            and x0 < gx1
            and x1 > gx0
            and y0 < gy1
            and y1 > gy0
        )
        if not inside:
            x0, y0, x1, y1 = grid.bounds
        return cls(x0, y0, x1, y1, _pixels(width), _pixels(height))

    @classmethod
    def whole(cls, grid: Grid, width: int = 560) -> Viewport:
        """The whole grid, ``width`` pixels wide, in its own proportions."""
        return cls(*grid.bounds, _pixels(width), _pixels(width * grid.height / grid.width))

    def cells(self, grid: Grid) -> tuple[float, float, float, float]:
        """The view as col0, row0, col1, row1 (floats) for the kernels of `raster`."""
        west, south = grid.bounds[:2]
        return (
            (self.x0 - west) / grid.cell_width,
            (self.y0 - south) / grid.cell_height,
            (self.x1 - west) / grid.cell_width,
            (self.y1 - south) / grid.cell_height,
        )

    @property
    def pixels_per_x(self) -> float:
        """Pixels for one grid unit from west to east."""
        return self.width / (self.x1 - self.x0)

    @property
    def pixels_per_y(self) -> float:
        """Pixels for one grid unit from south to north."""
        return self.height / (self.y1 - self.y0)


def _pixels(number: float) -> int:
    if not math.isfinite(number):
        return 560
    return int(min(max(number, MIN_PIXELS), MAX_PIXELS))
