"""The maps of the Trips page: one for each place, all about the trips of one row of boxes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from explorer.app.kit.html import put
from explorer.app.kit.labels import CURATOR, DRAWN, PREVIEW
from explorer.app.kit.map_parts import Box, MapSpec
from explorer.app.mappage.maps import SIDES, CoveredMaps
from explorer.app.state import TripsState
from explorer.app.trips.data import TripData
from explorer.app.trips.screen import PlacePicture, TripScreen
from explorer.views import palette
from explorer.views.marks import BranchLines
from explorer.views.markup import count_bar, difference_bar
from explorer.views.viewport import Viewport

#: Pixels of the window's height next to the maps.
_TAKEN = 188
#: What trips do at a place.
_DO = {"from": "begin", "to": "end"}
_TOLD = "the table of boxes gives its numbers"


class TripMaps(CoveredMaps):
    """A map for each place, with one scale; those over the same ground move together.

    Parameters
    ----------
    state : TripsState
    data : TripData
    viewed : called after a pan, zoom or resize
    drawn : called with the place of a map and each rectangle dragged on it, in its unit
    """

    def __init__(
        self,
        state: TripsState,
        data: TripData,
        viewed: Callable[[], None],
        drawn: Callable[[int, Box], None],
    ) -> None:
        self.names = data.names
        specs = [
            MapSpec(grid, f"Map: {name}", place)
            for place, (grid, name) in enumerate(zip(data.grids, self.names, strict=True))
        ]
        super().__init__(specs, viewed, drawn, taken=_TAKEN)
        self._state = state
        self._row = ""
        self._lines = [BranchLines(view.figure) for view in self.views]
        for view in self.views:
            view.show_partition(False)
        self.restyle()

    def use(self, data: TripData) -> None:
        self.grids = list(data.grids)

    def seen(self) -> tuple[Viewport, ...]:
        return tuple(self.viewport(number) for number in range(len(self.views)))

    def show(self, screen: TripScreen) -> None:
        old: TripScreen | None = self._shown
        if old is None or old.look.shows != screen.look.shows:
            self.restyle()
        self._shown = screen
        if not self._cover:
            self.draw(screen.pictures)
        self.push()

    def show_truth(self, visible: bool) -> None:
        super().show_truth(visible)
        if not visible and self._shown is not None and self._shown.look.exact:
            for view in self.views:
                view.clear()

    def draw(self, pictures: tuple[PlacePicture, ...]) -> None:
        for view, lines, picture in zip(self.views, self._lines, pictures, strict=True):
            view.show_image(picture.bytes, picture.view)
            lines.show(picture.branch)

    def cover(self, pictures: tuple[PlacePicture, ...], sentence: str) -> None:
        self._cover_by(sentence, pictures)

    def enclose(self, boxes: Sequence[Box | None]) -> None:
        for place, box in enumerate(boxes):
            self.outline(box, place)

    def restyle(self) -> None:
        difference = self.truth and self._state.shows == "difference"
        colours = palette.DIFFERENCE if difference else palette.PALETTES[self._state.palette]
        for view in self.views:
            view.recolour(colours)
            view.drag(self._state.drag)
        self.push()

    def caption(self, screen: TripScreen, row: str | None = None, busy: bool = False) -> None:
        self._row = row = self._row if row is None else row
        look, data = screen.look, screen.data
        kind = self._cover or (PREVIEW if screen.release.preview else DRAWN)
        shows = "private" if self._cover and look.shows == "true" else look.shows
        of = "" if data.matrix.unclipped is None or shows == "private" else "of all trips; "
        if shows != "private":
            kind = f"{self._cover}; {CURATOR}" if self._cover else f"{of}{CURATOR}".capitalize()
        covered = f"; {self._cover}" if self._cover else ""
        in_question = np.zeros(len(data.names), dtype=bool)
        if look.row is not None and look.row < len(screen.boxes):
            in_question = ~np.isnan(screen.boxes[look.row]).all(axis=1)
        for place, name in enumerate(data.names):
            where = which_trips(data.names, in_question, place, row)
            self.title(place, f"{name.capitalize()} <small>where {where}</small>", "")
            spoken = f"{shows.capitalize()} map of {data.title}: where {where}{covered}; {_TOLD}"
            self.views[place].describe(spoken)
            self.explain(place, _bar(screen, self._state.palette))
        put(self.below, f"<p>{'Computing …' if busy else kind}</p>")


def which_trips(names: tuple[str, ...], asked: NDArray[np.bool_], place: int, row: str = "") -> str:
    """Which trips the map of a place counts, as part of a sentence.

    Parameters
    ----------
    names : of the places
    asked : (k,) whether the row has a box there
    place : of the map
    row : the name of the row, safe to show

    Examples
    --------
    >>> names = ("from", "via", "to")
    >>> which_trips(names, np.array([True, False, True]), 2, "Q1")
    'trips from Q1 end'
    >>> which_trips(names, np.array([False, False, True]), 2)
    'all trips end'
    """
    does = _DO.get(names[place], "stop")
    others = [name for at, name in enumerate(names) if asked[at] and at != place]
    if not others:
        return f"all trips {does}"
    return f"trips {' and '.join(others)} {row or 'the box'} {does}"


def _bar(screen: TripScreen, colours: str) -> str:
    grid = screen.data.grids[0]
    same = all(other.cell_width == grid.cell_width for other in screen.data.grids)
    cell = f"{grid.cell_width:,.0f} m cell" if grid.unit == "m" and same else "cell"
    if screen.look.shows == "difference":
        return difference_bar(f"Private − true trips per {cell}", screen.scale, SIDES)
    source = "from the exact data" if screen.scale.source == "data" else "from the release"
    kind = {"log": "logarithmic", "linear": "linear"}[screen.scale.kind]
    trips = "Trips by weight" if screen.release.weighted else "Trips"
    note = f"{kind}, scale {source}"
    return count_bar(f"{trips} per {cell}", screen.scale, palette.PALETTES[colours], note)
