"""A place in one column, in every encoding that people have, by every reader."""

import io
import json
from typing import Any

import duckdb
import geopandas
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyogrio
import pytest
import shapely

from explorer import Grid, InputError, read_points, read_trips, scan_points
from explorer.grid.extent import boundary_bounds
from explorer.grid.geojson import Features
from explorer.points.reading import as_points
from explorer.queries.files import read_rectangles
from tests.refusals import refuses

LON, LAT = [13.4, 13.45, 13.5], [52.5, 52.55, 52.6]
DEGREES = geopandas.GeoDataFrame(
    {"n": [1, 2, 3]}, geometry=geopandas.points_from_xy(LON, LAT), crs=4326
)
METRIC = DEGREES.to_crs(25833)
WRAPPED = METRIC.set_geometry([shapely.MultiPoint([point]) for point in METRIC.geometry])
# No point lies where cells meet.
GRID = Grid.around(13.441, 52.557, "40km", shape=8)


def parquet(table, **how: Any):
    file = io.BytesIO()
    pq.write_table(table, file, **how)
    return file.getvalue()


def saved(frame, **how: Any):
    file = io.BytesIO()
    frame.to_parquet(file, **how)
    return file.getvalue()


def described_by_arrow_alone(content, kind=None):
    """What Polars makes of GeoParquet: the schema of Arrow holds the CRS, `geo` is gone."""
    table = pq.read_table(io.BytesIO(content)).replace_schema_metadata(None)
    if kind is not None:
        at = table.schema.get_field_index("geometry")
        field = table.schema.field(at).with_type(kind)
        table = table.set_column(at, field, table["geometry"].cast(kind))
    return parquet(table)


class Wkb(pa.ExtensionType):
    """With it PyArrow writes Parquet's own types."""

    def __init__(self, about=b"{}"):
        self._about = about
        super().__init__(pa.binary(), "geoarrow.wkb")

    def __arrow_ext_serialize__(self):
        return self._about

    @classmethod
    def __arrow_ext_deserialize__(cls, _, about):
        return cls(about)


def native(frame, about):
    """Parquet with the type GEOMETRY or GEOGRAPHY, and nothing beside it."""
    pa.register_extension_type(Wkb())
    try:
        shapes = pa.array(shapely.to_wkb(frame.geometry.to_numpy()).tolist(), pa.binary())
        kind = Wkb(json.dumps(about).encode())
        column = pa.ExtensionArray.from_storage(kind, shapes)
        table = pa.table({"n": frame["n"].tolist(), "geometry": column})
        return parquet(table, store_schema=False)
    finally:
        pa.unregister_extension_type("geoarrow.wkb")


def by_duckdb(folder, version):
    path = folder / "duck.parquet"
    points = ", ".join(f"('POINT ({x} {y})'::GEOMETRY)" for x, y in zip(LON, LAT, strict=True))
    duckdb.sql(
        f"COPY (SELECT * FROM (VALUES {points}) t(geometry)) TO '{path}' "
        f"(FORMAT parquet, GEOPARQUET_VERSION '{version}')"
    )
    return path.read_bytes()


def arrow(frame, **how):
    return pa.table(frame.to_arrow(**how))


def wkb(frame, srid=0):
    shapes = shapely.set_srid(frame.geometry.to_numpy(), srid)
    return shapely.to_wkb(shapes, include_srid=bool(srid)).tolist()


ARRAYS = {"geometry_encoding": "geoarrow"}
NESTED = {**ARRAYS, "schema_version": "1.1.0"}
#: By name, what makes a file of it in a folder.
FILES = {
    "GeoParquet": lambda _: saved(DEGREES),
    "GeoParquet 1.1 with covering": lambda _: saved(METRIC, write_covering_bbox=True),
    "GeoParquet, encoding point": lambda _: saved(METRIC, **NESTED),
    "GeoParquet of MultiPoints": lambda _: saved(WRAPPED),
    "GeoParquet, encoding multipoint": lambda _: saved(WRAPPED, **NESTED),
    "re-saved by Polars": lambda _: described_by_arrow_alone(saved(METRIC), pa.large_binary()),
    "re-saved by Polars, structs": lambda _: described_by_arrow_alone(saved(METRIC, **NESTED)),
    "GeoArrow, WKB": lambda _: parquet(arrow(METRIC)),
    "GeoArrow, structs": lambda _: parquet(arrow(METRIC, **ARRAYS, interleaved=False)),
    "GeoArrow, interleaved": lambda _: parquet(arrow(METRIC, **ARRAYS)),
    "GEOMETRY without a CRS": lambda _: native(DEGREES, {}),
    "GEOMETRY, code": lambda _: native(METRIC, {"crs": "EPSG:25833"}),
    "GEOMETRY, SRID": lambda _: native(METRIC, {"crs": "25833", "crs_type": "srid"}),
    "GEOMETRY, PROJJSON": lambda _: native(METRIC, {"crs": METRIC.crs.to_json_dict()}),
    "GEOGRAPHY": lambda _: native(DEGREES, {"edges": "spherical"}),
    "DuckDB, no geo": lambda folder: by_duckdb(folder, "NONE"),
    "DuckDB, version 1": lambda folder: by_duckdb(folder, "V1"),
    "DuckDB, version 2": lambda folder: by_duckdb(folder, "V2"),
    "plain WKB": lambda _: parquet(pa.table({"n": [1, 2, 3], "shape": wkb(DEGREES)})),
    "plain EWKB": lambda _: parquet(pa.table({"geom": wkb(METRIC, srid=25833)})),
    "WKT": lambda _: parquet(pa.table({"wkt": DEGREES.geometry.to_wkt().tolist()})),
    "struct": lambda _: parquet(
        pa.table({"place": [{"lat": y, "lon": x} for x, y in zip(LON, LAT, strict=True)]})
    ),
}


def assert_placed(points):
    placed = geopandas.points_from_xy(points.x, points.y, crs=points.crs).to_crs(4326)
    assert np.allclose(placed.x, LON, atol=1e-6)
    assert np.allclose(placed.y, LAT, atol=1e-6)


@pytest.mark.parametrize("name", FILES)
def test_parquet_in_any_encoding_is_read_and_scanned(name, tmp_path):
    content, path = FILES[name](tmp_path), tmp_path / "points.parquet"
    path.write_bytes(content)
    assert_placed(read_points(content))
    assert_placed(read_points(path))
    matrix, _ = scan_points(path).count(GRID)
    assert matrix.total == 3
    assert (matrix.counts == GRID.count(read_points(DEGREES)).counts).all()


def pairs(text):
    return [text.format(x=x, y=y) for x, y in zip(LON, LAT, strict=True)]


#: By name of the column, texts and what says which number is the latitude.
TEXTS = {
    "wkt": pairs("POINT ({x} {y})"),
    "the_geom": [f"SRID=25833;{text}" for text in METRIC.geometry.to_wkt()],
    "wkb_geometry": shapely.to_wkb(
        shapely.set_srid(METRIC.geometry.to_numpy(), 25833), hex=True, include_srid=True
    ).tolist(),
    "Location": pairs("({y}, {x})"),
    "location_1": pairs("12 Main St\nBerlin\n({y}, {x})"),
    "geo_point_2d": pairs("{y}, {x}"),
    "lon_lat": pairs("{x} {y}"),
    "latlng": pairs("{y} {x}"),
    "geojson": pairs('{{"type": "Point", "coordinates": [{x}, {y}]}}'),
    "georeference": pairs("POINT Z ({x} {y} 35)"),
    "where": pairs("{{'latitude': '{y}', 'human_address': '', 'longitude': '{x}'}}"),
    "multi": pairs("MULTIPOINT (({x} {y}))"),
}


@pytest.mark.parametrize("kind", ["dict", "pandas", "Arrow", "JSON", "Parquet", "CSV"])
@pytest.mark.parametrize("name", TEXTS)
def test_texts_of_places_are_read_from_every_table(name, kind):
    # A missing place is one, however it is written.
    values = [*TEXTS[name], None, ""]
    columns = {"n": [1, 2, 3, 4, 5], name: values}
    records = [{"n": n, name: value} for n, value in enumerate(values)]
    source = {
        "dict": lambda: columns,
        "pandas": lambda: pd.DataFrame(columns),
        "Arrow": lambda: pa.table(columns),
        "JSON": lambda: json.dumps(records).encode(),
        "Parquet": lambda: parquet(pa.table(columns)),
        "CSV": lambda: pd.DataFrame(columns).to_csv(index=False).encode(),
    }[kind]()
    points = read_points(source)
    assert_placed(points)
    assert repr(name) in points.notes[0]


@pytest.mark.parametrize("name", TEXTS)
def test_texts_of_places_are_counted_while_they_are_read(name, tmp_path):
    path = tmp_path / "points.csv"
    pd.DataFrame({"n": [1, 2, 3, 4], name: [*TEXTS[name], None]}).to_csv(path, index=False)
    for columns in ({}, {"lon": name, "lat": name}):
        points = as_points(path, columns)
        matrix, notes = points.count(GRID)
        assert matrix.total == 3
        assert repr(name) in points.notes[0]
        assert "1 row without a coordinate" in " ".join(notes)
    refuses("holds no places", as_points, path, {"lon": "n", "lat": "n"})


FRAMES = {
    "objects in a plain frame": lambda: pd.DataFrame({"g": np.array(DEGREES.geometry)}),
    "geometries in a plain frame": lambda: pd.DataFrame({"n": [1, 2, 3], "g": METRIC.geometry}),
    "no active geometry": lambda: geopandas.GeoDataFrame({"n": [1, 2, 3]}).assign(
        g=METRIC.geometry
    ),
    "GeoSeries": lambda: METRIC.geometry,
    "Arrow": lambda: arrow(METRIC),
    "GeoArrow": lambda: arrow(METRIC, geometry_encoding="geoarrow"),
    "MultiPoints of one": lambda: WRAPPED,
    "bytes": lambda: pd.DataFrame({"geometry": [bytearray(each) for each in wkb(DEGREES)]}),
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_with_geometries_of_any_kind(name):
    assert_placed(read_points(FRAMES[name]()))


def test_metres_as_plain_wkb_are_read_with_a_crs():
    content = parquet(pa.table({"geometry": wkb(METRIC)}))
    refuses("crs=", read_points, content)
    assert np.allclose(read_points(content, crs=25833).x, METRIC.geometry.x)


@pytest.mark.parametrize(("columns", "said"), [
    ({"c": ["13.4 52.5", "13.5 52.6"]}, "rename the column lat_lon or lon_lat"),
    ({"c": ["POINT (1 2)", "POLYGON ((0 0, 1 0, 1 1, 0 0))"] * 1}, "No columns"),
    ({"c": ["POINT (1 2)"] * 9 + ["POLYGON ((0 0, 1 0, 1 1, 0 0))"]}, "kind POLYGON"),
    ({"c": ["POINT (1 2)"] * 9 + ["MULTIPOINT ((0 0), (1 1))"]}, "several points"),
    ({"c": ["POINT (1 2)"] * 9 + ["Main Street"]}, "written in another way"),
    ({"c": ["SRID=1;POINT (1 2)"[5:]] * 2 + ["Main Street"]}, "No columns"),
    ({"a": ["POINT (1 2)"], "b": ["POINT (1 2)"]}, "choose one, for example lon='a', lat='a'"),
    ({"c": ["12,5", "13,5"]}, "No columns"), ({"c": [b"\1\1 no wkb"]}, "No columns"),
])  # fmt: skip
def test_what_is_no_place_in_one_column_is_refused(columns, said):
    with pytest.raises(InputError, match=said) as refused:
        read_points(columns)
    assert "Main Street" not in str(refused.value)


def test_the_column_that_is_named_is_read():
    table = {"a": ["POINT (1 2)"], "b": ["POINT (3 4)"], "lon": [5.0], "lat": [6.0]}
    assert read_points(table).x.tolist() == [5]
    assert read_points(table, lon="b", lat="b").x.tolist() == [3]
    renamed = {"lat_lon": ["13.4 52.5"]}
    assert read_points(renamed).y.tolist() == [13.4]


def test_multipoints_of_several_are_refused(tmp_path):
    two = geopandas.GeoSeries([shapely.MultiPoint([(1, 2), (3, 4)])], crs=4326).to_frame("geometry")
    path = tmp_path / "p.parquet"
    two.to_file(tmp_path / "p.gpkg")
    for how in ({}, {"geometry_encoding": "geoarrow", "schema_version": "1.1.0"}):
        two.to_parquet(path, **how)
        for source in (path, two, tmp_path / "p.gpkg", two.to_json().encode()):
            refuses("several points", read_points, source)


def test_degrees_times_ten_million(tmp_path):
    columns = {"latitudeE7": [525000000, 0], "longitudeE7": [134000000, 0]}
    path = tmp_path / "p.parquet"
    pd.DataFrame(columns).to_parquet(path)
    records = {"locations": pd.DataFrame(columns).to_dict("records")}
    text = pd.DataFrame(columns).to_csv(index=False).encode()
    for source in (columns, path, text, json.dumps(records).encode()):
        points = read_points(source)
        assert (points.x.tolist(), points.y.tolist()) == ([13.4], [52.5])
    assert scan_points(path).count(GRID)[0].total == 1
    path.with_suffix(".csv").write_bytes(text)
    assert as_points(path.with_suffix(".csv")).count(GRID)[0].total == 1


@pytest.mark.parametrize("document", [
    [{"where": {"lat": 52.5, "lon": 13.4}, "who": "a"}],
    [{"latitude": "52.5", "longitude": "13.4"}],
    {"data": [{"lat": 52.5, "lon": 13.4}]},
    {"count": 1, "results": [{"geo_point": {"lon": 13.4, "lat": 52.5}}]},
    {"last_updated": 1, "data": {"stations": [{"lat": 52.5, "lon": 13.4}]}},
    {"version": 0.6, "elements": [{"type": "node", "lat": 52.5, "lon": 13.4, "tags": {}}]},
    {"elements": [{"type": "way", "center": {"lat": 52.5, "lon": 13.4}}]},
    {"fields": [{"name": "a"}], "records": [{"place": [1], "lon": 13.4, "lat": 52.5}]},
    {
        "features": [{"attributes": {"a": 1}, "geometry": {"x": 13.4, "y": 52.5}}],
        "spatialReference": {"wkid": 4326},
    },
    {"lon": {"0": 13.4}, "lat": {"0": 52.5}},
    {"lon": [13.4], "lat": [52.5]},
    {"columns": ["lon", "lat"], "index": [0], "data": [[13.4, 52.5]]},
    {"gpx": {"wpt": [{"@lat": "52.5", "@lon": "13.4"}]}},
    [{"location": {"type": "Point", "coordinates": [13.4, 52.5]}}],
    {"type": "GeometryCollection", "geometries": [{"type": "Point", "coordinates": [13.4, 52.5]}]},
])  # fmt: skip
def test_json_of_other_kinds(document):
    points = read_points(json.dumps(document).encode())
    assert (points.x.tolist(), points.y.tolist()) == ([13.4], [52.5])


@pytest.mark.parametrize("form", ["{}\n{}\n", "\x1e{}\n\x1e{}\n", "[{},\n{}]", "{}\r\n{}"])
@pytest.mark.parametrize("indent", [None, 1])
def test_features_and_objects_that_follow_each_other(form, indent):
    feature = {
        "type": "Feature",
        "properties": {"who": "a } b"},
        "geometry": {"type": "Point", "coordinates": [13.4, 52.5]},
    }
    for document in (feature, {"who": "a } b", "lon": 13.4, "lat": 52.5, "data": [{"n": 1}]}):
        text = json.dumps(document, indent=indent)
        points = read_points(form.replace("{}", "%s").replace("%s", text).encode(), user="who")
        assert points.x.tolist() == [13.4, 13.4]
        assert points.user is not None


def test_esris_json_has_a_crs_and_rings_with_holes():
    rings = [[[0, 0], [0, 9], [9, 9], [9, 0], [0, 0]], [[1, 1], [2, 1], [2, 2], [1, 1]]]
    document = {
        "spatialReference": {"wkid": 102100, "latestWkid": 3857},
        "features": [{"attributes": {}, "geometry": {"rings": rings}}],
    }
    features = Features(json.dumps(document).encode())
    (feature,) = features
    assert shapely.geometry.shape(feature["geometry"]).area == 81 - 0.5
    assert features.crs.to_epsg() == 3857


@pytest.mark.parametrize("kind", ["(pairs)", "WKT", "structs"])
def test_trips_with_a_place_in_one_column(kind):
    make = {
        "(pairs)": lambda x, y: f"({y}, {x})",
        "WKT": lambda x, y: f"POINT ({x} {y})",
        "structs": lambda x, y: {"lat": y, "lon": x},
    }[kind]
    begin = [make(x, y) for x, y in zip(LON, LAT, strict=True)]
    trips = read_trips(pa.table({"pickup_location": begin, "dropoff_location": begin[::-1]}))
    assert trips.places == ("o", "d")
    assert [each.tolist() for each in trips.x] == [LON, LON[::-1]]


BOXES = [shapely.box(13, 52, 13.5, 52.5), shapely.box(13.5, 52, 14, 53)]
SQUARES = geopandas.GeoDataFrame({"n": [1, 2]}, geometry=BOXES, crs=4326).to_crs(25833)
FEATURES = SQUARES.to_crs(4326)
POLYGONS = {
    "GeoParquet": lambda: saved(SQUARES),
    "encoding polygon": lambda: saved(SQUARES, **NESTED),
    "re-saved by Polars": lambda: described_by_arrow_alone(saved(SQUARES)),
    "GeoArrow": lambda: parquet(arrow(SQUARES, **ARRAYS)),
    "GEOMETRY": lambda: native(SQUARES, {"crs": "EPSG:25833"}),
    "EWKB": lambda: parquet(pa.table({"geom": wkb(SQUARES, srid=25833)})),
    "EWKT": lambda: parquet(
        pa.table({"c": [f"SRID=25833;{wkt}" for wkt in SQUARES.geometry.to_wkt()]})
    ),
    "lines.geojson": lambda: "\n".join(map(json.dumps, FEATURES.iterfeatures())).encode(),
    "list.json": lambda: json.dumps(
        [shapely.geometry.mapping(each) for each in FEATURES.geometry]
    ).encode(),
}


@pytest.mark.parametrize("name", POLYGONS)
def test_a_boundary_in_any_encoding(name, tmp_path):
    path = tmp_path / (name if "." in name else "boundary.parquet")
    path.write_bytes(POLYGONS[name]())
    bounds, _ = boundary_bounds(path, SQUARES.crs)
    # Edges in degrees are curves in metres.
    assert np.allclose(bounds, SQUARES.total_bounds, atol=300)


@pytest.mark.parametrize("form", ["\n{}\n{}", "\x1e{}\n\x1e{}\n", "[{},{}]"])
def test_boxes_that_follow_each_other(form):
    shapes = [shapely.box(13.4, 52.5, 13.41, 52.51), shapely.box(13.5, 52.6, 13.51, 52.61)]
    frame = geopandas.GeoDataFrame({"name": ["a", "b"]}, geometry=shapes, crs=4326)
    one, two = (json.dumps(feature) for feature in frame.iterfeatures())
    text = form.replace("{}", one, 1).replace("{}", two, 1)
    boxes, names = read_rectangles(text.encode(), GRID)
    assert names == ["a", "b"]
    assert np.allclose(boxes, read_rectangles(frame.to_json().encode(), GRID)[0])


def test_a_property_called_geometry_may_be_the_user(tmp_path):
    frame = geopandas.GeoDataFrame(
        {
            "geometry": ["a", "b", "a"],
            "shape": geopandas.points_from_xy([1, 2, 3], [4, 5, 6], crs=4326),
        },
        geometry="shape",
    )
    documents = [
        {
            "type": "Feature",
            "properties": {"geometry": who},
            "geometry": shapely.geometry.mapping(at),
        }
        for who, at in zip(frame["geometry"], frame["shape"], strict=True)
    ]
    pyogrio.write_dataframe(frame, tmp_path / "a.gpkg", geometry_name="shape")
    for source in (tmp_path / "a.gpkg", json.dumps(documents).encode()):
        points = read_points(source, user="geometry")
        assert points.user.tolist() == [0, 1, 0]
        assert points.x.tolist() == [1, 2, 3]


@pytest.mark.parametrize(("geometry", "x"), [
    ({"type": "GeometryCollection", "geometries": [
        {"type": "GeometryCollection", "geometries": [{"type": "Point", "coordinates": [5, 6]}]}
    ]}, 5),
    ({"type": "MultiPoint", "coordinates": [[5, 6, 7, 8]]}, 5),
    ({"type": "Point", "coordinates": [None]}, None),
    ({"type": "Point", "coordinates": [None, None]}, None),
    ({"type": "GeometryCollection", "geometries": [None]}, None),
])  # fmt: skip
def test_unusual_points_of_geojson_are_read(geometry, x):
    features = [
        {"type": "Feature", "properties": None, "geometry": shape}
        for shape in ({"type": "Point", "coordinates": [1, 2]}, geometry)
    ]
    points = read_points(json.dumps(features).encode())
    assert points.x.tolist() == [1, *([] if x is None else [x])]


def test_commas_with_two_meanings_in_json_are_refused():
    rows = [{"lon": 1, "lat": 2, "n": text} for text in ("1,5", "1,234,567")]
    refuses("comma that has another meaning", read_points, json.dumps(rows).encode(), weight="n")


def test_columns_of_parquet_that_nobody_asked_for_do_no_harm(tmp_path):
    names = ["lon", "lat", "twice", "twice", *(f"c{number}" for number in range(1100))]
    pq.write_table(
        pa.Table.from_arrays([pa.array([1.0, 2.0])] * len(names), names), tmp_path / "wide.parquet"
    )
    assert scan_points(tmp_path / "wide.parquet").rows == 2
    refuses(
        "Two columns have the name 'twice'", scan_points, tmp_path / "wide.parquet", weight="twice"
    )
    table = pa.table({"lon": [1.0], "lat": [2.0], "text": ["a damaged one"]})
    pq.write_table(table, tmp_path / "damaged.parquet", use_dictionary=False, compression="none")
    content = (tmp_path / "damaged.parquet").read_bytes()
    at = (
        pq.ParquetFile(tmp_path / "damaged.parquet")
        .metadata.row_group(0)
        .column(2)
        .data_page_offset
    )
    (tmp_path / "damaged.parquet").write_bytes(content[:at] + b"\xff" * 20 + content[at + 20 :])
    assert scan_points(tmp_path / "damaged.parquet").rows == 1
