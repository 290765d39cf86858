"""What a release is asked: boxes, polygons, shares, axes; answers come from what is released."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.grid.pieces import COVERAGE, Shapes, check_by, warn_outside
from explorer.releases.answers import Answers
from explorer.releases.asking import Asked, asked, chosen_axes, marginal_density
from explorer.releases.place_maps import PlaceMaps

Floats = NDArray[np.float64]
Boxes = ArrayLike | Mapping[str, Any] | Any


if TYPE_CHECKING:
    _Asked = Asked
else:
    _Asked = object


class Questions(_Asked):
    """What a release answers; see `Release`."""

    if TYPE_CHECKING:
        maps: PlaceMaps | None

        @property
        def total(self) -> float:
            """Of all counts."""

        @property
        def sd_exact(self) -> bool:
            """Whether the noise has a closed form."""

    def answer(self, where: Boxes, *, crs: Any = None, by: str = COVERAGE) -> Answers:
        """Private counts of rectangles, of polygons, or of the boxes of another domain.

        Parameters
        ----------
        where : (n, 4) x0, y0, x1, y1, polygons, frame, path or mapping
            Numbers are metres of the grid's CRS, or cells (x along columns, y along rows) when the
            grid has none. Polygons of shapely, a GeoSeries, a GeoDataFrame or a file of them are
            asked as they are, of one map. Cells that are cut through count by area; what is
            outside the grid is 0, with an `OutsideWarning` for polygons that are wholly there. Of
            several places (n, k, 4), NaN for anywhere, or a mapping from places to frames.
        crs : int, str or CRS, optional
            Of numbers and geometries that have none of their own, such as 4326 for west, south,
            east, north in degrees.
        by : "coverage"
            Cells on a border count by the area inside.

        Returns
        -------
        Answers
            With the index and the shapes of a frame or file that was asked.

        Raises
        ------
        InputError
            For rectangles that are not (n, 4), not finite, or inside out; for degrees without a
            CRS; for shapes that are no polygons, and for polygons asked of several places.

        Examples
        --------
        >>> from shapely import Polygon
        >>> from explorer import UG
        >>> release = UG(epsilon=1, grid_size=2).release([[9, 0], [8, 1]], rng=7)
        >>> south, all_of_it = release.answer([[0, 0, 2, 1], [0, 0, 2, 2]]).value
        >>> bool(abs(all_of_it - release.total) < 1e-9)
        True
        >>> triangle = Polygon([(0, 0), (2, 0), (0, 2)])
        >>> release.answer(triangle).to_frame().shape[0], int(release.touched(triangle)[0])
        (1, 3)
        """
        check_by(by)
        shapes = Shapes.of(where, crs)
        value, variance, touched = asked(self, where if shapes is None else shapes)
        rows = None if shapes is None else shapes.rows
        if shapes is not None:
            warn_outside(int((touched == 0).sum()), 2)
        return Answers(value, np.sqrt(np.maximum(variance, 0.0)), self.sd_exact, rows)

    def share(self, rectangles: ArrayLike) -> Answers:
        """Shares of all records in boxes, 0 to 1 but for noise.

        What answers say where users are protected: a user's records are bounded, so that counts
        are none of trips or visits, and how many there are has no bounded sensitivity. `people`
        says how many users are behind it.

        Parameters
        ----------
        rectangles : (n, 4) or (n, k, 4) array
            As in `answer`.

        Returns
        -------
        Answers
            Parts of 1; their standard deviations are estimates.

        Raises
        ------
        InputError
            See `answer`, or for a release in which no one is found.

        Examples
        --------
        >>> from explorer import Uniform
        >>> release = Uniform(epsilon=1).release([[9, 0], [8, 1]], rng=7)
        >>> release.share([[0, 0, 1, 2]]).value.tolist()
        [0.5]
        """
        if self.total <= 0:
            raise InputError("This release finds no records at all, so there are no shares of it.")
        answer = self.answer(rectangles)
        return Answers(answer.value / self.total, answer.sd / self.total, False)

    def map_answer(self, place: int, rectangles: ArrayLike) -> Floats:
        """What the map of one place says itself, next to the tree's own `answer`.

        Parameters
        ----------
        place : int, 0 to k - 1
        rectangles : (n, 4) x0, y0, x1, y1, as people write boxes of this place

        Returns
        -------
        (n,) private counts of records that are there with this place, wherever their others are

        Raises
        ------
        InputError
            For a release without maps, a place that it has not, or bad rectangles.

        Examples
        --------
        >>> from explorer import Gravity, TripMatrix
        >>> trips = TripMatrix.from_coordinates(12 * [[0, 1, 3, 2]], [4, 4])
        >>> release = Gravity(epsilon=1).release(trips, rng=7)
        >>> release.map_answer(0, [[0, 0, 4, 4]]).shape
        (1,)
        """
        grids: Sequence[Grid] = getattr(self.domain, "grids", ())
        if self.maps is None or not grids:
            raise InputError("This release has no maps of its places: ask with answer.")
        if place not in range(len(grids)):
            raise InputError(f"The place is {place!r}: give a number, 0 to {len(grids) - 1}.")
        return self.maps.answer(int(place), grids[int(place)].to_cells(rectangles))

    def touched(self, where: Boxes) -> NDArray[np.int64]:
        """Number of leaves that each rectangle or polygon touches.

        Parameters
        ----------
        where : (n, 4) array, polygons, frame or path
            As in `answer`.

        Returns
        -------
        (n,) int64

        Raises
        ------
        InputError
            See `answer`.

        Examples
        --------
        >>> from explorer import UG
        >>> release = UG(epsilon=1, grid_size=2).release([[9, 0], [8, 1]], rng=7)
        >>> release.touched([[0, 0, 2, 2], [0, 0, 0.5, 0.5]]).tolist()
        [4, 1]
        """
        return asked(self, where)[2]

    def marginal(self, axes: Sequence[int]) -> Floats:
        """Private count per cell of some axes, all others summed.

        Parameters
        ----------
        axes : sequence of k different int, 0 to d - 1
            The order is that of the result; (0, 1) of trips is where they begin.

        Returns
        -------
        (shape[axes[0]], shape[axes[1]], ...)
            Sums over it equal the answers to boxes that hold the other axes whole. Cells share
            noise, so that of a sum is asked of `answer`.

        Raises
        ------
        InputError
            For axes that are not there or named twice, and for more cells than a grid may have.

        Examples
        --------
        >>> from explorer import EUG, TripMatrix
        >>> trips = TripMatrix.from_coordinates(12 * [[0, 1, 3, 2]], [4, 5])
        >>> EUG(epsilon=1).release(trips, rng=7).marginal((2, 3)).shape  # where trips end
        (5, 5)
        """
        shape, chosen = self.domain.shape, chosen_axes(self.domain, axes)
        if self.inside != "interpolated":
            return marginal_density(self.tree, shape, chosen, self.maps_inside)
        others = tuple(axis for axis in range(len(shape)) if axis not in chosen)
        return np.transpose(self.density().sum(axis=others), np.argsort(np.argsort(chosen)))

    @property
    def maps_inside(self) -> PlaceMaps | None:
        """The maps by which counts are spread inside leaves; None where they are otherwise."""
        if self.inside == "maps" and self.maps is None:
            raise InputError("This release has no maps of its places: spread it uniform.")
        return self.maps if self.inside == "maps" else None
