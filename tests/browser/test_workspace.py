"""Nothing is lost between pages: one workspace in a tab, theme and open sections in a browser."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from explorer.scenario import Scenario
from tests.browser.conftest import Watch, settle
from tests.browser.test_page import background
from tests.browser.visit import ROW, addressed, drag, names, pick, rows, still, wait_until

MAPS = {"Explore": "Private map", "Compare": "Private map A", "Federated": "Private map"}


def follow(page: Page, title: str) -> None:
    """Use a link of the bar and wait until the page stands."""
    page.get_by_role("navigation", name="Pages").get_by_role("link", name=title, exact=True).click()
    heading = {"Explore": "Private map explorer", "Learn": "Learn with experiments"}
    if title in MAPS:
        page.get_by_role("img", name=MAPS[title]).wait_for()
        page.locator(ROW).first.wait_for()
        settle(page, MAPS[title])
        # The address says all there is, and nothing of how it came there.
        wait_until(page, lambda: addressed(page).page == title.lower() and "from=" not in page.url)
    else:
        page.get_by_role("heading", level=1, name=heading[title]).wait_for()


def shared(one: Scenario) -> tuple:
    """What all pages show of a workspace."""
    edges = [[round(edge) for edge in box.edges] for box in one.boxes or ()]
    return one.city, one.side, one.epsilon, one.seed, edges


def test_city_settings_and_boxes_go_along_and_come_back(page) -> None:
    pick(page, "Mechanism", "UG")
    box = page.get_by_role("textbox", name="Exact epsilon")
    box.fill("0.37")
    box.press("Enter")
    page.get_by_role("button", name="New draw").click()
    page.get_by_role("button", name="Toggle theme").click()
    page.get_by_role("button", name="Scenarios").click()
    expect(page.get_by_role("combobox", name="Preset")).to_be_visible()
    drag(page, "Private map", (0.30, 0.35), (0.55, 0.60))
    wait_until(page, lambda: names(page) == ["Q1", "Q2", "Q3"])
    private = rows(page)[2]["private"]
    follow(page, "Compare")
    # In the theme that was chosen, and with the section open, before anything else is done.
    assert min(background(page)) > 240
    expect(page.get_by_role("combobox", name="Preset")).to_be_visible()
    # The address follows what is shown a moment later.
    wait_until(page, lambda: len(addressed(page).boxes or ()) == 3)
    kept = shared(addressed(page))
    assert kept[2:4] == (0.37, 2)
    assert [each.key for each in addressed(page).mechanisms] == ["ug", "mosaic"]
    wait_until(page, lambda: rows(page)[2]["A"] == private)
    pick(page, "Mechanism B", "AG")
    wait_until(page, lambda: addressed(page).mechanisms[1].key == "ag")
    follow(page, "Learn")
    follow(page, "Federated")
    assert shared(addressed(page)) == kept
    follow(page, "Explore")
    assert shared(addressed(page)) == kept
    wait_until(page, lambda: rows(page)[2]["private"] == private)
    follow(page, "Compare")
    assert [each.key for each in addressed(page).mechanisms] == ["ug", "ag"]
    page.go_back()
    page.get_by_role("img", name="Private map").wait_for()
    wait_until(page, lambda: len(rows(page)) == 3)
    assert shared(addressed(page)) == kept
    page.get_by_role("button", name="Toggle theme").click()


def test_another_visitor_begins_anew(browser, server) -> None:
    # Another tab of the same browser: what one tab keeps is not there.
    from tests.browser.conftest import leave, open_page

    page, watch = open_page(browser, server)
    try:
        assert page.evaluate("Object.keys(sessionStorage).length") <= 1
        follow(page, "Compare")
        assert addressed(page).boxes is None
        assert not watch.found
    finally:
        leave(page)


def test_a_city_that_was_read_before_comes_back_with_its_boxes(page) -> None:
    """Boxes vanished, and the console said that a reference is not known."""
    before, maps = len(Watch.all), ("True map", "Private map")
    seen = [still(page, name) for name in maps]
    summary = page.locator(".summary").first
    for city in ("Amber Isles", "Port Amber", "Amber Isles", "Port Amber"):
        pick(page, "City", city)
        wait_until(page, lambda city=city: summary.inner_text().startswith(city))
        wait_until(page, lambda: names(page) == ["Q1", "Q2"])
    # The same city, noise and boxes: the same pixels, boxes and their tags among them.
    assert [still(page, name) for name in maps] == seen
    assert not Watch.all[before:]
