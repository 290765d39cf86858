"""Learn: each lesson as somebody takes it: its steps, the result, the answer when asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from explorer.cities.catalogue import cities
from explorer.scenario import Scenario
from explorer.teaching import thresholds
from tests.browser.conftest import Server, Watch, leave, new_page, visiting
from tests.browser.visit import figure, number, pick, serious


@pytest.fixture(scope="module")
def matrix():
    """The city that the page shows, on the same cells."""
    return cities()["madeup"].load(256)[1]


def visit(browser: Browser, server: Server, path: str, **context: object) -> tuple[Page, Watch]:
    """The page with its first lesson and its city."""
    page = new_page(browser, **context)
    watch = Watch(page, server.url)
    page.goto(server.url + path)
    page.locator("h2.lesson").wait_for()
    expect(page.locator(".finding").first).not_to_be_empty()
    return page, watch


@pytest.fixture(scope="module")
def lessons(browser: Browser, server: Server) -> Iterator[Page]:
    """A visit that takes the lessons one after the other; each is taken by one test."""
    yield from visiting(server, lambda: visit(browser, server, "/learn"))


def finding(page: Page) -> str:
    """The sentence that says what came out."""
    return page.locator("p.finding[role=status]").first.inner_text()


def answer_after_asking(page: Page, words: str) -> None:
    """The answer is nowhere on the page until somebody asks for it."""
    expect(page.get_by_text(words)).to_have_count(0)
    page.get_by_role("button", name="Show the answer").click()
    expect(page.get_by_text(words)).to_be_visible()
    page.get_by_role("button", name="Hide the answer").click()
    expect(page.get_by_text(words)).to_have_count(0)


def open_lesson(page: Page, title: str) -> None:
    page.get_by_role("button", name=re.compile(rf"^\d+\. {title}")).click()
    expect(page.locator("h2.lesson")).to_have_text(re.compile(title))


def test_tolerable_error_and_cancel(lessons) -> None:
    page = lessons
    open_lesson(page, "How much epsilon")
    start = page.get_by_role("button", name="Find the smallest epsilon")
    start.click()
    expect(page.get_by_text("UG answers this box within 5 %")).to_be_visible()
    low, high = re.findall(r"[\d.]+", figure(page, "95 % interval"))
    assert float(low) <= float(figure(page, "Smallest epsilon")) <= float(high)
    pick(page, "Mechanism", "HTF")
    start.click()
    page.get_by_role("progressbar", name="Bisection over previews").wait_for()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled; nothing was changed.")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_be_disabled()
    answer_after_asking(page, "Uneven spread.")


@pytest.mark.journey
def test_threshold_by_keyboard_only(lessons, matrix) -> None:
    page = lessons
    page.get_by_role("button", name="4. Hiding small counts").focus()
    page.keyboard.press("Enter")
    expect(page.locator("h2.lesson")).to_have_text("Hiding small counts is not privacy")
    counts, _, _ = thresholds.coarse(matrix.counts, 64)
    expect(page.get_by_text("76 − 69 = 7, exactly the true count of 7")).to_be_visible()
    assert number(figure(page, "Hidden")) == (counts < 10).sum()
    before = finding(page)
    page.get_by_role("button", name="Another hidden cell").focus()
    page.keyboard.press("Space")
    expect(page.locator("p.finding[role=status]").first).not_to_have_text(before)
    assert "exactly the true count of" in finding(page)
    box = page.get_by_role("textbox", name="Threshold k", exact=True)
    box.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("100")
    page.keyboard.press("Tab")
    expect(page.get_by_text("fewer than 100 people")).to_be_visible()
    assert number(figure(page, "Hidden")) == (counts < 100).sum()
    page.get_by_role("button", name="Show the answer").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Each is an equation about people")).to_be_visible()


def test_a_link_opens_a_lesson_and_a_wrong_one_says_so(browser, server) -> None:
    page, watch = visit(browser, server, "/learn?lesson=06_after_the_noise")
    expect(page.locator("h2.lesson")).to_have_text("What may be done after the noise")
    leave(page)
    sent = Scenario(page="learn", lesson="averaging").to_link()
    page, watch = visit(browser, server, f"/learn?s={sent}")
    expect(page.locator("h2.lesson")).to_have_text("Ask often enough and noise is gone")
    leave(page)
    page, watch = visit(browser, server, "/learn?lesson=%3Cb%3E")
    expect(page.get_by_role("alert")).to_contain_text("There is no lesson of that name")
    leave(page)
    assert not watch.found


#: Of each lesson: its number, what starts its experiment, what is then on the page, and a part of
#: its answer.
LESSONS = [
    (1, "Draw previews of both", "over 400 previews a side", "they become at most 3.3 to 1"),
    (2, "100 times", "The average of 100 redraws is", "100 × 0.5 = 50"),
    (5, "Run and judge twice", "the order turns round", "makes empty and nearly empty boxes"),
    (6, "Draw the previews", "no bias has been found", "every empty leaf keeps its surplus"),
    (7, "", "16,777,216 cells, and trips lie in", "Only sums mean anything."),
    (8, "", "a lottery gives it 10.", "less to choose, while noise does not"),
    (9, "New noise", "of her nothing, while her masks hold", "More noise from the rest does not"),
    (10, "", "of 64 × 64 cells are divided", "everybody in one quarter."),
]


@pytest.mark.parametrize(("number_of", "start", "shown", "answer"), LESSONS, ids=lambda case: case)
def test_the_experiment_of_a_lesson(lessons, number_of, start, shown, answer) -> None:
    page = lessons
    page.get_by_role("button", name=re.compile(rf"^{number_of}\. ")).click()
    expect(page.locator(".kicker")).to_contain_text(f"Lesson {number_of} of 10")
    if start:
        page.get_by_role("button", name=start, exact=True).click()
    expect(page.get_by_text(shown)).to_be_visible()
    assert not serious(page)
    answer_after_asking(page, answer)
