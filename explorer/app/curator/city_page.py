"""The frame of a page with one mechanism and two linked maps of a city."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.app.curator.cross_hair import read_cell
from explorer.app.curator.data import CityData, same_extent
from explorer.app.curator.drawn_page import DrawnPage
from explorer.errors import InputError


class CityPage(DrawnPage):
    """A page about the points of a city: maps of another extent are other maps."""

    def is_elsewhere(self, data: CityData) -> bool:
        """Another extent needs other maps."""
        return self.maps is None or not same_extent(self.maps.grid, data.grid)

    def read_at(self, x: float, y: float) -> Sequence[str]:
        """The true and the private count of the cell at a place."""
        try:
            true, (private,) = read_cell(self.parts.known(), [self.release], x, y)
        except InputError:
            return "", ""
        true_text = f"{true:,} in this cell" if self.parts.truth else ""
        return true_text, f"{private:,.2f} in this cell"

    def recount(self, data: CityData) -> None:
        """Other cells of the same extent."""
        self.maps.grid = data.grid
