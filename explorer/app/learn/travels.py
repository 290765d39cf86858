"""Trips of the lessons in memory, loaded once a process, and what experiments on trips share."""

from __future__ import annotations

from explorer.app.kit.words import words
from explorer.app.learn.examples import ExamplesExperiment
from explorer.app.work.cache import Shelf
from explorer.teaching.journeys import Journeys, journeys
from explorer.trips.matrix import TripMatrix

_JOURNEYS: Shelf[Journeys] = Shelf(3)
_COUNTS: Shelf[TripMatrix] = Shelf(8)


def journeys_of(city: str) -> Journeys:
    """Trips of a city by its key, or those that are in for them."""
    return _JOURNEYS.get(city, lambda: journeys(city))


def counts_of(city: str, places: int, cells: int) -> TripMatrix:
    """Those trips counted on as many cells to a side, in as many places as they have."""
    journeys = journeys_of(city)
    places = min(places, journeys.most)
    return _COUNTS.get((city, places, cells), lambda: journeys.on(places, cells))


def notes_of(journeys: Journeys, places: int) -> str:
    """What is not as it was asked for, as HTML; empty if all is."""
    text = words("learn")
    parts = [text["Trips of another city"]] if journeys.stand_in else []
    if places > journeys.most:
        parts.append(text["No stop"])
    return f'<p class="quiet">{" ".join(parts)}</p>' if parts else ""


class TripsExperiment(ExamplesExperiment):
    """An experiment on the trips of a city."""

    COUNTING = "The trips are being counted."
