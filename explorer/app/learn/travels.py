"""Trips of the lessons in memory, loaded once a process, and what experiments on trips share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from explorer.app.curator.data import CityData
from explorer.app.kit.words import words
from explorer.app.learn.live import LiveExperiment
from explorer.app.work.cache import Shelf
from explorer.teaching.journeys import Journeys, journeys
from explorer.teaching.settings import Settings
from explorer.trips.matrix import TripMatrix

_JOURNEYS: Shelf[Journeys] = Shelf(3)
_COUNTS: Shelf[TripMatrix] = Shelf(8)


def journeys_of(city: str) -> Journeys:
    """Trips of a city by its key, or those that stand in for them."""
    return _JOURNEYS.get(city, lambda: journeys(city))


def counts_of(city: str, places: int, cells: int) -> TripMatrix:
    """Those trips counted on as many cells to a side, in as many places as they have."""
    found = journeys_of(city)
    places = min(places, found.most)
    return _COUNTS.get((city, places, cells), lambda: found.on(places, cells))


def notes_of(found: Journeys, places: int) -> str:
    """What is not as it was asked for, as HTML; empty if all is."""
    said = words("learn")
    parts = [said["Trips of another city"]] if found.stand_in else []
    if places > found.most:
        parts.append(said["No stop"])
    return f'<p class="quiet">{" ".join(parts)}</p>' if parts else ""


class TripsExperiment(LiveExperiment):
    """A live experiment on trips: at one of many examples, with one of many draws of noise."""

    #: What the button calls another example.
    ANOTHER = ""

    def __init__(
        self, settings: Settings, refused: Callable[[str], None], *, phone: bool = False
    ) -> None:
        self._example = self._seed = 0
        super().__init__(settings, refused, phone=phone)

    def buttons(self) -> tuple[Any, Any]:
        """For another example, and for other noise on the same."""
        return (
            self.button(self.ANOTHER, self.another, strong=True),
            self.button("New noise", self.again),
        )

    def asked(self) -> tuple[Any, ...]:
        """City, settings, number of the example, seed of the noise."""
        return *super().asked(), self._example, self._seed

    def use(self, data: CityData) -> None:
        """Count the city's trips."""
        self.say("The trips are being counted.")
        super().use(data)

    def another(self) -> None:
        """Look at another example."""
        self._example += 1
        self.changed()

    def again(self) -> None:
        """Draw other noise."""
        self._seed += 1
        self.changed()
