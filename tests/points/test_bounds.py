"""Contribution bounds: those that are none are refused when counting, all others work."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pandas as pd
import pytest
from shapely import box

from explorer.errors import InputError
from explorer.grid.areas.areas import Areas
from explorer.grid.areas.windows import Windows
from explorer.grid.grid import Grid
from explorer.grid.places import TripDomain
from explorer.mechanisms import all_mechanisms, trip_mechanisms
from explorer.points.area_counts import AreaCounts
from explorer.points.matrix import MOST_BOUND, FrequencyMatrix
from explorer.points.points import Points
from explorer.points.weights import LATTICE
from explorer.privacy.ledger import Ledger
from explorer.trips.matrix import TripMatrix
from explorer.trips.trips import Trips

LONG = 10**5000  # Python writes no such number
NONE = [0, -1, True, 1.5, "3", MOST_BOUND + 1, 2**53, 2**63, 10**30, LONG]
COUNTS = np.random.default_rng(1).integers(0, 9, (16, 16))
GRID = Grid.around(13.4, 52.5, "20km", shape=8)
X, Y, USER = np.array([13.4, 13.41]), np.array([52.5, 52.51]), np.array([0, 1])
AREAS = Areas.read(
    geopandas.GeoDataFrame({"d": ["a"]}, geometry=[box(13, 52, 14, 53)], crs=4326), levels=("d",)
)


def _file(folder: Path, suffix: str) -> Path:
    frame = pd.DataFrame({"lon": X, "lat": Y, "user": USER})
    path = folder / f"riders.{suffix}"
    if suffix == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    return path


def _of_file(suffix: str) -> Callable[[Any, Path], Any]:
    def count(bound: Any, folder: Path) -> Any:
        how = {"user": "user", "contribution_bound": bound}
        return GRID.count(_file(folder, suffix), **how)

    return count


WAYS: dict[str, Callable[[Any, Path], Any]] = {
    "counts": lambda bound, _: FrequencyMatrix(COUNTS, Grid.cells((16, 16)), bound, "user"),
    "an array": lambda bound, _: FrequencyMatrix.from_array(COUNTS, contribution_bound=bound),
    "points": lambda bound, _: GRID.count(Points(X, Y, user=USER), bound),
    "text": _of_file("csv"),
    "parquet": _of_file("parquet"),
    "areas": lambda bound, _: AREAS.count(Points(X, Y, user=USER), 500, bound),
    "counts of areas": lambda bound, _: AreaCounts(
        Windows(AREAS, AREAS.lattice(500)), [0], [0], [1], bound, "user"
    ),
    "trips": lambda bound, _: TripDomain([GRID, GRID]).count(
        Trips((X, X), (Y, Y), user=USER), bound
    ),
    "counts of trips": lambda bound, _: TripMatrix(
        [[0, 0]], [1], TripDomain([Grid.cells((4, 4))]), bound, "user"
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("bound", NONE, ids=range(len(NONE)))
def test_a_bound_that_is_none_is_one_sentence(way, bound, tmp_path):
    with pytest.raises(InputError, match="whole number of 1 or more, up to 1,000,000,000") as e:
        WAYS[way](bound, tmp_path)
    assert "\n" not in str(e.value)


@pytest.mark.parametrize("way", WAYS)
def test_the_largest_bound_counts(way, tmp_path):
    bound = WAYS[way](MOST_BOUND, tmp_path).contribution_bound
    assert bound in (MOST_BOUND, MOST_BOUND * LATTICE)


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 10])
@pytest.mark.parametrize("bound", [1, 10**5, MOST_BOUND])
def test_every_mechanism_draws_or_refuses_before_it_is_booked(bound, epsilon, tmp_path):
    """Noise of the size of the bound over epsilon has to fit whole numbers."""
    matrix = FrequencyMatrix(COUNTS, Grid.cells((16, 16)), bound, "user")
    domain = TripDomain([Grid.cells((4, 4))] * 2)
    cells = np.random.default_rng(2).integers(0, 4, (30, 4))
    trips = TripMatrix(cells, np.full(30, LATTICE), domain, bound * LATTICE, "user", LATTICE)
    drawn, booked, refused = 0, [], []
    for kinds, counts in ((all_mechanisms(), matrix), (trip_mechanisms(), trips)):
        for number, kind in enumerate(kinds.values()):
            ledger = Ledger(tmp_path / f"{number}{len(kinds)}", population="riders")
            try:
                kind(epsilon=epsilon).release(counts, ledger=ledger)
                drawn += 1
            except InputError as error:
                refused.append(str(error))
                booked += ledger.rows()
    assert booked == []
    assert all("raise epsilon, or lower the bound" in sentence for sentence in refused)
    # It is only refused where nothing could be seen through the noise.
    assert drawn == len(all_mechanisms()) + len(trip_mechanisms()) or bound / epsilon > 10**10
