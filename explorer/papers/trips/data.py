"""The trips on which claims are checked, each set by a name.

"gauss:4:.2" and "zipf:4:1.5" are the made-up sets of trips-2022, section 6.1 (axes, then spread or
exponent); "sf:o,s2,d:64" are real trips of the catalogue: source, places, cells a side. The paper's
own data is not to be had; San Francisco's taxis, Santiago's and New York's green taxis are in its
place where their files are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from explorer.cities.trip_sets import known_files
from explorer.errors import InputError
from explorer.evaluate.workloads import TRIP_NAMES, TRIP_QUERIES, Workload, trip_workload
from explorer.grid.axes import Axes
from explorer.trips import synthetic
from explorer.trips.matrix import TripMatrix
from explorer.trips.trips import read_trips

QUICK_DRAWS, QUICK_QUERIES = 10**5, 200


#: Sets of the catalogue of trips, by what they are called here.
SOURCES = {"sf": "san-francisco", "san": "santiago", "nyc": "new-york-green"}


@dataclass(frozen=True, eq=False)
class AskedTrips:
    """Counted trips and what is asked about them.

    Attributes
    ----------
    key, title : short name; for people
    matrix : TripMatrix, prepared
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
    files = known_files()
    return tuple(k for k in keys if not is_real(k) or files[SOURCES[k.partition(":")[0]]].present)


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
            city = known_files()[SOURCES[first]].title.partition(",")[0]
            return f"{city}: trips of {second} on {third} x {third} cells a place"
        kind = {
            "gauss": f"one cluster, spread {third} of a side",
            "zipf": f"Zipf's law, a = {third}",
        }
        draws = QUICK_DRAWS if self.quick else synthetic.DRAWS
        return f"{kind[first]}, {second} axes, {draws:,} draws"

    def _make(self, key: str) -> AskedTrips:
        matrix = (_real(key) if is_real(key) else self._made_up(key)).prepare()
        cells, number = matrix.cells, matrix.multiplicities
        n = QUICK_QUERIES if self.quick else TRIP_QUERIES
        workloads = tuple(
            trip_workload(name, matrix.shape, cells, number, n) for name in TRIP_NAMES
        )
        truths = {
            workload.name: matrix.count(workload.boxes[:, 0], workload.boxes[:, 1])
            for workload in workloads
        }
        return AskedTrips(key, self.title(key), matrix, workloads, truths)

    def _made_up(self, key: str) -> TripMatrix:
        result = synthetic.named(key, QUICK_DRAWS if self.quick else synthetic.DRAWS)
        axes = int(key.split(":")[1])
        if axes % 2 == 0:
            return result
        # The formulas ask for the number of axes: without the one of a single row.
        cells = np.delete(result.cells, axes - 1, axis=1)
        shape = tuple(np.delete(result.shape, axes - 1).tolist())
        return TripMatrix(cells, result.multiplicities, Axes(shape))


def _real(key: str) -> TripMatrix:
    name, places, side = key.split(":")
    trip_file = known_files()[SOURCES[name]]
    if not trip_file.present:
        raise InputError(f"{trip_file.file} is not here; EXPLORER_DATA names the folder it is in.")
    # Without the column of persons: here single trips are protected.
    return trip_file.domain(places.split(","), int(side)).count(read_trips(trip_file.file, places))
