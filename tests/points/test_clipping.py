"""Which records count under a bound: by person and place, for every reader and any order."""

from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely import box

from explorer import Areas, Grid, Points, TripDomain, scan_points
from explorer.points.clipping import PersonCells, shares, starts_of_codes
from explorer.points.counting import count_block
from explorer.points.foreign import foreign_points
from explorer.points.partitions import files as looking
from explorer.points.points import read_points
from explorer.trips.trips import read_trips

GRID = Grid.around(10.0, 50.0, "20km", shape=(16, 12), name="place")
BOUND = 3


@pytest.fixture(scope="module")
def records():
    """People with 1 to 60 records, many at places that they came to before."""
    rng = np.random.default_rng(6)
    n = 3000
    who = np.minimum(rng.geometric(0.03, n), 90)
    frame = pd.DataFrame(
        {
            "lon": np.round(rng.normal(10.0, 0.08, n), 2),
            "lat": np.round(rng.normal(50.0, 0.05, n), 3),
            "to_lon": np.round(rng.normal(10.0, 0.05, n), 2),
            "to_lat": np.round(rng.normal(50.0, 0.05, n), 2),
            "who": who,
            "name": np.array([f"person {each}" for each in who]),
            "part": who / 8,
            "n": rng.integers(0, 4, n),
        }
    )
    return frame


def ordered(frame: pd.DataFrame, order: str) -> pd.DataFrame:
    if order == "shuffled":
        return frame.sample(frac=1, random_state=3)
    south_first = frame.sort_values(["lat", "lon"], kind="stable")
    return south_first if order == "south first" else south_first[::-1]


def read(frame: pd.DataFrame, folder: Path, kind: str, **columns: Any) -> dict[str, Any]:
    """What `count` is given, and how."""
    folder.mkdir()
    if kind == "frame":
        return {"points": read_points(frame, lon="lon", lat="lat", **columns)}
    told = {"lon": "lon", "lat": "lat", **columns}
    if kind in ("csv", "tsv"):
        path = folder / f"points.{kind}"
        frame.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
        return {"points": path, **told}
    if kind == "csv in memory":
        frame.to_csv(folder / "points.csv", index=False)
        return {"points": read_points(folder / "points.csv", **told)}
    if kind == "sent":
        content = frame.to_csv(index=False).encode()
        return {"points": foreign_points(content, "points.csv", told, len(frame))}
    if kind == "parquet in memory":
        frame.to_parquet(folder / "points.parquet")
        return {"points": read_points(folder / "points.parquet", **told)}
    cuts = [0, 700, 701, 2100, len(frame)]
    for part in range(4):
        name = f"points-{part if kind == 'parts' else 3 - part}.parquet"
        frame[cuts[part] : cuts[part + 1]].to_parquet(folder / name, row_group_size=300)
    return {"points": scan_points(folder, **told)}


KINDS = [
    "frame",
    "sent",
    "csv",
    "tsv",
    "csv in memory",
    "parquet in memory",
    "parts",
    "parts turned",
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "columns",
    [{"user": "who"}, {"user": "name"}, {"user": "part"}, {"user": "who", "weight": "n"}],
    ids=str,
)
def test_every_reader_and_order_gives_the_same_counts(
    records, tmp_path, monkeypatch, kind, columns
):
    monkeypatch.setattr(looking, "PART_ROWS", 400)
    expected = GRID.count(**read(records, tmp_path / "as it is", "frame", **columns), per="record")
    whole = GRID.count(read_points(records, lon="lon", lat="lat", **columns), BOUND)
    assert whole.unclipped is not None
    for order in ("shuffled", "south first", "north first"):
        given_ = read(ordered(records, order), tmp_path / order, kind, **columns)
        matrix = GRID.count(**given_, contribution_bound=BOUND)
        assert matrix.unclipped is not None
        np.testing.assert_array_equal(matrix.counts, whole.counts)
        np.testing.assert_array_equal(matrix.unclipped.counts, expected.counts)
        assert matrix.key == whole.key
        if kind == "parts":
            by_dask, _ = given_["points"].count(GRID, BOUND, workers="threads")
            assert by_dask.key == whole.key


@pytest.mark.parametrize("kind", ["frame", "csv", "parts"])
def test_areas_count_the_same_in_any_order(records, tmp_path, kind):
    frame = geopandas.GeoDataFrame(
        {"district": ["South", "North"]},
        geometry=[box(9.8, 49.9, 10.2, 50), box(9.8, 50, 10.2, 50.1)],
        crs=4326,
    )
    areas = Areas.read(frame, levels=("district",))
    found = []
    for order in ("shuffled", "south first", "north first"):
        given_ = read(ordered(records, order), tmp_path / order, kind, user="name")
        counts = areas.count(**given_, cell=1000, contribution_bound=BOUND)
        found.append((counts.key, counts.unclipped.key))
    points = read_points(records, lon="lon", lat="lat", user="name")
    whole = areas.count(points, cell=1000, contribution_bound=BOUND)
    every = areas.count(points, cell=1000, per="record")
    assert set(found) == {(whole.key, every.key)}


@pytest.mark.parametrize("weights", [True, False])
def test_trips_count_the_same_in_any_order(records, weights):
    domain = TripDomain([GRID, GRID])
    keys = set()
    for order in ("shuffled", "south first", "north first"):
        trips = read_trips(
            ordered(records, order), [("lon", "lat"), ("to_lon", "to_lat")], user="name"
        )
        keys.add(domain.count(trips, BOUND, weights=weights).key)
    assert len(keys) == 1


def by_code(people: list[list[float]], bound: int) -> np.ndarray:
    """Kept records in each of 10 bands from south to north, people being given in a row."""
    user = np.repeat(np.arange(len(people)), [len(own) for own in people])
    y = np.concatenate([np.array(own, float) for own in people])
    counted = count_block(Points(np.full(len(y), 0.5), y, None, user=user), BANDS, bound)
    return counted[:, 0]


def by_name(people: list[list[float]], bound: int) -> np.ndarray:
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


Row = st.tuples(st.integers(0, 4), st.integers(-1, 5), st.integers(0, 3))


@given(st.lists(Row, max_size=40), st.integers(1, 6), st.integers(0, 4), st.booleans())
def test_one_person_more_changes_the_own_cells_alone_by_the_bound_at_most(rows, bound, who, named):
    def counted(rows: list[tuple[int, int, int]]) -> np.ndarray:
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


Pair = st.tuples(
    st.sampled_from([0, 3, 10**12, 2**62]), st.sampled_from([-1, 0, 5, 2**59]), st.integers(0, 9)
)


@given(st.lists(st.lists(Pair, max_size=12), max_size=4))
def test_pairs_add_up_whatever_their_numbers(parts):
    people, expected = PersonCells(), dict[tuple[int, int], int]()
    for part in parts:
        person, atom, number = np.array(part, np.int64).reshape(-1, 3).T.copy()
        people.add(person, atom, number)
        for who, where, many in part:
            if where >= 0 and many:
                expected[who, where] = expected.get((who, where), 0) + many
    pairs = np.array(people.pairs()).T.tolist()
    assert pairs == [[*pair, many] for pair, many in sorted(expected.items())]
    # Codes of a person may be large, too.
    people.clipped(2, starts_of_codes(None), 2**60)


def test_weighted_and_plain_rows_give_what_single_rows_give():
    rng = np.random.default_rng(4)
    user, y, number = rng.integers(0, 30, 500), rng.uniform(0, 10, 500), rng.integers(0, 5, 500)
    rows = Points(np.full(500, 0.5), y, None, user=user, weight=number)
    single = Points(np.full(number.sum(), 0.5), y.repeat(number), None, user=user.repeat(number))
    for bound in (1, 4, 1000):
        assert np.array_equal(count_block(rows, BANDS, bound), count_block(single, BANDS, bound))
