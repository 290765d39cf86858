"""A story in a browser: the bar moves no map, a reload stays at its step, pages lead on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import PHONE, Server, come_to, visiting
from tests.browser.visit import addressed, wait_until


@pytest.fixture
def phone(browser: Browser, server: Server) -> Iterator[Page]:
    """A phone at the second step of the tour."""
    path = "/explore?story=tour&step=2"
    yield from visiting(server, lambda: come_to(browser, server, path, "Private map", **PHONE))


@pytest.fixture
def workshop(browser: Browser, server: Server) -> Iterator[Page]:
    """A laptop at the beginning of the workshop."""
    path = "/explore?story=workshop-90-minutes&step=1"
    yield from visiting(server, lambda: come_to(browser, server, path, "Private map"))


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def test_a_newcomer_takes_the_tour(page: Page) -> None:
    where = page.get_by_role("img", name="Private map").bounding_box()
    press(page, "Scenarios")
    press(page, "Take the tour")
    expect(page.get_by_text("A tour in five steps · 1 of 5")).to_be_visible()
    # The map's place is that of before, once the city has been read on the grid of the tour.
    shown = page.get_by_role("img", name="Private map")
    wait_until(page, lambda: shown.bounding_box() == where)
    assert "read true and private aloud" not in page.content()
    press(page, "Next")
    expect(page.get_by_text("2 of 5")).to_be_visible()
    wait_until(page, lambda: addressed(page).epsilon == 0.01 and "step=2" in page.url)
    page.reload()
    expect(page.get_by_text("2 of 5")).to_be_visible()
    page.get_by_label("Notes", exact=True).click()
    expect(page.locator(".notes")).to_contain_text("noise relative to the people")
    press(page, "End the story")
    expect(page.get_by_text("2 of 5")).to_be_hidden()


def test_on_a_phone_the_address_follows_with_the_drawer_closed(phone: Page) -> None:
    # What stands in a drawer that was never opened takes no value: the page failed there.
    press(phone, "Next")
    expect(phone.get_by_text("3 of 5")).to_be_visible()
    wait_until(phone, lambda: addressed(phone).epsilon == 10.0)
    assert phone.evaluate("document.documentElement.scrollWidth") == 390


def test_a_workshop_leads_from_page_to_page(workshop: Page) -> None:
    page = workshop
    expect(page.get_by_text("minute 0 to 10 of 90")).to_be_visible()
    press(page, "Next")
    expect(page.get_by_role("heading", name="One person more or less")).to_be_visible()
    expect(page.get_by_text("2 of 9")).to_be_visible()
    press(page, "Next")
    expect(page.get_by_role("heading", name="Ask often enough")).to_be_visible()
    page.reload()
    expect(page.get_by_text("3 of 9")).to_be_visible()
    expect(page.get_by_role("heading", name="Ask often enough")).to_be_visible()
    press(page, "Next")
    expect(page.get_by_text("4 of 9")).to_be_visible()
    expect(page.get_by_role("img", name="Private map")).to_be_visible()
    press(page, "Back")
    expect(page.get_by_role("heading", name="Ask often enough")).to_be_visible()


def test_a_story_of_a_screen_and_a_lesson_is_made_on_two_pages(page: Page) -> None:
    press(page, "Scenarios")
    page.get_by_label("What this screen shows").fill("A screen")
    press(page, "Add this screen to the story")
    expect(page.get_by_text("The story has 1 step:")).to_be_visible()
    page.get_by_role("link", name="Learn", exact=True).click()
    press(page, "Stories")
    expect(page.get_by_text("The story has 1 step:")).to_be_visible()
    press(page, "Next step")
    page.get_by_label("What this lesson shows").fill("A lesson")
    press(page, "Add this lesson to the story")
    expect(page.get_by_text("The story has 2 steps:")).to_be_visible()
    press(page, "Show the story")
    expect(page.get_by_text("My story · 1 of 2")).to_be_visible()
    expect(page.get_by_role("img", name="Private map")).to_be_visible()
    press(page, "Next")
    expect(page.get_by_text("My story · 2 of 2")).to_be_visible()
    expect(page.get_by_text("Steps 2 of")).to_be_visible()
