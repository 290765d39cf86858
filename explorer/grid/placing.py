"""From a grid's cells to coordinates and back: metres, degrees, parts of cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyproj
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid.degrees import refuse_degrees
from explorer.grid.extent import as_rectangles
from explorer.grid.pieces import Shapes, pieces
from explorer.grid.projection import LONLAT, transform

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Placed:
    """Coordinates of a grid; see `Grid`."""

    if TYPE_CHECKING:
        bounds: tuple[float, float, float, float]
        shape: tuple[int, int]
        crs: pyproj.CRS | None

        @property
        def unit(self) -> str:
            """Of its coordinates."""

        @property
        def cell_width(self) -> float:
            """Of a cell."""

        @property
        def cell_height(self) -> float:
            """Of a cell."""

    def to_cells(self, boxes: ArrayLike) -> Floats:
        """Return rectangles in cells, (n, 2, 2): lower and upper edge, row before column.

        Parameters
        ----------
        boxes : (n, 4) x0, y0, x1, y1
            In ``unit``; fractions of cells are kept.

        Returns
        -------
        (n, 2, 2) float64

        Raises
        ------
        InputError
            For rectangles that are not (n, 4), not finite, or inside out, and for degrees where
            metres are asked.

        Examples
        --------
        >>> from explorer import Grid
        >>> Grid.cells(8).to_cells([[0, 2, 3, 4]]).tolist()
        [[[2.0, 0.0], [4.0, 3.0]]]
        """
        listed = as_rectangles(boxes)
        refuse_degrees(self, listed)
        rectangles: Floats = listed.reshape(-1, 2, 2)
        return (np.ascontiguousarray(rectangles[:, :, ::-1]) - self._origin()) / self._steps()

    def from_cells(self, cells: ArrayLike) -> Floats:
        """Return (n, 4) x0, y0, x1, y1 of (n, 2, 2) boxes in cells: the inverse of `to_cells`."""
        boxes = np.asarray(cells, dtype=np.float64)
        if boxes.size and (boxes.ndim != 3 or boxes.shape[1:] != (2, 2)):
            raise InputError(
                f"Boxes in cells have shape {boxes.shape}; give (n, 2, 2): lower and upper edge, "
                "row before column."
            )
        boxes, steps, origin = boxes.reshape(-1, 2, 2), self._steps(), self._origin()
        rectangles = np.empty((len(boxes), 4))
        # Column by column: numpy takes three times as long for rows of two.
        for column, (edge, axis) in enumerate([(0, 1), (0, 0), (1, 1), (1, 0)]):
            of_all = rectangles[:, column]
            np.multiply(boxes[:, edge, axis], steps[axis], out=of_all)
            of_all += origin[axis]
        return rectangles

    def pieces(self, geometry: Any, crs: Any = None) -> tuple[Ints, Floats]:
        """Return the cells that a polygon meets, and which part of each is in it.

        A polygon is never taken as its bounding box: cells on its border count by area, exactly.

        Parameters
        ----------
        geometry : polygon or multipolygon of shapely, or a frame with one
            What is outside the grid is left out.
        crs : int, str or CRS, optional
            That of a geometry of shapely; by default it is in ``unit``, as rectangles are.

        Returns
        -------
        cells : (k, 2) row and column
        parts : (k,) above 0, up to 1

        Raises
        ------
        InputError
            For what is no polygon, several of them, or a CRS where the grid has none.

        Examples
        --------
        >>> from shapely import box
        >>> from explorer import Grid
        >>> cells, parts = Grid.cells(8).pieces(box(0, 0, 1.5, 1))
        >>> cells.tolist(), parts.tolist()
        ([[0, 0], [0, 1]], [1.0, 0.5])
        """
        shapes = Shapes.of(geometry, crs)
        if shapes is None or len(shapes) != 1:
            raise InputError("Give one polygon of shapely, or a frame with one row.")
        return pieces(self, shapes.on(self)[0])

    def to_lonlat(self, x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return longitudes and latitudes (WGS 84) of coordinates of the grid.

        Parameters
        ----------
        x, y : (n,) float
            Metres.

        Returns
        -------
        (n,) longitude and (n,) latitude, in degrees

        Raises
        ------
        InputError
            For a grid without a CRS.
        """
        return transform(self._crs_or_refuse(), LONLAT, x, y)

    def from_lonlat(self, lon: Any, lat: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return coordinates of longitudes and latitudes (WGS 84).

        Parameters
        ----------
        lon, lat : (n,) float
            Degrees.

        Returns
        -------
        (n,) x and (n,) y, in metres of the grid's CRS

        Raises
        ------
        InputError
            For a grid without a CRS.

        Examples
        --------
        >>> from explorer import Grid
        >>> x, y = Grid.around(-122.42, 37.77, "4km", shape=4).from_lonlat([-122.42], [37.78])
        >>> round(float(y[0]))
        1110
        """
        return transform(LONLAT, self._crs_or_refuse(), lon, lat)

    def _origin(self) -> np.ndarray:
        return np.array(self.bounds[1::-1])

    def _steps(self) -> np.ndarray:
        return np.array([self.cell_height, self.cell_width])

    def _crs_or_refuse(self) -> pyproj.CRS:
        if self.crs is None:
            raise InputError(
                "This grid has no CRS, so its cells have no longitude and latitude; use cells."
            )
        return self.crs
