"""Every reader keeps the counts of all records beside those under a contribution bound."""

from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pandas as pd
import pytest
from shapely import box

from explorer import Areas, FrequencyMatrix, Grid, TripDomain, exact, scan_points
from explorer.errors import InputError
from explorer.mechanisms import AG, HTF, PrivTree
from explorer.points.counts_file import load_counts, save_counts
from explorer.points.points import read_points
from explorer.trips.trips import read_trips

GRID = Grid.around(10.0, 50.0, "20km", shape=(16, 12), name="place")


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(5)
    lon, lat = rng.uniform(9.8, 10.2, (2, 2000)), rng.uniform(49.88, 50.12, (2, 2000))
    columns = {"lon": lon[0], "lat": lat[0], "to_lon": lon[1], "to_lat": lat[1]}
    return pd.DataFrame({**columns, "who": rng.integers(0, 150, 2000)})


def _sources(records: pd.DataFrame, folder: Path) -> dict[str, Any]:
    place = records[["lon", "lat", "who"]]
    place.to_csv(folder / "points.csv", index=False)
    place.iloc[:900].to_parquet(folder / "points-1.parquet")
    place.iloc[900:].to_parquet(folder / "points-2.parquet")
    return {
        "frame": read_points(place, user="who"),
        "text": folder / "points.csv",
        "files": scan_points(str(folder / "points-*.parquet"), user="who"),
    }


@pytest.mark.parametrize("kind", ["frame", "text", "files"])
def test_points_keep_what_the_bound_left_out(records, tmp_path, kind):
    source = _sources(records, tmp_path)[kind]
    columns = {"user": "who"} if kind == "text" else {}
    bounded = GRID.count(source, contribution_bound=2, **columns)
    every = GRID.count(source, per="record", **columns)
    assert (bounded.unclipped.unit, bounded.unclipped.contribution_bound) == ("point", 1)
    np.testing.assert_array_equal(bounded.unclipped.counts, every.counts)
    assert every.unclipped is None
    assert bounded.total < every.total
    whole = [list(GRID.bounds)]
    assert exact(bounded.unclipped, whole).tolist() == [every.total]


def test_areas_keep_it_in_each_of_them(records):
    frame = geopandas.GeoDataFrame(
        {"district": ["West", "East"]},
        geometry=[box(9.8, 49.9, 10, 50.1), box(10, 49.9, 10.2, 50.1)],
        crs=4326,
    )
    areas = Areas.read(frame, levels=("district",))
    points = read_points(records, lon="lon", lat="lat", user="who")
    bounded = areas.count(points, cell=500, contribution_bound=2)
    every = areas.count(points, cell=500, per="record")
    assert bounded.unclipped.key == every.key
    national = bounded.national().unclipped
    np.testing.assert_array_equal(national.counts, every.national().counts)


@pytest.mark.parametrize("weights", [True, False])
def test_trips_keep_whole_records(records, weights):
    trips = read_trips(records, [("lon", "lat"), ("to_lon", "to_lat")], user="who")
    domain = TripDomain([GRID, GRID])
    bounded = domain.count(trips, contribution_bound=2, weights=weights)
    every = domain.count(trips, per="record")
    assert (bounded.unclipped.lattice, bounded.unclipped.unit) == (1, "point")
    assert bounded.unclipped.key == every.key
    if not weights:
        start = bounded.marginal(0).unclipped
        assert start.total == every.total


def test_it_is_no_part_of_the_key_or_the_repr_and_stays_in_a_file(tmp_path):
    every = np.arange(6).reshape(2, 3) + 7
    kept = FrequencyMatrix(every // 4, Grid.cells((2, 3)), 2, "user", unclipped=every)
    plain = FrequencyMatrix(every // 4, Grid.cells((2, 3)), 2, "user")
    assert (kept.key, repr(kept), kept._repr_html_()) == (
        *(plain.key, repr(plain), plain._repr_html_()),
    )
    for matrix in (kept, plain):
        save_counts(matrix, tmp_path / "x.exact.parquet")
        loaded = load_counts(tmp_path / "x.exact.parquet")
        assert loaded.key == matrix.key
        if matrix is plain:
            assert loaded.unclipped is None
        else:
            np.testing.assert_array_equal(loaded.unclipped.counts, every)
    with pytest.raises(InputError, match="unclipped"):
        FrequencyMatrix(every, Grid.cells((2, 3)), 2, "user", unclipped=every - 1)


@pytest.mark.parametrize("mechanism", [HTF(epsilon=1), AG(epsilon=1), PrivTree(epsilon=1)], ids=str)
def test_nothing_that_is_released_follows_from_what_the_bound_left_out(mechanism, tmp_path):
    counts = np.random.default_rng(3).poisson(4, (16, 12))
    made = []
    for more in (0, 7, 90_001):
        matrix = FrequencyMatrix(counts, GRID, 2, "user", unclipped=counts + more)
        release = mechanism.release(matrix, rng=1)
        release.save(tmp_path / "x.parquet")
        facts = {name: str(value) for name, value in vars(release).items()}
        made.append((facts, (tmp_path / "x.parquet").read_bytes()))
    assert made[0] == made[1] == made[2]
