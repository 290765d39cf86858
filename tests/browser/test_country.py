"""Country in a browser: one sentence on opening, areas by click and by menu, a box, a budget."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from explorer.cities.countries import find
from tests.browser.conftest import visits
from tests.browser.visit import (
    TABLE,
    addressed,
    colours,
    drag,
    draw_release,
    number,
    pick,
    picture,
    wait_until,
)

#: Parts of the spoken names of the maps.
ALL, INSIDE = "map of Amber Isles", "map inside"
_SENTENCE = re.compile(
    r"(.+): private ([\d,]+) \(95 %: ([\d,−]+) to ([\d,]+)\), truly ([\d,]+), off by .*%\."
)


@pytest.fixture
def country(browser, server) -> Iterator[Page]:
    yield from visits(browser, server, "/country", ALL)


def said(page: Page) -> tuple[str, float, float]:
    """The area that the sentence is about, its private and its true count."""
    text = page.locator(".summary").first.inner_text()
    found = _SENTENCE.fullmatch(text)
    assert found, text
    return found[1], number(found[2]), number(found[5])


@pytest.mark.journey
def test_an_area_is_read_at_first_sight_and_others_are_chosen(country) -> None:
    areas, points = find("nation").areas(), find("nation").points()
    name, private, true = said(country)
    counts = areas.count(points).by_node
    nodes = {" > ".join(path): node for node, path in enumerate(areas.paths)}
    assert true == counts[nodes[name]]
    assert abs(private - true) < 0.1 * true
    assert colours(country, ALL) > 20
    assert colours(country, INSIDE) > 20
    before = picture(country, ALL)
    # A click in the middle of the country.
    box = country.get_by_role("img", name=ALL).bounding_box()
    country.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.5)
    wait_until(country, lambda: said(country)[0] != name)
    clicked, _, true = said(country)
    assert true == counts[nodes[clicked]]
    # Without a mouse: one level up, another level, an area of the menu.
    country.get_by_role("button", name="One level up").press("Enter")
    wait_until(country, lambda: said(country)[0] == clicked.rpartition(" > ")[0])
    pick(country, "Areas on the map", "region")
    expect(country.get_by_role("heading", name="Private: region")).to_be_visible()
    wait_until(country, lambda: picture(country, ALL) != before)
    country.get_by_role("button", name="Zoom to it").click()
    expect(country.get_by_role("table").first).to_contain_text("the areas it lies in")
    # A region has no map of its own: the areas in it stand in that place.
    family = country.get_by_role("table").first.bounding_box()
    whole = country.get_by_role("img", name=ALL).bounding_box()
    assert family["x"] > whole["x"] + whole["width"]
    assert whole["y"] + whole["height"] < country.evaluate("window.innerHeight")
    country.get_by_role("button", name="difference", exact=True).click()
    expect(country.get_by_role("heading", name="Difference: region")).to_be_visible()
    # The address is that of this very screen.
    wait_until(country, lambda: addressed(country).to_dict().get("look", {}).get("shows"))
    name, _, true = said(country)
    country.reload()
    expect(country.get_by_role("heading", name="Difference: region")).to_be_visible(timeout=120_000)
    assert (said(country)[0], said(country)[2]) == (name, true)


def test_a_box_is_answered_and_the_budget_and_a_release_are_told(country) -> None:
    rows = country.locator(TABLE).first.locator("tbody tr")
    expect(rows).to_have_count(2)
    drag(country, ALL, (0.4, 0.4), (0.6, 0.6))
    expect(rows).to_have_count(3)
    drag(country, INSIDE, (0.3, 0.3), (0.7, 0.7))
    expect(rows).to_have_count(4)
    country.get_by_role("button", name="Budget", exact=True).click()
    country.get_by_text("On the way to").wait_for()
    expect(country.get_by_text("noise, must not be published")).to_be_visible()
    draw_release(country)
    country.get_by_text("Drawn and booked with epsilon 0.1").wait_for()
    expect(country.get_by_text("Private release: may be published")).to_be_visible()
    expect(country.get_by_role("button", name="Save the release")).to_be_visible()
