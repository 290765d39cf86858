"""Columns of places: guessed from what stands before lon and lat, named, refused."""

import pytest

from explorer.errors import InputError
from explorer.trips.columns import find_places, said


def columns(*words: str, pair: tuple[str, str] = ("lon", "lat")) -> list[str]:
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
    (columns("o", "d"), (("o_lon", "o_lat"), ("o_lon", "o_lat")), "named twice"),
    (columns("o", "d"), (), "No places are named"),
    (columns("o", "d"), (("o_lon",), "d"), "is no place"),
    (columns("o", "d"), ("o", 5), "5 is no place"),
    (columns("o", "d"), (("o_lon", "nowhere"), "d"), "no column 'nowhere'"),
    (["lon", "lat"], None, "No columns of an origin or a destination"),
    (["lon", "lat"], ("o", "d"), "recognised as the origin"),
])  # fmt: skip
def test_what_is_no_place_is_refused(names, wanted, words):
    with pytest.raises(InputError, match=words):
        find_places(names, wanted)


def test_places_are_said_in_words():
    assert [said(name) for name in ("o", "s12", "d", "home")] == [
        "the origin",
        "stop 12",
        "the destination",
        "'home'",
    ]
