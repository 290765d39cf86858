"""Panels below the maps of trips in a browser: a branch cut by cut, and a run, on both maps."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import come_to, settle, visiting
from tests.browser.visit import picture, serious, wait_until

#: Parts of what the maps are called, whatever is on them.
FROM, TO = "where trips to Q1 begin", "where trips from Q1 end"


@pytest.fixture
def trips(browser, server) -> Iterator[Page]:
    yield from visiting(server, lambda: come_to(browser, server, "/trips", TO))


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def both(page: Page) -> tuple[int, int]:
    return picture(page, FROM), picture(page, TO)


def test_a_branch_and_a_run_are_seen_on_both_maps_and_read(trips) -> None:
    page = trips
    press(page, "How it was cut")
    piece = page.get_by_role("status").filter(has_text="Private count")
    expect(piece).to_contain_text(re.compile(r"After (\d+) of \1 cuts: trips from a box of"))
    settle(page, TO)
    own = both(page)
    press(page, "To the start")
    expect(piece).to_contain_text("Before the first cut: trips from a box of 20 × 20 km, to a box")
    wait_until(page, lambda: all(a != b for a, b in zip(both(page), own, strict=True)))
    cuts = page.get_by_role("slider", name="Number of cuts shown")
    cuts.focus()
    page.keyboard.press("ArrowRight")
    expect(piece).to_contain_text("After 1 of")
    expect(
        page.get_by_text(re.compile("After 1 of .* cuts; a preview, not private"))
    ).to_be_visible()
    way = page.get_by_role("region", name="The pieces on the way to Q1")
    assert len(way.get_by_role("row").all()) == 3
    expect(
        page.get_by_role("img", name=re.compile(r"Budget: 0\.\d+ of 1 spent so far"))
    ).to_be_visible()
    assert not serious(page)
    press(page, "To the end")
    wait_until(page, lambda: both(page) == own)

    press(page, "Other possible results")
    runs = page.get_by_role("slider", name="Number of runs")
    runs.focus()
    page.keyboard.press("Home")
    press(page, "Draw previews")
    expect(page.get_by_text("10 previews, all drawn")).to_be_visible()
    expect(page.get_by_role("img", name="Answers to Q1 in 10 previews")).to_be_visible()
    settle(page, TO)
    own = both(page)
    page.get_by_role("slider", name="Run on the map").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Run 1 of 10: a preview with other random noise")).to_be_visible()
    wait_until(page, lambda: all(a != b for a, b in zip(both(page), own, strict=True)))
    press(page, "Boxes")
    expect(page.get_by_text("Run 1 of 10")).to_have_count(0)
