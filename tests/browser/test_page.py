"""The page itself: themes, widths, names for screen readers, words, uploads, strings of files."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import (
    PHONE,
    leave,
    open_page,
    settle,
    visiting,
)
from tests.browser.visit import (
    MODELS,
    addressed,
    colours,
    figure,
    inside,
    number,
    pick,
    rows,
    unfold,
    wait_until,
)


def background(page) -> list[int]:
    """Red, green, blue of the page behind the text."""
    text = page.locator("main").evaluate("e => getComputedStyle(e).backgroundColor")
    return [int(part) for part in re.findall(r"\d+", text)[:3]]


@pytest.mark.journey
def test_light_and_dark(seen) -> None:
    page = seen
    dark = background(page)
    assert max(dark) < 60
    page.get_by_role("button", name="Toggle theme").click()
    wait_until(page, lambda: min(background(page)) > 240)
    assert colours(page, "Private map") > 50
    # Nobody chose the colours of the maps: they are light, and so is what explains them.
    ground = page.locator(".bar.light:visible").first
    shade = ground.evaluate("e => getComputedStyle(e).backgroundColor")
    assert min(int(part) for part in re.findall(r"\d+", shade)[:3]) > 240
    ink = page.locator(".summary").evaluate("e => getComputedStyle(e).color")
    assert max(int(part) for part in re.findall(r"\d+", ink)[:3]) < 80
    page.get_by_role("button", name="Toggle theme").click()
    wait_until(page, lambda: background(page) == dark)


def look_at_edges(page, width: int) -> None:
    """Nothing hangs over the edge of the window, and nothing over anything else."""
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for shown, name in (("Truth", "True map"), ("Private", "Private map")):
        if width < 500:
            # A phone has room for one of them.
            page.get_by_role("button", name=shown, exact=True).click()
            settle(page, name)
        box = page.get_by_role("img", name=name).bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width + 1
        assert box["width"] > 0.4 * min(width, 760)
        # Its bar lies in it, and the summary below it.
        bars = [each.bounding_box() for each in page.locator(".bar:visible").all()]
        assert sum(inside(bar, box) for bar in bars) == 1
        assert page.locator(".summary").bounding_box()["y"] >= box["y"] + box["height"]


@pytest.mark.parametrize(("width", "height"), [(390, 844), (768, 1024)])
def test_nothing_hangs_over_the_edge(browser, server, width, height) -> None:
    options: dict = {"viewport": {"width": width, "height": height}}
    if width < 500:
        options |= {"user_agent": "Mozilla/5.0 (Linux; Android 14) Mobile", "has_touch": True}
    for page in visiting(server, lambda: open_page(browser, server, **options)):
        look_at_edges(page, width)
        if width < 500:
            # One finger scrolls until somebody asks to draw, and the drawer is closed.
            pressed = page.get_by_role("button", name="Scroll", exact=True)
            assert pressed.get_attribute("aria-pressed") == "true"
            expect(page.get_by_role("slider", name="Epsilon", exact=True)).not_to_be_visible()


_SMALL = """
() => {
  const all = root => [...root.querySelectorAll("*")].flatMap(
    each => [each, ...(each.shadowRoot ? all(each.shadowRoot) : [])])
  const touched = e => e.matches("input, .MuiSelect-select")
    ? e.closest("label, .MuiInputBase-root, .MuiSlider-root") ?? e : e
  const kinds = "a[href], button, input, [role=combobox], [role=button]"
  return all(document).filter(e => e.matches(kinds))
    .filter(e => e.checkVisibility({visibilityProperty: true})).map(touched)
    .map(e => [e.innerText || e.getAttribute("aria-label"), e.getBoundingClientRect()])
    .filter(([, box]) => box.width > 0 && Math.min(box.width, box.height) < 43.5)
    .map(([name, box]) => `${name}: ${box.width} x ${box.height}`)
}
"""


def test_what_a_finger_touches_on_a_phone_is_44_pixels_wide_and_high(browser, server) -> None:
    phone = {**PHONE, "has_touch": True, "is_mobile": True}
    for page in visiting(server, lambda: open_page(browser, server, **phone)):
        assert page.locator(".pages a").count() > 2
        assert page.evaluate(_SMALL) == []
        page.locator("header button").first.click()
        expect(page.get_by_role("slider", name="Epsilon", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name="Scenarios", exact=True)).to_be_visible()
        wait_until(page, lambda page=page: page.evaluate(_SMALL) == [])


def test_the_drawer_of_a_narrow_window_starts_closed_and_opens(browser, server) -> None:
    page, watch = open_page(browser, server, viewport={"width": 390, "height": 844})
    try:
        slider = page.get_by_role("slider", name="Epsilon", exact=True)
        expect(slider).not_to_be_visible()
        expect(page.locator(".badge")).not_to_be_visible()
        assert page.title() == "Private map explorer"
        for each in page.locator("header a, header button").all():
            # Links that have no room are pushed into the bar, as a finger does.
            each.scroll_into_view_if_needed()
            box = each.bounding_box()
            assert 0 <= box["x"] <= box["x"] + box["width"] <= 390
        page.locator("header button").first.click()
        expect(slider).to_be_visible()
        assert not watch.found
    finally:
        leave(page)


def test_the_ledger_adds_up_to_epsilon(seen) -> None:
    page = seen
    parts = [number(each) for each in page.locator(".ledger li b").all_inner_texts()]
    # Each number has four digits.
    assert sum(parts) == pytest.approx(number(figure(page, "Epsilon")), rel=1e-3)
    expect(page.get_by_role("img", name="Budget spent by stage")).to_be_visible()


def test_words_stand_next_to_the_controls_when_wanted(seen) -> None:
    page = seen
    sentence = page.get_by_text("called the privacy budget")
    expect(sentence).not_to_be_visible()
    unfold(page, "Settings of HTF")
    page.get_by_role("switch", name="Explain the controls").click()
    expect(sentence).to_be_visible()
    expect(page.get_by_text("Rounds of the search for a cut")).to_be_visible()
    page.get_by_role("switch", name="Explain the controls").click()
    expect(sentence).not_to_be_visible()


def test_settings_of_the_mechanism_appear_when_they_matter(page) -> None:
    expect(page.get_by_role("slider", name="Stop factor")).not_to_be_visible()
    unfold(page, "Settings of HTF")
    page.get_by_role("button", name="per epsilon").click()
    expect(page.get_by_role("slider", name="Stop factor")).to_be_visible()
    expect(page.get_by_role("slider", name="Stop count")).not_to_be_visible()
    page.get_by_role("button", name="More settings").click()
    expect(page.get_by_role("slider", name="Split budget", exact=True)).to_be_visible()
    pick(page, "Split rule", "middle")
    expect(page.get_by_role("slider", name="Split budget", exact=True)).not_to_be_visible()
    page.get_by_role("slider", name="Height", exact=True).press("ArrowLeft")
    expect(page.get_by_role("switch", name="Automatic height")).not_to_be_checked()


EVIL = "<img src=x onerror=document.title='taken'>"


@pytest.mark.journey
def test_own_points_need_a_declared_extent_and_columns_when_ambiguous(page, tmp_path) -> None:
    rng = np.random.default_rng(1)
    lon, lat = rng.normal(2.35, 0.02, 4000), rng.normal(48.85, 0.015, 4000)
    columns = {"o_lon": lon, "o_lat": lat, "d_lon": lon + 0.01, "d_lat": lat, EVIL: 1}
    path = tmp_path / f"{EVIL.replace('/', '')}.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    unfold(page, "Grid and own points")
    load = page.get_by_role("button", name="Load these points")
    expect(load).to_be_visible()
    page.locator("input[type=file]").first.set_input_files(path)
    expect(page.get_by_text(f"{path.name} received")).to_be_visible()
    load.click()
    expect(page.get_by_role("alert")).to_contain_text("Declare the map first")
    page.get_by_role("textbox", name="Centre longitude").fill("2.35")
    page.get_by_role("textbox", name="Centre latitude").fill("48.85")
    page.get_by_role("textbox", name="Centre latitude").press("Tab")
    load.click()
    expect(page.get_by_role("textbox", name="Longitude column")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("o_lon")
    page.get_by_role("textbox", name="Longitude column").fill("d_lon")
    page.get_by_role("textbox", name="Latitude column").fill("d_lat")
    page.get_by_role("textbox", name="Latitude column").press("Tab")
    load.click()
    wait_until(page, lambda: page.locator(".summary").inner_text().startswith("Your points"))
    assert number(rows(page)[0]["true"]) > 0
    assert page.title() == "Private map explorer"


def test_a_file_of_boxes_cannot_bring_markup(page, tmp_path) -> None:
    path = tmp_path / "boxes.csv"
    path.write_text(f'west,south,east,north,name\n0,0,900,900,"{EVIL}"\n')
    unfold(page, "Save and load")
    expect(page.get_by_role("button", name="Save as CSV")).to_be_visible()
    page.locator("input[type=file]").last.set_input_files(path)
    wait_until(page, lambda: len(rows(page)) == 3)
    assert "‹img" in rows(page)[2]["box"]
    page.wait_for_timeout(300)
    assert page.title() == "Private map explorer"
    assert page.locator("img[src=x]").count() == 0


def test_a_wrong_file_of_boxes_is_one_sentence(seen, tmp_path) -> None:
    page = seen
    path = tmp_path / "boxes.csv"
    path.write_bytes(b"\x00\xff not a table")
    unfold(page, "Save and load")
    expect(page.get_by_role("button", name="Save as CSV")).to_be_visible()
    page.locator("input[type=file]").last.set_input_files(path)
    expect(page.get_by_role("alert")).to_be_visible()
    assert len(rows(page)) == 2
    page.get_by_role("button", name="Close", exact=True).click()


# Names of places on the maps, and how many maps draw their lines.
_BASE = (
    f"() => {{ const models = {MODELS}"
    + """
  const drawn = models.filter(each => each.type === "GlyphRenderer" && each.visible)
  // Tags of boxes are texts, too: they have a ground of their own.
  const names = drawn.filter(each => each.glyph.type === "Text"
    && each.glyph.text.field === "text" && each.glyph.background_fill_color.field === undefined)
    .map(each => [...each.data_source.data.text])
  return {names, lines: drawn.filter(each => each.glyph.type === "MultiLine"
    && each.data_source.data.kind?.length > 5).length}
}
"""
)


def test_coast_and_names_stand_on_both_maps_more_of_them_closer_until_switched_off(page) -> None:
    wait_until(page, lambda: page.evaluate(_BASE)["lines"] == 2)
    whole = page.evaluate(_BASE)["names"]
    assert len(whole) == 2
    assert "Port Amber" in whole[0]
    for _ in range(3):
        page.get_by_role("button", name="Zoom in", exact=True).click()
    wait_until(page, lambda: "Exchange" in page.evaluate(_BASE)["names"][0])
    unfold(page, "View")
    page.get_by_role("switch", name="Coast, roads and names").click()
    wait_until(page, lambda: page.evaluate(_BASE) == {"names": [], "lines": 0})
    wait_until(page, lambda: addressed(page).look.base_map is False)
