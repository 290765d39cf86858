"""Trips: how many go from here, via there, to there, on one map for each place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Self

import numpy as np

from explorer.app.boxes.rectangles import was_dragged
from explorer.app.curator.drawing import Drawing
from explorer.app.curator.drawn_page import DrawnPage
from explorer.app.curator.explain import OFF, Panel
from explorer.app.curator.own import OwnPoints, as_read, own_points
from explorer.app.curator.page import Place
from explorer.app.curator.parts import PageParts
from explorer.app.curator.runs import Runs
from explorer.app.curator.start import OWN
from explorer.app.kit.html import section
from explorer.app.kit.navigation import Link
from explorer.app.state import TripsState
from explorer.app.trips.built import Built
from explorer.app.trips.columns import BOUNDED, COUNTS, SHARES
from explorer.app.trips.compared import ComparedPanel
from explorer.app.trips.data import (
    TripData,
    counted,
    is_loaded,
    load_trips,
    own_trips,
    same_places,
)
from explorer.app.trips.drawer import TripsDrawer
from explorer.app.trips.flows import FlowPanel
from explorer.app.trips.maps import TripMaps
from explorer.app.trips.readout import TripReadout
from explorer.app.trips.screen import TripLook, TripScreen, answer_trips, compute
from explorer.app.trips.upload import TripUploadForm
from explorer.cities.trip_sets import find, trip_sets
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.mechanisms import mechanism
from explorer.releases.places import place_counts
from explorer.scenario import Scenario
from explorer.trips.matrix import TripMatrix
from explorer.trips.trips import Trips as ReadTrips
from explorer.trips.trips import read_trips


class Trips(DrawnPage):
    """The Trips page, for a server or a notebook cell. Curator mode: it shows exact counts.

    Parameters
    ----------
    city : optional
        A key of `explorer.cities.trip_sets.trip_sets()`; counts of your own, a `TripMatrix`; or
        trips (file, frame, `read_trips`) with an ``extent`` for all of their places.
    scenario : Scenario, optional
        What to begin with, in place of trips and settings; a link in the address goes before it.
    links : sequence of Link
        The server's pages.
    extent, user, boxes, keep, height, controls
        Of data of your own and of a notebook's cell, see `CuratorPage`.
    **choices
        First settings: ``mechanism``, ``epsilon``, ``side``, ``places``, ... (see `TripsState`).

    Examples
    --------
    As the last line of a notebook cell it shows itself; in a script for ``panel serve``,
    ``Trips("madeup").servable()`` makes it a page.
    """

    KEY = "trips"
    TITLE = "Private trips explorer"
    State = TripsState
    PLACE = ("city", "side", "bound", "places")
    columns = COUNTS
    LOOKS = ("shows", "focus", "spread", "scale", "scale_from", "partition")
    STYLES = ("palette", "drag")
    POLYGONS = False
    # As many as a trip may have; a page takes those of its trips when they have been read.
    places = ("from", "to")
    MORE = "More about these trips"
    Upload, Controls, Text = TripUploadForm, TripsDrawer, TripReadout
    drawer: TripsDrawer
    readout: TripReadout

    @classmethod
    def served(
        cls, links: Sequence[Link], *, city: Any = None, scenario: Scenario | None = None, **_: Any
    ) -> Self:
        """The page of one visitor; what the server was told about maps of a city is not for it."""
        return super().served(links, city=city if city in trip_sets() else None, scenario=scenario)

    @classmethod
    def warm(cls, **begin: Any) -> None:
        """Read the trips and compile what their maps need."""
        city = begin.get("city")
        # A grid has intervals in closed form: none are simulated while no one looks.
        page = cls(city if city in trip_sets() else None, mechanism="eug")
        for view in ("difference", "true", "private"):
            page.state.put(shows=view)
        for panel in ("Flows", "Built", OFF):
            page.explain.choice.value = panel
        matrix = page.parts.data.matrix
        release = mechanism("gravity")(epsilon=1.0).release(matrix, rng=0)
        answer_trips(release, page.parts.data, page.rectangles.boxes)
        place_counts(release, 0)
        page.page()

    def new_drawing(self, parts: PageParts) -> Drawing:
        """Screens of one map for each place."""
        return Drawing(parts, self.publish, self.slow, compute, TripLook.of)

    def panels(self, parts: PageParts) -> dict[str, Panel | Callable[[], Panel]]:
        """Flows between zones, how the tree was cut, other draws, all mechanisms."""
        return {
            "Flows": partial(FlowPanel, parts, self._setting_taken),
            "Built": partial(Built, parts),
            "Runs": partial(Runs, parts),
            "Compared": partial(ComparedPanel, parts),
        }

    def above(self) -> list[Any]:
        """The answer of the chosen row."""
        return [self.head(self.readout.answer)]

    def below(self, text: Mapping[str, str]) -> list[Any]:
        """What the maps and the table say, the ledger."""
        read = self.readout
        return [
            read.key,
            read.about,
            section("Boxes", text["Boxes"]),
            read.about_bars,
            section("Ledger", text["Ledger"]),
            read.ledger,
        ]

    # What a visitor does.

    def drawn(self, box: Sequence[Any], place: int = 0) -> None:
        """A box was dragged: it fills the gap of the chosen row, or begins a row, now chosen."""
        if self.maps is None or not was_dragged(box, self.maps.viewport(place)):
            return
        try:
            self.rectangles.select([self.rectangles.draw(box, place)], held=False)
        except InputError as error:
            self.parts.refuse(str(error))
        self.boxes_changed()
        self.request()

    def _add_box(self) -> None:
        """A row with a box in the middle of the first map: the maps are about it at once."""
        super()._add_box()
        self.rectangles.select([len(self.rectangles) - 1], held=False)
        self.boxes_changed()

    def highlight(self) -> None:
        """Show the boxes; the maps are about the selected row."""
        super().highlight()
        screen = None if self.maps is None else self.screen
        if screen is not None and TripLook.of(self.parts).row != screen.look.row:
            self.request()

    def boxes_changed(self) -> None:
        """The maps are about one of the rows, so they change with it."""
        # Without a server the answers are there at once, and the screen then has these boxes.
        screen, boxes = self.screen, self.rectangles.boxes
        if len(boxes) and not self.rectangles.selected:
            # The chosen row was deleted: the one that the sentence is about is highlighted.
            self.rectangles.select([0], held=False)
        super().boxes_changed()
        if screen is not None and not np.array_equal(screen.boxes, boxes, equal_nan=True):
            self.request()

    def caption(self, screen: TripScreen, busy: bool = False) -> None:
        """Titles that name the row the maps are about."""
        row, names = screen.look.row, self.rectangles.names
        name = names[row] if row is not None and row < len(names) else ""
        self.maps.caption(screen, name, busy)

    def shown(self) -> TripScreen | None:
        """The screen, if it is of the trips that the maps are of: others may be on their way."""
        screen: TripScreen | None = super().shown()
        return screen if screen is not None and screen.data is self.parts.data else None

    def _setting_taken(self) -> None:
        """A panel has changed a setting of the mechanism."""
        self.drawer.rebuild()
        self.settings_changed()

    # Trips.

    def look_for_city(self) -> None:
        """Show the chosen trips; what they do not have of the choices for others is let go."""
        state, data = self.state, self.parts.data
        if data is not None and state.city not in (data.city[0], OWN):
            trip_set, (city, side, bound, places) = find(state.city), state.place
            fits = all(place in trip_set.places for place in places.split(","))
            target = (city, side, bound if trip_set.has_users else 0, places if fits else "o,d")
            if target != state.place:
                state.go(target)
                # Last: whatever is read begins with an empty message.
                self.message.inform(
                    f"{trip_set.title} has no such stop or does not say whose trips they are: the "
                    "places or what is protected have changed."
                )
                return
        super().look_for_city()

    def counts_of(self, source: Any, extent: Any) -> Any:
        """Counts of trips that someone brought along."""
        return own_trips(source) if isinstance(source, TripMatrix) else None

    def points_of(self, source: Any, extent: Any, user: str | None) -> OwnPoints[Any]:
        """Trips that someone brought along, with the extent of all their places."""

        def read(source: Any) -> ReadTrips:
            return as_read(source, ReadTrips, user, partial(read_trips, places=None))

        return own_points(source, extent, read, "trips")

    def known(self, key: str) -> None:
        """Refuse a key that no trips have."""
        find(key)

    def catalogue(self) -> dict[str, str]:
        """Title of each set of trips to its key."""
        return {trip_set.title: key for key, trip_set in trip_sets().items()}

    def is_loaded(self, place: Place) -> bool:
        """Whether `load` would answer at once."""
        return is_loaded(place)

    def load(self, place: Place) -> Any:
        """Trips of the catalogue, however long that takes."""
        return load_trips(place)

    def count_own(self, own_data: OwnPoints[ReadTrips], place: Place) -> TripData:
        """A visitor's trips on grids of the extent that was declared for them."""
        _, side, bound, _ = place
        return counted(own_data, (OWN, side, bound, ",".join(own_data.points.places)))

    def own_choices(self, own_data: OwnPoints[ReadTrips]) -> dict[str, Any]:
        """Their places, and single trips where no one knows whose they are."""
        return {**super().own_choices(own_data), "places": ",".join(own_data.points.places)}

    def grids(self, data: Any) -> tuple[Grid, ...]:
        """The grid of each place."""
        return tuple(data.grids)

    def show(self, data: Any) -> None:
        """Show trips: shares where persons are protected."""
        if self.is_elsewhere(data):
            self.rectangles.places = data.names
        super().show(data)

    def place_boxes(self, data: Any, elsewhere: bool) -> None:
        """Offer what the trips have; the maps are about the first row, and it is highlighted."""
        super().place_boxes(data, elsewhere)
        if elsewhere:
            self.rectangles.select([0], held=False)

    def columns_of(self, data: TripData) -> Any:
        """Shares where persons are protected."""
        counts = data.matrix.unit == "point"
        return COUNTS if counts else SHARES if data.matrix.unclipped is None else BOUNDED

    def is_elsewhere(self, data: TripData) -> bool:
        """Other places or another extent, or the same ground in another order."""
        maps = self.maps
        if maps is None or not same_places(tuple(maps.grids), data.grids):
            return True
        # Names and boxes belong to their places.
        return bool(maps.names != data.names)

    def new_maps(self, data: TripData) -> TripMaps:
        """One map for each place."""
        return TripMaps(self.state, data, self.drawing.viewed, self._dragged)

    def recount(self, data: TripData) -> None:
        """Other cells of the same extents."""
        self.maps.grids = list(data.grids)

    def _dragged(self, place: int, box: Any) -> None:
        self.drawn(box, place)
