"""Scenarios on the Country page: what it opens with, what it says it is, ways between pages."""

from __future__ import annotations

import json
from dataclasses import replace

import panel as pn
import pytest

from explorer.app import Country, Explore, Trips
from explorer.app import server as app_server
from explorer.app.boxes.rectangles import Rectangles
from explorer.app.curator.page import CuratorPage
from explorer.app.curator.start import present, take
from explorer.app.pages import pages
from explorer.app.state.country import CountryState
from explorer.cities.countries import CountrySet
from explorer.errors import InputError
from explorer.grid.areas.areas import Areas
from explorer.grid.grid import Grid
from explorer.scenario import Box, Scenario
from tests.app import press
from tests.app.country import land

UG = {"country": {"inside": "ug", "inside_settings": {"c": 5.0}, "own_share": 0.5}}
ONE = Scenario(
    page="country",
    city="small",
    side=1000,
    mechanisms=[UG],
    epsilon=0.37,
    seed=5,
    boxes=[Box(-9000, -8000, 5000, 7000.5, "Mine"), Box(0, 0, 999.123, 999, "Q9")],
    look={
        "level": 2,
        "area": ("West", "Vale"),
        "shows": "true",
        "per": "area",
        "palette": "magma",
        "partition": False,
    },
)
TWO = Scenario(page="country", city="other", side=2000, mechanisms=[{"country": {"inside": "ug"}}])


@pytest.fixture(autouse=True)
def catalogue(monkeypatch) -> dict[str, CountrySet]:
    """Two small countries are here, and no others."""
    found = {
        key: CountrySet(
            key=key,
            title=f"The {key} land",
            description="",
            source="",
            areas=lambda: Areas.read(land.frame(), land.LEVELS),
            points=land.places,
        )
        for key in ("small", "other")
    }
    for place in ("cities.countries", "app.country.page", "app.curator.start"):
        monkeypatch.setattr(f"explorer.{place}.countries", lambda: found)
    return found


@pytest.fixture
def address(monkeypatch):
    """Give the session an address with ``?s=...``."""

    def put(scenario: Scenario) -> None:
        sent = property(lambda _self: {"s": [scenario.to_link().encode()]})
        monkeypatch.setattr(type(pn.state), "session_args", sent)

    return put


def order_of(page) -> dict:
    """What the browser was last told to do."""
    fields = page.scenarios.view.select(pn.widgets.TextInput)
    return json.loads(fields[0].value or "{}")


def test_the_page_begins_with_a_scenario_and_is_it() -> None:
    page = Country(scenario=ONE)
    assert page.scenarios.present() == ONE
    release = page.screen.release
    assert release.epsilon == 0.37
    assert release.parameters["inside_settings"] == {"c": 5.0}
    assert page.parts.data.areas.paths[page.screen.node] == ("West", "Vale")
    assert page.screen.level == 2
    assert press.find(page, "Own share").value == 0.5
    assert press.find(page, "Areas on the map").value == 2
    assert page.rectangles.names == ["Mine", "Q9"]
    assert page.scenarios.view.visible


def test_a_scenario_of_another_country_brings_its_area_level_and_boxes() -> None:
    page = Country(scenario=TWO)
    assert page.scenarios.present() == TWO
    assert page.rectangles.names == []
    page.scenarios.open(ONE)
    assert page.scenarios.present() == ONE
    assert page.rectangles.names == ["Mine", "Q9"]
    page.scenarios.open(TWO)
    assert page.scenarios.present() == TWO
    # Another country from the menu: its area and level are those of a page that begins.
    page.scenarios.open(ONE)
    page.state.put(city="other", side=2000)
    again = page.scenarios.present()
    assert (again.look.area, again.look.level, again.boxes) == (None, 20, None)


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


def test_a_link_in_the_address_goes_before_what_the_page_was_given(address) -> None:
    address(TWO)
    assert Country("small", epsilon=3.0).scenarios.present() == TWO
    assert Country.served(pages("curator"), scenario=ONE, city="madeup").scenarios.present() == TWO


def test_link_file_and_notebook_hold_the_screen() -> None:
    page = Country(scenario=TWO, links=pages("curator"))
    page.page()
    page.scenarios.section.active = [0]
    press.press(page, "Copy link")
    order = order_of(page)
    assert (order["page"], Scenario.from_link(order["link"])) == ("country", TWO)
    assert Scenario.from_yaml(press.download(page, "Save scenario")) == TWO
    notebook = json.loads(press.download(page, "Download notebook"))
    assert "Country(scenario=scenario)" in "".join(notebook["cells"][-1]["source"])
    press.press(page, "Copy as Python")
    assert "countries()" in order_of(page)["text"]
    changed = replace(TWO, seed=8, boxes=[Box(0, 0, 900, 900, "There")])
    page.scenarios.file.param.update(filename="x.yaml", value=changed.to_yaml().encode())
    assert page.scenarios.present() == changed
    page.scenarios.preset.value = "02-tree-against-grid"
    assert order_of(page)["where"].startswith("./compare?s=")


def test_a_release_is_described_without_its_noise(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "ledger.json"))
    page = Country(scenario=TWO)
    press.press(page, "Draw a release")
    one = page.scenarios.present()
    assert one == replace(TWO, seed=None)
    page.scenarios.open(one)
    assert page.screen.release.preview
    assert "this is a preview of the same settings" in page.message.sentence


def test_areas_of_your_own_are_in_no_scenario() -> None:
    page = land.new_page()
    with pytest.raises(InputError, match="Areas of your own are in no scenario"):
        page.scenarios.present()


def test_a_country_that_is_not_here_is_refused_and_changes_nothing() -> None:
    page = Country(scenario=TWO)
    with pytest.raises(
        InputError, match="about the country 'atlantis', which is not here: put its"
    ):
        page.scenarios.open(replace(TWO, city="atlantis"))
    assert page.scenarios.present() == TWO


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


# From and to other pages.


def test_pages_about_other_data_refuse_scenarios_of_a_country() -> None:
    with pytest.raises(InputError, match="This scenario is of the page country: open it there"):
        Explore(scenario=TWO)
    with pytest.raises(InputError, match="This scenario is of the page country: open it there"):
        Trips(scenario=TWO)
    with pytest.raises(InputError, match="This scenario is of the page explore: open it there"):
        Country(scenario=Scenario(side=256))


def test_a_link_to_another_page_goes_there(address) -> None:
    address(TWO)
    page = Explore.served(pages("curator"), city="madeup", side=256, mechanism="uniform")
    page.page()
    assert order_of(page)["where"] == f"./country?s={TWO.to_link()}"


def test_the_server_begins_each_page_with_what_is_about_its_data(monkeypatch) -> None:
    begun, first = {}, []

    def listen(shown, page, begin, *_rest):
        first.append(page)
        for kind in (Explore, Country):
            kind.served(shown, **begin)

    def note(page, city=None, scenario=None, _links=(), **choices):
        begun[page.KEY] = city, scenario, choices.get("side")

    monkeypatch.setattr(app_server, "_listen", listen)
    monkeypatch.setattr(CuratorPage, "__init__", note)
    app_server.serve(scenario=TWO, warm=False, side=256)
    assert begun == {"explore": ("madeup", None, 256), "country": (None, TWO, None)}
    assert first == ["country"]
    with pytest.raises(InputError, match="about the country 'atlantis'"):
        app_server.serve(scenario=replace(TWO, city="atlantis"), warm=False)
