"""The left drawer of Trips: what is counted, and how the maps of places are drawn."""

from __future__ import annotations

from typing import Any, ClassVar

from explorer.app.curator.drawn_drawer import DrawnDrawer
from explorer.app.trips.data import TripData
from explorer.cities.trip_sets import find, said_places
from explorer.errors import InputError


class TripsDrawer(DrawnDrawer):
    """All controls of the Trips page; parameters as of `DrawnDrawer`."""

    WORDS: ClassVar[str] = "trips"
    RECORD: ClassVar[str] = "trip"
    OWN: ClassVar[str] = "Grid and own trips"
    #: How counts lie inside a leaf, once "View" was opened; it is there while there are maps.
    spread: Any = None
    _has_maps = True

    def data(self) -> list[Any]:
        """Trips and their places."""
        self.places = self.tied.choose("places", places_of(self.state.city, self.state.places))
        return ["About", self.city, "Trips", self.places, "Places"]

    def grid(self) -> list[Any]:
        """Grids, and what is protected."""
        return [self.side, "Grid", self.bound, "What is protected", self.counted]

    def first(self) -> list[Any]:
        """What the maps show and count."""
        choose = self.tied.choose
        return [choose("shows"), "Maps show", choose("focus"), "Maps count"]

    def look(self) -> list[Any]:
        """How counts lie inside leaves, colours."""
        choose, switch = self.tied.choose, self.tied.switch
        self.spread = choose("spread", visible=self._has_maps)
        return [
            *(self.spread, "Inside a leaf", switch("partition"), "Partition"),
            *(choose("scale"), "Colour scale", choose("palette"), "Colours"),
            *(choose("scale_from"), "Colour range", self.base_map(), "Base map"),
        ]

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
        self.say_counted(data)

    def offer(self, screen: Any) -> None:
        """Offer what fits the screen: to save the kept release, to show it, to spread counts."""
        super().offer(screen)
        self._has_maps = screen.drawn.maps is not None
        if self.spread is not None:
            self.spread.visible = self._has_maps


def places_of(key: str, present: str) -> dict[str, str]:
    """Lists of places that trips can be asked about, by their names on a menu."""
    try:
        choices = [",".join(places) for places in find(key).choices()]
    except InputError:
        choices = []
    choices += [present] * (present not in choices)
    return {said_places(choice.split(",")): choice for choice in choices}
