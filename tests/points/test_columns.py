"""The columns of a place are guessed from their names, or asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.errors import InputError
from explorer.points.columns import candidates, find_place


@pytest.mark.parametrize(
    ("names", "lon", "lat", "degrees"),
    [
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
    ],
)
def test_usual_names_are_recognised(names: list[str], lon: str, lat: str, degrees: bool) -> None:
    place = find_place(names)
    assert (place.lon, place.lat, place.degrees) == (lon, lat, degrees)


def test_two_candidates_are_listed_and_not_chosen() -> None:
    with pytest.raises(InputError, match=r"'o_lon' and 'o_lat', 'd_lon' and 'd_lat'.*lon='o_lon'"):
        find_place(["o_lon", "o_lat", "d_lon", "d_lat"])
    assert find_place(["o_lon", "o_lat", "d_lon", "d_lat"], lat="d_lat").lon == "d_lon"


def test_many_candidates_are_not_all_listed() -> None:
    names = [f"{stop}_{axis}" for stop in "abcdefgh" for axis in ("lon", "lat")]
    with pytest.raises(InputError, match="and 2 more"):
        find_place(names)


@pytest.mark.parametrize(
    ("names", "chosen", "said"),
    [
        (["a", "b"], {}, "No columns of longitude"),
        ([], {}, "No columns of longitude"),
        (["lon"], {}, "No columns of longitude"),
        (["lon", "lat"], {"lon": "x"}, "There is no column 'x'; the columns are lon, lat"),
        (["lon", "lat", "z"], {"lon": "z"}, "No counterpart of column 'z'"),
        (["lon", "lat"], {"lon": "lat", "lat": "lat"}, "choose two columns"),
    ],
)
def test_what_cannot_be_chosen_is_said(names: list[str], chosen: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        find_place(names, **chosen)


def test_any_two_columns_can_be_chosen() -> None:
    place = find_place(["a", "b", "c"], lon="c", lat="a")
    assert (place.lon, place.lat, place.degrees) == ("c", "a", False)


@given(st.lists(st.text(max_size=12), unique=True, max_size=8))
def test_no_name_breaks_the_guess(names: list[str]) -> None:
    for place in candidates(names):
        assert place.lon in names
        assert place.lat in names
        assert place.lon != place.lat
