"""Pages about other data than maps of a city, each with two of its screens as scenarios."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.app import Country, Federated, Trips
from explorer.cities.countries import CountrySet
from explorer.grid.areas.areas import Areas
from explorer.grid.grid import Grid
from explorer.grid.places import TripDomain
from explorer.scenario import Box, Row, Scenario
from explorer.trips.matrix import TripMatrix
from tests.app.country import land
from tests.app.federated import people


@dataclass(frozen=True)
class PageKind:
    """A page, and what is said of it.

    Attributes
    ----------
    page : its class
    one, two : scenarios of it that differ in everything, with boxes and without
    box : another box
    own : a page of a visitor's own data
    whose : how those are called
    missing : what is said of data that are not here
    catalogue : where a script takes the data from
    begins : city and side with which a server begins it that was started with Port Amber, 256
    here : puts the data into the catalogue
    """

    page: type
    one: Scenario
    two: Scenario
    box: Box | Row
    own: Callable[[], Any]
    whose: str
    missing: str
    catalogue: str
    begins: tuple[str | None, int | None]
    here: Callable[[pytest.MonkeyPatch, Path], None] = lambda _patch, _folder: None

    @property
    def key(self) -> str:
        """Of the page."""
        return str(self.page.KEY)  # type: ignore[attr-defined]


def _own_trips() -> Trips:
    domain = TripDomain([Grid.cells(4), Grid.cells(4)])
    return Trips(TripMatrix(np.zeros((1, 4), np.int32), np.array([9]), domain), mechanism="uniform")


TRIPS = PageKind(
    page=Trips,
    one=Scenario(
        page="trips",
        places="o,s1,d",
        side=16,
        contribution_bound=5,
        mechanisms=[{"daf-entropy": {"order": "destination first", "stop_count": 20.0}}],
        epsilon=0.37,
        seed=5,
        boxes=[
            Row([(-100, -200.5, 300.123, 400), None, None], "Mine"),
            Row([None, (0, 0, 5000, 5000), (0, 0, 999, 999)], "Q9"),
        ],
        look={"shows": "true", "focus": "all", "spread": "uniform", "palette": "magma"},
    ),
    two=Scenario(page="trips", side=16, mechanisms=["uniform"], seed=3),
    box=Row([None, (0, 0, 900, 900)], "There"),
    own=_own_trips,
    whose="Trips of your own",
    missing="about the trips 'atlantis', which are not here: put their file",
    catalogue="trip_sets()",
    begins=("madeup", None),
)


def countries_here(monkeypatch: pytest.MonkeyPatch, _folder: Path) -> None:
    """Two small countries are here, and no others."""
    found = {
        key: CountrySet(
            key=key,
            title=f"The {key} land",
            description="",
            source="",
            areas=lambda: Areas.read(land.frame(), land.LEVELS),
            points=land.places,
        )
        for key in ("small", "other")
    }
    for place in ("cities.countries", "app.country.page", "app.curator.start"):
        monkeypatch.setattr(f"explorer.{place}.countries", lambda: found)


COUNTRY = PageKind(
    page=Country,
    one=Scenario(
        page="country",
        city="small",
        side=1000,
        mechanisms=[{"country": {"inside": "ug", "inside_settings": {"c": 5.0}, "own_share": 0.5}}],
        epsilon=0.37,
        seed=5,
        boxes=[Box(-9000, -8000, 5000, 7000.5, "Mine"), Box(0, 0, 999.123, 999, "Q9")],
        look={
            "level": 2,
            "area": ("West", "Vale"),
            "shows": "true",
            "per": "area",
            "palette": "magma",
            "partition": False,
        },
    ),
    two=Scenario(
        page="country", city="other", side=2000, mechanisms=[{"country": {"inside": "ug"}}]
    ),
    box=Box(0, 0, 900, 900, "There"),
    own=land.new_page,
    whose="Areas of your own",
    missing="about the country 'atlantis', which is not here: put its",
    catalogue="countries()",
    begins=(None, None),
    here=countries_here,
)


FEDERATED = PageKind(
    page=Federated,
    one=Scenario(
        page="federated",
        city=people.KEY,
        side=256,
        mechanisms=[
            {
                "federated": {
                    "algorithm": "mended",
                    "people": 20_000,
                    "shard": 500,
                    "dropped": 0.2,
                    "corrupt": 0.1,
                    "depth": 5,
                    "c": 0.3,
                    "b": 3.0,
                }
            }
        ],
        epsilon=0.37,
        seed=5,
        boxes=[Box(1, 2, 30.123, 40, "Mine"), Box(0, 0, 9.5, 9, "Q9")],
        look={"right": "difference", "palette": "magma", "partition": False, "grey": False},
    ),
    two=Scenario(page="federated", city=people.KEY, side=256, seed=3),
    box=Box(3, 4, 20, 21, "There"),
    own=people.new_page,
    whose="Points of your own",
    missing="about the city 'atlantis', which is not here: put its file",
    catalogue="cities()",
    begins=("madeup", 256),
    here=lambda patch, folder: people.put_into_catalogue(folder, patch),
)

KINDS = {each.key: each for each in (TRIPS, COUNTRY, FEDERATED)}
