"""Scenarios in the app: what a page opens with, what it says it is, and files in and out."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from explorer.app import Compare, Country, Explore, Trips
from explorer.app.boxes.rectangles import Rectangles
from explorer.app.curator.data import own_city
from explorer.app.curator.parts import PageParts
from explorer.app.curator.scenarios import Scenarios
from explorer.app.curator.start import Opening, present, take
from explorer.app.kit.message import MessageArea
from explorer.app.pages import PAGES
from explorer.app.state import CountryState, ExploreState, TripsState
from explorer.app.trips.data import TripData
from explorer.cities import trip_sets
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.grid.places import TripDomain
from explorer.scenario import Box, Row, Scenario, presets
from explorer.teaching import lessons
from explorer.trips.matrix import TripMatrix
from tests.app import press
from tests.app.map_pages import COMPARE, COUNTRY, EXPLORE, MATRIX, TRIPS
from tests.app.press import browser, order_of, put_into_address

ONE, BOTH = EXPLORE.one, COMPARE.one


@pytest.fixture(scope="module")
def explore() -> Explore:
    return Explore(side=256)


def said(page) -> str:
    return page.message.sentence


def status(page) -> str:
    """What the section says."""
    return press.markup(page.scenarios)


def open_section(page):
    page.scenarios.section.active = [0]
    return page.scenarios


def test_a_scenario_of_another_page_leads_there_or_is_refused_without_one(explore) -> None:
    before = explore.scenarios.present()
    with pytest.raises(InputError, match="This scenario is of the page compare"):
        explore.scenarios.open(BOTH)
    assert explore.scenarios.present() == before
    page, key = Explore(side=256, links=PAGES), lessons()[0][0].key
    page.page()
    page.scenarios.open(BOTH)
    assert order_of(page)["act"] == "go"
    assert order_of(page)["where"] == f"./compare?s={BOTH.to_link()}"
    page.scenarios.open(Scenario(page="learn", lesson=key))
    assert order_of(page)["where"] == f"./learn?lesson={key}"
    with pytest.raises(InputError, match="lesson 'none', which is not here: choose one of"):
        page.scenarios.open(Scenario(page="learn", lesson="none"))


@pytest.mark.parametrize("text", ["abc", "a" * 20_000, "<b>", "ü", Scenario(city="x").to_link()])
def test_a_damaged_link_is_one_sentence_and_the_page_as_it_would_be(monkeypatch, text) -> None:
    put_into_address(monkeypatch, s=text)
    page = Explore(side=256, epsilon=1.0)
    assert page.screen.release.epsilon == 1
    assert page.rectangles.names == ["Q1", "Q2"]
    assert 'role="alert"' in press.markup(page)
    assert "link" in said(page) or "city" in said(page)


def test_a_scenario_of_the_other_page_gives_what_both_have(monkeypatch) -> None:
    put_into_address(monkeypatch, s=BOTH)
    page = Explore(side=512)
    assert page.state.mechanism == "ug"
    assert page.state.parameter("grid_size") == 7
    assert page.state.side == 256
    put_into_address(monkeypatch, s=ONE)
    both = Compare(side=512, b="ag")
    assert both.state.parameter("height") == 9
    assert both.state.b.mechanism == "ag"


def test_title_and_sentence_are_shown_and_harmless() -> None:
    page = Explore(scenario=Scenario(side=256, title="<img src=x>", about="Look here."))
    assert "‹img src=x›: Look here." in said(page)
    assert "<img" not in said(page)


def test_your_own_counts_are_in_no_scenario() -> None:
    page = EXPLORE.own()
    section = open_section(page)
    press.press(page, "Copy as Python")
    assert "Points of your own are in no scenario" in status(page)
    assert order_of(page) == {}
    save = press.find(page, "Save scenario")
    section._tell("")
    press.hand_out(save)
    assert "Points of your own are in no scenario" in status(page)
    assert save.data is None, "a sentence is no scenario"
    # A scenario of a city of the catalogue opens from here all the same.
    section.open(ONE)
    assert section.present() == ONE


def test_boxes_outside_the_map_are_left_out_with_a_sentence() -> None:
    far = Scenario(side=256, boxes=[Box(0, 0, 10, 10, "In"), Box(9e6, 9e6, 9.1e6, 9.1e6, "Out")])
    page = Explore(scenario=far)
    assert page.rectangles.names == ["In"]
    assert "1 of the scenario's 2 boxes lie outside the map" in said(page)


def section_with(opening: Scenario, state, data, *grids: Grid, places=("",)) -> Scenarios:
    """The section of a page that opens with a scenario, before its data are there."""
    rectangles = Rectangles(*grids, places=places)
    parts = PageParts(state, MessageArea(), Opening(opening), {}, rectangles, data=data)
    return Scenarios(opening.page, parts, lambda: None)


def names(section: Scenarios) -> list[str]:
    return [box.name for box in section.present().boxes or ()]


def test_boxes_wait_for_the_grid_and_the_places_that_they_were_drawn_on() -> None:
    data = own_city(MATRIX)
    data = replace(data, city=("madeup", 256, 0))
    for city, side, wanted in (("madeup", 512, ["Late"]), ("paris", 1024, [])):
        opening = Scenario(city=city, side=512, boxes=[Box(0, 0, 1, 1, "Late")])
        late = section_with(opening, ExploreState(), data, data.grid)
        late.place(data)
        assert names(late) == []
        # Boxes of data that never came do not turn up on others.
        late.place(replace(data, city=(city, side, 0)))
        assert names(late) == wanted
    grid, row = Grid.around(0, 0, 20_000, shape=16), Row([(0, 0, 1, 1), None], "Late")
    matrix = TripMatrix(np.zeros((1, 4), np.int32), np.array([9]), TripDomain([grid, grid]))
    trips = TripData("Two", matrix, city=("madeup", 16, 0, "o,d"))
    opening = Scenario(page="trips", side=16, places="d,o", boxes=[row])
    late = section_with(opening, TripsState(side=16), trips, grid, grid, places=("from", "to"))
    late.place(trips)
    assert names(late) == []
    late.place(replace(trips, city=("madeup", 16, 0, "d,o")))
    assert names(late) == ["Late"]


def test_every_preset_opens_from_the_menu(explore) -> None:
    section = open_section(explore)
    menu = section.preset
    for key, preset in presets().items():
        assert menu.options[preset.title] == key
        if preset.page == "explore":
            menu.value = key
            assert menu.value == key
            shown = section.present()
            plain = {**preset.to_dict(), "title": "", "about": ""}
            assert shown == Scenario.from_dict(plain)
            assert preset.about in said(explore)
            last = key
    menu.value = "02-tree-against-grid"
    assert "page compare" in said(explore)
    assert menu.value == last


def test_copying_tells_the_browser_and_believes_only_its_answer(explore) -> None:
    section = open_section(explore)
    section.open(Scenario(side=256))
    press.press(explore, "Copy as Python")
    order = order_of(explore)
    assert order["act"] == "copy"
    assert order["text"].startswith("# HTF on Port Amber")
    reply = browser(explore)[1]
    before = status(explore)
    for other in ("", "{", "3", "[]", "{}", '{"number": 0, "done": true, "text": ""}', "[" * 9999):
        reply.value = other
        assert status(explore) == before
    reply.value = json.dumps({"number": order["number"], "done": True, "text": ""})
    assert "The script is on the clipboard." in status(explore)
    press.press(explore, "Copy as Python")
    order = order_of(explore)
    nasty = '<script>alert("x")</script>'
    reply.value = json.dumps({"number": order["number"], "done": False, "text": nasty})
    assert "select the text and copy it" in status(explore)
    assert "<script>" not in status(explore)


@pytest.mark.parametrize(
    ("page", "state", "other"),
    [
        (
            "explore",
            ExploreState(side=256, mechanism="quadtree", height=4, epsilon=0.123456789, seed=77),
            ExploreState(frozen=False, mechanism="quadtree", inside="interpolated"),
        ),
        (
            "country",
            CountryState(city="small", own_share=0.75, threshold=300, epsilon=0.123, bound=5),
            CountryState(frozen=False, shows="true"),
        ),
    ],
    ids=["explore", "country"],
)
def test_what_is_present_comes_back_from_any_state(page, state, other) -> None:
    rectangles = Rectangles(Grid.around(0, 0, 20_000, shape=256))
    rectangles.add((1 / 3, -5000.00049, 2000.12345, 1e9), "Third")
    one = present(page, state, rectangles)
    assert one.boxes == (Box(0.333, -5000.0, 2000.123, 10_000, "Third"),)
    take(other, one)
    assert present(page, other, rectangles) == one


# Countries and trips.


@pytest.fixture
def countries(monkeypatch, tmp_path) -> None:
    COUNTRY.install(monkeypatch, tmp_path)


@pytest.mark.usefixtures("countries")
def test_a_country_begins_with_its_area_its_level_and_the_mechanism_inside() -> None:
    page = Country(scenario=COUNTRY.one)
    assert page.screen.release.parameters["inside_settings"] == {"c": 5.0}
    assert page.parts.data.areas.paths[page.screen.node] == ("West", "Vale")
    assert page.screen.level == press.find(page, "Areas on the map").value == 2
    assert press.find(page, "Own share").value == 0.5
    # Another mechanism inside has none of the settings of the first.
    press.put(page.drawer, "Inside areas", "quadtree")
    made = page.scenarios.present().mechanisms[0]
    assert dict(made.settings) == {"inside": "quadtree", "own_share": 0.5}
    # Another country from the menu: its area and level are those of a page that begins.
    page.state.put(city="other", side=2000)
    again = page.scenarios.present()
    assert (again.look.area, again.look.level) == (None, 20)
    assert [each.name for each in again.boxes] == ["Q1", "Q2"]
    page = Country(scenario=replace(COUNTRY.one, look={"area": ["West", "Atlantis"]}))
    assert page.parts.data.areas.paths[page.screen.node] == ("West", "Vale", "D11")


def test_places_rows_and_users_of_trips_are_those_of_the_scenario(monkeypatch) -> None:
    trips = Trips(scenario=TRIPS.one)
    assert trips.screen.release.unit == "user"
    assert press.find(trips, "Places").value == "o,s1,d"
    assert np.isnan(trips.rectangles.boxes[0, 1:]).all()
    known = trip_sets.trip_sets()
    rides = replace(known["madeup"], key="rides", title="Rides", user=None)
    monkeypatch.setattr("explorer.app.curator.start.trip_sets", lambda: {**known, "rides": rides})
    for change, wrong in (
        ({"places": "o,s7,d"}, "made-up trips has no place 's7': choose among o, s1"),
        ({"city": "rides", "contribution_bound": 2}, "does not say whose trips they are"),
    ):
        with pytest.raises(InputError, match=wrong):
            trips.scenarios.open(replace(TRIPS.two, **change))
        assert trips.scenarios.present() == TRIPS.one
