"""Which records count under a bound: by person and place, for every reader and any order."""

import geopandas
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely import box

from explorer import (
    AG,
    HTF,
    Areas,
    FrequencyMatrix,
    Grid,
    InputError,
    Points,
    PrivTree,
    TripDomain,
    read_points,
    read_trips,
    scan_points,
)
from explorer.cities import nation
from explorer.grid import delimited
from explorer.points.clipping import shares
from explorer.points.counts_file import load_counts, save_counts
from explorer.points.foreign import foreign_points
from explorer.points.partitions import files as looking
from tests.points.test_counting import count_block
from tests.refusals import refuses

GRID = Grid.around(10.0, 50.0, "20km", shape=(16, 12), name="place")
ENDS = [("lon", "lat"), ("to_lon", "to_lat")]
ORDERS = ("shuffled", "south first", "north first")


@pytest.fixture(scope="module")
def records():
    """People with 1 to 60 records, many at places that they came to before; some have no place."""
    rng = np.random.default_rng(6)
    n = 3000
    who = np.minimum(rng.geometric(0.03, n), 90)
    lon = np.round(rng.normal(10.0, 0.08, n), 2)
    lat = np.round(rng.normal(50.0, 0.05, n), 3)
    lon[5], lat[6], lon[7], lat[7], lat[8] = np.nan, np.inf, 0, 0, 91
    to_lon, to_lat = rng.normal(10.0, 0.05, n).round(2), rng.normal(50.0, 0.05, n).round(2)
    ends = {"lon": lon, "lat": lat, "to_lon": to_lon, "to_lat": to_lat}
    known = {"who": who, "name": [f"person {each}" for each in who], "part": who / 8}
    return pd.DataFrame({**ends, **known, "n": rng.integers(0, 4, n)})


def ordered(frame, order):
    if order == "shuffled":
        return frame.sample(frac=1, random_state=3)
    south_first = frame.sort_values(["lat", "lon"], kind="stable")
    return south_first if order == "south first" else south_first[::-1]


def read(frame, folder, kind, **columns):
    """What `count` is given, and how."""
    folder.mkdir()
    told = {"lon": "lon", "lat": "lat", **columns}
    name = f"points.{kind.split()[0]}"
    if kind == "frame":
        return {"points": read_points(frame, **told)}
    if kind == "sent":
        content = frame.to_csv(index=False).encode()
        return {"points": foreign_points(content, "points.csv", told, len(frame))}
    if name.endswith("sv"):
        frame.to_csv(folder / name, index=False, sep="\t" if kind == "tsv" else ",")
    elif name.endswith("parquet"):
        frame.to_parquet(folder / name)
    else:
        cuts = [0, 700, 701, 2100, len(frame)]
        for part in range(4):
            name = f"points-{part if kind == 'parts' else 3 - part}.parquet"
            frame[cuts[part] : cuts[part + 1]].to_parquet(folder / name, row_group_size=300)
        return {"points": scan_points(folder, **told)}
    if kind.endswith("in memory"):
        return {"points": read_points(folder / name, **told)}
    return {"points": folder / name, **told}


KINDS = ["sent", "csv", "tsv", "csv in memory", "parquet in memory", "parts", "parts turned"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("columns", "bound"), [
    ({"user": "who"}, 3), ({"user": "name"}, 1), ({"user": "part"}, 3),
    ({"user": "who", "weight": "n"}, 3), ({"weight": "n"}, None), ({}, None),
], ids=str)  # fmt: skip
def test_every_reader_and_order_gives_the_same_counts(
    records, tmp_path, monkeypatch, kind, columns, bound
):
    monkeypatch.setattr(looking, "PART_ROWS", 400)
    monkeypatch.setattr(delimited, "BLOCK", 2**13)
    monkeypatch.setattr(delimited, "LONGEST", 2**14)
    points = read_points(records, lon="lon", lat="lat", **columns)
    expected, whole = GRID.count(points, per="record"), GRID.count(points, bound)
    for order in ORDERS if bound else ORDERS[:1]:
        source = read(ordered(records, order), tmp_path / order, kind, **columns)
        matrix = GRID.count(**source, contribution_bound=bound)
        assert (matrix.key, matrix.unit, matrix.contribution_bound) == (
            whole.key, whole.unit, whole.contribution_bound,
        )  # fmt: skip
        if bound:
            assert (matrix.unclipped.unit, matrix.unclipped.contribution_bound) == ("point", 1)
            assert np.array_equal(matrix.unclipped.counts, expected.counts)
        if kind.startswith("parts"):
            by_dask, notes = source["points"].count(GRID, bound, workers="threads")
            assert by_dask.key == whole.key
            lost = [note for note in points.notes if "left out" in note]
            assert [note for note in notes if "left out" in note] == lost


@pytest.mark.parametrize("kind", ["frame", "csv", "parts"])
def test_areas_count_the_same_in_any_order(records, tmp_path, kind):
    shapes = [box(9.8, 49.9, 10.2, 50), box(9.8, 50, 10.2, 50.1)]
    frame = geopandas.GeoDataFrame({"district": ["South", "North"]}, geometry=shapes, crs=4326)
    areas, found = Areas.read(frame, levels=("district",)), set()
    for order in ORDERS:
        source = read(ordered(records, order), tmp_path / order, kind, user="name")
        counts = areas.count(**source, cell=1000, contribution_bound=3)
        found.add((counts.key, counts.unclipped.key))
    points = read_points(records, lon="lon", lat="lat", user="name")
    whole, every = areas.count(points, 1000, 3), areas.count(points, cell=1000, per="record")
    assert found == {(whole.key, every.key)}
    kept = whole.national().unclipped
    assert np.array_equal(kept.counts, every.national().counts)


@pytest.mark.parametrize("weights", [True, False])
def test_trips_count_the_same_in_any_order(records, weights):
    domain, keys = TripDomain([GRID, GRID]), set()
    for order in ORDERS:
        trips = read_trips(ordered(records, order), ENDS, user="name")
        matrix = domain.count(trips, 3, weights=weights)
        keys.add((matrix.key, matrix.unclipped.key))
        assert (matrix.unclipped.lattice, matrix.unclipped.unit) == (1, "point")
    every = domain.count(trips, per="record")
    assert {unclipped for _, unclipped in keys} == {every.key}
    assert len(keys) == 1
    if not weights:
        assert matrix.marginal(0).unclipped.total == every.total


def test_what_a_bound_left_out_is_no_part_of_the_key_or_the_repr_and_stays_in_a_file(tmp_path):
    every, path = np.arange(6).reshape(2, 3) + 7, tmp_path / "x.exact.parquet"
    kept = FrequencyMatrix(every // 4, Grid.cells((2, 3)), 2, "user", unclipped=every)
    plain = FrequencyMatrix(every // 4, Grid.cells((2, 3)), 2, "user")
    assert (kept.key, repr(kept)) == (plain.key, repr(plain))
    assert kept._repr_html_() == plain._repr_html_()
    save_counts(plain, path)
    assert load_counts(path).unclipped is None
    save_counts(kept, path)
    assert load_counts(path).key == kept.key
    assert np.array_equal(load_counts(path).unclipped.counts, every)
    refuses("unclipped", FrequencyMatrix, every, Grid.cells((2, 3)), 2, "user", unclipped=every - 1)


@pytest.mark.parametrize("mechanism", [HTF(epsilon=1), AG(epsilon=1), PrivTree(epsilon=1)], ids=str)
def test_nothing_that_is_released_follows_from_what_the_bound_left_out(mechanism, tmp_path):
    counts, path = np.random.default_rng(3).poisson(4, (16, 12)), tmp_path / "x.parquet"
    made = []
    for more in (0, 7, 90_001):
        matrix = FrequencyMatrix(counts, GRID, 2, "user", unclipped=counts + more)
        release = mechanism.release(matrix, rng=1)
        release.save(path)
        made.append(({n: str(value) for n, value in vars(release).items()}, path.read_bytes()))
    assert made[0] == made[1] == made[2]


def by_code(people, bound):
    """Kept records in each of 10 bands from south to north, people being given in a row."""
    user = np.repeat(np.arange(len(people)), [len(own) for own in people])
    y = np.concatenate([np.array(own, float) for own in people])
    counted = count_block(Points(np.full(len(y), 0.5), y, None, user=user), BANDS, bound)
    return counted[:, 0]


def by_name(people, bound):
    user = np.repeat([f"{each}@example.org" for each in range(len(people))], list(map(len, people)))
    y = np.concatenate([np.array(own, float) for own in people])
    points = read_points({"x": np.full(len(y), 0.5), "y": y, "id": user}, user="id")
    plain = Points(points.x, points.y, None, user=points.user, user_hash=points.user_hash)
    return count_block(plain, BANDS, bound)[:, 0]


BANDS = Grid.cells((10, 1))


@pytest.mark.parametrize("counted", [by_code, by_name])
@pytest.mark.parametrize(("of_each", "bound"), [
    # Everybody at the same two places; one home and many other places; more than the bound.
    (lambda _: [1.5, 8.5], 1),
    (lambda _: [0.5] * 30 + [4.5] * 9 + [9.5], 1),
    (lambda _: [0.5] * 30 + [4.5] * 9 + [9.5], 7),
    (lambda rng: list(rng.uniform(0, 10, rng.integers(1, 40))), 5),
])  # fmt: skip
def test_no_place_is_preferred_in_a_file_sorted_by_place(counted, of_each, bound):
    """Of n records in a band m count k m / n on average, rounded: f (1 - f) is the variance."""
    rng = np.random.default_rng(8)
    people = [sorted(of_each(rng)) for _ in range(3000)]
    expected, variance = np.zeros(10), np.zeros(10)
    for own in people:
        share = np.bincount(np.array(own, int), minlength=10) * min(bound / len(own), 1.0)
        expected += share
        variance += share % 1 * (1 - share % 1)
    kept = counted(people, bound)
    assert kept.sum() == sum(min(len(own), bound) for own in people)
    sure = variance < 1e-6
    np.testing.assert_allclose(kept[sure], expected[sure], atol=1e-6)
    # Ten bands, eight cases: one in a million by chance.
    assert (np.abs(kept - expected)[~sure] < 5.6 * np.sqrt(variance[~sure])).all()


@pytest.mark.parametrize("bound", [1, 10**9, 2 * 10**9])
def test_users_with_large_codes_and_weights_count_as_others_do(bound):
    y, n = np.array([0.5, 1.5, 2.5, 2.7, 20.0]), 10**9
    user, weight = [2**60, 5, 2**60, 2**60, 7], [n, n, n // 2, n // 2, n]
    points = Points(np.full(5, 0.5), y, None, user=user, weight=weight)
    counts = count_block(points, BANDS, bound)[:, 0]
    assert counts[1] == min(bound, n)
    assert counts[[0, 2]].sum() == min(bound, 2 * n)
    assert counts.sum() == counts[:3].sum()


Row = st.tuples(st.integers(0, 4), st.integers(-1, 5), st.integers(0, 3))


@given(st.lists(Row, max_size=40), st.integers(1, 6), st.integers(0, 4), st.booleans())
def test_one_person_more_changes_the_own_cells_alone_by_the_bound_at_most(rows, bound, who, named):
    def counted(rows):
        table = np.array(rows, np.int64).reshape(-1, 3)
        user, hashes = table[:, 0], None
        if named and len(table):
            # Codes are other ones without the person; what they stand for stays.
            read = read_points(
                {"x": np.ones(len(table)), "y": np.ones(len(table)), "id": user}, user="id"
            )
            user, hashes = read.user, read.user_hash
        points = Points(
            np.full(len(table), 0.5),
            table[:, 1] + 0.5,
            None,
            user=user,
            weight=table[:, 2],
            user_hash=hashes,
        )
        return count_block(points, Grid.cells((5, 1)), bound)[:, 0]

    own = [row for row in rows if row[0] == who]
    change = counted(rows) - counted([row for row in rows if row[0] != who])
    inside = np.zeros(5, np.int64)
    for _, y, number in own:
        if 0 <= y < 5:
            inside[y] += number
    assert (change >= 0).all()
    assert (change <= inside).all()
    assert change.sum() == min(inside.sum(), bound)
    assert np.array_equal(change, counted(own))


@given(
    st.lists(st.integers(1, 2**40), min_size=1, max_size=8),
    st.integers(1, 2**41),
    st.integers(0, 2**64 - 1),
)
def test_shares_of_large_numbers_are_those_of_the_formula(records, bound, start):
    n = sum(records)
    k, u = min(n, bound), start % n
    reach = [sum(records[:i]) for i in range(len(records) + 1)]
    formula = [(c * k + u) // n for c in reach]
    found = shares(
        np.zeros(len(records), np.int64),
        np.array(records),
        bound,
        lambda _: np.array([start], np.uint64),
    )
    assert found.tolist() == np.diff(formula).tolist()
    assert all(0 <= kept <= own for kept, own in zip(found, records, strict=True))


# Whichever way the same points come, nation_areas and grids count the same; columns may be named.

ROWS, CELL = 12_000, 4_000.0


@pytest.fixture(scope="module")
def nation_folder(tmp_path_factory):
    """Three files of the made-up nation, row groups of 2,000, with people."""
    here = tmp_path_factory.mktemp("nation") / "points"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nation, "GROUP", 2_000)
        patch.setattr(nation, "GROUPS", 2)
        assert len(nation.write(here, ROWS, users=True)) == 3
    return here


@pytest.fixture(scope="module")
def nation_frame(nation_folder):
    return pd.concat([pd.read_parquet(file) for file in sorted(nation_folder.iterdir())])


@pytest.fixture(scope="module")
def nation_areas():
    return Areas.read(nation.boundaries(), ["country", "region", "district"])


@pytest.mark.parametrize("bound", [None, 2])
def test_all_ways_give_the_same_bits(nation_areas, nation_folder, nation_frame, bound):
    columns = {} if bound is None else {"user": "person"}
    whole = nation_areas.count(read_points(nation_frame, **columns), CELL, bound)
    files = sorted(map(str, nation_folder.iterdir()))
    ways = {
        "nation_frame": nation_frame,
        "nation_folder": nation_folder,
        "address": f"file://{nation_folder}",
        "pattern": f"{nation_folder}/*.parquet",
        "list": files,
        "scanned": scan_points(nation_folder, **columns),
    }
    for name, way in ways.items():
        named = {} if name == "scanned" else columns
        counts = nation_areas.count(way, CELL, bound, **named)
        assert counts.key == whole.key, name
        assert (counts.unit, counts.contribution_bound) == (whole.unit, whole.contribution_bound)
    # Some lie in the sea; of a person at most two count, over all files.
    assert 0 < whole.by_node[0] < ROWS
    if bound is not None:
        x, y = nation_frame["lon"].to_numpy(), nation_frame["lat"].to_numpy()
        here = nation_frame[nation_areas.assign(x, y) >= 0]
        assert whole.by_node[0] == here.groupby("person").head(bound).shape[0]
        apart = sum(
            nation_areas.count(file, CELL, bound, user="person").by_node[0] for file in files
        )
        assert apart > whole.by_node[0]


def test_weights_are_counted(nation_areas, nation_frame, tmp_path):
    heavy = nation_frame.assign(weight=np.arange(len(nation_frame)) % 4)
    heavy.to_parquet(tmp_path / "heavy.parquet")
    file = nation_areas.count(tmp_path / "heavy.parquet", CELL, weight="weight")
    assert file.key == nation_areas.count(heavy, CELL, weight="weight").key
    assert file.by_node[0] > nation_areas.count(nation_frame, CELL).by_node[0]


@pytest.mark.parametrize(("given", "columns", "says"), [
    ("nowhere.parquet", {}, "nowhere.parquet"),
    ("nation_frame", {"people": "person"}, "people="),
    ("points", {"user": "person"}, "read already"), ("nation_frame", {"user": "nobody"}, "nobody"),
    ("nation_folder", {"user": "nobody"}, "nobody"),
    (7, {}, "int"),
])  # fmt: skip
def test_refusals(nation_areas, nation_folder, nation_frame, given, columns, says):
    known = {
        "nation_frame": nation_frame,
        "nation_folder": nation_folder,
        "points": read_points(nation_frame),
    }
    with pytest.raises(InputError, match=says):
        nation_areas.count(known.get(given, given), CELL, **columns)
