"""Scenarios in the app: what a page opens with, what it says it is, and files in and out."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from explorer.app import Compare, Explore
from explorer.app.boxes.rectangles import Rectangles
from explorer.app.curator.data import CityData
from explorer.app.curator.parts import PageParts
from explorer.app.curator.scenarios import Scenarios
from explorer.app.curator.start import Opening, present, take
from explorer.app.kit.message import MessageArea
from explorer.app.pages import PAGES
from explorer.app.state.explore import ExploreState
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.scenario import Box, Scenario, presets
from explorer.teaching import lessons
from tests.app import press
from tests.app.curator.visited import addressing, browser, order_of

ONE = Scenario(
    side=256,
    mechanisms=[{"htf": {"height": 9, "stop_rule": "per epsilon"}}],
    epsilon=0.37,
    seed=5,
    boxes=[Box(-100, -200.5, 300.123, 400, "Mine"), Box(0, 0, 5000, 5000, "Q9")],
    look={"right": "difference", "palette": "magma", "partition": False, "truth": "counts"},
)
BOTH = Scenario(
    page="compare",
    side=256,
    mechanisms=[{"ug": {"grid_size": 7}}, {"ug": {"grid_size": 70}}],
    epsilon=0.2,
    seed=8,
    look={"scale": "linear"},
    sweep={"mechanisms": ["ug", "ag"], "metric": "mae", "at": 0.3, "seeds": 3},
)


@pytest.fixture(scope="module")
def explore() -> Explore:
    return Explore(side=256)


@pytest.fixture
def address(monkeypatch):
    return addressing(monkeypatch)


def said(page) -> str:
    return page.message.sentence


def status(page) -> str:
    """What the section says."""
    return press.markup(page.scenarios)


def open_section(page):
    page.scenarios.section.active = [0]
    return page.scenarios


def copy(page, button) -> None:
    """Press a button that copies, in a browser that does."""
    press.press(page, button)
    answer = {"number": order_of(page)["number"], "done": True, "text": ""}
    browser(page)[1].value = json.dumps(answer)


def section_with(opening: Scenario, data: CityData) -> Scenarios:
    """The section of a page that opens with a scenario, before a city is there."""
    boxes = Rectangles(data.grid)
    parts = PageParts(ExploreState(), MessageArea(), Opening(opening), {}, boxes, data=data)
    return Scenarios("explore", parts, lambda: None)


def names(section: Scenarios) -> list[str]:
    return [box.name for box in section.present().boxes or ()]


def test_explore_begins_with_a_scenario_and_is_it() -> None:
    page = Explore(scenario=ONE)
    assert page.scenarios.present() == ONE
    assert page.screen.release.epsilon == 0.37
    assert press.find(page, "Height").value == 9
    assert page.table.widget.value["box"].tolist() == ["Mine", "Q9"]


def test_compare_begins_with_a_scenario_and_is_it() -> None:
    page = Compare(scenario=BOTH)
    assert page.scenarios.present() == BOTH
    assert page.pair.a.release.n_leaves == 49
    assert page.pair.b.release.n_leaves == 4900


def test_a_scenario_can_be_opened_on_a_page_that_shows_another(explore) -> None:
    explore.state.put(frozen=False)
    explore.scenarios.open(ONE)
    assert explore.scenarios.present() == ONE
    fresh = Explore(scenario=ONE)
    np.testing.assert_array_equal(explore.screen.answers.private, fresh.screen.answers.private)
    assert explore.screen.release.parameters == fresh.screen.release.parameters
    explore.state.put(frozen=True)
    # Without boxes it has the two examples again, and every setting its default.
    explore.scenarios.open(Scenario(side=256))
    assert explore.scenarios.present() == Scenario(side=256)
    assert explore.rectangles.names == ["Q1", "Q2"]


def test_a_comparison_can_be_opened_on_compare() -> None:
    page = Compare(side=256)
    page.scenarios.open(BOTH)
    assert page.scenarios.present() == BOTH
    assert press.find(page, "Mechanism B").value == "ug"
    assert page.pair.b.release.n_leaves == 4900


def test_a_scenario_of_another_page_is_refused_where_there_is_no_other_page(explore) -> None:
    before = explore.scenarios.present()
    with pytest.raises(InputError, match="This scenario is of the page compare"):
        explore.scenarios.open(BOTH)
    assert explore.scenarios.present() == before


def test_a_served_page_leads_to_the_other_page() -> None:
    page = Explore(side=256, links=PAGES)
    page.page()
    page.scenarios.open(BOTH)
    order = order_of(page)
    assert order["act"] == "go"
    assert order["where"] == f"./compare?s={BOTH.to_link()}"


def test_a_scenario_of_a_lesson_leads_to_the_lesson() -> None:
    key = lessons()[0][0].key
    page = Explore(side=256, links=PAGES)
    page.page()
    page.scenarios.open(Scenario(page="learn", lesson=key))
    assert order_of(page)["where"] == f"./learn?lesson={key}"
    with pytest.raises(InputError, match="lesson 'none', which is not here: choose one of"):
        page.scenarios.open(Scenario(page="learn", lesson="none"))


def test_a_city_that_is_not_here_is_refused_and_changes_nothing(explore) -> None:
    before = explore.scenarios.present()
    with pytest.raises(InputError, match="about the city 'atlantis', which is not here"):
        explore.scenarios.open(Scenario(city="atlantis"))
    assert explore.scenarios.present() == before
    with pytest.raises(InputError, match="atlantis"):
        Explore(scenario=Scenario(city="atlantis"))


def test_a_link_in_the_address_goes_before_what_the_page_was_given(address) -> None:
    address(ONE.to_link())
    assert Explore(side=512, mechanism="ug", grid_size=4).scenarios.present() == ONE
    assert Explore(scenario=Scenario(side=256)).scenarios.present() == ONE
    address(BOTH.to_link())
    assert Compare("madeup", a="ag", epsilon=3.0, side=256).scenarios.present() == BOTH


@pytest.mark.parametrize("text", ["abc", "a" * 20_000, "<b>", "ü", Scenario(city="x").to_link()])
def test_a_damaged_link_is_one_sentence_and_the_page_as_it_would_be(address, text) -> None:
    address(text)
    page = Explore(side=256, epsilon=1.0)
    assert page.screen.release.epsilon == 1
    assert page.rectangles.names == ["Q1", "Q2"]
    assert 'role="alert"' in press.markup(page)
    assert "link" in said(page) or "city" in said(page)


def test_an_empty_link_is_none(address) -> None:
    address("")
    assert Opening.of() == Opening()


def test_a_scenario_of_the_other_page_gives_what_both_have(address) -> None:
    address(BOTH.to_link())
    page = Explore(side=512)
    assert page.state.mechanism == "ug"
    assert page.state.parameter("grid_size") == 7
    assert page.state.side == 256
    address(ONE.to_link())
    both = Compare(side=512, b="ag")
    assert both.state.parameter("height") == 9
    assert both.state.b.mechanism == "ag"


def test_title_and_sentence_are_shown_and_harmless() -> None:
    page = Explore(scenario=Scenario(side=256, title="<img src=x>", about="Look here."))
    assert "‹img src=x›: Look here." in said(page)
    assert "<img" not in said(page)


def test_a_release_is_described_without_its_dice_and_opens_as_a_preview() -> None:
    page = Explore(side=256, mechanism="uniform", epsilon=1.0, seed=9)
    assert page.scenarios.present().seed == 9
    press.draw_release(page)
    one = page.scenarios.present()
    assert one.seed is None
    assert one.epsilon == 1
    open_section(page)
    copy(page, "Copy as Python")
    assert "not its noise" in status(page)
    opened = Explore(scenario=one)
    assert opened.screen.release.preview
    assert opened.drawing.drawn is None
    assert "this is a preview of the same settings" in said(opened)


def test_opening_a_scenario_over_a_release_shows_a_preview() -> None:
    page = Explore(side=256, mechanism="uniform")
    press.draw_release(page)
    page.scenarios.open(page.scenarios.present())
    assert page.screen.release.preview


def test_your_own_counts_are_in_no_scenario() -> None:
    grid = Grid.around(2.35, 48.85, 8000, shape=32)
    page = Explore(FrequencyMatrix.from_array(np.ones((32, 32), int), grid))
    with pytest.raises(InputError, match="Points of your own are in no scenario"):
        page.scenarios.present()
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


def test_boxes_wait_for_the_grid_that_they_were_drawn_on() -> None:
    data = Explore(side=256).parts.data
    finer = replace(data, city=("madeup", 512, 0))
    late = section_with(Scenario(side=512, boxes=[Box(0, 0, 1, 1, "Late")]), data)
    late.place(data)
    assert names(late) == []
    late.place(finer)
    assert names(late) == ["Late"]
    # Boxes of a city that never came do not turn up on another one.
    lost = section_with(Scenario(city="paris", boxes=[Box(0, 0, 1, 1, "Lost")]), data)
    lost.place(data)
    lost.place(replace(data, city=("paris", 1024, 0)))
    assert names(lost) == []


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


def test_the_menu_names_the_preset_until_something_is_changed(explore) -> None:
    menu = open_section(explore).preset
    menu.value = "01-first-look"
    for _ in range(2):
        explore.scenarios.keep()
        assert menu.value == "01-first-look"
    press.put(explore, "Exact epsilon", "0.77")
    explore.scenarios.keep()
    assert menu.value == ""
    menu.value = "01-first-look"
    assert explore.state.epsilon != 0.77, "and can be chosen again"


def test_the_files_hold_the_screen(explore) -> None:
    section = open_section(explore)
    section.open(ONE)
    assert Scenario.from_yaml(press.download(explore, "Save scenario")) == ONE
    notebook = json.loads(press.download(explore, "Download notebook"))
    assert notebook["nbformat"] == 4
    assert "height=9" in "".join(notebook["cells"][2]["source"])


def test_a_file_opens_and_a_bad_one_is_refused(explore) -> None:
    section = open_section(explore)
    section.open(Scenario(side=256))
    section.file.param.update(filename="x.yaml", value=ONE.to_yaml().encode())
    assert section.present() == ONE
    section.file.param.update(filename="x.yaml", value=b"scenario: 1\nepsilon: 99\n")
    assert section.present() == ONE
    assert "The epsilon of the scenario is 99" in said(explore)
    assert not section.file.value


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


def test_a_served_page_copies_a_link_that_opens_it() -> None:
    page = Explore(side=256)
    page.page()
    open_section(page)
    press.press(page, "Copy link")
    assert Scenario.from_link(order_of(page)["link"]) == Scenario(side=256)


def test_what_is_present_comes_back_from_any_state() -> None:
    state = ExploreState(side=256, mechanism="quadtree", height=4, epsilon=0.123456789, seed=77)
    rectangles = Rectangles(Grid.around(0, 0, 20_000, shape=256))
    rectangles.add((1 / 3, -5000.00049, 2000.12345, 1e9), "Third")
    one = present("explore", state, rectangles)
    assert one.boxes == (Box(0.333, -5000.0, 2000.123, 10_000, "Third"),)
    other = ExploreState(frozen=False, mechanism="quadtree", inside="interpolated")
    take(other, one)
    again = Rectangles(rectangles.grid)
    again.replace([box.edges for box in one.boxes], [box.name for box in one.boxes])
    assert present("explore", other, again) == one
    assert other.parameter("inside") == "uniform"
    np.testing.assert_array_equal(again.boxes, rectangles.boxes)
