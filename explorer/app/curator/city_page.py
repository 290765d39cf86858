"""The frame of a page with one mechanism and two linked maps of a city."""

from __future__ import annotations

from explorer.app.curator.data import CityData, heat_of, prepared, same_extent
from explorer.app.curator.drawn_page import DrawnPage
from explorer.app.curator.page import Place
from explorer.app.curator.start import OWN
from explorer.app.curator.upload import OwnPoints
from explorer.points.points import Points


class CityPage(DrawnPage):
    """A page about the points of a city: own points, other grids, maps of another extent."""

    def count_own(self, own: OwnPoints[Points], place: Place) -> CityData:
        """A visitor's points on a grid of the extent that was declared for them."""
        _, side, bound = place
        bound = bound if own.points.user is not None else 0
        grid = own.grid(side)
        matrix, placed = own.points.place_on(grid, bound or None)
        data = prepared(own.title, own.points, matrix, heat_of(placed, grid))
        few = own.points.few_inside(matrix)
        data.notes += () if few is None else (few,)
        data.city = (OWN, side, bound)
        return data

    def is_elsewhere(self, data: CityData) -> bool:
        """Another extent needs other maps."""
        return self.maps is None or not same_extent(self.maps.grid, data.grid)

    def recount(self, data: CityData) -> None:
        """Other cells of the same extent."""
        self.maps.grid = data.grid
