"""Trips of the lessons: counted once, made coarser exactly, stood in for where there are none."""

from __future__ import annotations

from explorer import TripDomain
from explorer.cities import madeup
from explorer.cities.trip_sets import made_up_trips, trip_sets
from explorer.teaching.journeys import journeys


def test_coarser_cells_are_those_of_a_coarser_grid() -> None:
    found = journeys("madeup")
    assert not found.stand_in
    assert found.most == 3
    for places, names in ((1, "o"), (2, "o,d"), (3, "o,s1,d")):
        direct = TripDomain([madeup.grid(16)] * places).count(
            made_up_trips(places=names), per="record"
        )
        assert found.on(places, 16).key == direct.key


def test_a_citys_trips_are_those_of_the_catalogue_by_key_or_by_file(real_data) -> None:
    real_data("sf_cabspotting_trips.parquet")
    catalogue = trip_sets()["san-francisco"]
    # Three stops: the one in the middle is looked at.
    direct = catalogue.domain(("o", "s2", "d"), 1024).count(
        catalogue.read(("o", "s2", "d")), per="record"
    )
    for city in ("san-francisco", "san-francisco-trips"):
        found = journeys(city)
        assert not found.stand_in
        assert found.on(3, 1024).key == direct.key
