"""Points are read from every kind of source, and what cannot be points is refused."""

import io
import json
from decimal import Decimal
from pathlib import Path

import geopandas
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely.geometry import MultiPoint, Point, box

from explorer import InputError, Points, read_points
from explorer.points.columns import candidates, find_place, unused_users
from explorer.points.reading import as_points
from tests.refusals import refuses

X, Y = [-122.5, 0.25, 179.875], [37.75, -0.5, 89.5]
FRAME = pd.DataFrame({"lon": X, "lat": Y, "who": ["b", "a", "b"], "n": [1, 0, 3], "t": [5, 6, 7]})
GEO = geopandas.GeoDataFrame(
    FRAME[["who", "n", "t"]], geometry=geopandas.points_from_xy(X, Y), crs=4326
)


class Exported:
    """A frame of another library, such as Polars, that Arrow can take over."""

    def __init__(self, frame):
        self._table = pa.Table.from_pandas(frame)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("source", [
    FRAME, FRAME.convert_dtypes(), FRAME.set_index("t"), GEO, pa.Table.from_pandas(FRAME),
    Exported(FRAME), FRAME.to_dict("list"), {"lon": np.array(X), "lat": np.ma.array(Y)},
])  # fmt: skip
def test_every_kind_of_frame(source):
    points = read_points(source, name="frame")
    assert points.x.tolist() == X
    assert points.y.tolist() == Y
    assert points.name == "frame"


def test_pairs_of_arrays():
    for source in ((X, Y), [np.array(X), Y], np.column_stack([X, Y])):
        points = read_points(source, user=["b", "a", "b"], weight=[1, 2, 3], time=X)
        assert points.x.tolist() == X
        assert points.user.tolist() == [0, 1, 0]
        assert "taken as degrees" in " ".join(points.notes)


def test_what_was_guessed_is_said():
    taken = "The columns 'lon' and 'lat' were taken as the place."
    rest = "2 columns were not read: who, t."
    assert read_points(FRAME, weight="n").notes == (taken, rest)
    assert read_points(FRAME, lon="lon", lat="lat", weight="n").notes == (rest,)
    assert read_points(GEO, weight="n").notes == (rest,)


@pytest.mark.parametrize("column", ["user_id", "User", "UserID", "device-id", "uid"])
def test_a_column_of_users_that_is_not_read_is_said(column):
    frame = FRAME.assign(**{column: range(len(FRAME))})
    sentence = f"The column {column!r} was not read: name it with user={column!r} to protect users."
    assert sentence in read_points(frame).notes
    assert sentence not in read_points(frame, user=column).notes


def test_a_column_that_is_about_something_else_is_not_taken_for_users():
    frame = FRAME.assign(user_type=0, persons=1, customers_served=2)
    assert not any("protect users" in note for note in read_points(frame).notes)


@pytest.mark.parametrize("column", ["count", "S000", "number_of_trips", "Total", "freq", "jobs"])
def test_a_column_that_says_how_many_and_is_not_read_is_named(column, tmp_path):
    sentence = f"The column {column!r} was not read: name it with weight={column!r}"
    frame = FRAME.rename(columns={"n": column})
    frame.to_csv(tmp_path / "p.csv", index=False)
    frame.to_parquet(tmp_path / "p.parquet")
    for source in (frame, tmp_path / "p.csv", tmp_path / "p.parquet"):
        assert any(sentence in note for note in read_points(source).notes)
        assert any(sentence in note for note in as_points(source).notes)
        for named in (read_points(source, weight=column), as_points(source, {"weight": column})):
            assert not any("was not read" in note for note in named.notes)


SHAPES = {
    "e-mail": "someone{}@example.org",
    "telephone": "+49 30 1234{}",
    "UUID": "a1b2c3d4-0000-1111-2222-aaaabbbbcc0{}",
    "hash": "d7d598cd99978bd012a87a76a7c891b{}",
    "network card": "00:1A:2B:3C:4D:5{}",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_column_whose_values_look_like_ids_of_users_is_named(shape, tmp_path):
    n = 30
    frame = pd.DataFrame({"lon": np.linspace(1, 2, n), "lat": 50.0})
    frame["whose"] = [SHAPES[shape].format(row % 4) for row in range(n)]
    # Each row has its own; few have one; so have stations.
    frame["row"] = [SHAPES[shape].format(row + 10_000) for row in range(n)]
    frame["some"] = [SHAPES[shape].format(row % 4) if row % 3 else "no" for row in range(n)]
    frame["station"] = frame["whose"]
    frame.to_csv(tmp_path / "p.csv", index=False)
    frame.to_parquet(tmp_path / "p.parquet")
    shapes = geopandas.GeoDataFrame(
        frame, geometry=geopandas.points_from_xy(frame.lon, frame.lat), crs=4326
    )
    shapes.to_file(tmp_path / "p.geojson")
    for source in (frame, *(tmp_path / f"p.{end}" for end in ("csv", "parquet", "geojson"))):
        for points in (read_points(source), as_points(source)):
            (note,) = (note for note in points.notes if "look like ids" in note)
            assert "user='whose'" in note
            assert not any(value in note for value in frame["whose"])
        assert not any("look like ids" in note for note in read_points(source, user="row").notes)


@pytest.mark.parametrize("column", ["total_amount", "passenger_count", "house_number", "weight_kg"])
def test_a_column_that_counts_something_else_is_not_named(column):
    frame = FRAME.rename(columns={"n": column})
    assert not any("was not read" in note for note in read_points(frame).notes)


def test_a_crs_of_the_file_is_respected(tmp_path):
    british = GEO.iloc[:1].set_geometry(geopandas.points_from_xy([530_000], [180_000]))
    british = british.set_crs(27700, allow_override=True)
    british.to_parquet(tmp_path / "b.parquet")
    british.to_file(tmp_path / "b.gpkg")
    for source in (british, tmp_path / "b.parquet", tmp_path / "b.gpkg"):
        points = read_points(source)
        assert points.crs.to_epsg() == 27700
        assert points.x.tolist() == [530_000]
        refuses("The file says that its CRS is", read_points, source, crs="EPSG:3857")


def test_a_crs_can_be_given():
    metres = {"x": [530_000.0, np.nan], "y": [180_000.0, 1.0]}
    points = read_points(metres, crs="EPSG:27700")
    assert points.crs.to_epsg() == 27700
    assert len(points) == 1
    refuses("say what they are with crs=", read_points, metres)
    refuses("not a known CRS", read_points, metres, crs="metres")
    refuses("no longitude or easting", read_points, metres, crs="EPSG:4978")


def test_other_columns_than_the_geometry_can_be_chosen(tmp_path):
    both = GEO.assign(a_lon=1.0, a_lat=2.0)
    both.to_parquet(tmp_path / "b.parquet")
    both.to_file(tmp_path / "b.gpkg")
    for source in (both, tmp_path / "b.parquet", tmp_path / "b.gpkg"):
        assert read_points(source, lon="a_lon").x.tolist() == [1.0] * 3
        assert read_points(source).x.tolist() == X


def test_bad_rows_are_named_and_left_out():
    text = b"lon,lat,who\n1,2,a\n,5,a\n3,nan,a\n0,0,a\ninf,5,a\n400,5,a\n5,95,a\n-9,9,\n7,8,b\n"
    points = read_points(text, user="who", time="who")
    assert points.x.tolist() == [1, 7]
    assert points.user.tolist() == [0, 1]
    assert points.time.tolist() == ["a", "b"]
    assert points.notes[1:] == (
        "2 rows without a coordinate (null or not a number) were left out.",
        "1 row with an infinite coordinate was left out.",
        "1 row at longitude 0, latitude 0, which stands for a missing place, was left out.",
        "1 row beyond the range of longitude or latitude was left out.",
        "1 row with a latitude beyond 90, perhaps swapped with the longitude, was left out.",
        "1 row without a user was left out.",
    )


def test_longitudes_up_to_360_are_brought_home():
    x = np.array([10.0, 190.0])
    points = read_points({"lon": x, "lat": [1.0, 2.0]})
    assert points.x.tolist() == [10, -170]
    assert "0 to 360" in points.notes[-1]
    assert x.tolist() == [10, 190], "the caller's array stays as it is"


def test_nothing_but_a_header_is_no_point():
    for source in (b"lon,lat\n", FRAME.iloc[:0], GEO.iloc[:0], ([], [])):
        assert len(read_points(source)) == 0
    none = pa.array([], pa.float64())
    empty = parquet(lon=none, lat=none, who=pa.array([], pa.string()))
    points = read_points(empty, user="who", time="who")
    assert len(points) == 0
    assert len(read_points(b"lon,lat\n1,2\n")) == 1


def test_text_files_of_many_countries():
    decimal = "Longitude;Latitude;Straße\n1,5;2,5;Müller\n3,0;4,0;Weiß\n"
    for text in (decimal.encode("utf-8-sig"), decimal.encode("latin1")):
        points = read_points(text, user="Straße")
        assert points.x.tolist() == [1.5, 3.0]
    quoted = b'"lon","lat","note"\r\n"1.5","2.5","a, b"\r\n'
    assert read_points(quoted).y.tolist() == [2.5]
    assert read_points(b"lon|lat\n1|2\n").x.tolist() == [1]
    dated = read_points(b"lon,lat,t\n1,2,2014-04-01 00:11:00\n", time="t")
    assert dated.time[0] == np.datetime64("2014-04-01T00:11:00")


def test_integers_decimals_and_nulls_of_parquet():
    table = {
        "lon": pa.array([1, None, 3], pa.int32()),
        "lat": pa.array([Decimal("1.25")] * 3),
        "n": pa.array([2, 1, 5], pa.uint8()),
        "who": pa.array(["x", "y", None]).dictionary_encode(),
        "t": pa.array([1, 2, 3], pa.timestamp("ms")),
    }
    points = read_points(parquet(**table), user="who", weight="n", time="t")
    assert points.x.tolist() == [1]
    assert points.y.tolist() == [1.25]
    assert points.weight.tolist() == [2]
    assert points.user.tolist() == [0]


@given(st.lists(st.tuples(st.floats(-180, 180), st.floats(-90, 90)), min_size=1, max_size=20))
def test_a_csv_file_brings_back_every_number(places):
    x, y = np.array(places).T
    kept = ~((x == 0) & (y == 0))
    text = "lon,lat\n" + "\n".join(f"{a!r},{b!r}" for a, b in places)
    if not kept.any():
        refuses("None of the", read_points, text.encode())
        return
    points = read_points(text.encode())
    assert points.x.tolist() == x[kept].tolist()
    assert points.y.tolist() == y[kept].tolist()


def parquet(**columns: object):
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def geojson(*shapes: object):
    return geopandas.GeoDataFrame(geometry=list(shapes), crs=4326).to_json().encode()


REFUSED = [
    (b"", "is empty"),
    (b"PK\x03\x04 a zip", "compressed"),
    (b"\x1f\x8b a gz", "compressed"),
    (b"\x93NUMPY", "matrix of counts"),
    (b"\0\0\x27\x0a a shapefile", "several files"),
    (b"PAR1 damaged", "could not be read as Parquet"),
    (b"SQLite format 3\0damaged", "may be damaged"),
    (b'{"a": 1', "could not be read as GeoJSON"),
    (b"1,2\n3,4\n", "write a line of names above it"),
    (b"a,b\n1,2\n", "No columns of longitude and latitude"),
    (b"lon,lat\n1,here\n", "'lat' has a text in line 2"),
    (b"lon,lat\n1,2\n3\n", "Line 3 of this file has fewer values"),
    (b"lon,lat\n\0,\0\n", "could not be read as a table"),
    (b"lon,lon,lat\n1,2,3\n", "Two columns have the name 'lon'"),
    (b"lat,lon\n200,2\n", "look swapped; give lon='lat', lat='lon'"),
    (b"x,y\n530000,180000\n", "not degrees; say what they are with crs="),
    (
        b"lon,lat\n-122.4,37.7\n,1\ninf,1\n0,0\n-122.4,95\n37.7,-122.4\n",
        "'lon' and 'lat' are no longitude and latitude",
    ),
    (b"lon,lat\n0,0\n,\n", "None of the rows can be used"),
    (parquet(lon=["1"], lat=["2"]), "'lon' holds something else than numbers"),
    (geojson(Point(0, 1), box(0, 0, 1, 1)), "kind Polygon where points were expected"),
    (geojson(MultiPoint([(1, 1), (2, 2)])), "MultiPoints of several points"),
    (GEO.set_geometry([box(0, 0, 1, 1)] * 3), "kind Polygon where points were expected"),
    ("https://example.org/p.csv", "Only files of this computer"),
    ("/vsicurl/http://example.org/p.csv", "Only files of this computer"),
    ("nowhere.csv", "There is no file nowhere.csv"),
    (Path(__file__).parent, "is a folder"),
    (Path(__file__), "'.py' is not read"),
    (io.StringIO("lon,lat\n1,2"), "open it in binary mode"),
    (None, "cannot be read from NoneType"),
    ((1, 2), "single value"),
    (([1, 2], [3]), "differ in length"),
    (([[1]], [[2]]), "something else than numbers"),
    ({"lon": ["west"], "lat": [1]}, "something else than numbers"),
]


@pytest.mark.parametrize(("ending", "kind"), [
    ("parquet", "Parquet"), ("GPKG", "GeoPackage"), ("geojson", "GeoJSON"), ("json", "GeoJSON"),
    ("shp", "Shapefile"),
])  # fmt: skip
def test_a_damaged_beginning_is_no_other_kind_of_file(ending, kind, tmp_path):
    path = tmp_path / f"points.{ending}"
    path.write_bytes(b"\xff\xfe" + b"nothing that begins so" * 9)
    for source, name in ((path, None), (path.read_bytes(), path.name)):
        refuses(f"as a {kind} file does, .* may be damaged", read_points, source, name=name)


@pytest.mark.parametrize(("source", "said"), REFUSED)
def test_what_cannot_be_points_is_refused_in_a_sentence(source, said):
    with pytest.raises(InputError, match=said) as caught:
        read_points(source)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(("asked", "said"), [
    ({"user": "nobody"}, "There is no column 'nobody'; the columns are lon, lat, who, n, t"),
    ({"weight": "who"}, "something else than numbers"),
    ({"weight": [1, 2]}, "weight is neither a column nor an array of 3 values"),
    ({"user": 7}, "user is neither a column nor an array"),
    ({"weight": [1, -2, 3]}, "whole number of 0 or more"),
    ({"weight": [1, np.inf, 3]}, "whole number of 0 or more"),
    ({"weight": [1, 2, 1e12]}, "more than 100 billion"),
    ({"max_rows": 2}, "more than the 2 rows"),
])  # fmt: skip
def test_what_cannot_be_asked_for(asked, said):
    for source in (FRAME, FRAME.to_dict("list")):
        refuses(said, read_points, source, **asked)


def test_a_small_file_of_many_rows_is_refused_by_its_footer():
    # 20 million equal rows: 170 kB that would unpack to 320 MB.
    same = pa.DictionaryArray.from_arrays(np.zeros(20_000_000, np.int8), pa.array([1.5]))
    bomb = parquet(lon=same, lat=same)
    assert len(bomb) < 200_000
    refuses("more than the 10,000,000 rows", read_points, bomb, max_rows=10_000_000)


def test_a_damaged_description_of_a_geometry_is_refused():
    table = pa.table({"lon": [1.0], "geometry": [b"not wkb"]})
    for about, said in [
        (b"not json", "description of the geometry"),
        (b'{"primary_column": "gone", "columns": {}}', "description of the geometry"),
        (json.dumps(described("linestring")).encode(), "as 'linestring'"),
        (json.dumps(described("WKB", kinds=["Polygon"])).encode(), "kind Polygon"),
        (json.dumps(described("WKB", crs="nonsense")).encode(), "not a known CRS"),
        (json.dumps(described("WKB")).encode(), "no geometry as WKB"),
    ]:
        file = io.BytesIO()
        pq.write_table(table.replace_schema_metadata({b"geo": about}), file)
        with pytest.raises(InputError, match=said):
            read_points(file.getvalue())


def described(encoding, kinds=None, crs=None):
    about = {"encoding": encoding, "geometry_types": kinds or [], "crs": crs}
    return {"primary_column": "geometry", "columns": {"geometry": about}}


def test_points_with_height_nulls_and_without_a_crs(tmp_path):
    high = geopandas.GeoDataFrame(geometry=[Point(1, 2, 3), None, Point()], crs=None)
    high.to_parquet(tmp_path / "h.parquet")
    for source in (high, tmp_path / "h.parquet"):
        points = read_points(source)
        assert (points.x.tolist(), points.y.tolist()) == ([1], [2])
        assert points.notes == (
            "The coordinates were taken as degrees of longitude and latitude.",
            "2 rows without a coordinate (null or not a number) were left out.",
        )


def test_points_are_of_one_length_and_say_no_number():
    points = Points([1, 2], [3, 4], name="two", user=[0, 1])
    assert points.x.dtype == np.float64
    assert repr(points) == "Points('two', WGS 84, user)"
    refuses("equal length", Points, [1, 2], [3])
    refuses("one dimension", Points, [[1, 2]], [[3, 4]])
    refuses("whole numbers of 0 or more", Points, [1, 2], [3, 4], user=[-1, 0])


def test_the_dirty_file(real_data):
    path = real_data("nyc_green_taxi_2013-08_raw.parquet")
    refuses("'o_lon' and 'o_lat', 'd_lon' and 'd_lat'", read_points, path)
    points = read_points(path, lon="o_lon", time="o_t")
    assert len(points) == 7_624 - 1 - 534
    assert points.notes[1:] == (
        "3 columns were not read: d_t, d_lon, d_lat.",
        "1 row without a coordinate (null or not a number) was left out.",
        "534 rows at longitude 0, latitude 0, which stands for a missing place, were left out.",
    )


def test_real_users_and_real_polygons(real_data):
    points = read_points(real_data("foursquare_user_places.parquet"), user="user", weight="n")
    assert points.user.max() == 7_641
    assert len(points) == 277_405
    with pytest.raises(InputError, match="polygons as the boundary of a grid"):
        read_points(real_data("gb_districts.parquet"))


# The columns of a place are guessed from their names, or asked for.


@pytest.mark.parametrize(("names", "lon", "lat", "degrees"), [
    (["lon", "lat"], "lon", "lat", True),
    (["Lat", "Lon", "Base"], "Lon", "Lat", True),
    (["id", "LATITUDE", "LONGITUDE"], "LONGITUDE", "LATITUDE", True),
    (["pickup_longitude", "pickup_latitude"], "pickup_longitude", "pickup_latitude", True),
    (["start_lng", "start_lat"], "start_lng", "start_lat", True),
    (["lat_wgs84", "lon_wgs84"], "lon_wgs84", "lat_wgs84", True),
    (["x", "y"], "x", "y", False),
    (["Easting", "Northing"], "Easting", "Northing", False),
    # Degrees win over feet beside them.
    (["X Coordinate", "Y Coordinate", "Latitude", "Longitude"], "Longitude", "Latitude", True),
    # Words that only contain the letters are no places.
    (["belong", "flat", "lon", "lat"], "lon", "lat", True),
])  # fmt: skip
def test_usual_names_are_recognised(names, lon, lat, degrees):
    place = find_place(names)
    assert (place.lon, place.lat, place.degrees) == (lon, lat, degrees)


@pytest.mark.parametrize(("lon", "lat", "degrees"), [
    ("startStationLongitude", "startStationLatitude", True),
    ("pickupLon", "pickupLat", True),
    ("LON_DD", "LAT_DD", True),
    ("decimalLongitude", "decimalLatitude", True),
    ("lonWGS84", "latWGS84", True),
    ("POINT_X", "POINT_Y", False),
    ("X_COORD", "Y_COORD", False),
    ("xcoord", "ycoord", False),
    ("CoordX", "CoordY", False),
    ("Easting (m)", "Northing (m)", False),
    ("E_LV95", "N_LV95", False),
    ("Longitude_deg", "Latitude_deg", True),
    ("Longitude (E)", "Latitude (N)", True),
    ("x_long", "y_lat", True),
    ("xlon", "ylat", True),
    ("Longitude", "Lat", True),
    # Cut after eight or ten letters.
    ("LONGITUD", "LATITUDE", True),
    ("start_long", "start_lati", True),
    ("dropoff_lo", "dropoff_la", True),
    # Data portals in other languages.
    ("longitud", "latitud", True),
    ("Längengrad", "Breitengrad", True),
    ("La\u0308ngengrad", "Breitengrad", True),
    ("longitudine", "latitudine", True),
    ("lengtegraad", "breedtegraad", True),
    ("Länge", "Breite", False),
    ("Rechtswert", "Hochwert", False),
    ("経度", "緯度", True),
])  # fmt: skip
def test_names_of_public_data_sets_are_recognised(lon, lat, degrees):
    for names in ([lon, lat], ["name", lat, "id", lon, "elevation"]):
        place = find_place(names)
        assert (place.lon, place.lat, place.degrees) == (lon, lat, degrees)


@pytest.mark.parametrize(("names", "lon"), [
    # What was recognised before other names were known wins over them.
    (["lon", "lat", "Länge", "Breite"], "lon"),
    (["x", "y", "Länge", "Breite"], "x"),
    (["lon", "lat", "LonOld", "LatOld"], "lon"),
    (["X", "Y", "longitud", "latitud"], "longitud"),
])  # fmt: skip
def test_the_more_certain_names_win(names, lon):
    assert find_place(names).lon == lon


def test_of_many_columns_those_that_say_something_are_listed():
    names = [*"abcdefg", "startLatitude", "userId", "count"]
    refuses(r"from startLatitude, userId, count, a, b, c and 4 more", find_place, names)


NAMES_OF_USERS = """
    individual-local-identifier|OBSERVER ID|TAXI_ID|medallion|hack_license|bike_id|bikeid
    trip owner|card_id|animal_id|tag-local-identifier|vehicle_id|vin|plate|ssn|msisdn|msno|rider_id
    cookie|advertising id|maid|idfa|ad_id|author|screen_name|twitter_user|email|E-Mail|phone
    userId|userID|driverId|Bike number|License Plate|CardNo|id_usuario|MMSI|anonDeviceId
    individual|observer_i|customer_i|subscriber
"""
NAMES_OF_NO_USERS = """
    end_user_type|usertype|passenger_count|persons|customers_served|member_casual|bike_type
    rideable_type|card_type|plate_state|phone_model|trip_id|ride_id|VendorID|PULocationID|user_agent
    station_id|start_station_name|user_birth_year|household_size|driver_age|recordedBy|gbifID
    event-id|SAMPLING EVENT IDENTIFIER|GLOBAL UNIQUE IDENTIFIER|id|name|address|license|ring|tags
    individualCount|num_bikes_available|bike_count|taxi_zone|OBJECTID|study-name|paid
"""


def words(text):
    return [name.strip() for line in text.strip().splitlines() for name in line.split("|")]


@pytest.mark.parametrize("name", words(NAMES_OF_USERS))
def test_a_column_of_users_is_named(name):
    assert [name in note for note in unused_users([name, "lon", "lat"], None)] == [True]


@pytest.mark.parametrize("name", words(NAMES_OF_NO_USERS))
def test_a_column_of_something_else_is_not_named(name):
    assert unused_users([name, "lon", "lat"], None) == []


def test_two_candidates_are_listed_and_not_chosen():
    with pytest.raises(InputError, match=r"'o_lon' and 'o_lat', 'd_lon' and 'd_lat'.*lon='o_lon'"):
        find_place(["o_lon", "o_lat", "d_lon", "d_lat"])
    assert find_place(["o_lon", "o_lat", "d_lon", "d_lat"], lat="d_lat").lon == "d_lon"


@pytest.mark.parametrize(("names", "chosen", "said"), [
    (["a", "b"], {}, "No columns of longitude"),
    (["lon", "lat"], {"lon": "x"}, "There is no column 'x'; the columns are lon, lat"),
    (["lon", "lat", "z"], {"lon": "z"}, "No counterpart of column 'z'"),
    (["lon", "lat"], {"lon": "lat", "lat": "lat"}, "choose two columns"),
])  # fmt: skip
def test_what_cannot_be_chosen_is_said(names, chosen, said):
    refuses(said, find_place, names, **chosen)


@given(st.lists(st.text(max_size=12), unique=True, max_size=8))
def test_no_name_breaks_the_guess(names):
    for place in candidates(names):
        assert place.lon in names
        assert place.lat in names
        assert place.lon != place.lat
