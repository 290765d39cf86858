"""Trips for the lessons: those of a city of the catalogue of trips, else the made-up city's.

Everything is counted once on the finest grid; a coarser one adds its cells up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from explorer.cities.catalogue import cities
from explorer.cities.trip_sets import MADE_UP, TripSet, trip_sets
from explorer.grid.grid import Grid
from explorer.grid.places import TripDomain
from explorer.trips.matrix import TripMatrix
from explorer.trips.trips import Trips

#: Cells to a side of every place's grid.
SIDES = [4, 8, 16, 32, 64, 128, 256, 512, 1024]
FINEST = SIDES[-1]


@dataclass(frozen=True, eq=False)
class Journeys:
    """Trips counted on the finest cells, by how many places of each are looked at.

    Attributes
    ----------
    stand_in : whether they are the made-up city's because the chosen city has none
    counts : from 1 (origins), 2 (origin, destination) and perhaps 3 (with a stop) to the counts
    """

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
    """Trips of the city ``key`` of the catalogue, or the made-up ones where that has none."""
    catalogue = trip_sets()
    trip_set = catalogue.get(key) or _of_file(key, catalogue)
    return Journeys(trip_set is None, _counted(trip_set or catalogue[MADE_UP]))


def _of_file(key: str, catalogue: Mapping[str, TripSet]) -> TripSet | None:
    """The trips whose file a city counts the points of."""
    city = cities().get(key)
    if city is None or city.file is None:
        return None
    return next((entry for entry in catalogue.values() if entry.file == city.file), None)


def _counted(trip_set: TripSet) -> dict[int, TripMatrix]:
    """Counts of the origins, of both ends, and of both with the stop in the middle if they stop."""
    ends, *others = trip_set.choices()
    stops = [places for places in others if len(places) == 3]
    places = stops[len(stops) // 2] if stops else ends
    trips, result = trip_set.read(places), {}
    for number, chosen in {len(group): group for group in (places[:1], ends, places)}.items():
        at = [places.index(choice) for choice in chosen]
        x, y = (tuple(axis[i] for i in at) for axis in (trips.x, trips.y))
        result[number] = trip_set.domain(chosen, FINEST).count(Trips(x, y, chosen, trips.crs))
    return result


def _coarse(grid: Grid, cells: int) -> Grid:
    """The same ground with fewer cells."""
    return Grid(grid.bounds, (cells, cells), grid.crs, name=grid.name)
