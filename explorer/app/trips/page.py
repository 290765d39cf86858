"""Trips: how many go from here, via there, to there, on one map for each place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
import panel as pn

from explorer.app.boxes.rectangles import was_dragged
from explorer.app.curator.drawing import Drawing
from explorer.app.curator.explain import OFF, Explain, Panel
from explorer.app.curator.map_page import MapPage
from explorer.app.curator.page import Place
from explorer.app.curator.parts import PageParts
from explorer.app.curator.runs import Runs
from explorer.app.curator.start import OWN
from explorer.app.curator.upload import OwnPoints
from explorer.app.kit import ui
from explorer.app.kit.html import section
from explorer.app.kit.navigation import Link
from explorer.app.kit.words import words
from explorer.app.state.trips import TripsState
from explorer.app.trips.built import Built
from explorer.app.trips.columns import COUNTS, SHARES
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
from explorer.app.work.document import held, soon
from explorer.cities.trip_sets import find, trip_sets
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.mechanisms import mechanism
from explorer.releases.places import place_counts
from explorer.scenario import Scenario
from explorer.trips.matrix import TripMatrix
from explorer.trips.trips import Trips as ReadTrips
from explorer.views.markup import safe_text


class Trips(MapPage):
    """The Trips page, for a server or a notebook cell. Curator mode: it shows exact counts.

    Parameters
    ----------
    city : str, TripMatrix or None
        A key of `explorer.cities.trip_sets.trip_sets()`, or counts of your own trips.
    scenario : Scenario, optional
        What to begin with, in place of trips and settings; a link in the address goes before it.
    links : sequence of Link
        The server's pages.
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
    # As many as a trip may have; a page takes those of its trips when they have been read.
    places = ("from", "to")
    drawer: TripsDrawer
    _own: OwnPoints[ReadTrips] | None = None

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
        # A grid has intervals in closed form: none are simulated while nobody looks.
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

    @property
    def screen(self) -> TripScreen | None:
        """What is on the maps."""
        return self.readout.screen

    def compose(self, parts: PageParts) -> None:
        """Make drawer, maps and text."""
        self.drawing = Drawing(parts, self._publish, self._slow, compute, TripLook.of)
        self.upload = TripUploadForm(self._reading.run, self._use_own, parts.refuse)
        self.drawer = TripsDrawer(
            parts, self.drawing, self.settings_changed, self._again, self.upload.view
        )
        self.readout = TripReadout(parts, self.table, self.TITLE)
        panel = (parts.rectangles, parts.shown_maps, parts.refuse)
        panels: dict[str, Panel | Callable[[], Panel]] = {
            "Flows": partial(
                FlowPanel, self.state, parts.shown_maps, parts.refuse, self._setting_taken
            ),
            "Built": partial(Built, *panel),
            "Runs": partial(Runs, *panel),
            "Compared": partial(ComparedPanel, parts.shown_maps, parts.refuse),
        }
        text = words("trips")
        said = {**words("explain"), **text}
        self.explain = Explain(
            panels, said, parts.refuse, self.make_room, title="More about these trips"
        )
        self._map_holder = pn.Column(sizing_mode="stretch_width", margin=0)
        read = self.readout
        self.body = pn.Column(
            self.message.view,
            ui.wrapping(read.strip, self.tools.view, gap="6px 16px", margin=(0, 0, 8, 0)),
            read.answer,
            self._map_holder,
            read.about,
            self.explain.view,
            section("Boxes", text["Boxes"]),
            self.exchange.view,
            self.table.widget,
            read.about_bars,
            section("Ledger", text["Ledger"]),
            read.ledger,
            sizing_mode="stretch_width",
            margin=(10, 16, 24, 16),
        )

    def close(self) -> None:
        """Stop whatever runs: the visit has ended."""
        self.drawing.close()
        self.readout.close()

    # After a change.

    def outdated(self) -> None:
        """Back to a preview, of the present settings."""
        self.drawing.preview()

    def request(self) -> None:
        """The same release, drawn in another way."""
        self.drawing.request()

    def restyle(self) -> None:
        """Another style of the maps that are there."""
        if self.maps is not None:
            self.maps.restyle()
            self.explain.restyle()
        screen = self._current()
        if screen is not None:
            self._caption(screen)

    def zoom(self, factor: float) -> None:
        """Zoom all maps, below 1 inwards; 0 shows the whole maps again."""
        if self.maps is not None:
            self.maps.zoom(factor)
            self.drawing.request()

    def drawn(self, box: Sequence[Any], place: int = 0) -> None:
        """A box was dragged: it fills the gap of the chosen row, or begins a row, now chosen."""
        if self.maps is None or not was_dragged(box, self.maps.viewport(place)):
            return
        try:
            self.rectangles.select([self.rectangles.draw(box, place)])
        except InputError as error:
            self.parts.refuse(str(error))
        self.boxes_changed()
        self.request()

    def _add_box(self) -> None:
        """A row with a box in the middle of the first map: the maps are about it at once."""
        super()._add_box()
        self.rectangles.select([len(self.rectangles) - 1])
        self.boxes_changed()

    def highlight(self) -> None:
        """Show the boxes; the maps are about the selected row."""
        if self.maps is None:
            return
        super().highlight()
        self.readout.said()
        self.explain.selected()
        screen = self.screen
        if screen is not None and TripLook.of(self.parts).row != screen.look.row:
            self.request()

    def boxes_changed(self) -> None:
        """The maps are about one of the rows, so they change with it."""
        # Without a server the answers are there at once, and the screen then has these boxes.
        screen, boxes = self.screen, self.rectangles.boxes
        super().boxes_changed()
        if screen is not None and not np.array_equal(screen.boxes, boxes, equal_nan=True):
            self.request()

    def numbers(self) -> None:
        """Show the answers of the rows."""
        self.readout.numbers()

    def released(self) -> bool:
        """Whether a drawn release is on the screen."""
        return self.screen is not None and not self.screen.release.preview

    # From choices to a picture.

    def _publish(self, screen: TripScreen) -> None:
        self.drawer.offer(screen)
        if screen.data is self.parts.data and self.maps is not None:
            self.readout.screen = screen
            held(pn.state.curdoc, partial(self.maps.show, screen))
            soon(self._rest)

    def _rest(self) -> None:
        """What is read after the maps."""
        screen = self._current()
        if screen is None:
            return
        self._caption(screen)
        self.drawer.mechanisms[0].settings.show_facts(screen.release.facts)
        self.readout.show(screen)
        self.explain.show(screen)
        self.scenarios.follow()

    def _setting_taken(self) -> None:
        """A panel has changed a setting of the mechanism."""
        self.drawer.rebuild()
        self.settings_changed()

    def _caption(self, screen: TripScreen, busy: bool = False) -> None:
        row, names = screen.look.row, self.rectangles.names
        name = names[row] if row is not None and row < len(names) else ""
        self.maps.caption(screen, name, busy)

    def _slow(self, busy: bool) -> None:
        screen = self._current()
        if screen is not None:
            self._caption(screen, busy)

    def _current(self) -> TripScreen | None:
        """The screen, if it is of the trips that the maps are of: others may be on their way."""
        screen = self.screen
        here = self.maps is not None and screen is not None and screen.data is self.parts.data
        return screen if here else None

    def _again(self) -> None:
        """Show the kept release with the trips and the settings that it was drawn from."""

        def use(data: TripData) -> None:
            if data is not self.parts.data:
                self._use(data)
            self._back()

        try:
            self.drawing.again(use)
        except InputError as error:
            self.parts.refuse(str(error))
        self.drawer.rebuild()

    # Trips.

    def look_for_city(self) -> None:
        """Show the chosen trips; what they do not have of the choices for others is let go."""
        state, shown = self.state, self.parts.data
        if shown is not None and state.city not in (shown.city[0], OWN):
            known, (city, side, bound, places) = find(state.city), state.place
            fits = all(place in known.places for place in places.split(","))
            wanted = (city, side, bound if known.has_users else 0, places if fits else "o,d")
            if wanted != state.place:
                state.go(wanted)
                # Last: whatever is read begins with an empty message.
                self.message.inform(
                    f"{known.title} has no such stop or does not say whose trips they are: the "
                    "places or what is protected have changed."
                )
                return
        super().look_for_city()

    def bring(self, given: Any) -> Any:
        """Counts of trips that someone brought along."""
        return own_trips(given) if isinstance(given, TripMatrix) else None

    def known(self, key: str) -> None:
        """Refuse a key that no trips have."""
        find(key)

    def catalogue(self) -> dict[str, str]:
        """Title of each set of trips to its key."""
        return {each.title: key for key, each in trip_sets().items()}

    def at_hand(self, place: Place) -> Any:
        """The trips if they are there at once."""
        if place[0] == OWN:
            return self._brought if self._own is None else None
        return load_trips(place) if is_loaded(place) else None

    def read(self, place: Place) -> Any:
        """The trips, or the visitor's own ones counted anew, however long that takes."""
        own, (key, side, bound, _) = self._own, place
        if key != OWN:
            return load_trips(place)
        if own is None:
            raise InputError("There are no trips of your own yet: load a file first.")
        return counted(own, (OWN, side, bound, ",".join(own.points.places)))

    def _use_own(self, own: OwnPoints[ReadTrips]) -> None:
        """Show trips that were uploaded; they exist in this session only."""
        self._own = own
        if own.points.notes:
            self.message.inform(safe_text(" ".join(own.points.notes), 600))
        self.parts.catalogue[own.title] = OWN
        self.drawer.city.options = dict(self.parts.catalogue)
        bound = self.state.bound if own.points.user is not None else 0
        self.state.put(places=",".join(own.points.places), bound=bound)
        if self.state.city == OWN:
            self.look_for_city()
        else:
            self.drawer.city.value = OWN

    def grids(self, data: Any) -> tuple[Grid, ...]:
        """The grid of each place."""
        return tuple(data.grids)

    def show(self, data: Any) -> None:
        """Show trips; other places or another extent get new maps."""
        assert isinstance(data, TripData)
        shown = self.maps
        elsewhere = shown is None or not same_places(tuple(shown.grids), data.grids)
        # The same ground in another order: names and boxes belong to their places.
        elsewhere = elsewhere or shown.names != data.names
        if elsewhere:
            self.rectangles.places = data.names
        self.place_boxes(data, elsewhere)
        self.table.reset(COUNTS if data.matrix.unit == "point" else SHARES)
        if elsewhere:
            self.explain.close()
            # The maps are about the first row, and it stands out.
            self.rectangles.select([0])
            self.parts.maps = TripMaps(self.state, data, self.drawing.viewed, self._dragged)
            self._map_holder.objects = [self.maps.view]
        else:
            self.maps.grids = list(data.grids)
        self.drawing.use(data, self.maps.viewports)
        self.highlight()
        if self.screen is None:
            self.drawing.run_now()
        else:
            self.drawing.request()

    def _dragged(self, place: int, box: Any) -> None:
        self.drawn(box, place)
