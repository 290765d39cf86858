"""A heatmap of the points themselves, aggregated anew by datashader at every zoom."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.views.raster import points_per_pixel
from explorer.views.viewport import Viewport

if TYPE_CHECKING:
    from explorer.grid.grid import Grid

# Tiles to a side: a zoomed view reads only the tiles it touches, not eleven million points.
TILES = 64
_datashader_loaded = threading.Event()
_datashader_comes = threading.Event()


class PointHeat:
    """Records where they were counted, sorted by 64 x 64 tiles.

    Curator's screen only: every pixel is an exact count.

    Parameters
    ----------
    column, row : (n,) float32
        Places in cells of ``grid``.
    records : (n,) float32 or None
        How many records are at a place; None means one each.
    grid : Grid
        What they were counted on. They may be shown next to counts on other cells of its extent.
    """

    def __init__(
        self,
        column: NDArray[np.float32],
        row: NDArray[np.float32],
        records: NDArray[np.float32] | None,
        grid: Grid,
    ) -> None:
        self.grid = grid
        rows, cols = grid.shape
        tile = _tile(row, rows) * np.uint16(TILES) + _tile(column, cols)
        order = np.argsort(tile, kind="stable")
        self._column, self._row = column[order], row[order]
        self._records = np.zeros(0, np.float32) if records is None else records[order]
        self._start = np.searchsorted(tile[order], np.arange(TILES * TILES + 1))

    def __len__(self) -> int:
        return len(self._column)

    def render(self, view: Viewport, cell_area: float) -> NDArray[np.float32]:
        """Points per cell under each pixel of ``view`` -> (height, width) float32, row 0 south.

        A pixel's count divided by its area in cells of ``cell_area`` square units: the same unit
        as the gridded maps, so one colour scale serves both.
        """
        extent = view.cells(self.grid)
        points = self.seen(view)
        whole = len(points[0]) == len(self)
        # The same counts from both. datashader compiles anew in each process, 1.8 s of CPU: the
        # first picture of a map does not wait for it, and none where it is on its way.
        waits = not _datashader_loaded.is_set() and (whole or _datashader_comes.is_set())
        count = points_per_pixel if waits else _by_datashader
        counted = count(*points, *extent, view.height, view.width)
        cells = 1 / (view.pixels_per_x * view.pixels_per_y * cell_area)
        density: NDArray[np.float32] = counted.astype(np.float32) / np.float32(cells)
        return density

    def seen(
        self, view: Viewport
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
        """Columns, rows and records of the tiles that ``view`` touches; no records mean one each.

        Whole rows of tiles are contiguous.
        """
        rows, cols = self.grid.shape
        left, bottom, right, top = view.cells(self.grid)
        col0, col1 = _tiles(left, right, cols)
        row0, row1 = _tiles(bottom, top, rows)
        arrays = self._column, self._row, self._records
        if (col0, row0, col1, row1) == (0, 0, TILES - 1, TILES - 1):
            return arrays
        parts = [
            slice(self._start[row * TILES + col0], self._start[row * TILES + col1 + 1])
            for row in range(row0, row1 + 1)
        ]
        column, row, records = (np.concatenate([array[part] for part in parts]) for array in arrays)
        return column, row, records


def load_datashader() -> None:
    """Import datashader and compile what counts points, 1.8 s of CPU once in a process."""
    if not _datashader_loaded.is_set():
        place = np.zeros(1, np.float32)
        for records in (place[:0], place):
            _by_datashader(place, place, records, 0.0, 0.0, 1.0, 1.0, 1, 1)
        _datashader_loaded.set()


def load_datashader_after(drawn: threading.Event, seconds: float) -> None:
    """Load it so many seconds after ``drawn`` is set; until then no picture waits for it."""
    _datashader_comes.set()
    drawn.wait()
    time.sleep(seconds)
    load_datashader()


def _by_datashader(
    column: NDArray[np.float32],
    row: NDArray[np.float32],
    records: NDArray[np.float32],
    col0: float,
    row0: float,
    col1: float,
    row1: float,
    height: int,
    width: int,
) -> NDArray[np.float64]:
    """What `points_per_pixel` gives, by datashader."""
    import datashader as ds
    import pandas as pd

    frame = pd.DataFrame({"column": column, "row": row}, copy=False)
    agg = ds.count()
    if records.size:
        frame["records"], agg = records, ds.sum("records")
    canvas = ds.Canvas(width, height, x_range=(col0, col1), y_range=(row0, row1))
    counts: NDArray[np.float64] = np.nan_to_num(
        canvas.points(frame, "column", "row", agg=agg).to_numpy().astype(np.float64)
    )
    return counts


def _tile(place: NDArray[np.float32], cells: int) -> NDArray[np.uint16]:
    """The tile of each place along one axis."""
    tile: NDArray[np.uint16] = np.minimum(place * np.float32(TILES / cells), TILES - 1).astype(
        np.uint16
    )
    return tile


def _tiles(start: float, stop: float, extent: float) -> tuple[int, int]:
    """First and last tile that the stretch ``start`` to ``stop`` touches."""
    first = int(np.clip(start / extent * TILES, 0, TILES - 1))
    last = int(np.clip(stop / extent * TILES, first, TILES - 1))
    return first, last
