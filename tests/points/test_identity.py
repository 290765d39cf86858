"""One person is one id, however a file, a column or a value spells it."""

import json
from datetime import datetime
from decimal import Decimal
from uuid import UUID

import geopandas
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from explorer import Grid, InputError, TripDomain, read_points, read_trips, scan_points
from explorer.points.foreign import foreign_points
from explorer.points.identity import codes
from explorer.points.reading import as_points
from tests.refusals import refuses

GRID = Grid.around(13.4, 52.5, "20km", shape=4)
UUID_TEXT = "a1b2c3d4-0000-1111-2222-aaaabbbbcccc"


def table(ids):
    """A record of each id at one place, with types as they are."""
    n = len(ids)
    try:
        column = pa.array(ids)
    except (pa.ArrowException, OverflowError):
        column = pa.array([None if each is None else str(each) for each in ids])
    return pa.table({"lon": [13.4] * n, "lat": [52.5] * n, "id": column})


def frame(ids):
    return pd.DataFrame({"lon": 13.4, "lat": 52.5, "id": pd.Series(ids, dtype=object)})


def in_csv(ids, path):
    lines = ["lon\tlat\tid", *(f"13.4\t52.5\t{'' if each is None else each}" for each in ids)]
    (path / "p.tsv").write_text("\n".join(lines))
    return path / "p.tsv"


def in_json(ids, path):
    point = {"type": "Point", "coordinates": [13.4, 52.5]}
    features = [{"type": "Feature", "geometry": point, "properties": {"id": each}} for each in ids]
    (path / "p.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path / "p.geojson"


def in_parts(ids, path):
    """A file of each id: with the type that it has alone."""
    for number, each in enumerate(ids):
        part = table([each] * (number + 1))
        pq.write_table(part, path / f"part-{number}.parquet")
    return path


def in_one(ids, path):
    pq.write_table(table(ids), path / "p.parquet")
    return path / "p.parquet"


def in_package(ids, path):
    places = geopandas.points_from_xy([13.4] * len(ids), [52.5] * len(ids))
    column = table(ids)["id"].to_pandas(integer_object_nulls=True)
    if column.dtype == object and not any(isinstance(each, str) for each in ids):
        column = column.astype("Int64")
    geopandas.GeoDataFrame({"id": column}, geometry=places, crs=4326).to_file(path / "p.gpkg")
    return path / "p.gpkg"


READERS = {
    "frame": lambda ids, _: read_points(frame(ids), user="id"),
    "geometries": lambda ids, _: read_points(
        geopandas.GeoDataFrame(
            frame(ids)[["id"]],
            geometry=geopandas.points_from_xy(*frame(ids)[["lon", "lat"]].T.to_numpy()),
            crs=4326,
        ),
        user="id",
    ),
    "arrow": lambda ids, _: read_points(table(ids), user="id"),
    "list": lambda ids, _: read_points(frame(ids)[["lon", "lat"]], user=ids),
    "text": lambda ids, path: as_points(in_csv(ids, path), {"user": "id"}),
    "text in memory": lambda ids, path: read_points(in_csv(ids, path), user="id"),
    "sent": lambda ids, path: foreign_points(
        in_csv(ids, path).read_bytes(), "p.tsv", {"user": "id"}, 100
    ),
    "parquet": lambda ids, path: read_points(in_one(ids, path), user="id"),
    "parquet counted": lambda ids, path: scan_points(in_one(ids, path), user="id"),
    "parts": lambda ids, path: scan_points(in_parts(ids, path), user="id"),
    "geojson": lambda ids, path: read_points(in_json(ids, path), user="id"),
    "geopackage": lambda ids, path: read_points(in_package(ids, path), user="id"),
}


def people(points):
    """How many there are: with a bound of 1 each counts once."""
    return GRID.count(points, 1).total


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(("ids", "number"), [
    ([7, "7", 7.0, "7.0", " 7", "7 ", "7."], 1), ([7, None, 7], 1),
    (["7", "007", "a", "A", " a"], 4), (["7.50", 7.5, "7.5", "75"], 2),
    ([1000, "1e3", "1.0E3", "1e+03"], 1), ([UUID_TEXT, UUID_TEXT.upper()], 1),
    (["a", "", "  ", "NA", "nan", "null", "None", None], 1),
    ([2**53, 2**53 + 1, 2**53 + 2, 2**53], 3), ([2**60, None, 2**60 + 1], 2),
    ([2**63 + 5, 2**63 + 6, "9223372036854775813"], 2),
    ([0.0, -0.0, "-0", 0], 1),
], ids=str)  # fmt: skip
def test_a_person_is_one_in_every_reader(reader, ids, number, tmp_path):
    assert people(READERS[reader](ids, tmp_path)) == number


@pytest.mark.parametrize("reader", READERS)
def test_that_spellings_were_joined_is_said_without_an_id(reader, tmp_path):
    for ids, joined in ((["4711", " 4711", "4711.0"], True), (["4711", "0815"], False)):
        folder = tmp_path / str(joined)
        folder.mkdir()
        points = READERS[reader](ids, folder)
        notes = points.count(GRID, 1)[1] if hasattr(points, "count") else points.notes
        assert any("written" in note and "as one" in note for note in notes) == joined
        assert not any("4711" in note for note in notes)


@pytest.mark.parametrize("kinds", [(7, "7"), ("7", 7.0), (7.0, 7), (b"7", 7), (7, Decimal("7.0"))])
def test_files_of_a_folder_may_type_their_ids_differently(kinds, tmp_path):
    points = scan_points(in_parts(list(kinds), tmp_path), user="id")
    matrix, notes = points.count(GRID, 2)
    assert (matrix.total, points.rows) == (2, 3)
    assert sum("as one" in note for note in notes) == 1


@pytest.mark.parametrize(
    "values",
    [
        ["7", "8"],
        np.array([7, 8], np.uint64),
        np.array([7, 8], np.int8),
        np.array([7, 8], np.float32),
        np.array(["7", "8"]),
        np.array([b"7", b"8"]),
        np.array([7, "8"], dtype=object),
        np.ma.masked_array([7, 8, 9], [0, 0, 1])[:2],
        pd.Series([7, 8], dtype="Int64"),
        pd.Series([7.0, 8.0]),
        pd.Series([7, 8], dtype="int64[pyarrow]"),
        pd.Series(["7", "8"], dtype="string"),
        pd.Series(["7", "8"], dtype="category"),
        pd.Series([7, "8"], dtype=object).astype("category"),
        pa.array(["7", "8"], pa.large_string()),
        pa.array(["7", "8"]).dictionary_encode(),
        pa.array([7, 8], pa.uint64()).dictionary_encode(),
        pa.chunked_array([["7"], ["8"]]),
        pa.array([b"7", b"8"], pa.large_binary()),
        pa.array([Decimal("7.00"), Decimal("8.00")]),
    ],
    ids=lambda values: str(getattr(values, "type", getattr(values, "dtype", type(values)))),
)
def test_every_type_of_column_has_the_hashes_of_whole_numbers(values):
    found, expected = codes(values), codes([7, 8])
    assert found.code.tolist() == [0, 1]
    assert found.hashes.tolist() == expected.hashes.tolist()


def test_hashes_of_ids_that_were_canonical_before_are_those_of_earlier_versions():
    ids = ["7", "-3", "8000000000000000000", "0.125", "ann@example.org", "007", UUID_TEXT]
    assert codes(ids).hashes.tolist() == [
        9254522882435570527, 4698232074612682375, 3892269337606077429, 10865429899406119559,
        15109857876073084444, 7648179403984291811, 17545843208950898128,
    ]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), [
    (True, "TRUE"), (b"ann", "ann"), (UUID(UUID_TEXT), UUID_TEXT.upper()),
    (datetime(2024, 1, 1), "2024-01-01"), (Decimal("7.50"), 7.5), (1.5e-7, "1.5e-07"),
    ("\u00a07\u2003", 7), ("7,0", 7),
], ids=str)  # fmt: skip
def test_values_of_other_kinds_are_their_text(one, other):
    assert codes([one, other]).code.tolist() == [0, 0]
    assert codes([one]).hashes == codes([other]).hashes


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("value", [2.0**53, 1e20, -(2.0**60)])
def test_floats_that_cannot_tell_people_apart_are_refused(reader, value, tmp_path):
    with pytest.raises(InputError, match=r"too large to tell users apart.*as whole numbers") as e:
        people(READERS[reader]([value, 1.5], tmp_path))
    assert "\n" not in str(e.value)


def test_numbers_of_32_bits_are_refused_earlier():
    assert codes(np.array([2**24 - 1], np.float32)).code.tolist() == [0]
    refuses("too large to tell users apart", codes, np.array([2**24], np.float32))


def test_trips_of_a_person_are_one_persons():
    ends = {"o_lon": 13.4, "o_lat": 52.5, "d_lon": 13.41, "d_lat": 52.51}
    for ids in ([7, "7", " 7", "7.0", None], ["7", "7.00", "7 ", 7.0, ""]):
        trips = read_trips(pd.DataFrame({**ends, "id": pd.Series(ids, dtype=object)}), user="id")
        assert TripDomain([GRID, GRID]).count(trips, 2, weights=False).total == 2
        assert any("as one" in note for note in trips.notes)


def test_a_person_has_the_same_hash_in_a_text_and_in_parquet(tmp_path):
    ids = ["7", "ann", UUID_TEXT, "0.5", str(2**63 + 1)]
    text, parquet = (READERS[kind](ids, tmp_path) for kind in ("text in memory", "parquet"))
    assert text.user_hash.tolist() == parquet.user_hash.tolist() == codes(ids).hashes.tolist()
