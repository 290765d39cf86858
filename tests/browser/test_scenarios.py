"""Scenarios in a browser: the address keeps the screen, presets open, links are copied and fail."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, Page, expect

from explorer.scenario import Row, Scenario
from tests.browser.conftest import Server, leave, new_page, open_page, settle
from tests.browser.visit import (
    ROW,
    colours,
    drag,
    figure,
    names,
    number,
    pick,
    picture,
    rows,
    stays,
    unfold,
    wait_until,
)

MAPS = {"Explore": "Private map", "Compare": "Private map A"}


def link_of(page: Page) -> str:
    """The scenario in the address, "" without one."""
    found = re.search(r"[?&]s=([\w-]*)", page.url)
    return found[1] if found else ""


def settled(page: Page, boxes: int, palette: str, **screen: object) -> Scenario:
    """The scenario in the address once it says all this; it follows the screen with a delay."""
    read: list[Scenario] = []

    def says() -> bool:
        link = link_of(page)
        if not link:
            return False
        one = Scenario.from_link(link)
        read[:] = [one]
        return (
            len(one.boxes or ()) == boxes
            and one.look.palette == palette
            and all(getattr(one, name) == value for name, value in screen.items())
        )

    wait_until(page, says)
    return read[0]


def summary(page: Page) -> str:
    """The sentence below the maps."""
    return page.locator(".summary").first.inner_text()


def ready(page: Page, title: str = "Explore") -> None:
    """Wait until the maps and the table are there and stay in place."""
    page.get_by_role("img", name=MAPS[title]).wait_for()
    page.locator(ROW).first.wait_for()
    if title == "Explore":
        settle(page)


def scenarios(page: Page) -> None:
    """Open the section of the drawer."""
    unfold(page, "Scenarios")
    expect(page.get_by_role("combobox", name="Preset")).to_be_visible()


@pytest.mark.journey
def test_reloading_the_address_shows_the_same_screen(page) -> None:
    assert link_of(page) == ""
    slider = page.get_by_role("slider", name="Epsilon", exact=True)
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    pick(page, "Mechanism", "QuadTree")
    unfold(page, "View")
    page.get_by_role("button", name="magma", exact=True).click()
    page.get_by_role("button", name="New draw").click()
    drag(page, "Private map", (0.31, 0.35), (0.56, 0.61))
    wait_until(page, lambda: len(rows(page)) == 3)
    one = settled(page, epsilon=0.71, seed=2, palette="magma", boxes=3)
    wait_until(page, lambda: "by QuadTree with epsilon 0.71" in summary(page))
    wait_until(page, lambda: stays(page, lambda: (rows(page), picture(page, "Private map"))))
    shown = rows(page), figure(page, "Leaves"), summary(page)
    painted = picture(page, "Private map")
    page.reload()
    ready(page)
    wait_until(page, lambda: names(page) == ["Q1", "Q2", "Q3"])
    wait_until(page, lambda: figure(page, "Leaves") == shown[1])
    wait_until(page, lambda: (rows(page), figure(page, "Leaves"), summary(page)) == shown)
    assert Scenario.from_link(link_of(page)) == one
    wait_until(page, lambda: picture(page, "Private map") == painted)
    expect(page.get_by_role("button", name="magma", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )


def test_a_preset_opens_here_or_on_its_own_page(page) -> None:
    scenarios(page)
    pick(page, "Preset", "A tiny epsilon")
    wait_until(page, lambda: names(page) == ["Large", "Small"])
    wait_until(page, lambda: figure(page, "Epsilon") == "0.01")
    expect(page.get_by_role("status").filter(has_text="A tiny epsilon: ")).to_be_visible()
    expect(page.get_by_role("combobox", name="Preset")).to_have_text("A tiny epsilon")
    expect(page.get_by_role("combobox", name="Mechanism")).to_have_text("AG")
    pick(page, "Preset", "A tree against a uniform grid")
    page.wait_for_url("**/compare?s=*")
    page.get_by_role("img", name="Private map B").wait_for()
    expect(page.get_by_role("combobox", name="Mechanism B")).to_have_text("UG")
    expect(page.get_by_text("A tree against a uniform grid: HTF and")).to_be_visible()
    wait_until(page, lambda: colours(page, "Private map B") > 20)


def test_a_damaged_link_is_a_sentence_over_the_page_as_it_was(page, server: Server) -> None:
    good = Scenario(side=256, epsilon=0.5).to_link()
    for path, title in (("explore", "Explore"), ("compare", "Compare")):
        page.goto(f"{server.url}/{path}?s={good[:-3]}")
        ready(page, title)
        expect(page.get_by_role("alert")).to_contain_text("This link is damaged")
        assert len(rows(page)) == 2


def test_a_link_of_trips_leads_from_a_citys_page_to_theirs(page, server: Server) -> None:
    row = Row([(0, 0, 900, 900), None, None], "Mine")
    one = Scenario(
        page="trips", places="o,s1,d", side=16, mechanisms=["uniform"], seed=7, boxes=[row]
    )
    page.goto(f"{server.url}/explore?s={one.to_link()}")
    page.wait_for_url("**/trips?s=*")
    wait_until(page, lambda: names(page) == ["Mine"])
    assert Scenario.from_link(link_of(page)) == one
    unfold(page, "View")
    page.get_by_role("button", name="magma", exact=True).click()
    changed = replace(one, look={"palette": "magma"})
    wait_until(page, lambda: Scenario.from_link(link_of(page)) == changed)


def test_links_files_and_code_are_handed_over(browser: Browser, server: Server, tmp_path) -> None:
    page, watch = open_page(browser, server, permissions=["clipboard-read", "clipboard-write"])
    pick(page, "Mechanism", "UG")
    wait_until(page, lambda: "by UG" in page.locator(".summary").inner_text())
    shown = rows(page)
    scenarios(page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_text("The link is on the clipboard.")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(f"{server.url}/explore?s=")
    page.get_by_role("button", name="Copy as Python").click()
    expect(page.get_by_text("The script is on the clipboard.")).to_be_visible()
    found: dict[str, object] = {}
    exec(page.evaluate("navigator.clipboard.readText()"), found)
    private = [number(row["private"]) for row in shown]
    # The table shows whole people.
    assert private == pytest.approx(found["answers"].value, abs=0.51)  # type: ignore[attr-defined]
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save scenario").click()
    saved.value.save_as(tmp_path / "mine.yaml")
    with page.expect_download() as notebook:
        page.get_by_role("button", name="Download notebook").click()
    assert notebook.value.suggested_filename == "scenario.ipynb"
    assert Scenario.from_yaml((tmp_path / "mine.yaml").read_bytes()).mechanisms[0].key == "ug"
    # Another visitor opens the link; a third one the file.
    page.goto(link)
    ready(page)
    wait_until(page, lambda: rows(page) == shown)
    page.goto(server.url)
    ready(page)
    assert rows(page) != shown
    scenarios(page)
    page.get_by_role("button", name="Open scenario").set_input_files(tmp_path / "mine.yaml")
    wait_until(page, lambda: rows(page) == shown)
    assert not watch.found
    leave(page)


def test_each_click_hands_out_one_file_also_while_its_button_comes(browser, server) -> None:
    page = new_page(browser)
    # Late values are looked for when the file has been handed out.
    page.add_init_script(
        "const plain = setTimeout; "
        "window.setTimeout = (f, wait, ...a) => plain(f, wait === 500 ? 2500 : wait, ...a)"
    )
    page.goto(server.url)
    ready(page)
    scenarios(page)
    found: list[str] = []
    page.on("download", lambda each: found.append(each.suggested_filename))
    for clicks in (1, 2):
        page.get_by_role("button", name="Save scenario").click()
        wait_until(page, lambda clicks=clicks: len(found) >= clicks)
        page.wait_for_timeout(2600)
        assert found == clicks * ["scenario.yaml"]
    leave(page)


def test_where_a_page_may_not_copy_the_text_can_be_selected(page) -> None:
    page.evaluate("document.execCommand = () => false")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    scenarios(page)
    page.get_by_role("button", name="Copy link").click()
    area = page.get_by_role("textbox", name="Text to copy")
    expect(area).to_be_visible()
    link = area.input_value()
    assert Scenario.from_link(link.partition("?s=")[2]).side == 256
    expect(page.get_by_text("select the text and copy it")).to_be_visible()
