"""The catalogue of trips: the made-up ones of Port Amber, and known files that are here.

In Port Amber people live at addresses around the centres, along the roads and in the villages, each
with a place of work. They commute into the centres and back, run errands nearby, now and then go
round in a circle or to the airport. Neighbouring errands outnumber long ways, as on real streets.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.cities import madeup
from explorer.cities.catalogue import folders
from explorer.errors import InputError
from explorer.grid.description import declared_grid
from explorer.grid.grid import Grid
from explorer.grid.places import TripDomain
from explorer.grid.values import of_key, shown
from explorer.trips.columns import said
from explorer.trips.trips import Trips, read_trips

SEED = 1848
PLACES = ("o", "s1", "d")

# Shares of the trips: into a centre or back home, in a circle, to or from the airport; the rest are
# errands, whose mean distance is _NEAR km.
_COMMUTES, _ROUND, _FLIGHTS = 0.42, 0.04, 0.025
_NEAR = 1.3
_ADDRESSES, _PEOPLE = 20_000, 12_000
# Addresses are looked up by squares of this side, km.
_SQUARE = 0.2
_ACROSS = int(2 * madeup.HALF / _SQUARE)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def made_up_trips(
    n: int = 100_000, seed: int = SEED, places: Sequence[str] | str = PLACES
) -> Trips:
    """Return ``n`` trips of Port Amber with an origin, a stop and a destination, in degrees.

    The same ones for the same seed, kept by the process. A few lie beyond the 20 km of the public
    grid (`explorer.cities.madeup.grid`), as in any real file. `user` is who travelled.

    Parameters
    ----------
    n : int, 0 or more
    seed : int
    places : some of "o", "s1" and "d", in any order; or "o,d"

    Raises
    ------
    InputError
        For places that these trips do not have, or a negative number.

    Examples
    --------
    >>> trips = made_up_trips(1000, places="o,d")
    >>> trips.places, len(trips)
    (('o', 'd'), 1000)
    """
    chosen = tuple(part.strip() for part in places.split(",")) if isinstance(places, str) else None
    chosen = chosen or tuple(places)
    if not chosen or not set(chosen) <= set(PLACES) or len(set(chosen)) < len(chosen):
        raise InputError(f"The places are {chosen!r}; give some of o, s1 and d, each once.")
    if n < 0:
        raise InputError(f"The number of trips is {n!r}; give a whole number of 0 or more.")
    trips = _made(n, seed)
    at = [PLACES.index(place) for place in chosen]
    return replace(
        trips,
        x=tuple(trips.x[i] for i in at),
        y=tuple(trips.y[i] for i in at),
        places=chosen,
    )


@lru_cache(maxsize=2)
def _made(n: int, seed: int) -> Trips:
    rng = np.random.default_rng(seed)
    town = _Town(rng)
    person = _drawn(rng, town.busy, n)
    home, work = town.home[person], town.work[person]
    luck, turned = rng.random(n), rng.random(n) < 0.5
    commutes = luck < _COMMUTES
    start = np.where(commutes, home, town.near(rng, home, 0.7 * _NEAR))
    end = np.where(commutes, work, town.near(rng, start, _NEAR))
    flies = (luck >= _COMMUTES) & (luck < _COMMUTES + _FLIGHTS)
    start, end = np.where(flies, home, start), np.where(flies, town.terminal, end)
    round_ = luck >= 1 - _ROUND
    end[round_] = start[round_]
    start, end = np.where(turned, end, start), np.where(turned, start, end)
    stop = town.on_the_way(rng, start, end)
    stop[round_] = town.near(rng, start[round_], _NEAR)
    # Addresses are fewer than places of trips.
    lon, lat = madeup.grid(1).to_lonlat(town.x * 1000, town.y * 1000)
    return Trips(
        tuple(lon[at] for at in (start, stop, end)),
        tuple(lat[at] for at in (start, stop, end)),
        PLACES,
        user=person,
        name=f"{madeup.NAME}, trips",
        notes=(f"{madeup.NAME} is made up: nobody travels there.",),
    )


class _Town:
    """Addresses (x, y in km, sorted by squares), people with home, work and how busy they are."""

    def __init__(self, rng: np.random.Generator) -> None:
        x, y = _addresses(rng, _ADDRESSES)
        order = np.argsort(_square(x, y), kind="stable")
        self.x, self.y = x[order], y[order]
        self.first = np.searchsorted(_square(self.x, self.y), np.arange(_ACROSS**2 + 1))
        cx, cy, radius, share = np.array(madeup.CENTRES).T
        self.centres = self._nearest(cx, cy)
        self.terminal = self._nearest(*np.array([madeup.TERMINAL]).T)[0]
        self.home = rng.integers(0, len(self.x), _PEOPLE)
        # A centre draws people by its size and less from afar; work is somewhere in it.
        away = np.hypot(self.x[self.home, None] - cx, self.y[self.home, None] - cy)
        sums = np.cumsum(np.rint(1e6 * share * np.exp(-away / 5.0)), axis=1)
        chosen = (rng.random(_PEOPLE)[:, None] * sums[:, -1:] >= sums).sum(axis=1)
        aside = _blur(rng, _PEOPLE) * radius[chosen], _blur(rng, _PEOPLE) * radius[chosen]
        self.work = self._towards(rng, self.centres[chosen], *aside)
        # One in ten travels ten times as often as another one.
        self.busy = np.rint(1000 * (1 - 0.9 * rng.random(_PEOPLE)) ** -1.0).astype(np.int64)

    def near(self, rng: np.random.Generator, start: Ints, mean: float) -> Ints:
        """An address about ``mean`` km from each of ``start`` (n,)."""
        turn, far = 2 * np.pi * rng.random(len(start)), -np.log(1 - rng.random(len(start))) * mean
        return self._towards(rng, start, np.cos(turn) * far, np.sin(turn) * far)

    def on_the_way(self, rng: np.random.Generator, start: Ints, end: Ints) -> Ints:
        """Where trips stop: somewhere between both ends, half of the longer ones in a centre.

        That centre is the one least out of their way.
        """
        dx, dy = self.x[end] - self.x[start], self.y[end] - self.y[start]
        part, aside = 0.15 + 0.7 * rng.random(len(start)), 0.25 * _blur(rng, len(start))
        result = self._towards(rng, start, part * dx - aside * dy, part * dy + aside * dx)
        changes = np.flatnonzero((np.hypot(dx, dy) > 2.0) & (rng.random(len(start)) < 0.5))
        x, y = self.x[self.centres], self.y[self.centres]
        detour = sum(
            np.hypot(self.x[ends[changes], None] - x, self.y[ends[changes], None] - y)
            for ends in (start, end)
        )
        result[changes] = self.centres[np.argmin(detour, axis=1)]
        return result

    def _nearest(self, x: Floats, y: Floats) -> Ints:
        """The address nearest to each of a few places (n,)."""
        return np.argmin((self.x - x[:, None]) ** 2 + (self.y - y[:, None]) ** 2, axis=1)

    def _towards(self, rng: np.random.Generator, start: Ints, dx: Floats, dy: Floats) -> Ints:
        """Some address in the square (dx, dy) km from each start, (n,).

        Where no one lives the way is made shorter, at the last down to the start's own square.
        """
        towards, open_, part = start.copy(), np.arange(len(start)), 1.0
        luck = rng.random(len(start))
        while len(open_):
            x, y = self.x[start[open_]], self.y[start[open_]]
            square = _square(x + part * dx[open_], y + part * dy[open_])
            first, many = self.first[square], np.diff(self.first)[square]
            there = many > 0
            towards[open_[there]] = (first + (luck[open_] * many).astype(np.int64))[there]
            open_ = open_[~there]
            part = part * 0.8 if part > 0.05 else 0.0
        return towards


def _addresses(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """Places in km where people may live: around centres, along roads, in villages."""
    centres = np.array([*madeup.CENTRES, *madeup.VILLAGES])
    # People live further out than the crowds of a centre reach.
    widths = np.where(np.arange(len(centres)) < len(madeup.CENTRES), 1.8, 1.0)
    corners = madeup.raster().roads
    town = np.exp(-np.hypot(*corners.T) / 2.6) + 0.025
    x, y = np.empty(0), np.empty(0)
    while len(x) < n:
        many = int(1.4 * (n - len(x))) + 100
        around = _drawn(rng, np.rint(1e6 * centres[:, 3]), many)
        width = widths[around] * centres[around, 2] * (1 + 2 * rng.random(many) ** 3)
        along = _drawn(rng, np.rint(1e6 * town), many)
        road = rng.random(many) < 0.45
        spread = np.where(road, 0.07, width)
        new_x = np.where(road, corners[along, 0], centres[around, 0]) + _blur(rng, many) * spread
        new_y = np.where(road, corners[along, 1], centres[around, 1]) + _blur(rng, many) * spread
        inside = np.maximum(np.abs(new_x), np.abs(new_y)) < madeup.HALF
        dry = inside & ~madeup.in_water(new_x, new_y) & ~madeup.in_park(new_x, new_y)
        x, y = np.append(x, new_x[dry]), np.append(y, new_y[dry])
    return x[:n], y[:n]


def _square(x: Floats, y: Floats) -> Ints:
    """Number of the square of each place, (n,); what is beyond the plan belongs to its edge."""
    col, row = (
        np.clip(((v + madeup.HALF) / _SQUARE).astype(np.int64), 0, _ACROSS - 1) for v in (x, y)
    )
    return row * _ACROSS + col


def _drawn(rng: np.random.Generator, weights: NDArray[np.generic], n: int) -> Ints:
    """``n`` numbers drawn with whole weights: whole, so that no last bit moves anybody."""
    sums = np.cumsum(weights.astype(np.int64))
    return np.searchsorted(sums, (rng.random(n) * sums[-1]).astype(np.int64), side="right")


def _blur(rng: np.random.Generator, n: int) -> Floats:
    """``n`` bell-shaped offsets with a standard deviation of 1."""
    return (rng.random(n) + rng.random(n) + rng.random(n) - 1.5) * 2.0


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
