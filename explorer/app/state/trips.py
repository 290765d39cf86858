"""What one visitor of the Trips page has chosen. Everything is checked here, on the server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import param

from explorer.app.state.mechanism import MechanismState
from explorer.mechanisms import Mechanism, trip_mechanisms
from explorer.scenario.choices import TripChoices, checked_places

#: Trips, side of every grid, bound on a person's trips, list of places.
TripPlace = tuple[str, int, int, str]


class TripsState(MechanismState, TripChoices):
    """The choices behind the Trips page: what is counted, how it is drawn, by which mechanism."""

    mechanism = param.Selector(
        default="gravity", objects=list(trip_mechanisms()), label="Mechanism"
    )
    epsilon = param.Number(default=1.0, label="Epsilon")

    @classmethod
    def offered(cls) -> Mapping[str, type[Mechanism]]:
        """The mechanisms that take trips, by name; the best one first."""
        mechanisms = trip_mechanisms()
        return {"gravity": mechanisms["gravity"], **mechanisms}

    @property
    def place(self) -> TripPlace:
        """Trips, side of the grids, bound on a person's trips and list of places."""
        return self.city, self.side, self.bound, self.places

    def go(self, place: TripPlace) -> None:
        """Choose all four at once: one by one would name other trips in between."""
        city, side, bound, places = place
        self.put(city=city, bound=bound, places=places, **({"side": side} if side else {}))

    def _check(self, name: str, value: Any) -> None:
        if name == "places":
            checked_places(value)
        super()._check(name, value)
