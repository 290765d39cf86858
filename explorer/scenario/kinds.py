"""What the screens of a page are about, and what a scenario of it may say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import param

from explorer.mechanisms import Mechanism, all_mechanisms, trip_mechanisms
from explorer.scenario.boxes import Box, Row, example_boxes
from explorer.scenario.choices import CountryChoices, PeopleChoices, PlaceChoices, TripChoices
from explorer.scenario.parts import (
    AreaLooks,
    Look,
    Looks,
    PeopleLooks,
    TripLooks,
    area_mechanisms,
    people_mechanisms,
)


@dataclass(frozen=True)
class Kind:
    """Pages about the same kind of data; what the scenario of a page leaves out is from here.

    Parameters
    ----------
    about : "maps", "trips", "areas" or "people"
    choices : what is counted, as declared: city, side of the cells, bound, places of trips
    known : the mechanisms, by key
    mechanisms : those that a page begins with, as many as it can have
    epsilon : that a page begins with
    look, box : what its looks and its boxes are
    examples : the boxes that a page begins with, on its grids
    unsaid : settings of its mechanisms that the page chooses itself
    """

    about: str
    choices: type[param.Parameterized]
    known: Callable[[], Mapping[str, type[Mechanism]]]
    mechanisms: tuple[str, ...]
    epsilon: float
    look: type[Look]
    box: type[Box] | type[Row] = Box
    examples: Callable[..., tuple[Box, ...] | tuple[Row, ...]] = example_boxes
    unsaid: tuple[str, ...] = ()

    def default(self, name: str) -> Any:
        """What a page begins with: its city, side, or places, "" where there are none."""
        return self.choices.param[name].default if name in self.choices.param else ""

    def options(self, name: str) -> tuple[int, ...]:
        """The values of "side" or "bound": 0 is each record, k a person of at most k records."""
        return tuple(self.choices.param[name].objects)


MAPS = Kind("maps", PlaceChoices, all_mechanisms, ("htf", "mosaic"), 0.1, Looks)
TRIPS = Kind("trips", TripChoices, trip_mechanisms, ("gravity",), 1.0, TripLooks, Row)
AREAS = Kind(
    "areas",
    CountryChoices,
    area_mechanisms,
    ("country",),
    0.1,
    AreaLooks,
    # Examples in the middle of a country would lie in the sea as often as not.
    examples=lambda *_grids: (),
)
PEOPLE = Kind(
    "people",
    PeopleChoices,
    people_mechanisms,
    ("federated",),
    1.0,
    PeopleLooks,
    # By which code sums are added.
    unsaid=("mode",),
)
_KINDS = {"trips": TRIPS, "country": AREAS, "federated": PEOPLE}


def kind_of(page: str) -> Kind:
    """The kind of a page by its key; other pages are about maps of a city."""
    return _KINDS.get(page, MAPS)
