"""Runs in a browser: draw previews, read dots and table, watch them on the map, stop them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer import HTF
from explorer.app.kit.labels import PREVIEW
from explorer.cities.catalogue import cities
from explorer.evaluate.repeats import Spread, repeats
from tests.browser.visit import cell, colours, drag, number, picture, rows, stays, still, wait_until


def opened(page: Page, runs: int = 20) -> None:
    page.get_by_role("button", name="Other possible results", exact=True).click()
    slider = page.get_by_role("slider", name="Number of runs")
    slider.focus()
    page.keyboard.press("Home")
    for _ in range(runs // 10 - 1):
        page.keyboard.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", str(runs))


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def drawn(page: Page, runs: int = 20) -> None:
    press(page, "Draw previews")
    expect(page.get_by_text(f"{runs} previews, all drawn")).to_be_visible()


def numbers(page: Page) -> list[list[str]]:
    table = page.get_by_role("region", name="Answers of the previews").get_by_role("row")
    return [row.get_by_role("cell").all_inner_texts() for row in table.all()[1:]]


def test_dots_and_table_say_what_python_says(page) -> None:
    matrix = cities()["madeup"].load(256)[1]
    opened(page)
    drawn(page)
    edges = ("west km", "south km", "east km", "north km")
    boxes = np.array([[number(row[edge]) * 1000 for edge in edges] for row in rows(page)])
    answers = np.array(list(repeats(matrix, HTF(epsilon=1.0), boxes, 20)))
    true = np.array([number(row["true"]) for row in rows(page)])
    spread = Spread.of(answers, true)
    for i, cells in enumerate(numbers(page)):
        assert number(cells[0]) == true[i]
        assert number(cells[1]) == number(rows(page)[i]["private"])
        assert number(cells[2]) == pytest.approx(spread.median[i], abs=0.51)
        low, high = (number(part) for part in cells[3].split(" to "))
        assert [low, high] == pytest.approx([spread.low[i], spread.high[i]], abs=0.51)
        assert number(cells[4]) == pytest.approx(100 * spread.within_5[i], abs=0.51)
        dots = page.get_by_role("img", name=f"Answers to Q{i + 1} in 20 previews")
        expect(dots).to_be_visible()
        assert colours(page, f"Answers to Q{i + 1} in 20 previews") > 5
    expect(page.get_by_text("only because they are previews and not releases")).to_be_visible()
    expect(page.get_by_text("to release 20 times would cost epsilon 20")).to_be_visible()


def test_runs_on_the_map_by_keyboard_and_played_and_stopped(page) -> None:
    own = picture(page, "Private map")
    opened(page)
    # The maps have made room for the panel.
    small = still(page, "Private map")
    drawn(page)
    assert picture(page, "Private map") == small, "nothing plays by itself"
    slider = page.get_by_role("slider", name="Run on the map")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(
        page.get_by_text("Run 1 of 20: a preview with other random noise, not private")
    ).to_be_visible()
    wait_until(page, lambda: picture(page, "Private map") != small)
    press(page, "Play the runs on the map")
    # A look at the page may miss a run.
    run = page.get_by_text(re.compile(r"Run ([3-9]|1\d) of 20"))
    expect(run).to_be_visible()
    press(page, "Pause")
    expect(page.get_by_role("button", name="Play the runs on the map")).to_be_visible()
    wait_until(page, lambda: stays(page, run.inner_text, 25))
    press(page, "Boxes")
    expect(page.get_by_text(PREVIEW)).to_be_visible()
    wait_until(page, lambda: picture(page, "Private map") == own)


def test_a_changed_setting_stops_the_runs_and_marks_them_as_old(page) -> None:
    opened(page, 200)
    press(page, "Draw previews")
    # Of a single run there is nothing to play.
    expect(page.get_by_text(re.compile(r"^([5-9]|\d\d+) of 200 previews"))).to_be_visible()
    epsilon = page.get_by_role("slider", name="Epsilon", exact=True)
    epsilon.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("These runs are of old settings (HTF with epsilon 1,")).to_be_visible()
    expect(page.get_by_text(re.compile(r"Stopped after \d+ of 200 previews"))).to_be_visible()
    expect(page.get_by_role("button", name="Play the runs on the map")).to_be_disabled()
    opened(page, 10)
    press(page, "Draw again")
    expect(page.get_by_text("10 previews, all drawn")).to_be_visible()
    expect(page.get_by_text("These runs are of old settings")).to_have_count(0)
    expect(page.get_by_text("10 previews by HTF with epsilon 0.89")).to_be_visible()


def test_runs_can_be_stopped_and_what_is_drawn_stays(page) -> None:
    opened(page, 200)
    press(page, "Draw previews")
    page.get_by_role("button", name="Stop", exact=True).click()
    said = page.get_by_text(re.compile(r"Stopped after \d+ of 200 previews"))
    expect(said).to_be_visible()
    assert stays(page, said.inner_text)


def test_selected_boxes_alone_and_a_new_box_is_named_as_missing(page) -> None:
    opened(page)
    drawn(page)
    page.get_by_role("button", name="Zoom in").scroll_into_view_if_needed()
    drag(page, "Private map", (0.2, 0.2), (0.3, 0.3))
    expect(page.get_by_text("Not asked in these runs: Q3.")).to_be_visible()
    cell(page, 1, "true").click()
    wait_until(page, lambda: len(numbers(page)) == 1)
    expect(page.get_by_text("Only the 1 selected of 3 boxes.")).to_be_visible()
    press(page, "Draw again")
    expect(page.get_by_text("Not asked in these runs")).to_have_count(0)
