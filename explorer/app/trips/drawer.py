"""The left drawer of Trips: data, mechanism, privacy, random noise, view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel as pn

from explorer.app.curator.drawer import Drawer, heading, wide_button
from explorer.app.curator.drawing import Drawing
from explorer.app.curator.parts import PageParts
from explorer.app.kit import ui
from explorer.app.trips.data import TripData
from explorer.app.trips.screen import TripScreen
from explorer.cities.trip_sets import find, said_places
from explorer.errors import InputError


class TripsDrawer(Drawer):
    """All controls of the Trips page.

    Parameters
    ----------
    parts : of the page
    drawing : what the buttons of releases act on
    changed : called after a change of a mechanism's setting
    again : called to show the kept release again
    upload : the form for the visitor's own trips
    """

    def __init__(
        self,
        parts: PageParts,
        drawing: Drawing,
        changed: Callable[[], None],
        again: Callable[[], None],
        upload: Any,
    ) -> None:
        super().__init__(parts, "trips", changed)
        self._drawing = drawing
        self.places = self.tied.choose("places", places_of(self.state.city, self.state.places))
        self.save = ui.FileDownload(
            label="Save the release",
            filename="release.parquet",
            callback=drawing.saved,
            variant="outlined",
            visible=False,
            **ui.WIDE,
        )
        self.again = wide_button("Show the release again", again, visible=False)
        own = ui.Accordion(("Your own trips", upload), dynamic=True, **ui.SECTION)
        (chosen,) = self.mechanisms
        draw = pn.Row(
            self.new_draw(),
            wide_button("Draw a release", drawing.press),
            sizing_mode="stretch_width",
            margin=0,
        )
        choose, switch = self.tied.choose, self.tied.switch
        self.spread = choose("spread")
        self.fill(
            *("About", self.city, "Trips", self.places, "Places", self.side, "Grid"),
            *(self.bound, "What is protected", own, "Your own trips"),
            heading("Mechanism and privacy"),
            *(chosen.menu, chosen.about, "Mechanism"),
            *(self.epsilon.view, "Epsilon", chosen.settings.view),
            heading("Random noise"),
            *(switch("frozen"), draw, self.save, self.again, "Random noise", "Draw a release"),
            heading("View"),
            *(choose("shows"), "Maps show", choose("focus"), "Maps count"),
            *(self.spread, "Inside a leaf", switch("partition"), "Partition"),
            *(choose("scale"), "Colour scale", choose("palette"), choose("scale_from")),
        )

    def use(self, data: Any) -> None:
        """Offer the choices that these trips have."""
        assert isinstance(data, TripData)
        key, *_, places = data.city
        self.places.options = places_of(key, places)
        self.places.value = places
        # Counts that were brought along have the cells and places they have.
        self.side.visible = data.city[1] != 0
        self.places.visible = len(self.places.options) > 1
        self.bound.visible = data.has_users

    def offer(self, screen: TripScreen) -> None:
        """Offer what fits the screen: to save the kept release, to show it, to spread counts."""
        kept = self._drawing.drawn is not None
        self.save.visible = kept
        self.again.visible = kept and screen.release.preview
        self.spread.visible = screen.drawn.maps is not None


def places_of(key: str, present: str) -> dict[str, str]:
    """Lists of places that trips can be asked about, by their names on a menu."""
    try:
        choices = [",".join(each) for each in find(key).choices()]
    except InputError:
        choices = [present]
    return {said_places(each.split(",")): each for each in choices}
