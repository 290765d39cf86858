"""Trips of the lessons: counted once, made coarser exactly, stood in for where there are none."""

from __future__ import annotations

import pytest

from explorer import TripDomain
from explorer.cities import madeup
from explorer.cities.madeup_trips import made_up_trips
from explorer.cities.trip_sets import trip_sets
from explorer.teaching.emptiness import Occupancy
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


@pytest.mark.parametrize(
    ("city", "places", "cells", "occupied"),
    # Of the note on trips; projections differ in a few trips at the edges of cells.
    [("san-francisco", 2, 64, 99_603), ("san-francisco", 3, 64, 234_474)],
)
def test_real_trips_are_as_sparse_as_the_lesson_says(
    real_data, city, places, cells, occupied
) -> None:
    real_data("sf_cabspotting_trips.parquet")
    found = Occupancy.of(journeys(city).on(places, cells))
    assert found.occupied == pytest.approx(occupied, rel=5e-4)
    assert found.cells == cells ** (2 * places)
