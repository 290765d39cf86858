"""Trips in memory: read and counted once per process and shared by all visitors."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from explorer.app.curator.data import base_maps_on
from explorer.app.curator.own import OwnPoints
from explorer.app.state import TripPlace
from explorer.app.work.cache import Shelf
from explorer.cities.trip_sets import find, known_bound, words_of
from explorer.errors import InputError
from explorer.grid.base_map import BaseMap
from explorer.grid.grid import Grid
from explorer.grid.places import TripDomain
from explorer.points.truth import of_all_records
from explorer.trips.matrix import TripMatrix
from explorer.trips.trips import Trips
from explorer.views.markup import safe_text

Floats = NDArray[np.float64]
#: True pictures of places that are stored for one set of trips take at most so much.
_MOST_BYTES = 50_000_000


@dataclass(eq=False)
class TripData:
    """What the page needs of trips. Holds exact counts: curator mode only.

    Parameters
    ----------
    title : str
        Safe to show (see `safe_text`).
    matrix : TripMatrix
        Prepared: its index and tables are built.
    notes : tuple of str
        Sentences about how the trips were read.
    city : (key, side, bound, places)
        Where they are in the catalogue.
    has_users : bool
        Whether trips know their person, so that a record can be a person.
    base_maps : what each place looks like on its grid; none where no one has drawn it
    """

    title: str
    matrix: TripMatrix
    notes: tuple[str, ...] = ()
    city: TripPlace = ("yours", 0, 0, "o,d")
    has_users: bool = False
    base_maps: tuple[BaseMap | None, ...] = ()
    _pictures: OrderedDict[tuple[int, bytes], Floats] = field(default_factory=OrderedDict)

    @property
    def every(self) -> TripMatrix:
        """Exact counts of all trips, which a contribution bound may not all count in full."""
        result: TripMatrix = of_all_records(self.matrix)
        return result

    @property
    def grids(self) -> tuple[Grid, ...]:
        """The public grid of each place."""
        domain = self.matrix.domain
        return tuple(domain.grids) if isinstance(domain, TripDomain) else ()

    @property
    def names(self) -> tuple[str, ...]:
        """What the places are called: "from", "via", "to"."""
        domain = self.matrix.domain
        return tuple(domain.names) if isinstance(domain, TripDomain) else ()

    def counts(self, place: int, within: Floats | None) -> Floats:
        """Exact counts per cell of a place, of trips whose other places lie ``within`` a box."""
        key = place, b"" if within is None else np.ascontiguousarray(within).tobytes()
        counts = self._pictures.get(key)
        if counts is None:
            counts = self.every.place_counts(place, within)
            self._pictures[key] = counts
            while len(self._pictures) * counts.nbytes > _MOST_BYTES:
                self._pictures.pop(next(iter(self._pictures)), None)
        return counts


#: Trips as read, and trips as counted: about 0.1 GB each.
_READ: Shelf[Trips] = Shelf(4)
_COUNTED: Shelf[TripData] = Shelf(8)


def load_trips(place: TripPlace) -> TripData:
    """The trips of the catalogue at a ``place`` of the state, from memory if they are there.

    Raises
    ------
    InputError
        For trips that are not in the catalogue, places that they do not have, or a bad file.
    """
    key, side, bound, places = place
    trip_set, listed = find(key), tuple(places.split(","))

    def load() -> TripData:
        domain = trip_set.domain(listed, side)
        trips = _READ.get((key, places), lambda: trip_set.read(listed))
        per = "user" if bound else "record"
        matrix = domain.count(trips, bound or None, per=per).prepare()
        notes = tuple(safe_text(note, 300) for note in trips.notes)
        result = TripData(safe_text(trip_set.title), matrix, notes, place, trip_set.has_users)
        result.base_maps, sentences = base_maps_on(key, result.grids)
        result.notes += sentences
        return result

    known_bound(trip_set, bound)
    return _COUNTED.get(place, load)


def counted(own_data: OwnPoints[Trips], place: TripPlace) -> TripData:
    """Trips of a visitor on grids of the extent that was declared for them."""
    trips, (_, side, bound, _) = own_data.points, place
    domain = TripDomain([own_data.grid(side)] * len(trips.places), tuple(words_of(trips.places)))
    bound = bound if trips.user is not None else 0
    matrix = domain.count(trips, bound or None, per="user" if bound else "record").prepare()
    notes = tuple(safe_text(note, 300) for note in trips.notes)
    return TripData(own_data.title, matrix, notes, place, trips.user is not None)


def is_loaded(place: TripPlace) -> bool:
    """Whether `load_trips` would answer at once."""
    return place in _COUNTED


def own_trips(matrix: TripMatrix, title: str = "your own trips") -> TripData:
    """Counts of trips that someone brought along.

    Raises
    ------
    InputError
        For counts of fewer than two places.
    """
    domain = matrix.domain
    if not isinstance(domain, TripDomain) or len(domain.grids) < 2:
        raise InputError("This page is for trips of two places or more: see Explore for one.")
    matrix.prepare()
    return TripData(safe_text(title), matrix)


def same_places(a: tuple[Grid, ...], b: tuple[Grid, ...]) -> bool:
    """Whether two lists of grids cover the same ground in the same order; cells may differ."""
    return [(g.bounds, g.crs) for g in a] == [(g.bounds, g.crs) for g in b]
