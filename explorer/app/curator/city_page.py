"""The frame of a page with one mechanism and two linked maps of a city."""

from __future__ import annotations

from explorer.app.curator.data import CityData, same_extent
from explorer.app.curator.drawn_page import DrawnPage


class CityPage(DrawnPage):
    """A page about the points of a city: maps of another extent are other maps."""

    def is_elsewhere(self, data: CityData) -> bool:
        """Another extent needs other maps."""
        return self.maps is None or not same_extent(self.maps.grid, data.grid)

    def recount(self, data: CityData) -> None:
        """Other cells of the same extent."""
        self.maps.grid = data.grid
