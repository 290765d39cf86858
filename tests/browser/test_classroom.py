"""A class: a teacher's page and two participants, reading the numbers as a person would."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import Server, Watch, troubles
from tests.browser.visit import number

PHONE = {
    "viewport": {"width": 390, "height": 844},
    "is_mobile": True,
    "has_touch": True,
    "user_agent": "Mozilla/5.0 (Linux; Android 14) Mobile",
}


@pytest.fixture
def visit(browser: Browser, server: Server) -> Iterator[Callable[..., Page]]:
    """Open pages of the class; each fails on whatever a page must not do."""
    before, pages, watches = len(server.log), [], []

    def open_one(address: str = "class", **context: object) -> Page:
        options = {"viewport": {"width": 1366, "height": 768}, **context}
        page = browser.new_context(**options).new_page()  # type: ignore[arg-type]
        watches.append(Watch(page, server.url))
        pages.append(page)
        page.goto(f"{server.url}/{address}")
        return page

    yield open_one
    for page in pages:
        page.wait_for_timeout(300)
        page.context.close()
    assert not [line for watch in watches for line in watch.found]
    assert not troubles("".join(server.log[before:]))


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def said(page: Page) -> Locator:
    """The sentence about all answers."""
    return page.locator("p.finding", has_text="all previews")


def figure(page: Page, label: str) -> str:
    labelled = page.locator("dl.figures div", has=page.get_by_text(label, exact=True))
    return labelled.locator("dd").inner_text()


def create(page: Page) -> str:
    """Create a class and ask the first question; returns the code."""
    button(page, "Create a class").click()
    expect(page.locator(".code")).not_to_be_empty()
    page.get_by_role("img", name=re.compile("True map")).wait_for()
    button(page, "Ask the class").click()
    expect(page.get_by_text("Nobody has answered yet.")).to_be_visible()
    # Not before it is painted: its text as people see it is empty until then.
    expect(page.locator(".code")).to_be_visible()
    return page.locator(".code").inner_text()


def draw(page: Page) -> float:
    """Draw an answer; returns it as the page says it."""
    before = page.locator(".verdict")
    old = before.inner_text() if before.count() else ""
    button(page, "Draw my answer").click()
    expect(page.locator(".verdict")).not_to_have_text(old)
    return number(page.locator(".verdict").inner_text().removeprefix("Your answer:"))


@pytest.mark.journey
def test_two_participants_answer_and_the_teacher_sees_all(visit: Callable[..., Page]) -> None:
    teacher = visit()
    code = create(teacher)
    one, two = visit(), visit(f"class?class={code.replace(' ', '')}", **PHONE)
    field = one.get_by_label("Class code")
    field.click()
    one.keyboard.type(code.lower())
    one.keyboard.press("Enter")
    expect(one.get_by_text("How many people are in the box")).to_be_visible()
    expect(teacher.get_by_text("2 participants in the class now.")).to_be_visible()

    answers = [draw(one), draw(two), draw(two)]
    for page in (teacher, one, two):
        expect(said(page)).to_contain_text("3 answers of 2 participants")
        assert number(figure(page, "Mean")) == pytest.approx(sum(answers) / 3, abs=1.01)
    expect(two.get_by_text("You have drawn 2.")).to_be_visible()
    assert two.evaluate("document.documentElement.scrollWidth") == 390

    # A reload is the same participant, with the answers of before and a map of their own.
    expect(two.get_by_role("img", name=re.compile("Your private map"))).to_be_visible()
    two.reload()
    expect(two.get_by_text("You have drawn 2.")).to_be_visible()
    expect(teacher.get_by_text("2 participants in the class now.")).to_be_visible()
    expect(one.get_by_text("This screen holds no exact counts")).to_be_visible()
    expect(teacher.get_by_text("Only this computer can open it")).to_be_visible()

    # The wall gets what participants get, in large type.
    wall = visit(f"class?class={code.replace(' ', '')}&view=projector")
    expect(wall.locator(".count")).to_contain_text("3 answers")
    expect(wall.locator(".wall")).to_have_text(code)

    # The bars in numbers, as the table says them, hold all answers.
    teacher.get_by_text("Bars in numbers").click()
    rows = teacher.get_by_role("table", name="Bars with answers").locator("tbody tr")
    bars = [
        [number(x) for x in row.inner_text().replace(" to ", "\t").split("\t")]
        for row in rows.all()
    ]
    assert sum(count for _, _, count in bars) == 3
    assert all(any(low <= each <= high for low, high, _ in bars) for each in answers)

    true = number(figure(teacher, "True count"))
    expect(said(teacher)).to_contain_text(f"true count {true:,.0f}")
    close = sum(abs(each - true) <= 0.1 * true for each in answers) / 3
    assert figure(teacher, "Within 10 %") == f"{100 * close:.0f} %"
    expect(said(one)).to_contain_text("The truth is not shown yet.")
    for page in (one, two, wall):
        assert f"{true:,.0f}" not in page.locator("body").inner_text()
    assert one.get_by_text("True count").count() == 0
    teacher.get_by_label("Show the truth to the class").click()
    for page in (one, two):
        expect(said(page)).to_contain_text(f"true count {true:,.0f}")
    expect(wall.locator(".count")).to_contain_text(f"true count {true:,.0f}")

    # A new question, then a reload of the teacher's page, then the end.
    teacher.get_by_label("Epsilon").fill("1")
    teacher.keyboard.press("Enter")
    button(teacher, "Ask the class").click()
    for page in (one, two):
        expect(page.get_by_text("epsilon 1 answers")).to_be_visible()
        expect(page.get_by_text("Nobody has answered yet.")).to_be_visible()
    draw(one)
    teacher.reload()
    expect(teacher.locator(".code")).to_have_text(code)
    expect(said(teacher)).to_contain_text("1 answer of 1 participant")
    with teacher.expect_download() as saved:
        teacher.get_by_text("Save all answers").click()
    lines = saved.value.path().read_text().splitlines()
    assert [line.split(",")[0] for line in lines] == ["question", "1", "1", "1", "2"]
    # A double click closes nothing: its second half lands on the way back.
    button(teacher, "Close the class").dblclick()
    expect(button(teacher, "Close the class")).to_be_visible()
    button(teacher, "Close the class").click()
    button(teacher, "Close it for 2 participants, lose 4 answers").click()
    for page in (teacher, one, two, wall):
        expect(page.get_by_text("The class is over.")).to_be_visible()
        expect(button(page, "Join")).to_be_visible()


def test_a_wrong_code_is_one_sentence_and_the_keyboard_is_enough(
    visit: Callable[..., Page],
) -> None:
    teacher = visit()
    code = create(teacher)
    page = visit("class?class=AAAAAAAA")
    sentence = "There is no class with this code: ask the teacher for the code on the screen."
    expect(page.get_by_role("alert")).to_have_text(sentence)
    page.get_by_label("Class code").focus()
    page.keyboard.type("<img src=x>")
    page.keyboard.press("Tab")
    expect(button(page, "Join")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text(sentence)
    # A person reads the sentence before typing again.
    page.wait_for_timeout(1500)
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Control+A")
    page.keyboard.type(code, delay=40)
    expect(page.get_by_label("Class code")).to_have_value(code)
    page.keyboard.press("Enter")
    draws = button(page, "Draw my answer")
    expect(draws).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    for _ in range(30):
        if draws.evaluate("e => e.getRootNode().activeElement === e"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".verdict")).to_contain_text("Your answer:")
    expect(said(teacher)).to_contain_text("1 answer of 1 participant")
    button(teacher, "Close the class").click()
    button(teacher, "Close it for 1 participant, lose 1 answer").click()
    expect(page.get_by_text("The class is over.")).to_be_visible()
