"""Trips from tables to counts: what is read, what is said, what counts, what is refused."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from explorer import Grid, InputError, TripDomain, Trips, exact, read_points, read_trips
from explorer.points.weights import LATTICE
from explorer.trips.matrix import TripMatrix

HERE = Grid.around(2.35, 48.85, 10_000, shape=(20, 31), name="here")
THERE = Grid.from_bounds(448_000, 5_405_000, 458_000, 5_415_000, "EPSG:32631", shape=(7, 9))


def table(n: int = 500, seed: int = 0) -> dict[str, np.ndarray]:
    """Trips about Paris, every tenth end far outside, with a stop that is often missing."""
    rng = np.random.default_rng(seed)
    found = {}
    for place in ("o", "s1", "d"):
        found[f"{place}_lon"] = rng.normal(2.35, 0.04, n)
        found[f"{place}_lat"] = rng.normal(48.85, 0.03, n)
        found[f"{place}_lon"][rng.random(n) < 0.1] += 3
    gone = rng.random(n) < 0.5
    found["s1_lon"][gone] = np.nan
    found["who"] = rng.integers(0, 25, n) * 10**10
    return found


def by_hand(frame: dict[str, np.ndarray], grids: dict[str, Grid]) -> np.ndarray:
    """Cells of the trips that lie inside everywhere, (m, 2k), and their rows."""
    cells, inside = [], np.ones(len(frame["o_lon"]), dtype=bool)
    for place, grid in grids.items():
        x, y = grid.from_lonlat(frame[f"{place}_lon"], frame[f"{place}_lat"])
        x0, y0, x1, y1 = grid.bounds
        inside &= (x >= x0) & (x <= x1) & (y >= y0) & (y <= y1)
        cells += [(y - y0) / grid.cell_height, (x - x0) / grid.cell_width]
    with np.errstate(invalid="ignore"):
        return np.stack(cells, axis=1)[inside].astype(int), np.flatnonzero(inside)


@pytest.mark.parametrize(
    "grids", [{"o": HERE, "d": THERE}, {"o": HERE, "s1": THERE, "d": HERE}, {"d": HERE}], ids=len
)
def test_a_trip_counts_if_every_place_is_inside(grids):
    frame = table()
    domain = TripDomain(list(grids.values()))
    matrix = domain.count(read_trips(frame, list(grids)))
    cells, _ = by_hand(frame, grids)
    wanted = TripMatrix(cells, np.ones(len(cells), dtype=int), domain)
    assert 0 < matrix.total == len(cells) < 500
    assert matrix.key == wanted.key
    assert (matrix.unit, matrix.contribution_bound) == ("point", 1)


def test_one_place_counts_as_points_do():
    frame = table(3000)
    points = read_points(frame, lon="d_lon", lat="d_lat")
    matrix = TripDomain([HERE]).count(read_trips(frame, "d"))
    assert np.array_equal(matrix.marginal(0).counts, HERE.count(points).counts)
    assert matrix.domain.axis_names == ("place row", "place column")


def test_edges_belong_to_the_grid_and_a_round_trip_is_one_trip():
    ends = np.array([0.0, 4.0, 4.0, np.nan, np.inf, -1e-9, 2.0])
    trips = Trips((ends, ends), (ends / 2, ends / 2), crs=None)
    matrix = TripDomain([Grid.cells((2, 4)), Grid.cells((3, 4))]).count(trips)
    assert matrix.cells.tolist() == [[0, 0, 0, 0], [1, 2, 1, 2], [1, 3, 2, 3]]
    assert matrix.multiplicities.tolist() == [1, 1, 2]
    nobody = Trips((ends[:0],) * 2, (ends[:0],) * 2, crs=None)
    assert TripDomain([Grid.cells((1, 5)), Grid.cells(3)]).count(nobody).total == 0


@pytest.mark.parametrize("bound", [1, 3, 10**6])
def test_a_user_gives_as_many_trips_inside_as_the_bound_allows(bound):
    frame = table()
    grids = {"o": HERE, "d": THERE}
    domain = TripDomain(list(grids.values()))
    told: list[float] = []
    trips = read_trips(frame, user="who")
    matrix = domain.count(trips, bound, progress=told.append, weights=False)
    _, rows = by_hand(frame, grids)
    of_user = pd.Series(frame["who"][rows]).value_counts()
    assert matrix.total == np.minimum(of_user, bound).sum()
    assert (matrix.unit, matrix.contribution_bound) == ("user", bound)
    # All of them are trips of the domain, and all are without a bound.
    every = domain.count(trips, per="record")
    lower = matrix.cells
    assert (matrix.count(lower, lower + 1) <= every.count(lower, lower + 1)).all()
    assert (matrix.key == every.key) == (bound >= of_user.max())
    assert told == [1.0]
    again = read_trips(frame, user=[str(each) for each in frame["who"]])
    same = domain.count(again, bound, weights=False)
    assert same.key == matrix.key


@pytest.mark.parametrize("bound", [None, 1, 4])
@pytest.mark.parametrize("weights", [True, False])
def test_a_row_counts_as_often_as_its_weight_says(bound, weights):
    frame = table(400)
    weight = np.random.default_rng(4).integers(0, 6, 400)
    repeated = {name: np.repeat(values, weight) for name, values in frame.items()}
    domain, per = TripDomain([HERE, THERE]), None if bound else "record"
    one = domain.count(read_trips(repeated, user="who"), bound, weights=weights, per=per)
    for given in ("n", weight):
        trips = read_trips({**frame, "n": weight}, user="who", weight=given)
        assert "weight" in repr(trips)
        assert domain.count(trips, bound, weights=weights, per=per).key == one.key


def test_flows_of_a_table_are_its_trips_and_a_row_without_a_place_weighs_nothing():
    flows = {"S000": [17, 34, 5], "o_lon": [2.3, 2.31, 0.0], "o_lat": [48.85, 48.85, 0.0]}
    flows |= {"d_lon": [2.32, 2.3, 2.3], "d_lat": [48.85, 48.86, 48.86]}
    grid = Grid.around(2.3, 48.85, "20km", shape=8)
    assert TripDomain([grid, grid]).count(read_trips(flows, weight="S000")).total == 51
    assert TripDomain([grid, grid]).count(read_trips(flows)).total == 2


def test_what_is_read_is_said():
    frame = table(50)
    frame["o_lon"][3] = frame["o_lat"][3] = 0.0
    frame["d_lat"][[3, 4]] = np.nan
    trips = read_trips(frame, "o,d")
    assert trips.notes == (
        "The columns 'o_lon' and 'o_lat' were taken as the origin, 'd_lon' and 'd_lat' as the "
        "destination.",
        "3 columns were not read: s1_lon, s1_lat, who.",
        "1 row without a coordinate (null or not a number) was left out.",
        "1 row at longitude 0, latitude 0, which stands for a missing place, was left out.",
    )
    assert len(trips) == 48
    # A stop that is missing matters where that stop is chosen, and only there.
    stops = read_trips(frame, None)
    assert stops.places == ("o", "s1", "d")
    assert len(stops) == 48 - np.isnan(np.delete(frame["s1_lon"], [3, 4])).sum()
    assert "50" not in repr(trips)
    whose = read_trips(frame, user=[None, *range(49)])
    assert whose.notes[-1] == "1 row without a user was left out."


def test_files_and_frames_say_the_same(tmp_path):
    frame = pd.DataFrame(table(200)).drop(columns=["s1_lon", "s1_lat"])
    frame.columns = ["pickup_longitude", "pickup_latitude", "dropoff_longitude",
                     "dropoff_latitude", "who"]  # fmt: skip
    frame.to_csv(tmp_path / "trips.csv", index=False)
    frame.to_parquet(tmp_path / "trips.parquet")
    domain = TripDomain([HERE, THERE])
    wanted = domain.count(read_trips(frame, user="who"), 2)
    for source in (
        tmp_path / "trips.csv",
        str(tmp_path / "trips.parquet"),
        io.BytesIO((tmp_path / "trips.parquet").read_bytes()),
        pa.table(frame),
    ):
        trips = read_trips(source, user="who")
        assert domain.count(trips, 2).key == wanted.key
        assert "as the destination" in trips.notes[0]
    assert read_trips(tmp_path / "trips.csv").name == "trips"


def test_metres_and_longitudes_to_360():
    grid = Grid.around(-179.9, 0.5, 50_000, shape=8)
    wide = {"o_lon": [180.1, 180.2], "o_lat": [0.5] * 2, "d_lon": [180.1] * 2, "d_lat": [0.4] * 2}
    trips = read_trips(wide)
    assert trips.notes[-1] == "Longitudes above 180 were read as degrees from 0 to 360."
    assert TripDomain([grid, grid]).count(trips).total == 2
    metres = {"o_x": [450_000.0], "o_y": [5_410_000.0], "d_x": [457_999.0], "d_y": [5_405_001.0]}
    trips = read_trips(metres, crs="EPSG:32631")
    assert TripDomain([THERE, THERE]).count(trips).cells.tolist() == [[3, 1, 0, 8]]


def two(**changes: object) -> Trips:
    ends = (np.array([1.0]), np.array([2.0]))
    return Trips(**{"x": ends, "y": ends, "crs": None, **changes})


@pytest.mark.parametrize(("changes", "words"), [
    ({"places": ("o",)}, "for each place"),
    ({"x": (), "y": (), "places": ()}, "for each place"),
    ({"x": (np.zeros(2), np.zeros(1))}, "differ in length"),
    ({"user": np.zeros(3)}, "differ in length"),
    ({"user": np.array([-1])}, "0 or more"),
    ({"weight": np.zeros(3)}, "differ in length"),
    ({"weight": np.array([-1])}, "0 or more"),
])  # fmt: skip
def test_arrays_that_are_no_trips_are_refused(changes, words):
    with pytest.raises(InputError, match=words):
        two(**changes)


@pytest.mark.parametrize(("domain", "bound", "words"), [
    (TripDomain([Grid.cells(4)]), None, "have 2 places .o, d. and the domain has 1"),
    (TripDomain([Grid.cells(4)] * 4), None, "have 2 places .o, d. and the domain has 4"),
    (TripDomain([HERE, HERE]), None, "no CRS"),
    (TripDomain([Grid.cells(4)] * 2), 2, "needs to know the user"),
    (TripDomain([Grid.cells(4)] * 2), 0, "1 or more"),
    (TripDomain([Grid.cells(4)] * 2), True, "1 or more"),
])  # fmt: skip
def test_what_cannot_be_counted_is_refused(domain, bound, words):
    with pytest.raises(InputError, match=words):
        domain.count(two(), bound)


def test_places_on_earth_need_grids_on_earth():
    with pytest.raises(InputError, match="make them with Grid"):
        TripDomain([Grid.cells(4)] * 2).count(read_trips(table()))


def test_trips_and_points_are_not_taken_for_each_other():
    with pytest.raises(InputError, match="several grids"):
        HERE.count(read_trips(table()))
    with pytest.raises(InputError, match="no trips"):
        TripDomain([HERE]).count(read_points(table(), lon="o_lon", lat="o_lat"))


def test_a_table_without_rows_has_no_trips():
    trips = read_trips({name: values[:0] for name, values in table().items()}, user="who")
    assert TripDomain([HERE, THERE]).count(trips, 3).total == 0


@pytest.mark.parametrize(("source", "settings", "words"), [
    ({"o_lon": [1.0], "o_lat": [2.0]}, {}, "recognised as the destination"),
    (table(9), {"user": "cab"}, "no column 'cab'"),
    (table(9), {"user": [1, 2]}, "array of 9 values"),
    (table(9), {"weight": "n"}, "no column 'n'"),
    (table(9), {"weight": [1, 2]}, "array of 9 values"),
    (table(9), {"weight": [0.5] * 9}, "whole number of 0 or more"),
    (table(9), {"weight": [-1] * 9}, "whole number of 0 or more"),
    (table(9), {"crs": "EPSG:4978"}, "no longitude or easting"),
    ({"o_x": [5e5], "o_y": [5e6], "d_x": [5e5], "d_y": [5e6]}, {}, "not degrees"),
    ({"o_lon": [0.0], "o_lat": [0.0], "d_lon": [1.0], "d_lat": [2.0]}, {}, "None of the rows"),
    ({"o_lon": ["a"], "o_lat": [0.0], "d_lon": [1.0], "d_lat": [2.0]}, {}, "else than numbers"),
])  # fmt: skip
def test_what_cannot_be_read_is_refused(source, settings, words):
    with pytest.raises(InputError, match=words):
        read_trips(source, **settings)


CABS, CHILE = (-122.42, 37.77, 20_000.0), (-70.65, -33.46, 36_000.0)
GREEN = (-73.92, 40.75, 24_000.0)


@pytest.mark.parametrize(("file", "places", "around", "side", "total", "cells"), [
    ("sf_cabspotting_trips", "o,d", CABS, 64, 357_561, None),
    ("sf_cabspotting_trips", "o,s2,d", CABS, 64, 357_208, None),
    ("sf_cabspotting_trips", "o,s1,d", CABS, 256, 357_425, None),
    ("santiago_taxi_od", "o,d", CHILE, 64, 435_890, 157_244),
    ("santiago_taxi_od", "o,d", CHILE, 1024, 435_890, 397_009),
    ("nyc_green_taxi_2013-08_raw", "o,d", GREEN, 64, 6_500, 4_930),
])  # fmt: skip
def test_real_trips_are_counted_as_elsewhere(real_data, file, places, around, side, total, cells):
    """Against counts made without this code; some cabs stand exactly on the middle meridian."""
    trips = read_trips(real_data(f"{file}.parquet"), places)
    grid = Grid.around(*around, shape=side)
    matrix = TripDomain([grid] * len(trips.places)).count(trips)
    assert matrix.total == total
    if cells is not None:
        assert len(matrix.cells) == cells
    everywhere = np.tile(grid.bounds, (1, len(trips.places)))
    assert exact(matrix, everywhere).tolist() == [total]
    assert exact(matrix, np.full((1, len(trips.places), 4), np.nan)).tolist() == [total]


def test_the_cabs_of_a_city_give_at_most_ten_trips_each(real_data):
    trips = read_trips(real_data("sf_cabspotting_trips.parquet"), user="cab")
    grid = Grid.around(*CABS, shape=64)
    cabs = len(np.unique(trips.user))
    for weights in (True, False):
        matrix = TripDomain([grid, grid]).count(trips, contribution_bound=10, weights=weights)
        assert matrix.lattice == (LATTICE if weights else 1)
        assert matrix.total <= 10 * cabs * matrix.lattice
        # The sum over cabs of min(n, 10) / 10.
        assert matrix.people == pytest.approx(534.2)
