"""The catalogue of trips: the made-up ones, and known files that are here."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from explorer.cities import madeup
from explorer.cities.catalogue import folders
from explorer.cities.madeup_trips import made_up_trips
from explorer.errors import InputError
from explorer.grid.description import declared_grid
from explorer.grid.grid import Grid
from explorer.grid.places import TripDomain
from explorer.grid.values import of_key, shown
from explorer.trips.columns import said
from explorer.trips.trips import Trips, read_trips

#: The key of the trips that come with the package.
MADE_UP = "madeup"


@dataclass(frozen=True)
class TripSet:
    """Trips and the public extent that they are looked at on.

    Parameters
    ----------
    key : str
        Short name for links.
    title, description, source : str
        For a screen: a name, one sentence on what it is good for, one on where it is from.
    extent : mapping
        "around" and "size_km", as in `data/README.md`.
    places : sequence of str
        What a trip may be asked about: "o", stops by number, "d".
    file : Path or None
        The local file, if there is to be one; its name alone where it is not here.
    user : str or None
        The column that tells whose trip it is.
    make : callable, optional
        Makes the trips of some places instead.
    """

    key: str
    title: str
    description: str = ""
    source: str = ""
    extent: Mapping[str, Any] = field(default_factory=dict, compare=False)
    places: Sequence[str] = ("o", "d")
    file: Path | None = None
    user: str | None = None
    make: Callable[[Sequence[str]], Trips] | None = field(default=None, compare=False, repr=False)

    @property
    def present(self) -> bool:
        """Whether the trips can be read here."""
        return self.make is not None or (self.file is not None and self.file.is_file())

    @property
    def has_users(self) -> bool:
        """Whether trips know their person, so that a contribution bound can be given."""
        return self.user is not None

    def choices(self) -> tuple[tuple[str, ...], ...]:
        """Lists of places that can be asked about: all with both ends, shortest first."""
        stops = [place for place in self.places if place not in ("o", "d")]
        every = [("o", *stops, "d")] if len(stops) > 1 else []
        return (("o", "d"), *(("o", stop, "d") for stop in stops), *every)

    def domain(self, places: Sequence[str], side: int) -> TripDomain:
        """The public domain of some places, each on side x side cells of the extent.

        Raises
        ------
        InputError
            For a place that these trips do not have.
        """
        known_places(self, places)
        grid: Grid = declared_grid(self.extent, side, self.title)
        return TripDomain([grid] * len(places), tuple(words_of(places)))

    def read(self, places: Sequence[str]) -> Trips:
        """The trips with those places, read anew.

        Raises
        ------
        InputError
            For a place that these trips do not have, or a file that is not what it should be.
        """
        known_places(self, places)
        if self.make is not None:
            trips = self.make(places)
        else:
            trips = read_trips(self.file, tuple(places), user=self.user, name=self.title)
        return replace(trips, populations=(self.key,))


def words_of(places: Sequence[str]) -> list[str]:
    """What places are called in a sentence and above their maps.

    >>> words_of(["o", "s2", "d"])
    ['from', 'via', 'to']
    """
    ends = {"o": "from", "d": "to"}
    stops = [place for place in places if place not in ends]
    via = {place: "via" if len(stops) == 1 else f"via {place}" for place in stops}
    return [ends.get(place, via.get(place, place)) for place in places]


def known_places(trips: TripSet, places: Sequence[str]) -> None:
    """Refuse places that a set of trips does not have, in one sentence."""
    for place in places:
        if place not in trips.places:
            raise InputError(
                f"{trips.title} has no place {shown(place)}: choose among "
                f"{', '.join(trips.places)}."
            )
    if not places or len(set(places)) < len(places):
        raise InputError("Name one or more different places of a trip, in order.")


def known_bound(trips: TripSet, bound: int) -> None:
    """Refuse a bound on a person's trips where they do not know their person, in one sentence."""
    if bound and not trips.has_users:
        raise InputError(f"{trips.title} does not say whose trips they are: protect each trip.")


def said_places(places: Sequence[str]) -> str:
    """A list of places as a choice of a menu.

    >>> said_places(("o", "d")), said_places(("o", "s2", "d"))
    ('origin and destination', 'origin, stop 2, destination')
    """
    names = [said(place).removeprefix("the ") for place in places]
    return " and ".join(names) if len(names) == 2 else ", ".join(names)


def trip_sets() -> dict[str, TripSet]:
    """The sets of trips that can be shown, by key: the made-up one, then known files that are here.

    Examples
    --------
    >>> trip_sets()["madeup"].title
    'Port Amber, made-up trips'
    """
    here = {key: known_file for key, known_file in known_files().items() if known_file.present}
    return {MADE_UP: _made_up(), **here}


def known_files() -> dict[str, TripSet]:
    """The sets of trips that are in files, by key, whether they are here or not."""
    result = {}
    text = (Path(__file__).parent / "trip_sets.toml").read_text("utf8")
    for table in tomllib.loads(text)["trips"]:
        entry = dict(table)
        name = entry.pop("file")
        extent = {way: entry.pop(way) for way in ("around", "size_km")}
        here = next((f / name for f in folders() if (f / name).is_file()), Path(name))
        result[entry["key"]] = TripSet(**entry, extent=extent, file=here)
    return result


def find(key: str) -> TripSet:
    """The set of trips of a key.

    Raises
    ------
    InputError
        For a key that none has; it lists those there are.
    """
    return of_key(trip_sets(), key, "There are no trips")


def _made_up() -> TripSet:
    return TripSet(
        key=MADE_UP,
        title=f"{madeup.NAME}, made-up trips",
        description="A hundred thousand made-up trips between home, work and shops, with a stop.",
        source="Made by this program; nobody travels there.",
        extent={"around": [madeup.LON, madeup.LAT], "size_km": madeup.SIZE / 1000},
        places=("o", "s1", "d"),
        user="person",
        make=lambda places: made_up_trips(places=tuple(places)),
    )
