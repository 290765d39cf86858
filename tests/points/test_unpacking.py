"""Files that unpack to much more than they are: refused in a sentence, and in little memory."""

import io
import json
from collections.abc import Iterator

import geopandas
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from shapely.geometry import Point

from explorer.errors import InputError
from explorer.grid.apart import Ended
from explorer.grid.areas.foreign import foreign_areas
from explorer.points.foreign import foreign_points
from explorer.points.points import read_points

MB = 2**20


def parquet(table: pa.Table, **how: object) -> bytes:
    made = io.BytesIO()
    pq.write_table(table, made, compression="zstd", **how)
    return made.getvalue()


def geo(shapes: list[bytes] | pa.Array) -> pa.Table:
    """A table of WKB that says nothing of its kinds."""
    about = {"version": "1.0.0", "primary_column": "geometry"}
    about["columns"] = {"geometry": {"encoding": "WKB", "geometry_types": []}}
    table = pa.table(
        {"geometry": shapes if isinstance(shapes, pa.Array) else pa.array(shapes, pa.binary())}
    )
    return table.replace_schema_metadata({"geo": json.dumps(about)})


def lines() -> bytes:
    """300 rows of one line of 3.2 MB, behind points, in 200 kB."""
    shapes = [Point(1, 2), shapely.linestrings(np.zeros((200_000, 2)))]
    number = np.repeat([0, 1], [100, 300]).astype(np.int32)
    different = pa.array(shapely.to_wkb(shapes), pa.binary())
    table = geo(pa.DictionaryArray.from_arrays(number, different))
    made = io.BytesIO()
    how = {"store_schema": False, "dictionary_pagesize_limit": 10**7}
    with pq.ParquetWriter(made, table.schema, **how) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"geo": table.schema.metadata[b"geo"].decode()})
    return made.getvalue()


def features() -> bytes:
    rows = (
        {"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}, "properties": p}
        for p in ({f"field {n}": n} for n in range(20_000))
    )
    return json.dumps({"type": "FeatureCollection", "features": list(rows)}).encode()


def columns() -> bytes:
    one = pa.array([1.0])
    return parquet(pa.table({f"column {n}": one for n in range(20_000)}))


def header() -> bytes:
    return b",".join(b"c%d" % n for n in range(2_000_000)) + b"\n" + b"1," * 1_999_999 + b"1\n"


FILES = {
    "lines": (lines, "points.parquet", 200_000, "shapes of kind LineString", 60),
    "features": (features, "points.geojson", 4 * MB, "more than 1,000 columns", 60),
    "columns": (columns, "points.parquet", 8 * MB, "more than 1,000 columns", 160),
    "header": (header, "points.csv", 30 * MB, "columns, 1,000 at most", 60),
    "cell": (
        lambda: b"lon,lat\n1," + b"2" * 100 * MB + b"\n",
        *("points.csv", 101 * MB, "line 2 is longer than 16 MB", 190),
    ),
    "quote": (
        lambda: b'lon,lat\n1,"' + b"2,3\n" * 25 * MB,
        *("points.csv", 101 * MB, "line 2 is longer than 16 MB", 250),
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_unpacks_is_refused_in_little_memory(name):
    make, called, most, sentence, peak = FILES[name]
    content = make()
    assert len(content) < most
    ends: list[Ended] = []
    with pytest.raises(InputError, match=sentence):
        foreign_points(content, called, {}, 20_000_000, ended=ends.append)
    assert ends[0].why == ""
    # Beyond the file itself and what every reader takes to begin with.
    assert ends[0].peak < len(content) + peak * MB, f"{ends[0].peak / MB:.0f} MB"


def test_boundaries_of_that_kind_are_held_to_the_limit_too():
    with pytest.raises(InputError, match="1,000 columns"):
        foreign_areas(features(), ["name"])
    with pytest.raises(InputError, match="no column 'name'"):
        foreign_areas(lines(), ["name"])


def kinds() -> Iterator[tuple[str, list[bytes], list[float]]]:
    plain = [Point(1, 2), Point(3, 4)]
    yield "little", [shapely.to_wkb(each) for each in plain], [1, 3]
    yield "big", [shapely.to_wkb(each, byte_order=0) for each in plain], [1, 3]
    yield "high", [shapely.to_wkb(Point(1, 2, 9), output_dimension=3)] * 2, [1, 1]
    yield "with a CRS", [shapely.to_wkb(shapely.set_srid(plain[0], 4326), include_srid=True)], [1]
    yield "none", [shapely.to_wkb(plain[0]), None, shapely.to_wkb(Point())], [1]


@pytest.mark.parametrize("kind", list(kinds()), ids=lambda kind: kind[0])
@pytest.mark.parametrize("repeated", [True, False])
def test_points_of_every_form_are_read(kind, repeated):
    _, shapes, x = kind
    content = parquet(geo(shapes), use_dictionary=repeated)
    assert read_points(content).x.tolist() == x


@pytest.mark.parametrize(
    "shape", ["LINESTRING (0 0, 1 1, 2 2)", "POLYGON Z ((0 0 1, 1 0 1, 1 1 1, 0 0 1))"]
)
def test_other_shapes_are_named(shape):
    content = parquet(geo([shapely.to_wkb(shapely.from_wkt(shape), output_dimension=3)]))
    with pytest.raises(InputError, match=f"kind {shapely.from_wkt(shape).geom_type} "):
        read_points(content)


def test_a_large_file_is_read_within_the_limits():
    rng = np.random.default_rng(0)
    shapes = geopandas.points_from_xy(*rng.normal(size=(2, 200_000)))
    content = parquet(geo(list(shapely.to_wkb(np.asarray(shapes)))))
    ends: list[Ended] = []
    points = foreign_points(content, "a.parquet", {}, 20_000_000, ended=ends.append)
    assert len(points) == 200_000
    assert ends[0].peak < 150 * MB
