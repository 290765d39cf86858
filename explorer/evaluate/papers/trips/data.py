"""The trips on which claims are checked, each set by a name.

"gauss:4:.2" and "zipf:4:1.5" are the made-up sets of trips-2022, section 6.1 (axes, then spread or
exponent); "sf:o,s2,d:64" are real trips: source, places, cells a side. The paper's own data is not
to be had; San Francisco's taxis, Santiago's and New York's green taxis stand in its place where
their files are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.cities.catalogue import folders
from explorer.errors import InputError
from explorer.evaluate.workloads import TRIP_NAMES, TRIP_QUERIES, Workload, trip_workload
from explorer.grid.axes import Axes
from explorer.grid.grid import Grid
from explorer.grid.places import TripDomain
from explorer.trips import synthetic
from explorer.trips.matrix import TripMatrix
from explorer.trips.trips import read_trips

QUICK_DRAWS, QUICK_QUERIES = 10**5, 200


@dataclass(frozen=True)
class Source:
    """A file of real trips and its public extent."""

    title: str
    file: str
    lon: float
    lat: float
    size: float

    @property
    def path(self) -> Path | None:
        """Where the file is, if it is here."""
        return next((f / self.file for f in folders() if (f / self.file).is_file()), None)


SOURCES = {
    "sf": Source("San Francisco", "sf_cabspotting_trips.parquet", -122.42, 37.77, 20_000),
    "san": Source("Santiago", "santiago_taxi_od.parquet", -70.65, -33.46, 36_000),
    "nyc": Source("New York", "nyc_green_taxi_2013-08_raw.parquet", -73.92, 40.75, 24_000),
}


@dataclass(frozen=True, eq=False)
class TripSet:
    """Trips with their workloads.

    Attributes
    ----------
    key, title : short name; for people
    matrix : TripMatrix
    workloads : tuple of Workload
    truths : {workload: (n,) exact answers}
    """

    key: str
    title: str
    matrix: TripMatrix
    workloads: tuple[Workload, ...]
    truths: dict[str, NDArray[np.int64]]


def is_real(key: str) -> bool:
    """Whether a name is that of real trips."""
    return key.partition(":")[0] in SOURCES


def present(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Those whose trips can be had here."""
    return tuple(k for k in keys if not is_real(k) or SOURCES[k.partition(":")[0]].path is not None)


class TripSets:
    """Sets by their names, the last few kept.

    Parameters
    ----------
    quick : whether made-up sets have a tenth of the trips, and workloads 200 boxes
    """

    def __init__(self, quick: bool = False) -> None:
        self.quick = quick
        self.of = cache(self._make)

    def title(self, key: str) -> str:
        """What a set is, for people, without making it."""
        first, second, third = key.split(":")
        if is_real(key):
            return f"{SOURCES[first].title}: trips of {second} on {third} x {third} cells a place"
        kind = {
            "gauss": f"one cluster, spread {third} of a side",
            "zipf": f"Zipf's law, a = {third}",
        }
        draws = QUICK_DRAWS if self.quick else synthetic.DRAWS
        return f"{kind[first]}, {second} axes, {draws:,} draws"

    def _make(self, key: str) -> TripSet:
        matrix = (_real(key) if is_real(key) else self._made_up(key)).prepare()
        cells, number = matrix.cells, matrix.multiplicities
        n = QUICK_QUERIES if self.quick else TRIP_QUERIES
        asked = tuple(trip_workload(name, matrix.shape, cells, number, n) for name in TRIP_NAMES)
        truths = {each.name: matrix.count(each.boxes[:, 0], each.boxes[:, 1]) for each in asked}
        return TripSet(key, self.title(key), matrix, asked, truths)

    def _made_up(self, key: str) -> TripMatrix:
        made = synthetic.named(key, QUICK_DRAWS if self.quick else synthetic.DRAWS)
        axes = int(key.split(":")[1])
        if axes % 2 == 0:
            return made
        # The formulas ask for the number of axes: without the one of a single row.
        cells = np.delete(made.cells, axes - 1, axis=1)
        shape = tuple(np.delete(made.shape, axes - 1).tolist())
        return TripMatrix(cells, made.multiplicities, Axes(shape))


def _real(key: str) -> TripMatrix:
    name, places, side = key.split(":")
    source = SOURCES[name]
    if source.path is None:
        raise InputError(f"{source.file} is not here; EXPLORER_DATA names the folder it is in.")
    grid = Grid.around(source.lon, source.lat, source.size, shape=int(side))
    trips = read_trips(source.path, places)
    return TripDomain([grid] * len(trips.places), trips.places).count(trips)
