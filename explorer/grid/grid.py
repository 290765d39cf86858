"""The public grid: which part of the Earth is looked at, and how finely it is divided."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import pyproj
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid.cards import card
from explorer.grid.countable import check_unit, countable
from explorer.grid.degrees import refuse_degrees
from explorer.grid.extent import (
    MAX_CELLS,
    as_bounds,
    as_metres,
    as_number,
    as_rectangles,
    as_shape,
    boundary_bounds,
    cells_over,
    extent_bounds,
)
from explorer.grid.pieces import Shapes, pieces
from explorer.grid.projection import LONLAT, equal_area_crs, metric_crs, transform

if TYPE_CHECKING:
    import geopandas

__all__ = ["MAX_CELLS", "Grid"]

# Half the equator and half the Earth's surface: within both, the projection is one to one.
MAX_SIDE = 20_037_508.0
MAX_AREA = 2.55e14
MIN_CELL = 1e-3

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Progress = Callable[[float], None]
Counted_co = TypeVar("Counted_co", covariant=True)


class Countable(Protocol[Counted_co]):
    """What a grid can count: records that put themselves into its cells."""

    def count_on(
        self, grid: Grid, contribution_bound: int | None, progress: Progress | None
    ) -> Counted_co:
        """Return the counts on ``grid``."""


@dataclass(frozen=True)
class Grid:
    """A rectangle of equal cells, declared by a person and never taken from the points.

    The `Domain` of two dimensions.

    Row 0 is the southernmost row and column 0 the westernmost column. The extent is public: it
    appears in every release, so a bounding box of the data must not be used for it.

    Parameters
    ----------
    bounds : (x0, y0, x1, y1)
        West, south, east, north edge in metres of ``crs``; in cells without a CRS.
    shape : (rows, columns)
        At least 1 each, at most ``MAX_CELLS`` cells together.
    crs : pyproj.CRS or None
        A projected CRS in metres, or ``None`` for a matrix without a place on the Earth.
    name : str
        What to call the place on a screen.

    Raises
    ------
    InputError
        For an extent that is empty, infinite or larger than half the Earth, a shape out of
        range, or a CRS that is not in metres.

    Examples
    --------
    >>> from explorer import Grid
    >>> grid = Grid.around(-122.42, 37.77, 20_000, shape=1024)
    >>> grid.shape, grid.cell_width, grid.unit
    ((1024, 1024), 19.53125, 'm')
    >>> Grid.cells((2, 3)).bounds  # a matrix without a place
    (0.0, 0.0, 3.0, 2.0)
    >>> Grid.from_bounds(0, 0, 4000, 2000, crs="EPSG:32633", shape=(20, 40)).cell_height
    100.0
    >>> [round(float(each[0]), 4) for each in grid.to_lonlat([0], [0])]
    [-122.42, 37.77]
    """

    bounds: tuple[float, float, float, float]
    shape: tuple[int, int]
    crs: pyproj.CRS | None = None
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", as_shape(self.shape))
        object.__setattr__(self, "bounds", as_bounds(self.bounds))
        rows, cols = self.shape
        if self.crs is None:
            if self.bounds != (0.0, 0.0, float(cols), float(rows)):
                raise InputError(
                    "A grid without a CRS is measured in cells, so its bounds must be "
                    f"0, 0, {cols}, {rows}; give a projected CRS to use other bounds."
                )
            return
        object.__setattr__(self, "crs", metric_crs(self.crs))
        width, height = self.width, self.height
        if max(width, height) > MAX_SIDE or width * height > MAX_AREA:
            raise InputError(
                f"An extent of {width / 1000:,.0f} x {height / 1000:,.0f} km is more than half "
                "the Earth; declare a smaller one."
            )
        if min(self.cell_width, self.cell_height) < MIN_CELL:
            raise InputError(
                f"Cells of {self.cell_width:g} x {self.cell_height:g} m are smaller than a "
                "millimetre; declare a larger extent or fewer cells."
            )
        x0, y0, x1, y1 = self.bounds
        if not np.all(np.isfinite(self.to_lonlat([(x0 + x1) / 2], [(y0 + y1) / 2]))):
            raise InputError(
                "The centre of these bounds is not on the Earth in this CRS; check the bounds "
                "and the CRS they belong to."
            )

    @classmethod
    def around(
        cls,
        lon: float,
        lat: float,
        width: float | str,
        height: float | str | None = None,
        shape: int | tuple[int, int] = (1024, 1024),
        name: str = "",
    ) -> Grid:
        """Return a grid of ``width`` x ``height`` metres centred on a place.

        The CRS is Lambert's azimuthal equal-area projection (WGS 84) on the centre: every cell
        covers the same area, so that counts can be compared as densities; poles and the
        antimeridian are places like any other.

        Parameters
        ----------
        lon, lat : float
            Centre in degrees, -180 to 360 and -90 to 90.
        width, height : float or str
            Metres, or a length such as "20km"; ``height=None`` means a square.
        shape : int or (rows, columns), 1 or more
            Cells; one number for a square grid.
        name : str
            What to call the place on a screen.

        Returns
        -------
        Grid

        Raises
        ------
        InputError
            For a centre that is no place on the Earth, an extent that is no area, and more than
            ``MAX_CELLS`` cells.
        """
        lon, lat = as_number(lon, "Longitude"), as_number(lat, "Latitude")
        if not -180 <= lon <= 360 or not -90 <= lat <= 90:
            raise InputError(
                f"Longitude {lon:g}, latitude {lat:g} is not a place on the Earth; give the "
                "centre in degrees, longitude first."
            )
        width = as_metres(width, "The width")
        height = width if height is None else as_metres(height, "The height")
        if not (np.isfinite(width) and np.isfinite(height) and width > 0 and height > 0):
            raise InputError(
                f"An extent of {width:g} x {height:g} m is not an area; give a positive width "
                "and height in metres."
            )
        bounds = (-width / 2, -height / 2, width / 2, height / 2)
        return cls(bounds, as_shape(shape), equal_area_crs(lon, lat), name)

    @classmethod
    def of(
        cls,
        extent: Any,
        *,
        cell: float | str | None = None,
        shape: int | tuple[int, int] | None = None,
        crs: Any = None,
        name: str = "",
    ) -> Grid:
        """Return a grid over a declared extent: a box in degrees or metres, or a public boundary.

        Parameters
        ----------
        extent : (west, south, east, north), path, GeoDataFrame, GeoSeries or polygon
            Numbers are degrees without a ``crs``; west above east crosses the antimeridian. Of a
            file, frame or polygon it is the bounding box. Never that of the points: it is public.
        cell : float or str, optional
            Side of a square cell in metres, or a length such as "50m". The extent grows on all
            sides alike to a whole number of them.
        shape : int or (rows, columns), optional
            The number of cells instead; by default almost squares, 1,024 along the longer side.
        crs : int, str or CRS, optional
            Of numbers, if they are no degrees; of a file or frame the CRS to lay the grid in. By
            default that is Lambert's azimuthal equal-area projection on the centre.
        name : str
            What to call the place on a screen.

        Returns
        -------
        Grid

        Raises
        ------
        InputError
            For points, an extent without area, cells and numbers of cells together, or too many.

        Examples
        --------
        >>> grid = Grid.of((13.25, 52.43, 13.55, 52.61), cell="40m")
        >>> grid.shape, round(grid.cell_width, 6)
        ((502, 511), 40.0)
        """
        bounds, chosen = extent_bounds(extent, crs)
        return cls(*cells_over(bounds, cell, shape), chosen, name)

    @classmethod
    def from_bounds(
        cls,
        x0: float,
        y0: float,
        x1: float,
        y1: float,
        crs: Any,
        shape: int | tuple[int, int] = (1024, 1024),
        name: str = "",
    ) -> Grid:
        """Return a grid with typed bounds in metres of a projected CRS (EPSG code, WKT, ...).

        Parameters
        ----------
        x0, y0, x1, y1 : float
            West, south, east, north edge in metres.
        crs : int, str or CRS
            A projected CRS in metres.
        shape : int or (rows, columns), 1 or more
        name : str

        Returns
        -------
        Grid

        Raises
        ------
        InputError
            Without a CRS in metres, and for an extent or a shape that no grid has.
        """
        if crs is None:
            raise InputError("Bounds need a CRS such as 'EPSG:27700'; use Grid.cells without one.")
        return cls((x0, y0, x1, y1), as_shape(shape), metric_crs(crs), name)

    @classmethod
    def from_boundary(
        cls,
        boundary: str | Path | geopandas.GeoDataFrame,
        shape: int | tuple[int, int] = (1024, 1024),
        crs: Any = None,
        name: str = "",
        boundary_crs: Any = None,
    ) -> Grid:
        """Return the grid over the bounding box of a public boundary, such as a city's limits.

        Parameters
        ----------
        boundary : path or GeoDataFrame
            Polygons with a CRS; all of them together are the boundary.
        shape : int or (rows, columns), 1 or more
        crs : int, str or CRS, optional
            A projected CRS; by default Lambert's equal-area projection on the centre.
        name : str
        boundary_crs : int, str or CRS, optional
            That of the boundary, where it has none or one that its corners contradict.

        Returns
        -------
        Grid

        Raises
        ------
        InputError
            For a file that cannot be read, without polygons or without a CRS.

        Examples
        --------
        >>> import geopandas
        >>> from shapely import box
        >>> limits = geopandas.GeoDataFrame(geometry=[box(13.3, 52.4, 13.5, 52.6)], crs=4326)
        >>> Grid.from_boundary(limits, shape=(200, 100)).shape
        (200, 100)
        """
        target_crs = None if crs is None else metric_crs(crs)
        bounds, chosen = boundary_bounds(boundary, target_crs, boundary_crs)
        return cls(bounds, as_shape(shape), chosen, name)

    @classmethod
    def cells(cls, shape: int | tuple[int, int], name: str = "") -> Grid:
        """Return the grid of a matrix without a place: x counts columns, y counts rows.

        Parameters
        ----------
        shape : int or (rows, columns), 1 or more
        name : str

        Returns
        -------
        Grid
            Its CRS is None, its unit cells.

        Raises
        ------
        InputError
            For a shape that is none, or of more than ``MAX_CELLS`` cells.
        """
        rows, cols = as_shape(shape)
        return cls((0.0, 0.0, float(cols), float(rows)), (rows, cols), None, name)

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Grid:
        """Return the grid that ``to_dict`` described; raise `InputError` if it did not."""
        try:
            bounds, shape = tuple(saved["bounds"]), tuple(saved["shape"])
            crs, name = saved.get("crs"), str(saved.get("name", ""))
        except (AttributeError, KeyError, TypeError) as error:
            raise InputError(
                "The description of a grid needs 'bounds' and 'shape'; write it with Grid.to_dict."
            ) from error
        return cls(bounds, shape, None if crs is None else metric_crs(crs), name)

    def to_dict(self) -> dict[str, Any]:
        """Return bounds, shape, CRS and name as plain numbers and strings, ready for JSON."""
        crs = None if self.crs is None else self.crs.to_string()
        return {
            "bounds": list(self.bounds),
            "shape": list(self.shape),
            "crs": crs,
            "name": self.name,
        }

    @property
    def kind(self) -> str:
        """The tag of grids among domains: "grid"."""
        return "grid"

    @property
    def axis_names(self) -> tuple[str, ...]:
        """What the two axes are called: "row" (south to north), "column" (west to east)."""
        return "row", "column"

    @property
    def width(self) -> float:
        """Extent from west to east, in ``unit``."""
        return self.bounds[2] - self.bounds[0]

    @property
    def height(self) -> float:
        """Extent from south to north, in ``unit``."""
        return self.bounds[3] - self.bounds[1]

    @property
    def cell_width(self) -> float:
        """Width of a cell, in ``unit``."""
        return self.width / self.shape[1]

    @property
    def cell_height(self) -> float:
        """Height of a cell, in ``unit``."""
        return self.height / self.shape[0]

    @property
    def unit(self) -> str:
        """What coordinates are measured in: "m" or "cells"."""
        return "cells" if self.crs is None else "m"

    def count(
        self,
        points: Countable[Counted_co] | Any,
        contribution_bound: int | None = None,
        progress: Progress | None = None,
        *,
        per: str | None = None,
        **columns: Any,
    ) -> Counted_co:
        """Count points into cells.

        A point on the northern or eastern edge belongs to the last cell. Points outside are
        counted nowhere, and how many there were is not kept.

        Parameters
        ----------
        points : Points, PointFiles, path, address, frame or arrays
            In any CRS; without one only for a grid in cells. Files of Parquet, CSV and TSV are
            counted while they are read: their points are never held.
        contribution_bound : int, optional
            At most this many records of each user inside the grid, each as likely as another. A
            keyed hash of the user decides which, and not the order of the file, so that what is
            kept of one user depends on that user alone (`points.clipping` has the rule). Needs
            ``points.user``; the matrix then protects users, not single records, and its
            ``unclipped`` has the counts of all records.
        per : "record" or "user", optional
            Whom to protect. Records with users need a bound, or "record" to insist on single ones.
        progress : callable, optional
            Called with the fraction done, 0 to 1.
        **columns
            lon, lat, crs, user, weight of what has to be read, as of `read_points`.

        Returns
        -------
        FrequencyMatrix
            What points make of themselves on this grid: the grid knows no point.

        Raises
        ------
        InputError
            For what cannot be read, records with users without a bound or ``per="record"``, a bound
            without users, and degrees on a grid in cells.

        Examples
        --------
        >>> grid = Grid.around(-122.42, 37.77, "4km", shape=4)
        >>> trips = {"lon": [-122.42, -122.42], "lat": [37.77, 37.77], "who": [1, 1]}
        >>> grid.count(trips, user="who", contribution_bound=1).total  # one record of each user
        1
        """
        read: Countable[Counted_co] = countable(points, "count_on", columns)
        check_unit(read, contribution_bound, per)
        return read.count_on(self, contribution_bound, progress)

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

    def __repr__(self) -> str:
        rows, cols = self.shape
        where = "cells" if self.crs is None else self.crs.to_string()
        size = "" if self.crs is None else f", {self.width:,.0f} x {self.height:,.0f} m"
        return f"Grid({self.name!r}, {rows} x {cols}{size}, {where})"

    def _repr_html_(self) -> str:
        rows, cols = self.shape
        facts = {"cells": f"{rows:,} x {cols:,}"}
        if self.crs is not None:
            facts["of a cell"] = f"{self.cell_width:,.6g} x {self.cell_height:,.6g} m"
            facts["extent"] = f"{self.width / 1000:,.6g} x {self.height / 1000:,.6g} km"
            x0, y0, x1, y1 = self.bounds
            (lon,), (lat,) = self.to_lonlat([(x0 + x1) / 2], [(y0 + y1) / 2])
            facts["centre"] = f"{lon:.4f}, {lat:.4f} (longitude, latitude)"
            facts["CRS"] = self.crs.name if self.crs.name != "unknown" else self.crs.to_string()
        return card(f"Grid {self.name}".strip(), facts, note="Declared in public: holds no points.")
