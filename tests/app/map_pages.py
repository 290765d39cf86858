"""The five pages with maps: a small one of each, two scenarios of it, what it says of its data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.app import Compare, Country, Explore, Federated, Trips
from explorer.cities.countries import CountrySet
from explorer.grid.areas.areas import Areas
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.releases.country import CountryRelease
from explorer.releases.distributed import DistributedRelease
from explorer.releases.release import Release
from explorer.scenario import Box, Row, Scenario
from tests.app.country import land
from tests.app.federated import people
from tests.app.trips import town

MATRIX = FrequencyMatrix.from_array(
    np.random.default_rng(9).poisson(9, (32, 32)),
    Grid.around(2.35, 48.85, 8000, shape=32, name="Test <town>"),
)
BOXES = [Box(-100, -200.5, 300.123, 400, "Mine"), Box(0, 0, 999.123, 999, "Q9")]


@dataclass(frozen=True)
class MapPage:
    """A page with maps, and what the tests of all of them need.

    Attributes
    ----------
    page : its class
    own : makes a small page of a visitor's own data, with choices
    one, two : scenarios that differ in everything, with boxes and without
    box : another box
    whose : how own data are called
    missing : what is said of data that are not here
    catalogue : where a script takes the data from
    begins : city and side with which a server begins it that was started with Port Amber, 256
    painted : choices that paint exact counts, and what takes their place while those are hidden
    columns : exact columns of the table of boxes
    install : puts the data of the scenarios into the catalogue
    release : class of what it draws; None where it draws nothing for good
    """

    page: type
    own: Callable[..., Any]
    one: Scenario
    two: Scenario
    box: Box | Row
    whose: str = "Points of your own"
    missing: str = "about the city 'atlantis', which is not here: put its file"
    catalogue: str = "cities()"
    begins: tuple[str | None, int | None] = ("madeup", 256)
    painted: tuple[tuple[str, str, str], ...] = (("right", "difference", "private"),)
    columns: frozenset[str] = frozenset({"true", "difference", "error %"})
    install: Callable[[pytest.MonkeyPatch, Path], None] = lambda _patch, _folder: None
    release: Any = Release

    def __str__(self) -> str:
        return self.key

    @property
    def key(self) -> str:
        return str(self.page.KEY)  # type: ignore[attr-defined]

    @staticmethod
    def releases(page: Any) -> list[Any]:
        """The releases on the maps: one, or two on Compare."""
        return list(getattr(page, "releases", None) or [page.release])


EXPLORE = MapPage(
    page=Explore,
    own=lambda **choices: Explore(MATRIX, **{"mechanism": "ug", "epsilon": 1.0, **choices}),
    one=Scenario(
        side=256,
        mechanisms=[{"htf": {"height": 9, "stop_rule": "per epsilon"}}],
        epsilon=0.37,
        seed=5,
        boxes=BOXES,
        look={"right": "difference", "palette": "magma", "partition": False, "truth": "counts"},
    ),
    two=Scenario(side=256, mechanisms=["ug"], seed=3),
    box=Box(0, 0, 900, 900, "There"),
    painted=(("right", "difference", "private"), ("colour", "error", "density")),
)
COMPARE = MapPage(
    page=Compare,
    own=lambda **choices: Compare(MATRIX, **{"a": "ug", "b": "ag", "epsilon": 1.0, **choices}),
    one=Scenario(
        page="compare",
        side=256,
        mechanisms=[{"ug": {"grid_size": 7}}, {"ug": {"grid_size": 70}}],
        epsilon=0.37,
        seed=8,
        boxes=BOXES,
        look={"scale": "linear"},
        sweep={"mechanisms": ["ug", "ag"], "metric": "mae", "at": 0.3, "seeds": 3},
    ),
    two=Scenario(page="compare", side=256, mechanisms=["ug", "ag"], seed=3),
    box=Box(0, 0, 900, 900, "There"),
    columns=frozenset({"true", "error of A %", "error of B %", "nearer"}),
    release=None,
)
TRIPS = MapPage(
    page=Trips,
    own=lambda **choices: town.page(**{**choices, "places": 2}),
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
    whose="Trips of your own",
    missing="about the trips 'atlantis', which are not here: put their file",
    catalogue="trip_sets()",
    begins=("madeup", None),
    painted=(("shows", "true", "private"), ("shows", "difference", "private")),
)


def two_countries(monkeypatch: pytest.MonkeyPatch, _folder: Path) -> None:
    """Two small countries are in the catalogue, and no others."""
    known = {
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
    for module in ("cities.countries", "app.country.page", "app.curator.start"):
        monkeypatch.setattr(f"explorer.{module}.countries", lambda: known)


COUNTRY = MapPage(
    page=Country,
    own=land.new_page,
    one=Scenario(
        page="country",
        city="small",
        side=1000,
        mechanisms=[{"country": {"inside": "ug", "inside_settings": {"c": 5.0}, "own_share": 0.5}}],
        epsilon=0.37,
        seed=5,
        boxes=[Box(-9000, -8000, 5000, 7000.5, "Mine"), BOXES[1]],
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
    whose="Areas of your own",
    missing="about the country 'atlantis', which is not here: put its",
    catalogue="countries()",
    begins=(None, None),
    painted=(("shows", "true", "private"),),
    install=two_countries,
    release=CountryRelease,
)
_HARD = {"people": 20_000, "shard": 500, "dropped": 0.2, "corrupt": 0.1, "depth": 5}
FEDERATED = MapPage(
    page=Federated,
    own=people.new_page,
    one=Scenario(
        page="federated",
        city=people.KEY,
        side=256,
        mechanisms=[{"federated": {"algorithm": "mended", "c": 0.3, "b": 3.0, **_HARD}}],
        epsilon=0.37,
        seed=5,
        boxes=[Box(1, 2, 30.123, 40, "Mine"), Box(0, 0, 9.5, 9, "Q9")],
        look={"right": "difference", "palette": "magma", "partition": False, "grey": False},
    ),
    two=Scenario(page="federated", city=people.KEY, side=256, seed=3),
    box=Box(3, 4, 20, 21, "There"),
    install=lambda patch, folder: people.put_into_catalogue(folder, patch),
    release=DistributedRelease,
)

MAP_PAGES = [EXPLORE, COMPARE, TRIPS, COUNTRY, FEDERATED]
#: Those whose data are no counts of points in a city: their scenarios open nowhere else.
OTHER_DATA = [TRIPS, COUNTRY, FEDERATED]
