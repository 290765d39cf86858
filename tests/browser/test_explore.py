"""The main job in a browser: slide, draw a box, read true and private, compare with Python."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer import HTF, UG, exact
from explorer.app.kit.labels import CURATOR, DRAWN, PREVIEW
from explorer.cities.catalogue import cities
from tests.browser.visit import (
    MODELS,
    ROW,
    TABLE,
    cell,
    colours,
    drag,
    figure,
    names,
    number,
    pick,
    picture,
    rows,
    stays,
    steady,
    unfold,
    wait_until,
)

#: Columns of the table that take an entry, from the first to the last.
EDITABLE = ("box", "west km", "south km", "east km", "north km")


@pytest.fixture(scope="session")
def matrix():
    """The city that the server shows, on the same cells."""
    return cities()["madeup"].load(256)[1]


def boxes_of(page: Page) -> np.ndarray:
    """The rectangles of the table in metres, as typed there (to ten metres)."""
    edges = ("west km", "south km", "east km", "north km")
    return np.array([[number(row[edge]) * 1000 for edge in edges] for row in rows(page)])


@pytest.mark.journey
def test_the_page_shows_both_maps_figures_and_the_two_example_boxes(seen) -> None:
    page = seen
    assert colours(page, "True map") > 50
    assert colours(page, "Private map") > 50
    assert names(page) == ["Q1", "Q2"]
    expect(page.get_by_role("heading", level=1)).to_have_text("Private map explorer")
    expect(page.get_by_text(PREVIEW)).to_be_visible()
    expect(page.get_by_text(CURATOR).last).to_be_visible()
    leaves = number(figure(page, "Leaves"))
    assert f"{leaves:,.0f} private counts" in page.locator(".summary").inner_text()


@pytest.mark.journey
def test_the_table_says_what_the_python_api_says(seen, matrix) -> None:
    page = seen
    release = HTF(epsilon=1.0).release(matrix, rng=1)
    boxes = boxes_of(page)
    true, answers = exact(matrix, boxes), release.answer(boxes)
    assert number(figure(page, "Leaves")) == release.n_leaves
    for row, t, value, sd in zip(rows(page), true, answers.value, answers.sd, strict=True):
        # The examples lie on whole ten metres, so the table holds their exact edges.
        assert number(row["true"]) == pytest.approx(t, abs=0.51)
        assert number(row["private"]) == pytest.approx(value, abs=0.51)
        low, high = (number(part) for part in row["range of the noise (95 %)"].split(" to "))
        assert high - low == pytest.approx(2 * 1.96 * sd, abs=1.1)


@pytest.mark.journey
def test_sliding_epsilon_by_keyboard_changes_the_numbers(page, matrix) -> None:
    before = figure(page, "Leaves"), rows(page)[0]["private"]
    slider = page.get_by_role("slider", name="Epsilon", exact=True)
    slider.focus()
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    wait_until(page, lambda: figure(page, "Epsilon") == "0.63")
    assert slider.get_attribute("aria-valuetext") == "0.63"
    assert (figure(page, "Leaves"), rows(page)[0]["private"]) != before
    expected = HTF(epsilon=0.63).release(matrix, rng=1).answer(boxes_of(page)).value
    wait_until(page, lambda: abs(number(rows(page)[0]["private"]) - expected[0]) < 0.51)


def test_epsilon_can_be_typed_and_a_wrong_one_is_refused_in_a_sentence(page) -> None:
    box = page.get_by_role("textbox", name="Exact epsilon")
    box.fill("0.137")
    box.press("Enter")
    wait_until(page, lambda: figure(page, "Epsilon") == "0.137")
    for wrong in ("0", "-1", "nan", "inf", "11", "much"):
        box.fill(wrong)
        box.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("Epsilon is")
        expect(box).to_have_value("0.137")
        page.get_by_role("button", name="Close", exact=True).click()
    assert figure(page, "Epsilon") == "0.137"
    # From there the slider goes on beside its marks, and says what counts.
    slider = page.get_by_role("slider", name="Epsilon", exact=True)
    assert slider.get_attribute("aria-valuetext") == "0.137"
    slider.press("ArrowRight")
    wait_until(page, lambda: figure(page, "Epsilon") == "0.15")
    assert slider.get_attribute("aria-valuetext") == "0.15"


@pytest.mark.journey
def test_a_box_is_one_plain_drag_and_its_answers_are_those_of_python(page, matrix) -> None:
    drag(page, "Private map", (0.30, 0.35), (0.55, 0.60))
    wait_until(page, lambda: len(rows(page)) == 3)
    west, south, east, north = boxes_of(page)[2]
    # A fifth of a percent of 20 km: a pixel of the map and the rounding of the table.
    assert [west, north] == pytest.approx([-4000, 3000], abs=60)
    assert [east, south] == pytest.approx([1000, -2000], abs=60)
    # The table rounds edges to 10 m: bound the answers by boxes 10 m smaller and larger.
    inner = [[west + 10, south + 10, east - 10, north - 10]]
    outer = [[west - 10, south - 10, east + 10, north + 10]]
    true = number(rows(page)[2]["true"])
    assert exact(matrix, inner)[0] - 1 <= true <= exact(matrix, outer)[0] + 1
    release = HTF(epsilon=1.0).release(matrix, rng=1)
    private = number(rows(page)[2]["private"])
    close = release.answer([[west, south, east, north]]).value[0]
    assert private == pytest.approx(close, abs=exact(matrix, outer)[0] - exact(matrix, inner)[0])
    drag(page, "True map", (0.7, 0.7), (0.8, 0.8))
    wait_until(page, lambda: names(page) == ["Q1", "Q2", "Q3", "Q4"])


def test_who_aims_before_dragging_draws_a_box_too(page) -> None:
    drag(page, "Private map", (0.30, 0.35), (0.55, 0.60), aim=1.0)
    wait_until(page, lambda: names(page) == ["Q1", "Q2", "Q3"])


def test_a_wheel_that_scrolls_the_page_leaves_the_map_uncovered(page) -> None:
    truth = page.get_by_role("img", name="True map")
    truth.hover()
    before = truth.bounding_box()
    page.mouse.wheel(0, 200)
    wait_until(page, lambda: truth.bounding_box()["y"] < before["y"] - 50)
    assert page.get_by_text("scroll to zoom").count() == 0


def test_a_cell_can_be_edited_and_an_impossible_edit_goes_back(page, matrix) -> None:
    def edit(value: str, key: str) -> None:
        entry = cell(page, 0, "east km").locator("input")
        entry.fill(value)
        entry.press(key)

    page.get_by_role("switch", name="Edit places").click()
    cell(page, 0, "east km").wait_for()
    before = rows(page)[0]["true"]
    edit("2.5", "Enter")
    wait_until(page, lambda: rows(page)[0]["true"] != before)
    assert number(rows(page)[0]["true"]) == pytest.approx(
        exact(matrix, boxes_of(page)[:1])[0], abs=0.51
    )
    edit("-9", "Tab")
    expect(page.get_by_role("alert")).to_contain_text("West must be smaller than east")
    wait_until(page, lambda: number(rows(page)[0]["east km"]) == 2.5)
    # Tab goes from cell to cell and leaves the last of the table as it leaves any field.
    last = len(rows(page)) - 1
    cell(page, last, EDITABLE[0]).locator("input").click()
    for title in EDITABLE:
        expect(cell(page, last, title).locator("input")).to_be_focused()
        page.keyboard.press("Tab")
    expect(page.get_by_role("button", name=f"Delete {names(page)[last]}")).to_be_focused()
    page.keyboard.press("Tab")
    assert page.locator(f"{TABLE} :focus").count() == 0
    page.get_by_role("switch", name="Edit places").click()
    cell(page, 0, "east km").wait_for(state="hidden")


def test_boxes_are_selected_deleted_and_added_without_a_mouse(page) -> None:
    cell(page, 1, "true").click()
    expect(page.locator(ROW).nth(1)).to_contain_class("selected")
    page.get_by_role("button", name=re.compile("^Delete Q")).first.click()
    wait_until(page, lambda: names(page) == ["Q2"])
    page.get_by_role("button", name="Add box").press("Enter")
    wait_until(page, lambda: names(page) == ["Q2", "Q1"])
    page.get_by_role("button", name="Delete box").press("Enter")
    wait_until(page, lambda: names(page) == ["Q2"])


@pytest.mark.parametrize("format", ["CSV", "GeoJSON"])
@pytest.mark.journey
def test_boxes_are_saved_and_read_back(page, format, tmp_path) -> None:
    before = boxes_of(page)
    unfold(page, "Save and load")
    for _ in range(2):  # The same file again is handed out again.
        with page.expect_download() as waiting:
            page.get_by_role("button", name=f"Save as {format}").click()
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    for _ in range(2):
        left = len(rows(page))
        page.get_by_role("button", name=re.compile("^Delete Q")).first.click()
        wait_until(page, lambda left=left: len(rows(page)) == left - 1)
    page.locator("input[type=file]").last.set_input_files(path)
    wait_until(page, lambda: len(rows(page)) == 2)
    # The table shows the rows first, and then their answers.
    steady(page, lambda: rows(page))
    np.testing.assert_allclose(boxes_of(page), before, atol=10)


@pytest.mark.journey
def test_another_mechanism_brings_its_own_controls_and_keeps_the_boxes(page, matrix) -> None:
    drag(page, "Private map", (0.2, 0.2), (0.3, 0.3))
    wait_until(page, lambda: len(rows(page)) == 3)
    pick(page, "Mechanism", "UG")
    unfold(page, "Settings of UG")
    expect(page.get_by_role("slider", name="Grid size")).to_be_visible()
    expect(page.get_by_role("slider", name="T", exact=True)).to_have_count(0)
    wait_until(page, lambda: "by UG" in page.locator(".summary").inner_text())
    # The automatic control shows what the mechanism chose.
    chosen = UG(epsilon=1.0).release(matrix, rng=1).facts["grid size"]
    slider = page.get_by_role("slider", name="Grid size")
    wait_until(page, lambda: slider.get_attribute("aria-valuenow") == f"{chosen:.0f}")
    assert len(rows(page)) == 3


# Sets a slider when it has been drawn and does not listen yet, as a quick mechanism does.
_SET_WHILE_DRAWN = (
    f"() => {{ const drawn = {MODELS}"
    + """.find(each => each.type === "panel.models.esm.ReactComponent")
  const kind = drawn.default_view.prototype, plain = kind.after_rendered
  kind.after_rendered = function (...given) {
    const data = this.model.data
    if (data.label === "c") data.setv({value: 20}, {sync: false})
    return plain.apply(this, given)
  }
}
"""
)


def test_a_value_that_is_set_while_its_slider_is_drawn_is_shown(page) -> None:
    page.evaluate(_SET_WHILE_DRAWN)
    pick(page, "Mechanism", "UG")
    unfold(page, "Settings of UG")
    slider = page.get_by_role("slider", name="c", exact=True)
    slider.wait_for()
    wait_until(page, lambda: slider.get_attribute("aria-valuenow") == "20")


def test_the_difference_has_its_own_title_bar_and_colours(seen) -> None:
    page = seen
    page.get_by_role("button", name="difference", exact=True).click()
    expect(page.get_by_role("heading", name="Difference")).to_be_visible()
    expect(page.get_by_role("img", name="blue too few, orange too many")).to_be_visible()
    expect(page.get_by_role("img", name="Points per")).to_be_visible()
    assert colours(page, "Difference map") > 30
    page.get_by_role("button", name="private", exact=True).first.click()
    expect(page.get_by_role("heading", name="Private", level=2)).to_be_visible()


def test_quick_changes_one_after_the_other_all_arrive(seen) -> None:
    page = seen
    # Two publishes in a row once left the second one in Panel's queue.
    for _ in range(6):
        for choice in ("difference", "private"):
            page.get_by_role("button", name=choice, exact=True).first.click()
            title = page.get_by_role("heading", name=choice.capitalize(), level=2)
            expect(title).to_be_visible()


@pytest.mark.journey
def test_a_release_is_drawn_once_and_can_be_saved(page, tmp_path) -> None:
    from explorer import Release

    unfold(page, "Release", "View")
    page.get_by_role("button", name="Draw a release").click()
    # The price stands on a button of its own and is read out; presses of the first spend nothing.
    priced = page.get_by_role("button", name="Spend 1, no cap is set")
    expect(priced).to_be_visible()
    page.get_by_role("button", name="Draw a release").dblclick()
    expect(page.get_by_role("status").filter(has_text="spends epsilon 1 of the")).to_be_visible()
    expect(page.get_by_text(PREVIEW)).to_be_visible()
    priced.press("Enter")
    expect(page.get_by_text(DRAWN)).to_be_visible()
    private = rows(page)[0]["private"]
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_role("button", name="linear").click()
    assert stays(page, lambda: rows(page)[0]["private"])
    assert rows(page)[0]["private"] == private
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save the release").click()
    path = tmp_path / "release.parquet"
    waiting.value.save_as(path)
    release = Release.load(path)
    assert not release.preview
    assert release.answer(boxes_of(page)).value[0] == pytest.approx(number(private), abs=0.51)
    page.get_by_role("slider", name="Epsilon", exact=True).press("ArrowRight")
    expect(page.get_by_text(PREVIEW)).to_be_visible()


@pytest.mark.journey
def test_zooming_shows_more_and_the_whole_map_comes_back(seen) -> None:
    page = seen
    whole = picture(page, "True map")
    for _ in range(3):
        page.get_by_role("button", name="Zoom in").click()
    wait_until(page, lambda: picture(page, "True map") != whole)
    page.get_by_role("button", name="Whole map").click()
    wait_until(page, lambda: picture(page, "True map") == whole)
