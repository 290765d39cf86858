"""Scenarios on pages about trips, countries and people: what every one of them must do."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from explorer.app import Explore
from explorer.app import server as app_server
from explorer.app.curator.page import CuratorPage
from explorer.app.pages import PAGES
from explorer.errors import InputError
from explorer.scenario import Scenario
from tests.app import press
from tests.app.curator.kinds import KINDS
from tests.app.curator.visited import addressing, order_of

MAPS = Scenario(page="compare", city="madeup", side=512)


@pytest.fixture(params=list(KINDS))
def kind(request, monkeypatch, tmp_path):
    """A kind of page, its data in the catalogue."""
    found = KINDS[request.param]
    found.here(monkeypatch, tmp_path)
    return found


@pytest.fixture
def address(monkeypatch):
    return addressing(monkeypatch)


def test_a_scenario_can_be_opened_on_a_page_that_shows_another(kind) -> None:
    page = kind.page(scenario=kind.one)
    assert page.scenarios.present() == kind.one
    assert page.scenarios.view.visible
    assert page.screen.release.epsilon == 0.37
    assert page.table.widget.value["box"].tolist() == page.rectangles.names == ["Mine", "Q9"]
    page.scenarios.open(kind.two)
    assert page.scenarios.present() == kind.two
    assert "Mine" not in page.rectangles.names
    page.scenarios.open(kind.one)
    assert page.scenarios.present() == kind.one
    assert page.rectangles.names == ["Mine", "Q9"]


def test_a_link_in_the_address_goes_before_what_the_page_was_given(kind, address) -> None:
    address(kind.two)
    assert kind.page(epsilon=3.0).scenarios.present() == kind.two
    served = kind.page.served(PAGES, scenario=kind.one, city="madeup")
    assert served.scenarios.present() == kind.two


def test_link_file_and_notebook_hold_the_screen(kind) -> None:
    page = kind.page(scenario=kind.two, links=PAGES)
    page.page()
    page.scenarios.section.active = [0]
    press.press(page, "Copy link")
    order = order_of(page)
    assert (order["page"], Scenario.from_link(order["link"])) == (kind.key, kind.two)
    assert Scenario.from_yaml(press.download(page, "Save scenario")) == kind.two
    notebook = json.loads(press.download(page, "Download notebook"))
    last = "".join(notebook["cells"][-1]["source"])
    assert f"{kind.page.__name__}(scenario=scenario)" in last
    press.press(page, "Copy as Python")
    assert kind.catalogue in order_of(page)["text"]
    changed = replace(kind.two, seed=8, boxes=[kind.box])
    page.scenarios.file.param.update(filename="x.yaml", value=changed.to_yaml().encode())
    assert page.scenarios.present() == changed
    page.scenarios.preset.value = "02-tree-against-grid"
    assert order_of(page)["where"].startswith("./compare?s=")


def test_a_release_is_described_without_its_noise(kind, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "ledger.sqlite3"))
    page = kind.page(scenario=kind.two)
    press.draw_release(page)
    one = page.scenarios.present()
    assert one == replace(kind.two, seed=None)
    page.scenarios.open(one)
    assert page.screen.release.preview
    assert "this is a preview of the same settings" in page.message.sentence


def test_data_of_your_own_are_in_no_scenario(kind) -> None:
    with pytest.raises(InputError, match=f"{kind.whose} are in no scenario"):
        kind.own().scenarios.present()


def test_data_that_are_not_here_are_refused_and_change_nothing(kind) -> None:
    page = kind.page(scenario=kind.two)
    with pytest.raises(InputError, match=kind.missing):
        page.scenarios.open(replace(kind.two, city="atlantis"))
    assert page.scenarios.present() == kind.two


# From and to other pages.


def test_pages_about_other_data_refuse_each_others_scenarios(kind) -> None:
    others = [Explore, *(each.page for each in KINDS.values() if each is not kind)]
    for other in others:
        with pytest.raises(InputError, match=f"This scenario is of the page {kind.key}: open it"):
            other(scenario=kind.two)
    with pytest.raises(InputError, match="This scenario is of the page explore: open it there"):
        kind.page(scenario=Scenario(side=256))


def test_a_link_to_another_page_goes_there(kind, address) -> None:
    address(kind.two)
    page = Explore.served(PAGES, city="madeup", side=256, mechanism="uniform")
    page.page()
    assert order_of(page)["where"] == f"./{kind.key}?s={kind.two.to_link()}"
    address(Scenario(side=256))
    page = kind.page(scenario=kind.two)
    page.page()
    assert order_of(page) == {}
    assert "This scenario is of the page explore" in page.message.sentence


def test_the_server_begins_each_page_with_what_is_about_its_data(kind, monkeypatch) -> None:
    begun, first = {}, []

    def listen(shown, page, begin, *_rest, **_more):
        first.append(page)
        for each in (Explore, kind.page):
            each.served(shown, **begin)

    def note(page, city=None, scenario=None, _links=(), **choices):
        begun[page.KEY] = city, scenario, choices.get("side")

    monkeypatch.setattr(app_server, "_listen", listen)
    monkeypatch.setattr(CuratorPage, "__init__", note)
    app_server.serve(scenario=kind.two, warm=False, side=256)
    city, side = kind.begins
    # No city is the first of the catalogue, which is looked up when a page is opened.
    assert begun == {"explore": (None, None, 256), kind.key: (None, kind.two, side)}
    app_server.serve(scenario=MAPS, warm=False)
    assert begun["explore"] == ("madeup", MAPS, 512)
    assert begun[kind.key][:2] == (city, None)
    assert first == [kind.key, "compare"]
    with pytest.raises(InputError, match=kind.missing):
        app_server.serve(scenario=replace(kind.two, city="atlantis"), warm=False)
