"""Learn: each lesson as somebody takes it: its steps, the result, the answer when asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from explorer import UG, exact
from explorer.cities.catalogue import cities
from explorer.scenario import Scenario
from explorer.teaching import thresholds
from explorer.teaching.emptiness import Occupancy
from explorer.teaching.journeys import journeys
from explorer.teaching.lottery import seen
from explorer.teaching.refinement import ask
from tests.browser.conftest import LAPTOP_AND_SCREEN, Server, Watch, leave, new_page, visiting
from tests.browser.visit import figure, number, pick, serious, steady

PHONE = {"user_agent": "Mozilla/5.0 (Linux; Android 14) Mobile", "has_touch": True}


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


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Page]:
    """A fresh visit."""
    yield from visiting(server, lambda: visit(browser, server, "/learn"))


@pytest.fixture(scope="module")
def lessons(browser: Browser, server: Server) -> Iterator[Page]:
    """A visit that takes the lessons one after the other; each is taken by one test."""
    yield from visiting(server, lambda: visit(browser, server, "/learn"))


def finding(page: Page) -> str:
    """The sentence that says what came out."""
    return page.locator("p.finding[role=status]").first.inner_text()


def type_number(page: Page, name: str, value: str) -> None:
    """Type into a box and leave it."""
    box = page.get_by_role("textbox", name=name, exact=True)
    box.fill(value)
    box.press("Tab")


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


def test_one_person_more_or_less(lessons, matrix) -> None:
    page = lessons
    expect(page.get_by_role("heading", level=1)).to_have_text("Learn with experiments")
    expect(page.get_by_text("Everything here is a preview")).to_be_visible()
    expect(page.locator(".kicker")).to_have_text("Lesson 1 of 10 · 10 minutes")
    expect(page.get_by_text("factor of at most eepsilon = 1.65")).to_be_visible()
    ratio = page.locator("dl.figures div", has_text="Largest log-ratio").locator("dd")
    expect(ratio).to_have_text("0.5")
    type_number(page, "Epsilon", "2")
    expect(page.get_by_text("factor of at most eepsilon = 7.39")).to_be_visible()
    expect(ratio).to_have_text("2")
    # Somewhere else: the leaf of a grid of 32 x 32 that holds the click.
    shown = page.get_by_role("img", name="True map of")
    size = shown.bounding_box()["width"]
    shown.click(position={"x": 0.52 * size, "y": 0.52 * size})
    (true,) = exact(matrix, matrix.grid.from_cells([[[120, 128], [128, 136]]]))
    expect(page.get_by_text(f"truly {true:,.0f} people, {true + 1:,.0f} with")).to_be_visible()
    pick(page, "Mechanism", "HTF")
    expect(page.locator(".finding", has_text="its cuts depend on the data")).to_be_visible()
    pick(page, "Mechanism", "AG")
    page.get_by_role("button", name="Draw previews of both").click()
    expect(page.get_by_text("over 400 previews a side")).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("^AG, this leaf"))).to_be_visible()
    page.get_by_text("Numbers of the charts").click()
    expect(page.locator("table.numbers").first).to_be_visible()
    answer_after_asking(page, "they become at most 3.3 to 1")


def test_averaging(lessons, matrix) -> None:
    page = lessons
    open_lesson(page, "Ask often enough")
    expect(page.get_by_text("Truly 7 people are in the box")).to_be_visible()
    page.get_by_role("button", name="Redraw once").click()
    expect(page.get_by_text("One map by UG")).to_be_visible()
    page.get_by_role("button", name="100 times", exact=True).click()
    expect(page.get_by_text("The average of 101 redraws is")).to_be_visible()
    box = matrix.grid.from_cells([[[104, 88], [112, 96]]])
    made = UG(epsilon=0.5, grid_size=32)
    answers = [made.release(matrix, rng=seed).answer(box).value[0] for seed in range(101)]
    assert number(figure(page, "Average")) == pytest.approx(sum(answers) / 101, abs=0.051)
    # Rounding gives the true count: the standard error is 0.28.
    assert round(number(figure(page, "Average"))) == exact(matrix, box)[0] == 7
    assert figure(page, "Epsilon spent") == "50.5"
    expect(page.get_by_text("one release, asked 101 ×: 0.5")).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("^The average of 101"))).to_be_visible()
    page.get_by_role("button", name="Start over").click()
    expect(page.get_by_text("No map has been drawn yet.")).to_be_visible()
    answer_after_asking(page, "100 × 0.5 = 50")


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


def test_two_days(page) -> None:
    open_lesson(page, "Hiding small counts")
    pick(page, "Two maps to subtract", "Two days")
    page.get_by_role("button", name="Another hidden cell").click()
    expect(page.get_by_text("so today it holds 9 people")).to_be_visible()
    expect(page.locator("table.numbers", has_text="yesterday")).to_be_visible()


def test_ranking_by_two_metrics(lessons) -> None:
    page = lessons
    open_lesson(page, "Who is best")
    page.get_by_role("button", name="Run and judge twice").click()
    expect(page.get_by_text("the order turns round")).to_be_visible()
    rows = page.locator("table.numbers tbody tr")
    expect(rows).to_have_count(6)
    places = [
        [int(place) for place in rows.filter(has_text=name).locator(".place").all_inner_texts()]
        for name in ("HTF", "UG")
    ]
    # HTF is ahead of UG by one metric and behind it by the other.
    assert places[0][0] < places[1][0]
    assert places[0][1] > places[1][1]
    assert "Beyond chance" in finding(page)
    page.get_by_role("checkbox", name="HTF", exact=True).uncheck()
    expect(page.get_by_text("An error counts as a part of the true answer")).to_be_visible()
    answer_after_asking(page, "makes empty and nearly empty boxes decide")


def test_after_the_noise(lessons) -> None:
    page = lessons
    open_lesson(page, "What may be done")
    page.get_by_role("button", name="Draw the previews").click()
    expect(page.get_by_text("no bias has been found")).to_be_visible()
    plain = number(figure(page, "Standard error"))
    page.get_by_role("switch", name="No negative counts").click()
    expect(page.get_by_text("with no negative counts, the region")).to_be_visible()
    assert "error): more than chance explains" in finding(page)
    assert number(figure(page, "Bias")) > 100_000
    page.get_by_role("switch", name="No negative counts").click()
    page.get_by_role("switch", name="Consistency").click()
    expect(page.get_by_text("with consistency, the region")).to_be_visible()
    assert number(figure(page, "Standard error")) < plain / 5
    answer_after_asking(page, "every empty leaf keeps its surplus")


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


WIDTH = "document.documentElement.scrollWidth"


@pytest.mark.parametrize("windows", [PHONE, LAPTOP_AND_SCREEN], ids=["phone", "window"])
def test_nothing_hangs_over_the_edge(browser, server, windows) -> None:
    phone = windows is PHONE
    size = {"viewport": {"width": 390, "height": 844}}
    page, watch = visit(browser, server, "/learn", **({**size, **PHONE} if phone else {}))
    try:
        for lesson in range(1, 11):
            expect(page.locator(".kicker")).to_contain_text(f"Lesson {lesson} of 10")
            for width, height in [(390, 844)] if phone else LAPTOP_AND_SCREEN:
                page.set_viewport_size({"width": width, "height": height})
                assert steady(page, lambda: page.evaluate(WIDTH)) <= width
                # In one call: a button may go while the page is being looked at.
                over = page.locator("main button:visible").evaluate_all(
                    "(all, width) => all.filter(e => e.getBoundingClientRect().right > width + 1)"
                    ".map(e => e.innerText)",
                    width,
                )
                assert not over
            if lesson < 10:
                page.get_by_role("button", name="Next lesson").click()
        expect(page.locator(".kicker")).to_have_text("Lesson 10 of 10 · 12 minutes")
        assert not watch.found
    finally:
        leave(page)


def slide(page: Page, name: str, keys: str, times: int = 1) -> None:
    """Move a slider by its keys."""
    slider = page.get_by_role("slider", name=name, exact=True)
    slider.focus()
    for _ in range(times):
        slider.press(keys)


def test_cells_that_nobody_is_in(lessons) -> None:
    page = lessons
    page.get_by_role("button", name=re.compile("^7. Cells that")).click()
    expect(page.get_by_text("16,777,216 cells, and trips lie in")).to_be_visible()
    trips = journeys("madeup")
    expect(
        page.get_by_role("img", name=re.compile("^Where trips from one cell go:"))
    ).to_be_visible()
    pick(page, "Places of a trip", "from, via, to")
    found = Occupancy.of(trips.on(3, 64))
    expect(
        page.get_by_text(f"6.9 × 10¹⁰ cells, and trips lie in {found.occupied:,}")
    ).to_be_visible()
    assert number(figure(page, "Highest empty cell")) == found.highest_false(0.1)
    slide(page, "Cells to a side", "End")
    expect(page.get_by_text("1.2 × 10¹⁸ cells, and trips lie in")).to_be_visible()
    expect(page.get_by_text("the same with noise on every cell, part of the map")).to_be_visible()
    # The whole box holds all trips, and noise that hides them.
    slide(page, "Box, cells to a side", "End")
    expect(page.get_by_text(f"It holds {found.trips:,} trips")).to_be_visible()
    expect(page.get_by_text("the noise drowns them")).to_be_visible()
    pick(page, "Places of a trip", "one place")
    expect(page.get_by_text("1,048,576 cells, and trips lie in")).to_be_visible()
    expect(page.get_by_text("the trips show through")).to_be_visible()
    assert not serious(page)
    answer_after_asking(page, "Only sums mean anything.")


def test_a_choice_that_cannot_see(lessons) -> None:
    page = lessons
    page.get_by_role("button", name=re.compile("^8. A choice that")).click()
    expect(page.get_by_text("a lottery gives it 10.")).to_be_visible()
    level = seen(journeys("madeup").on(2, 64), 0.1, 0.3, 10).levels[2]
    assert number(figure(page, "Noise on each")) == round(level.noise)
    expect(page.get_by_role("img", name=re.compile("^Who wins how often"))).to_be_visible()
    ring = page.get_by_role("img", name=re.compile("^True and noisy costs"))
    expect(ring).to_be_visible()
    slide(page, "Candidates (p)", "Home")
    expect(page.get_by_text("its 2 candidates")).to_be_visible()
    expect(page.get_by_text("a lottery gives it 50.")).to_be_visible()
    slide(page, "Epsilon", "End")
    pick(page, "Which cut", "2: columns of the origin")
    expect(page.get_by_text("Cut 2, one of")).to_be_visible()
    page.get_by_text("Numbers of the candidates").click()
    expect(page.locator("table.numbers", has_text="true cost").locator("tbody tr")).to_have_count(2)
    assert not serious(page)
    answer_after_asking(page, "less to choose, while noise does not")


def test_who_must_be_trusted_with_what(lessons) -> None:
    page = lessons
    page.get_by_role("button", name=re.compile("^9. Who must")).click()
    expect(page.get_by_text("of her nothing, while her masks hold")).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("^What she sends"))).to_be_visible()
    expect(page.locator("li", has_text="Who reads the map")).to_be_visible()
    before = finding(page)
    page.get_by_role("button", name="New noise").click()
    assert figure(page, "Epsilon it costs") == "1"
    slide(page, "Are corrupt, in percent", "ArrowRight", 9)
    expect(page.get_by_text("would cost 1.35 in place of 1.")).to_be_visible()
    slide(page, "Drop out, in percent", "End")
    expect(page.get_by_text("Only 10 of 100 people sent a vector")).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("^What she sends"))).to_have_count(0)
    assert finding(page) != before
    assert not serious(page)
    answer_after_asking(page, "More noise from the rest does not help.")


def test_why_streets_are_refined_and_parks_are_not(lessons, matrix) -> None:
    page = lessons
    page.get_by_role("button", name=re.compile("^10. Why streets")).click()
    level = ask(matrix, 1_000_000, 0.1).level(6)
    expect(page.get_by_text(f"{level.by_h(0.75).sum():,} of 64 × 64 cells are")).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("^What is released"))).to_be_visible()
    slide(page, "Unevenness H", "ArrowLeft", 2)
    expect(page.get_by_text(f"{level.by_h(0.1).sum():,} of 64 × 64 cells are")).to_be_visible()
    slide(page, "Level of the cells", "Home")
    expect(page.get_by_text("of 8 × 8 cells are divided")).to_be_visible()
    rows = page.locator("table.numbers tbody tr")
    expect(rows).to_have_count(6)
    assert not serious(page)
    answer_after_asking(page, "everybody in one quarter.")
