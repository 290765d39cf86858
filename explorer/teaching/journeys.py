"""Trips for the lessons: those of a city whose file has them, else the made-up city's.

Everything is counted once on the finest grid; a coarser one adds its cells up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from explorer.cities import madeup
from explorer.cities.catalogue import cities
from explorer.cities.madeup_trips import made_up_trips
from explorer.grid.grid import Grid
from explorer.grid.places import TripDomain
from explorer.trips.matrix import TripMatrix
from explorer.trips.trips import Trips, read_trips

#: Cells to a side of every place's grid.
SIDES = [4, 8, 16, 32, 64, 128, 256, 512, 1024]
FINEST = SIDES[-1]
#: Cities with trips: the city whose file holds them, and their places.
_KNOWN = {
    "san-francisco": ("san-francisco-trips", ("o", "s2", "d")),
    "san-francisco-trips": ("san-francisco-trips", ("o", "s2", "d")),
    "santiago": ("santiago", ("o", "d")),
}
#: Of one, two and three places those that are counted.
_CHOSEN = {1: (0,), 2: (0, -1), 3: (0, 1, 2)}


@dataclass(frozen=True, eq=False)
class Journeys:
    """Trips counted on the finest cells, by how many places of each are looked at.

    Attributes
    ----------
    title : what they are called
    stand_in : whether they are the made-up city's because the chosen city has none
    counts : from 1 (origins), 2 (origin, destination) and perhaps 3 (with a stop) to the counts
    """

    title: str
    stand_in: bool
    counts: Mapping[int, TripMatrix]

    @property
    def most(self) -> int:
        """The most places that these trips have."""
        return max(self.counts)

    def on(self, places: int, cells: int) -> TripMatrix:
        """Counts of as many places (of no more than `most`) on ``cells`` (of `SIDES`) a side."""
        finest = self.counts[min(places, self.most)]
        if cells == FINEST:
            return finest
        grids = [_coarse(grid, cells) for grid in finest.domain.grids]  # type: ignore[attr-defined]
        return TripMatrix(
            finest.cells // (FINEST // cells), finest.multiplicities, TripDomain(grids)
        )


def journeys(key: str) -> Journeys:
    """Trips of the city ``key`` of the catalogue, or of the made-up one where that has none."""
    source, places = _KNOWN.get(key, ("", ()))
    city = cities().get(source)
    if city is None or city.file is None:
        trips = made_up_trips()
        return Journeys(madeup.NAME, key != "madeup", _counted(trips, madeup.grid(FINEST)))
    trips = read_trips(city.file, places)
    title = city.title.rpartition(",")[0] or city.title
    return Journeys(title, False, _counted(trips, city.grid(FINEST)))


def _counted(trips: Trips, grid: Grid) -> dict[int, TripMatrix]:
    found = {}
    for number, chosen in _CHOSEN.items():
        if number > len(trips.places):
            continue
        some = Trips(
            tuple(trips.x[i] for i in chosen),
            tuple(trips.y[i] for i in chosen),
            tuple(trips.places[i] for i in chosen),
            trips.crs,
        )
        found[number] = TripDomain([grid] * number).count(some)
    return found


def _coarse(grid: Grid, cells: int) -> Grid:
    """The same ground with fewer cells."""
    return Grid(grid.bounds, (cells, cells), grid.crs, name=grid.name)
