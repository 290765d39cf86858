"""Counts: checks, sums and tables; files of them; whom they protect; extents that catch nothing."""

import json
import re
import warnings

import geopandas
import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from shapely import box

from explorer import (
    HTF,
    AreaCounts,
    Areas,
    FrequencyMatrix,
    Grid,
    InputError,
    Ledger,
    Points,
    Release,
    TripDomain,
    TripMatrix,
    Trips,
    all_mechanisms,
    read_points,
    scan_points,
)
from explorer.grid.areas.windows import Windows
from explorer.mechanisms import trip_mechanisms
from explorer.points.counting import ExtentWarning, few_inside
from explorer.points.counts_file import counts_path, is_counts, load_counts, save_counts
from explorer.points.matrix import MOST_BOUND
from explorer.points.weights import LATTICE
from tests.refusals import refuses


def test_counts_of_boxes_equal_slices():
    rng = np.random.default_rng(1)
    counts = rng.poisson(3, (20, 31))
    matrix = FrequencyMatrix.from_array(counts)
    lower = np.column_stack([rng.integers(0, 10, 50), rng.integers(0, 15, 50)])
    upper = lower + np.column_stack([rng.integers(1, 10, 50), rng.integers(1, 16, 50)])
    slices = [counts[a:c, b:d].sum() for (a, b), (c, d) in zip(lower, upper, strict=True)]
    assert matrix.count(lower, upper).tolist() == slices


def test_excess_tables_are_sums_of_what_lies_above_each_threshold():
    counts = np.random.default_rng(2).poisson(5, (9, 7)).astype(np.int64)
    table = FrequencyMatrix.from_array(counts).tables.excess
    assert table.shape == (10, 8, 16)
    for t in range(16):
        above = np.maximum(counts - t, 0).cumsum(0).cumsum(1)
        assert np.array_equal(table[1:, 1:, t], above)
    assert not table[0].any()
    assert not table[:, 0].any()


def test_tables_that_would_overflow_are_left_out():
    matrix = FrequencyMatrix.from_array([[2**31, 1], [0, 5]])
    assert matrix.tables.excess.size == 0
    assert FrequencyMatrix.from_array([[2**31 - 2, 1], [0, 0]]).tables.excess.size > 0


def test_coarse_tables_hold_every_eighth_corner():
    rng = np.random.default_rng(4)
    counts = rng.poisson(rng.gamma(0.5, 200, (21, 40)))
    table = FrequencyMatrix.from_array(counts).tables.coarse
    assert table.shape == (3, 6, 256)
    assert counts.max() > 256
    for t in range(256):
        above = np.pad(np.maximum(counts - t, 0).cumsum(0).cumsum(1), ((1, 0), (1, 0)))
        assert np.array_equal(table[:, :, t], above[::8, ::8])


@pytest.mark.parametrize(("counts", "word"), [
    ([[1, -1]], "negative"), ([[0.5]], "fractions"), ([], "dimensions"), ([["a"]], "not numbers"),
    ([[10**12]], "100 billion"), ([[1, 2], [3]], "rectangular"),
])  # fmt: skip
def test_bad_counts_are_refused_in_a_sentence(counts, word):
    refuses(word, FrequencyMatrix.from_array, counts)


def test_shape_must_be_the_grids():
    refuses("shape", FrequencyMatrix, [[1, 2]], Grid.cells((3, 3)))


def test_counts_cannot_be_written_and_the_key_follows_them():
    matrix = FrequencyMatrix.from_array([[1, 2], [3, 4]])
    with pytest.raises(ValueError, match="read-only"):
        matrix.counts[0, 0] = 9
    assert matrix.key == FrequencyMatrix.from_array([[1, 2], [3, 4]]).key
    assert matrix.key != FrequencyMatrix.from_array([[1, 2], [3, 5]]).key
    renamed = FrequencyMatrix(matrix.counts, Grid.cells((2, 2), name="elsewhere"))
    assert renamed.key == matrix.key


@pytest.mark.parametrize(("unit", "bound"), [("household", 1), ("point", 3)])
def test_unit_and_bound_belong_together(unit, bound):
    refuses("unit of privacy", FrequencyMatrix, [[1]], Grid.cells((1, 1)), bound, unit)


def test_repr_shows_no_count():
    assert "4711" not in repr(FrequencyMatrix.from_array([[4711]]))


# Files of exact counts say what they are, come back whole, and are no releases.

GRID = Grid.around(10.0, 50.0, 20e3, shape=(6, 8), name="here")


@pytest.fixture
def saved(tmp_path):
    counts = np.random.default_rng(1).poisson(0.7, GRID.shape)
    matrix = FrequencyMatrix(counts, GRID, contribution_bound=3, unit="user")
    path = counts_path(tmp_path / "city")
    save_counts(matrix, path)
    return matrix, path


def test_counts_come_back_whole(saved, tmp_path):
    matrix, path = saved
    assert is_counts(path)
    found = load_counts(path)
    assert np.array_equal(found.counts, matrix.counts)
    assert (found.key, found.grid, found.unit, found.contribution_bound) == (
        *(matrix.key, GRID, "user", 3),
    )
    plain = FrequencyMatrix.from_array([[0, 2], [0, 0]])
    save_counts(plain, tmp_path / "plain.exact.parquet")
    assert load_counts(tmp_path / "plain.exact.parquet").key == plain.key


def test_they_are_marked_and_nothing_takes_them_for_a_release(saved, tmp_path):
    matrix, path = saved
    assert path.name == "city.exact.parquet"
    said = json.loads(pq.read_schema(path).metadata[b"dp-explorer-exact-counts"])
    assert said["EXACT"].startswith("EXACT counts of records: never publish")
    assert "EXACT_records" in pq.read_schema(path).names
    refuses("not a release", Release.load, path)
    refuses("No columns of longitude", read_points, path)
    refuses(r"call the file .*map\.exact\.parquet", save_counts, matrix, tmp_path / "map.parquet")


def test_changed_or_damaged_counts_are_refused(saved, tmp_path):
    _, path = saved
    table = pq.read_table(path)
    one_less = table.slice(1)
    beyond = table.set_column(0, "cell", [np.arange(table.num_rows) + 47])
    plain = table.replace_schema_metadata({})
    for wrong in (one_less, beyond, plain):
        pq.write_table(wrong, tmp_path / "x.exact.parquet")
        with pytest.raises(InputError, match=r"x\.exact\.parquet is no file of counts, or was dam"):
            load_counts(tmp_path / "x.exact.parquet")
    (tmp_path / "y.exact.parquet").write_text("nothing")
    assert not is_counts(tmp_path / "y.exact.parquet")
    assert not is_counts(tmp_path)
    refuses("is no file of counts", load_counts, tmp_path / "y.exact.parquet")


# Whom counts protect is said, and never taken from a column that was forgotten.

AMSTERDAM = Grid.around(4.9, 52.37, 10_000, shape=16)


def visits(n=60):
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "lon": 4.9 + rng.uniform(-0.05, 0.05, n),
            "lat": 52.37 + rng.uniform(-0.03, 0.03, n),
            "who": np.arange(n) % 7,
        }
    )


def test_users_without_a_bound_are_refused_however_points_come(tmp_path):
    path = tmp_path / "points.parquet"
    visits().to_parquet(path)
    for points in (read_points(visits(), user="who"), scan_points(path, user="who")):
        refuses(r"contribution_bound=10.*per='record'", AMSTERDAM.count, points)
        assert AMSTERDAM.count(points, per="record").unit == "point"
        bounded = AMSTERDAM.count(points, 3)
        assert bounded.unit == "user"
        assert bounded.total == 21
    refuses("say whom to protect", AMSTERDAM.count, path, user="who")
    assert AMSTERDAM.count(visits()).total == 60


def test_units_that_do_not_fit_are_refused():
    points = read_points(visits(), user="who")
    for how, sentence in (
        ({"contribution_bound": 3, "per": "record"}, "leave it out"),
        ({"per": "user"}, "say whom to protect"),
        ({"per": "people"}, "each 'record' or each 'user'"),
    ):
        refuses(sentence, AMSTERDAM.count, points, **how)


def test_a_series_of_points_is_read_and_records_are_no_counts():
    rows = visits()
    series = gpd.GeoSeries.from_xy(rows.lon, rows.lat, crs=4326)
    assert AMSTERDAM.count(series).total == 60
    assert AMSTERDAM.count(series.to_crs(AMSTERDAM.crs)).total == 60
    for records in (read_points(rows), series, series.to_frame("geometry")):
        refuses(r"count them first, grid\.count\(points\)", HTF(epsilon=1).release, records)


# An extent that catches nothing says so to the curator, once, and without a count.

RNG = np.random.default_rng(5)
BERLIN = pd.DataFrame(
    {"lon": RNG.uniform(13.3, 13.5, 500), "lat": RNG.uniform(52.4, 52.6, 500), "who": range(500)}
)
TURNED = Grid.around(52.5, 13.4, 20_000, shape=16)
RIGHT = Grid.around(13.4, 52.5, 20_000, shape=16)


@pytest.mark.parametrize("parts", [False, True], ids=["whole", "in parts"])
def test_latitude_first_is_noticed(tmp_path, parts):
    path = tmp_path / "berlin.parquet"
    BERLIN.to_parquet(path)
    points = scan_points(path) if parts else read_points(path)
    with pytest.warns(ExtentWarning, match="is longitude first") as told:
        matrix = TURNED.count(points)
    assert len(told) == 1
    assert told[0].filename == __file__
    # The curator alone hears of it: neither what is counted nor what is released knows.
    said = str(told[0].message)
    assert not re.search(r"\d", said.replace("1 %", ""))
    assert said not in HTF(epsilon=1).release(matrix, rng=1).summary()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert RIGHT.count(points).total > 400


def test_what_a_bound_leaves_out_was_not_outside():
    assert few_inside(3, 10_000, bound=1) is None
    assert few_inside(0, 10_000, bound=1) is not None
    assert few_inside(99, 10_000) is not None
    assert few_inside(100, 10_000) is None
    assert few_inside(0, 50) is None


# Contribution bounds: those that are none are refused when counting, all others work.

LONG = 10**5000  # Python writes no such number
NO_BOUNDS = [0, -1, True, 1.5, "3", MOST_BOUND + 1, 2**53, 2**63, 10**30, LONG]
COUNTS = np.random.default_rng(1).integers(0, 9, (16, 16))
BERLIN_GRID = Grid.around(13.4, 52.5, "20km", shape=8)
X, Y, USER = np.array([13.4, 13.41]), np.array([52.5, 52.51]), np.array([0, 1])
AREAS = Areas.read(
    geopandas.GeoDataFrame({"d": ["a"]}, geometry=[box(13, 52, 14, 53)], crs=4326), levels=("d",)
)


def _file(folder, suffix):
    frame = pd.DataFrame({"lon": X, "lat": Y, "user": USER})
    path = folder / f"riders.{suffix}"
    if suffix == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    return path


def _of_file(suffix):
    def count(bound, folder):
        how = {"user": "user", "contribution_bound": bound}
        return BERLIN_GRID.count(_file(folder, suffix), **how)

    return count


WAYS = {
    "counts": lambda bound, _: FrequencyMatrix(COUNTS, Grid.cells((16, 16)), bound, "user"),
    "an array": lambda bound, _: FrequencyMatrix.from_array(COUNTS, contribution_bound=bound),
    "points": lambda bound, _: BERLIN_GRID.count(Points(X, Y, user=USER), bound),
    "text": _of_file("csv"),
    "parquet": _of_file("parquet"),
    "areas": lambda bound, _: AREAS.count(Points(X, Y, user=USER), 500, bound),
    "counts of areas": lambda bound, _: AreaCounts(
        Windows(AREAS, AREAS.lattice(500)), [0], [0], [1], bound, "user"
    ),
    "trips": lambda bound, _: TripDomain([BERLIN_GRID, BERLIN_GRID]).count(
        Trips((X, X), (Y, Y), user=USER), bound
    ),
    "counts of trips": lambda bound, _: TripMatrix(
        [[0, 0]], [1], TripDomain([Grid.cells((4, 4))]), bound, "user"
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("bound", NO_BOUNDS, ids=range(len(NO_BOUNDS)))
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
