"""The columns of a place are guessed from their names, or asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.errors import InputError
from explorer.points.columns import candidates, find_place, unused_users


@pytest.mark.parametrize(("names", "lon", "lat", "degrees"), [
    (["lon", "lat"], "lon", "lat", True),
    (["Lat", "Lon", "Base"], "Lon", "Lat", True),
    (["lng", "lat"], "lng", "lat", True),
    (["id", "LATITUDE", "LONGITUDE"], "LONGITUDE", "LATITUDE", True),
    (["long", "lat"], "long", "lat", True),
    (["pickup_longitude", "pickup_latitude"], "pickup_longitude", "pickup_latitude", True),
    (["pickupLongitude", "pickupLatitude"], "pickupLongitude", "pickupLatitude", True),
    (["start_lng", "start_lat"], "start_lng", "start_lat", True),
    (["Start Lon", "Start Lat"], "Start Lon", "Start Lat", True),
    (["o-lon", "o-lat"], "o-lon", "o-lat", True),
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
    with pytest.raises(InputError, match=r"from startLatitude, userId, count, a, b, c and 4 more"):
        find_place(names)


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


def words(text: str) -> list[str]:
    return [name.strip() for line in text.strip().splitlines() for name in line.split("|")]


@pytest.mark.parametrize("name", words(NAMES_OF_USERS))
def test_a_column_of_users_is_named(name):
    assert [name in note for note in unused_users([name, "lon", "lat"], None)] == [True]


def test_who_somebody_is_stands_before_what_they_have():
    first, second = unused_users(["tag-local-identifier", "individual-local-identifier"], None)
    assert "'individual-local-identifier'" in first
    assert "'tag-local-identifier'" in second


@pytest.mark.parametrize("name", words(NAMES_OF_NO_USERS))
def test_a_column_of_something_else_is_not_named(name):
    assert unused_users([name, "lon", "lat"], None) == []


def test_two_candidates_are_listed_and_not_chosen():
    with pytest.raises(InputError, match=r"'o_lon' and 'o_lat', 'd_lon' and 'd_lat'.*lon='o_lon'"):
        find_place(["o_lon", "o_lat", "d_lon", "d_lat"])
    assert find_place(["o_lon", "o_lat", "d_lon", "d_lat"], lat="d_lat").lon == "d_lon"


def test_many_candidates_are_not_all_listed():
    names = [f"{stop}_{axis}" for stop in "abcdefgh" for axis in ("lon", "lat")]
    with pytest.raises(InputError, match="and 2 more"):
        find_place(names)


@pytest.mark.parametrize(("names", "chosen", "said"), [
    (["a", "b"], {}, "No columns of longitude"),
    ([], {}, "No columns of longitude"),
    (["lon"], {}, "No columns of longitude"),
    (["lon", "lat"], {"lon": "x"}, "There is no column 'x'; the columns are lon, lat"),
    (["lon", "lat", "z"], {"lon": "z"}, "No counterpart of column 'z'"),
    (["lon", "lat"], {"lon": "lat", "lat": "lat"}, "choose two columns"),
])  # fmt: skip
def test_what_cannot_be_chosen_is_said(names, chosen, said):
    with pytest.raises(InputError, match=said):
        find_place(names, **chosen)


def test_any_two_columns_can_be_chosen():
    place = find_place(["a", "b", "c"], lon="c", lat="a")
    assert (place.lon, place.lat, place.degrees) == ("c", "a", False)


@given(st.lists(st.text(max_size=12), unique=True, max_size=8))
def test_no_name_breaks_the_guess(names):
    for place in candidates(names):
        assert place.lon in names
        assert place.lat in names
        assert place.lon != place.lat
