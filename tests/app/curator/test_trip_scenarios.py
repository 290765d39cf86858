"""Scenarios on the Trips page: what it opens with, what it says it is, ways between pages."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import panel as pn
import pytest

from explorer.app import Compare, Explore, Trips
from explorer.app import server as app_server
from explorer.app.boxes.rectangles import Rectangles
from explorer.app.curator.page import CuratorPage
from explorer.app.curator.parts import PageParts
from explorer.app.curator.scenarios import Scenarios
from explorer.app.curator.start import Opening, present, take
from explorer.app.kit.message import MessageArea
from explorer.app.pages import pages
from explorer.app.state.trips import TripsState
from explorer.app.trips.data import TripData
from explorer.cities import trip_sets
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.grid.places import TripDomain
from explorer.scenario import Row, Scenario, presets
from explorer.trips.matrix import TripMatrix
from tests.app import press

ONE = Scenario(
    page="trips",
    places="o,s1,d",
    side=16,
    contribution_bound=5,
    mechanisms=[{"daf-entropy": {"order": "destination first", "stop_count": 20.0}}],
    epsilon=0.37,
    seed=5,
    boxes=[
        Row([(-100, -200.5, 300.123, 400), None, None], "Mine"),
        Row([None, (0, 0, 5000, 5000), (0, 0, 999, 999)], "Q9"),
    ],
    look={"shows": "true", "focus": "all", "spread": "uniform", "palette": "magma"},
)
TWO = Scenario(page="trips", side=16, mechanisms=["uniform"], seed=3)


@pytest.fixture(scope="module")
def trips() -> Trips:
    return Trips(side=16, mechanism="uniform")


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
    page = Trips(scenario=ONE)
    assert page.scenarios.present() == ONE
    assert page.screen.release.epsilon == 0.37
    assert page.screen.release.unit == "user"
    assert press.find(page, "Places").value == "o,s1,d"
    assert page.table.widget.value["box"].tolist() == ["Mine", "Q9"]
    assert np.isnan(page.rectangles.boxes[0, 1:]).all()


def test_a_scenario_can_be_opened_on_a_page_that_shows_another(trips) -> None:
    trips.scenarios.open(ONE)
    assert trips.scenarios.present() == ONE
    trips.scenarios.open(TWO)
    assert trips.scenarios.present() == TWO
    assert trips.rectangles.names == ["Q1", "Q2"]
    assert trips.screen.boxes.shape == (2, 2, 4)


def test_a_link_in_the_address_goes_before_what_the_page_was_given(address) -> None:
    address(TWO)
    assert Trips(side=32, epsilon=3.0).scenarios.present() == TWO
    assert Trips.served(pages("curator"), scenario=ONE, city="madeup").scenarios.present() == TWO


def test_link_file_and_notebook_hold_the_screen() -> None:
    page = Trips(scenario=TWO, links=pages("curator"))
    page.page()
    page.scenarios.section.active = [0]
    press.press(page, "Copy link")
    order = order_of(page)
    assert (order["page"], Scenario.from_link(order["link"])) == ("trips", TWO)
    assert Scenario.from_yaml(press.download(page, "Save scenario")) == TWO
    notebook = json.loads(press.download(page, "Download notebook"))
    assert "Trips(scenario=scenario)" in "".join(notebook["cells"][-1]["source"])
    press.press(page, "Copy as Python")
    assert "trip_sets()" in order_of(page)["text"]
    changed = replace(TWO, seed=8, boxes=[Row([None, (0, 0, 900, 900)], "There")])
    page.scenarios.file.param.update(filename="x.yaml", value=changed.to_yaml().encode())
    assert page.scenarios.present() == changed
    page.scenarios.preset.value = "02-tree-against-grid"
    assert order_of(page)["where"].startswith("./compare?s=")


def test_presets_of_trips_open_from_the_menu(trips, tmp_path, monkeypatch) -> None:
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


def test_a_release_is_described_without_its_noise(trips) -> None:
    trips.scenarios.open(replace(TWO, epsilon=1.0))
    press.press(trips, "Draw a release")
    one = trips.scenarios.present()
    assert one == replace(TWO, epsilon=1.0, seed=None)
    trips.scenarios.open(one)
    assert trips.screen.release.preview
    assert "this is a preview of the same settings" in trips.message.sentence


def test_trips_of_your_own_are_in_no_scenario() -> None:
    domain = TripDomain([Grid.cells(4), Grid.cells(4)])
    page = Trips(TripMatrix(np.zeros((1, 4), np.int32), np.array([9]), domain), mechanism="uniform")
    with pytest.raises(InputError, match="Trips of your own are in no scenario"):
        page.scenarios.present()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"city": "atlantis"}, "about the trips 'atlantis', which are not here: put their file"),
        ({"places": "o,s7,d"}, "Port Amber, made-up trips has no place 's7': choose among o, s1"),
        ({"city": "rides", "contribution_bound": 2}, "does not say whose trips they are"),
    ],
)
def test_trips_that_are_not_here_are_refused_and_change_nothing(
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


# From and to other pages.


def test_pages_about_a_city_refuse_scenarios_of_trips_and_the_other_way_round() -> None:
    with pytest.raises(InputError, match="This scenario is of the page trips: open it there"):
        Explore(scenario=TWO)
    with pytest.raises(InputError, match="This scenario is of the page explore: open it there"):
        Trips(scenario=Scenario(side=256))


def test_a_link_to_another_page_goes_there(address) -> None:
    address(TWO)
    page = Explore.served(pages("curator"), city="madeup", side=256, mechanism="uniform")
    page.page()
    assert order_of(page)["where"] == f"./trips?s={TWO.to_link()}"
    address(Scenario(side=256))
    page = Trips(side=16, mechanism="uniform")
    page.page()
    assert order_of(page) == {}
    assert "This scenario is of the page explore" in page.message.sentence


def test_the_server_begins_each_page_with_what_is_about_its_data(monkeypatch) -> None:
    begun, first = {}, []

    def listen(shown, page, begin, *_rest):
        first.append(page)
        for kind in (Explore, Compare, Trips):
            kind.served(shown, **begin)

    def note(page, city=None, scenario=None, _links=(), **choices):
        begun[page.KEY] = city, scenario, choices.get("side")

    monkeypatch.setattr(app_server, "_listen", listen)
    monkeypatch.setattr(CuratorPage, "__init__", note)
    app_server.serve(scenario=TWO, warm=False, side=256)
    assert begun["trips"] == ("madeup", TWO, None)
    assert begun["explore"] == begun["compare"] == ("madeup", None, 256)
    maps = Scenario(page="compare", city="madeup", side=512)
    app_server.serve(scenario=maps, warm=False)
    assert begun["trips"] == ("madeup", None, None)
    assert begun["explore"] == begun["compare"] == ("madeup", maps, 512)
    assert first == ["trips", "compare"]
    with pytest.raises(InputError, match="about the trips 'atlantis'"):
        app_server.serve(scenario=replace(TWO, city="atlantis"), warm=False)
