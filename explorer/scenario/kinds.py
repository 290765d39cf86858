"""What the screens of a page are about, and what a scenario of it may say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from explorer.mechanisms import Mechanism, all_mechanisms, trip_mechanisms
from explorer.scenario.boxes import Box, Row
from explorer.scenario.choices import GRID_SIDES, TRIP_SIDES, PlaceChoices, TripChoices
from explorer.scenario.parts import Looks, TripLooks


@dataclass(frozen=True)
class Kind:
    """Pages about the same kind of data; what the scenario of a page leaves out is from here.

    Parameters
    ----------
    about : "maps", "trips", "areas" or "people"
    sides : cells along each side of a grid, and ``side`` that of a page that begins
    places : list of places that a page begins with; "" where there are none to choose
    known : the mechanisms, by key
    mechanisms : those that a page begins with, as many as it can have
    epsilon : that a page begins with
    box, look : what its boxes and its looks are
    """

    about: str
    sides: tuple[int, ...]
    side: int
    places: str
    known: Callable[[], Mapping[str, type[Mechanism]]]
    mechanisms: tuple[str, ...]
    epsilon: float
    box: type[Box] | type[Row]
    look: type[Looks] | type[TripLooks]


MAPS = Kind(
    about="maps",
    sides=GRID_SIDES,
    side=PlaceChoices.side,
    places="",
    known=all_mechanisms,
    mechanisms=("htf", "mosaic"),
    epsilon=0.1,
    box=Box,
    look=Looks,
)
TRIPS = Kind(
    about="trips",
    sides=TRIP_SIDES,
    side=TripChoices.side,
    places=TripChoices.places,
    known=trip_mechanisms,
    mechanisms=("gravity",),
    epsilon=1.0,
    box=Row,
    look=TripLooks,
)
# No scenario is of these kinds yet: those of other kinds are told apart from them.
AREAS = Kind(
    about="areas",
    sides=(),
    side=0,
    places="",
    known=dict,
    mechanisms=(),
    epsilon=1.0,
    box=Box,
    look=Looks,
)
PEOPLE = replace(AREAS, about="people")
_KINDS = {"trips": TRIPS, "country": AREAS, "federated": PEOPLE}


def kind_of(page: str) -> Kind:
    """The kind of a page by its key; pages that no scenario knows are about maps of a city."""
    return _KINDS.get(page, MAPS)
