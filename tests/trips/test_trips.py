"""Trips from tables to counts: what is read, what is said, what counts, what is refused."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from explorer import Grid, InputError, TripDomain, TripMatrix, Trips, exact, read_points, read_trips
from explorer.trips.columns import find_places
from tests.refusals import refuses

HERE = Grid.around(2.35, 48.85, 10_000, shape=(20, 31), name="here")
THERE = Grid.from_bounds(448_000, 5_405_000, 458_000, 5_415_000, "EPSG:32631", shape=(7, 9))


def table(n=500, seed=0):
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


def by_hand(frame, grids):
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
    told = []
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


def two(**changes: object):
    ends = (np.array([1.0]), np.array([2.0]))
    return Trips(**{"x": ends, "y": ends, "crs": None, **changes})


@pytest.mark.parametrize(("changes", "words"), [
    ({"places": ("o",)}, "for each place"),
    ({"x": (), "y": (), "places": ()}, "for each place"),
    ({"x": (np.zeros(2), np.zeros(1))}, "differ in length"),
    ({"user": np.zeros(3)}, "differ in length"), ({"user": np.array([-1])}, "0 or more"),
])  # fmt: skip
def test_arrays_that_are_no_trips_are_refused(changes, words):
    refuses(words, two, **changes)


@pytest.mark.parametrize(("domain", "bound", "words"), [
    (TripDomain([Grid.cells(4)]), None, "have 2 places .o, d. and the domain has 1"),
    (TripDomain([Grid.cells(4)] * 4), None, "have 2 places .o, d. and the domain has 4"),
    (TripDomain([HERE, HERE]), None, "no CRS"),
    (TripDomain([Grid.cells(4)] * 2), 2, "needs to know the user"),
    (TripDomain([Grid.cells(4)] * 2), 0, "1 or more"),
])  # fmt: skip
def test_what_cannot_be_counted_is_refused(domain, bound, words):
    refuses(words, domain.count, two(), bound)


def test_trips_and_points_are_not_taken_for_each_other():
    with pytest.raises(InputError, match="several grids"):
        HERE.count(read_trips(table()))
    with pytest.raises(InputError, match="no trips"):
        TripDomain([HERE]).count(read_points(table(), lon="o_lon", lat="o_lat"))


@pytest.mark.parametrize(("source", "settings", "words"), [
    ({"o_lon": [1.0], "o_lat": [2.0]}, {}, "recognised as the destination"),
    (table(9), {"user": "cab"}, "no column 'cab'"),
    (table(9), {"user": [1, 2]}, "array of 9 values"),
    (table(9), {"weight": [0.5] * 9}, "whole number of 0 or more"),
    (table(9), {"crs": "EPSG:4978"}, "no longitude or easting"),
    ({"o_x": [5e5], "o_y": [5e6], "d_x": [5e5], "d_y": [5e6]}, {}, "not degrees"),
    ({"o_lon": [0.0], "o_lat": [0.0], "d_lon": [1.0], "d_lat": [2.0]}, {}, "None of the rows"),
    ({"o_lon": ["a"], "o_lat": [0.0], "d_lon": [1.0], "d_lat": [2.0]}, {}, "else than numbers"),
])  # fmt: skip
def test_what_cannot_be_read_is_refused(source, settings, words):
    refuses(words, read_trips, source, **settings)


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


# Columns of places: guessed from what stands before lon and lat, named, refused.


def columns(*words: str, pair=("lon", "lat")):
    return [f"{word}_{end}" for word in words for end in pair]


@pytest.mark.parametrize("begin", ["o", "origin", "pickup", "start", "from", "Pick_Up"])
@pytest.mark.parametrize("end", ["d", "dest", "destination", "dropoff", "end", "to", "Drop_Off"])
@pytest.mark.parametrize("pair", [("lon", "lat"), ("longitude", "latitude"), ("x", "y")])
def test_an_origin_and_a_destination_are_recognised(begin, end, pair):
    names = ["fare", *columns(end, begin, pair=pair)]
    found = find_places(names, ("o", "d"))
    assert [(name, place.lon) for name, place in found] == [
        ("o", f"{begin}_{pair[0]}"),
        ("d", f"{end}_{pair[0]}"),
    ]


def test_places_found_stand_in_the_order_of_a_trip():
    names = columns("s10", "d", "s2", "stop_3", "via1", "o", "depot")
    assert [name for name, _ in find_places(names, None)] == ["o", "s1", "s2", "s3", "s10", "d"]
    assert [name for name, _ in find_places(columns("start", "via", "end"), None)][1] == "s1"


@pytest.mark.parametrize(("names", "wanted", "found"), [
    (["olon", "olat", "dlon", "dlat"], ("o", "d"), ["olon", "dlon"]),
    (["start lng", "start lat", "end lng", "end lat"], ("d", "o"), ["end lng", "start lng"]),
    (["lon_from", "lat_from", "lon_to", "lat_to"], ("from", "to"), ["lon_from", "lon_to"]),
    (columns("home", "work"), ("work", "home"), ["work_lon", "home_lon"]),
    (columns("o", "s2", "d"), ("pickup", "stop 2", "d"), ["o_lon", "s2_lon", "d_lon"]),
    (columns("o", "start", "d"), (("start_lon", "start_lat"), "d"), ["start_lon", "d_lon"]),
    (["a", "b", "d_lon", "d_lat"], (("a", "b"), "d"), ["a", "d_lon"]),
    (columns("from_stop", "to_stop"), ("o", "d"), ["from_stop_lon", "to_stop_lon"]),
    (
        ["startStationLat", "startStationLon", "endLat", "endLon"],
        ("o", "d"),
        ["startStationLon", "endLon"],
    ),
    (["fromX", "fromY", "toX", "toY"], ("o", "d"), ["fromX", "toX"]),
    (
        ["start_long", "start_lati", "end_longit", "end_latitu"],
        ("o", "d"),
        ["start_long", "end_longit"],
    ),
    (["home1_lon", "home1_lat", "d_lon", "d_lat"], ("home1", "d"), ["home1_lon", "d_lon"]),
])  # fmt: skip
def test_places_are_named(names, wanted, found):
    assert [place.lon for _, place in find_places(names, wanted)] == found


@pytest.mark.parametrize(("names", "wanted", "words"), [
    (columns("o", "d"), ("o", "s2"), "recognised as stop 2"),
    (columns("o", "d"), ("home", "d"), "recognised as 'home'"),
    (columns("o", "start", "d"), ("o", "d"), "More than one pair of columns could be the ori"),
    (columns("o", "d"), ("o", "pickup"), "named twice"),
    (columns("o", "d"), (), "No places are named"),
    (columns("o", "d"), (("o_lon",), "d"), "is no place"),
    (columns("o", "d"), (("o_lon", "nowhere"), "d"), "no column 'nowhere'"),
    (["lon", "lat"], None, "No columns of an origin or a destination"),
    (["lon", "lat"], ("o", "d"), "recognised as the origin"),
])  # fmt: skip
def test_what_is_no_place_is_refused(names, wanted, words):
    refuses(words, find_places, names, wanted)
