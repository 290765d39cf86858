"""Scenarios on the Country page: its area and level, and the mechanism inside."""

from __future__ import annotations

from dataclasses import replace

import pytest

from explorer.app import Country
from explorer.app.boxes.rectangles import Rectangles
from explorer.app.curator.start import present, take
from explorer.app.state.country import CountryState
from explorer.grid.grid import Grid
from explorer.scenario import Box
from tests.app import press
from tests.app.curator.kinds import COUNTRY

ONE, TWO = COUNTRY.one, COUNTRY.two


@pytest.fixture(autouse=True)
def catalogue(monkeypatch, tmp_path) -> None:
    """Two small countries are here, and no others."""
    COUNTRY.here(monkeypatch, tmp_path)


def test_the_page_begins_with_the_area_the_level_and_the_mechanism_inside() -> None:
    page = Country(scenario=ONE)
    assert page.screen.release.parameters["inside_settings"] == {"c": 5.0}
    assert page.parts.data.areas.paths[page.screen.node] == ("West", "Vale")
    assert page.screen.level == 2
    assert press.find(page, "Own share").value == 0.5
    assert press.find(page, "Areas on the map").value == 2
    # Another country from the menu: its area and level are those of a page that begins.
    page.state.put(city="other", side=2000)
    again = page.scenarios.present()
    assert (again.look.area, again.look.level) == (None, 20)
    assert [each.name for each in again.boxes] == ["Q1", "Q2"]


def test_a_scenario_without_boxes_has_none_on_the_page_that_begins_with_two() -> None:
    assert len(Country().rectangles) == 2
    empty = replace(ONE, boxes=None)
    page = Country(scenario=empty)
    assert len(page.rectangles) == 0
    assert page.scenarios.present().boxes is None


def test_an_area_that_is_not_there_is_the_one_that_the_page_chooses() -> None:
    page = Country(scenario=replace(ONE, look={"area": ["West", "Atlantis"]}))
    assert page.parts.data.areas.paths[page.screen.node] == ("West", "Vale", "D11")


def test_choosing_goes_into_the_scenario() -> None:
    page = Country(scenario=TWO)
    press.press(page.readout.picker, "One level up")
    assert page.scenarios.present().look.area == ("West", "Vale")
    page.readout.picker._choose(0)
    assert page.scenarios.present().look.area == ()
    page.state.put(shows="difference", level=1)
    assert page.scenarios.present() == replace(
        TWO, look={"area": (), "shows": "difference", "level": 1}
    )


def test_another_mechanism_inside_has_none_of_the_settings_of_the_first() -> None:
    page = Country(scenario=ONE)
    press.put(page.drawer, "Inside areas", "quadtree")
    made = page.scenarios.present().mechanisms[0]
    assert dict(made.settings) == {"inside": "quadtree", "own_share": 0.5}
    assert page.screen.release.parameters["inside"] == "quadtree"


def test_what_is_present_comes_back_from_any_state() -> None:
    state = CountryState(city="small", own_share=0.75, threshold=300, epsilon=0.123, seed=77)
    state.put(area=["West"], level=1, scale="linear", bound=5)
    rectangles = Rectangles(Grid.around(0, 0, 20_000, shape=32))
    rectangles.add((1 / 3, -5000.00049, 2000.12345, 1e9), "Third")
    one = present("country", state, rectangles)
    assert one.boxes == (Box(0.333, -5000.0, 2000.123, 10_000, "Third"),)
    assert one.contribution_bound == 5
    other = CountryState(frozen=False, shows="true")
    take(other, one)
    assert present("country", other, rectangles) == one
