"""The replay in a browser: open it, step, play, cut the tree, and read what it says."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer import HTF
from explorer.app.kit.labels import PREVIEW
from explorer.cities.catalogue import cities
from explorer.inspection.growth import Growth
from tests.browser.visit import cell, drag, number, pick, picture, rows, stays, still, wait_until


@pytest.fixture(scope="module")
def growth() -> Growth:
    """Of the preview that the page opens with."""
    return Growth(HTF(epsilon=1.0).release(cities()["madeup"].load(256)[1], rng=1))


def opened(page: Page) -> None:
    page.get_by_role("button", name="How it was built", exact=True).click()
    expect(step(page)).to_contain_text("none is cut any more")


def step(page: Page):
    """The sentence about the step."""
    return page.locator(".summary", has_text="epsilon spent so far")


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def answers(page: Page) -> list[list[str]]:
    """The table of answers, row by row without the names of the boxes."""
    table = page.get_by_role("region", name="What the boxes' answers would be").get_by_role("row")
    return [row.get_by_role("cell").all_inner_texts() for row in table.all()[1:]]


def test_step_by_step_from_the_start(page, growth) -> None:
    opened(page)
    # The maps have made room for the panel; it opens at the end, where they show everything.
    whole = still(page, "Private map")
    expect(step(page)).to_contain_text("epsilon spent so far 1 of 1")
    press(page, "To the start")
    expect(step(page)).to_contain_text(f"Level 0 of {growth.levels}: 1 piece")
    expect(page.get_by_text(f"Height 0 of {growth.levels} of a preview")).to_be_visible()
    expect(page.get_by_role("button", name="Step back")).to_be_disabled()
    for level in (1, 2, 3):
        before = picture(page, "Private map")
        press(page, "Step forward")
        n = growth.pieces(int(growth.level_ends[level]))
        expect(step(page)).to_contain_text(f"Level {level} of {growth.levels}: {n} piece")
        wait_until(page, lambda seen=before: picture(page, "Private map") != seen)
    press(page, "Step back")
    expect(step(page)).to_contain_text(f"Level 2 of {growth.levels}")
    press(page, "Splits")
    press(page, "Step forward")
    expect(step(page)).to_contain_text(f"Level 3 of {growth.levels}, split 1 of")
    press(page, "To the end")
    expect(step(page)).to_contain_text("epsilon spent so far 1 of 1")
    wait_until(page, lambda: picture(page, "Private map") == whole)


def test_a_height_chosen_by_keyboard_says_what_python_says(page, growth) -> None:
    opened(page)
    slider = page.get_by_role("slider", name="Show the tree up to level")
    slider.focus()
    page.keyboard.press("Home")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    cut = growth.at(int(growth.level_ends[5]))
    expect(step(page)).to_contain_text(f"Level 5 of {growth.levels}: {cut.n_leaves} pieces")
    edges = ("west km", "south km", "east km", "north km")
    boxes = np.array([[number(row[edge]) * 1000 for edge in edges] for row in rows(page)])
    true, private, _, final = np.array(
        [[number(cells[i]) for cells in answers(page)] for i in (0, 1, 2, 3)]
    )
    np.testing.assert_allclose(private, cut.answer(boxes).value, atol=0.51)
    np.testing.assert_allclose(final, growth.release.answer(boxes).value, atol=0.51)
    np.testing.assert_allclose(true, [number(row["true"]) for row in rows(page)], atol=0.51)
    said = step(page).inner_text()
    spent = sum(part for _, part in growth.spent(int(growth.level_ends[5])))
    assert number(re.search(r"so far ([\d.]+)", said)[1]) == pytest.approx(spent, rel=0.01)
    bar = page.get_by_role("img", name=re.compile("Budget: .* spent so far"))
    assert re.search(r"Budget: ([\d.]+) of 1 spent", bar.get_attribute("aria-label"))


def test_play_runs_to_the_end_and_pause_holds_it(page) -> None:
    opened(page)
    press(page, "To the start")
    # It begins slowly, so that even a busy machine pauses before the end.
    press(page, "Play")
    # A look at the page may miss a level.
    expect(step(page)).to_contain_text(re.compile(r"Level ([2-9]|1\d) of"))
    press(page, "Pause")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    wait_until(page, lambda: stays(page, step(page).inner_text, 25))
    assert "none is cut any more" not in step(page).inner_text()
    press(page, "Fast")
    press(page, "Play")
    expect(step(page)).to_contain_text("none is cut any more")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_a_new_picture_stops_the_player_and_closing_gives_the_map_back(page) -> None:
    whole = picture(page, "Private map")
    opened(page)
    press(page, "To the start")
    press(page, "Play")
    expect(step(page)).to_contain_text(re.compile("Level [1-9] of"))
    pick(page, "Mechanism", "AG")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    expect(step(page)).to_contain_text("of 2: ")
    # How far it came depends on the machine; a cut below the end is kept for the next picture.
    press(page, "To the start")
    expect(step(page)).to_contain_text("Level 0 of 2: ")
    press(page, "Step forward")
    expect(step(page)).to_contain_text("Level 1 of 2: ")
    pick(page, "Mechanism", "HTF")
    expect(page.get_by_text(re.compile("Height . of .* of a preview"))).to_be_visible()
    press(page, "Boxes")
    expect(page.get_by_text(PREVIEW)).to_be_visible()
    wait_until(page, lambda: picture(page, "Private map") == whole)


def test_boxes_drawn_and_rows_selected_while_it_is_open(page) -> None:
    opened(page)
    press(page, "To the start")
    page.get_by_role("button", name="Zoom in").scroll_into_view_if_needed()
    drag(page, "Private map", (0.2, 0.2), (0.3, 0.3))
    wait_until(page, lambda: len(answers(page)) == 3)
    cell(page, 1, "true").click()
    wait_until(page, lambda: len(answers(page)) == 1)
    assert number(answers(page)[0][0]) == number(rows(page)[1]["true"])
