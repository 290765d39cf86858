"""Pages on paper: maps, table and budget are there, controls are not, and it is readable."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.visit import CELL, ROW, wait_until

# Of an element and all it stands in: the colour behind its words.
_BEHIND = """
element => {
  for (let at = element; at; at = at.parentNode ?? at.host) {
    if (!(at instanceof Element)) { at = at.host; if (!at) break }
    const colour = getComputedStyle(at).backgroundColor
    if (!colour.endsWith(", 0)")) return colour
  }
  return "rgb(255, 255, 255)"
}
"""


def behind(page: Page, words: str) -> str:
    return str(page.get_by_text(words).first.evaluate(_BEHIND))


def colour(page: Page, words: str) -> str:
    return str(page.get_by_text(words).first.evaluate("e => getComputedStyle(e).color"))


def test_explore_on_paper_holds_everything_and_no_controls(seen: Page) -> None:
    page = seen
    expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    try:
        for gone in ("navigation", "combobox", "slider"):
            expect(page.get_by_role(gone).first).to_be_hidden()
        expect(page.get_by_role("button", name="Add box")).to_be_hidden()
        for name in ("True map", "Private map"):
            expect(page.get_by_role("img", name=name)).to_be_visible()
        expect(page.locator(ROW).first).to_be_visible()
        for words in ("Cell errors (L1/N)", "Ledger", "Each box or polygon is a question"):
            expect(page.get_by_text(words).first).to_be_visible()
            assert colour(page, words) == "rgb(17, 17, 17)"
            assert behind(page, words) == "rgb(255, 255, 255)"
        assert page.locator(CELL).first.evaluate(_BEHIND) == "rgb(255, 255, 255)"
        # Nothing scrolls inside the page: the sheet holds the last line as well as the first.
        high = page.evaluate("document.documentElement.scrollHeight")
        last = page.get_by_text("leaf counts").first.bounding_box()
        assert last["y"] + last["height"] < high
        assert high > page.viewport_size["height"]
    finally:
        page.emulate_media(media="null")
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    wait_until(page, lambda: page.get_by_role("button", name="Add box").is_visible())


def test_a_pdf_has_pages_and_no_empty_one(seen: Page) -> None:
    data = seen.pdf(prefer_css_page_size=True)
    # Landscape sheets of A4, in points.
    assert len(re.findall(rb"/Type */Page\b", data)) in (2, 3)
    assert b"MediaBox [0 0 841.9" in data
