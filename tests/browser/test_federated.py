"""Federated in a browser: one sentence, rounds stepped and played, a masked shard, a release."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import visits
from tests.browser.visit import (
    addressed,
    colours,
    drag,
    draw_release,
    picture,
    rows,
    still,
    unfold,
    wait_until,
)

PRIVATE = "Private map"


@pytest.fixture
def federated(browser, server) -> Iterator[Page]:
    yield from visits(browser, server, "/federated", PRIVATE)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def told(page: Page, text: str) -> None:
    expect(page.locator(".summary", has_text=text).first).to_be_visible()


@pytest.mark.journey
def test_rounds_a_masked_shard_boxes_and_a_release(federated) -> None:
    page = federated
    first = page.locator(".summary").first.inner_text()
    found = re.search(r"in (\d+) rounds the server saw masked vectors of 100,000 people", first)
    assert found, first
    assert re.search(r"off by [\d.]+ % in the median of 2 boxes\.$", first)
    last = int(found[1])
    told(page, f"Round {last} of {last}:")
    whole = still(page, PRIVATE)
    assert colours(page, PRIVATE) > 20
    press(page, "To the start")
    told(page, f"Round 1 of {last}: 1,000 people")
    wait_until(page, lambda: picture(page, PRIVATE) != whole)
    expect(page.get_by_text(f"After round 1 of {last} of a preview")).to_be_visible()
    # Without a mouse: the slider by keys, a button by Enter.
    slider = page.get_by_role("slider", name="Round", exact=True)
    # It comes a moment after the words; at its end a key would change nothing.
    expect(slider).to_have_value("1")
    slider.press("ArrowRight")
    told(page, f"Round 2 of {last}:")
    page.get_by_role("button", name="To the start", exact=True).press("Enter")
    told(page, f"Round 1 of {last}:")
    press(page, "Fast")
    press(page, "Play")
    told(page, f"Round {last} of {last}:")
    wait_until(page, lambda: picture(page, PRIVATE) == whole)
    press(page, "What the server saw")
    told(page, "A shard of 100 people")
    expect(page.get_by_role("img", name="What she sends: ")).to_be_visible()
    expect(page.get_by_role("heading", name="Who must be trusted with what")).to_be_visible()
    press(page, "City or smooth map")
    told(page, "So refining wins on the city")
    expect(page.get_by_role("img", name="As many people, spread smoothly: true")).to_be_visible()
    drag(page, "True map", (0.3, 0.3), (0.6, 0.6))
    wait_until(page, lambda: len(rows(page)) == 3)
    # The address is that of this very screen.
    wait_until(page, lambda: len(addressed(page).boxes or ()) == 3)
    drawn = rows(page)[-1]
    page.reload()
    wait_until(page, lambda: len(rows(page)) == 3)
    assert rows(page)[-1] == drawn
    # More people are on the map than the page begins with: nothing is drawn without a word on them.
    unfold(page, "Release")
    press(page, "Draw a release")
    expect(page.get_by_role("alert").first).to_contain_text("more people than the 100,000 declared")
    page.get_by_label("Publish the exact number of people").check()
    expect(page.get_by_text("A release protects the place of each person")).to_be_visible()
    draw_release(page)
    page.get_by_text("Drawn and booked with epsilon 1").wait_for()
    expect(page.get_by_role("button", name="Save the release")).to_be_visible()
