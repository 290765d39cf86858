"""Scenarios on the Trips page: places and rows of boxes, users, presets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explorer.app import Trips
from explorer.app.boxes.rectangles import Rectangles
from explorer.app.curator.parts import PageParts
from explorer.app.curator.scenarios import Scenarios
from explorer.app.curator.start import Opening, present, take
from explorer.app.kit.message import MessageArea
from explorer.app.state.trips import TripsState
from explorer.app.trips.data import TripData
from explorer.cities import trip_sets
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.grid.places import TripDomain
from explorer.scenario import Row, Scenario, presets
from explorer.trips.matrix import TripMatrix
from tests.app import press
from tests.app.curator.kinds import TRIPS

ONE, TWO = TRIPS.one, TRIPS.two


@pytest.fixture(scope="module")
def trips() -> Trips:
    return Trips(side=16, mechanism="uniform")


def test_places_and_rows_without_a_box_for_each_are_those_of_the_scenario(trips) -> None:
    trips.scenarios.open(ONE)
    assert trips.screen.release.unit == "user"
    assert press.find(trips, "Places").value == "o,s1,d"
    assert np.isnan(trips.rectangles.boxes[0, 1:]).all()
    trips.scenarios.open(TWO)
    assert trips.rectangles.names == ["Q1", "Q2"]
    assert trips.screen.boxes.shape == (2, 2, 4)


def test_presets_of_trips_open_from_the_menu(tmp_path, monkeypatch) -> None:
    # The menu is filled when its section is opened.
    trips = Trips(side=16, mechanism="uniform")
    mine = replace(TWO, title="Mine", about="Look here.", seed=11)
    (tmp_path / "mine.yaml").write_text(mine.to_yaml())
    monkeypatch.setenv("EXPLORER_SCENARIOS", str(tmp_path))
    trips.scenarios.section.active = [0]
    menu = trips.scenarios.preset
    assert set(menu.options.values()) == {"", *presets()}
    assert menu.options["From here, where to?"] == "08-from-here-where-to"
    menu.value = "mine"
    assert trips.scenarios.present() == replace(mine, title="", about="")
    assert "Mine: Look here." in trips.message.sentence


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"places": "o,s7,d"}, "Port Amber, made-up trips has no place 's7': choose among o, s1"),
        ({"city": "rides", "contribution_bound": 2}, "does not say whose trips they are"),
    ],
)
def test_places_and_users_that_are_not_there_are_refused_and_change_nothing(
    change, said, trips, monkeypatch
) -> None:
    known = trip_sets.trip_sets()
    rides = replace(known["madeup"], key="rides", title="Rides", user=None)
    monkeypatch.setattr("explorer.app.curator.start.trip_sets", lambda: {**known, "rides": rides})
    before = trips.scenarios.present()
    with pytest.raises(InputError, match=said):
        trips.scenarios.open(replace(TWO, **change))
    assert trips.scenarios.present() == before


def test_rows_wait_for_the_places_that_they_were_drawn_on() -> None:
    grid = Grid.around(0, 0, 20_000, shape=16)
    domain = TripDomain([grid, grid])
    matrix = TripMatrix(np.zeros((1, 4), np.int32), np.array([9]), domain)
    data = TripData("Two", matrix, city=("madeup", 16, 0, "o,d"))
    row = Row([(0, 0, 1, 1), None], "Late")
    waiting = Opening(Scenario(page="trips", side=16, places="d,o", boxes=[row]))
    boxes = Rectangles(grid, grid, places=("from", "to"))
    state = TripsState(side=16)
    parts = PageParts(state, MessageArea(), waiting, {}, boxes, data=data)
    section = Scenarios("trips", parts, lambda: None)
    section.place(data)
    assert boxes.names == []
    section.place(replace(data, city=("madeup", 16, 0, "d,o")))
    assert boxes.names == ["Late"]
    parts.reading = True
    with pytest.raises(InputError, match="still being read"):
        section.present()


def test_what_is_present_comes_back_from_any_state() -> None:
    state = TripsState(side=32, mechanism="mosaic", inside="interpolated", epsilon=0.123, seed=77)
    grid = Grid.around(0, 0, 20_000, shape=32)
    rectangles = Rectangles(grid, grid, places=("from", "to"))
    rectangles.add((1 / 3, -5000.00049, 2000.12345, 1e9), "Third", 1)
    one = present("trips", state, rectangles)
    assert one.boxes == (Row([None, (0.333, -5000.0, 2000.123, 10_000)], "Third"),)
    other = TripsState(frozen=False, spread="uniform")
    take(other, one)
    assert present("trips", other, rectangles) == one
