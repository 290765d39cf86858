"""What the screens of a page are about, and what a scenario of it may say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from explorer.mechanisms import Mechanism, all_mechanisms, trip_mechanisms
from explorer.scenario.boxes import Box, Row, example_boxes
from explorer.scenario.choices import (
    BOUNDS,
    CELLS,
    GRID_SIDES,
    TRIP_SIDES,
    CountryChoices,
    PeopleChoices,
    PlaceChoices,
    TripChoices,
)
from explorer.scenario.known import area_mechanisms, people_mechanisms
from explorer.scenario.parts import AnyLooks, AreaLooks, Looks, PeopleLooks, TripLooks


@dataclass(frozen=True)
class Kind:
    """Pages about the same kind of data; what the scenario of a page leaves out is from here.

    Parameters
    ----------
    about : "maps", "trips", "areas" or "people"
    city : the data that a page begins with
    sides : cells along each side of a grid, of areas metres of the sides of a cell, and ``side``
        that of a page that begins
    places : list of places that a page begins with; "" where there are none to choose
    known : the mechanisms, by key
    mechanisms : those that a page begins with, as many as it can have
    epsilon : that a page begins with
    box, look : what its boxes and its looks are
    examples : the boxes that a page begins with, on its grids
    unsaid : settings of its mechanisms that the page chooses itself
    bounds : what may be protected: 0 is each record, k a person of whom at most k records count
    """

    about: str
    city: str
    sides: tuple[int, ...]
    side: int
    places: str
    known: Callable[[], Mapping[str, type[Mechanism]]]
    mechanisms: tuple[str, ...]
    epsilon: float
    box: type[Box] | type[Row]
    look: type[AnyLooks]
    examples: Callable[..., tuple[Box, ...] | tuple[Row, ...]] = example_boxes
    bounds: tuple[int, ...] = BOUNDS
    unsaid: tuple[str, ...] = ()


MAPS = Kind(
    about="maps",
    city=PlaceChoices.city,
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
    city=TripChoices.city,
    sides=TRIP_SIDES,
    side=TripChoices.side,
    places=TripChoices.places,
    known=trip_mechanisms,
    mechanisms=("gravity",),
    epsilon=1.0,
    box=Row,
    look=TripLooks,
)
AREAS = Kind(
    about="areas",
    city=CountryChoices.city,
    sides=CELLS,
    side=CountryChoices.side,
    places="",
    known=area_mechanisms,
    mechanisms=("country",),
    epsilon=0.1,
    box=Box,
    look=AreaLooks,
    # Examples in the middle of a country would lie in the sea as often as not.
    examples=lambda *_grids: (),
)
PEOPLE = Kind(
    about="people",
    city=PeopleChoices.city,
    sides=GRID_SIDES,
    side=PeopleChoices.side,
    places="",
    known=people_mechanisms,
    mechanisms=("federated",),
    epsilon=1.0,
    box=Box,
    look=PeopleLooks,
    bounds=tuple(PeopleChoices.param["bound"].objects),
    # By which code sums are added.
    unsaid=("mode",),
)
_KINDS = {"trips": TRIPS, "country": AREAS, "federated": PEOPLE}


def kind_of(page: str) -> Kind:
    """The kind of a page by its key; other pages are about maps of a city."""
    return _KINDS.get(page, MAPS)
