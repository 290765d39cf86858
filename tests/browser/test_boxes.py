"""Boxes by hand in a browser: numbers at them, select, move, resize, delete, undo, redo."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page

from tests.browser.visit import (
    MODELS,
    drag,
    figure,
    moved_by,
    names,
    number,
    rows,
    steady,
    wait_until,
)

# The texts that are drawn at all boxes, and at the box that is being dragged, on each map.
_TAGS = (
    f"() => {{ const models = {MODELS}"
    + """
  return models.filter(each => each.type === "Figure")
    .map(map => map.renderers.filter(each => each.visible && each.glyph.type === "Text"
      && each.data_source.columns().includes("lift"))
      .map(each => [...(each.data_source.get_column("text") ?? [])]))
    .filter(each => each.length)
}
"""
)


def tags(page: Page) -> list[list[str]]:
    """Of the boxes, and of the one that is dragged: texts on the first map and on the second."""
    first, second = page.evaluate(_TAGS)
    return [[*one, *other] for one, other in zip(first, second, strict=False) if one]


def at(page: Page, name: str, x: float, y: float) -> tuple[float, float]:
    """A place on a map, in parts of its width and height from the upper left."""
    box = page.get_by_role("img", name=name).bounding_box()
    assert box is not None
    return box["x"] + box["width"] * x, box["y"] + box["height"] * y


def said(page: Page) -> list[str]:
    """The tags of the boxes of the table: those on the truth, then those on the private map."""
    return next(each for each in tags(page) if len(each) == 2 * len(rows(page)))


def test_the_first_screen_carries_the_numbers_of_both_boxes_at_them(page: Page) -> None:
    wait_until(page, lambda: any("%" in text for each in tags(page) for text in each))
    found, table = said(page), rows(page)
    assert not any("-" in row[column] for row in table for column in ("difference", "error %"))
    assert {row["error %"][0] for row in table} <= {"−", "+", "0"}
    for place, row in enumerate(table):
        assert found[place].split() == [row["box"], row["true"]]
        name, private, *error = found[place + 2].split()
        assert (name, private) == (row["box"], row["private"])
        off = float(re.sub("[^0-9.]", "", error[0]))
        assert off == pytest.approx(abs(number(row["error %"])), abs=0.51)


def test_a_box_counts_while_it_is_drawn(page: Page) -> None:
    page.mouse.move(*at(page, "Private map", 0.3, 0.3))
    page.mouse.down()
    page.mouse.move(*at(page, "Private map", 0.4, 0.4))
    page.mouse.move(*at(page, "Private map", 0.45, 0.45))
    wait_until(page, lambda: any(len(each) == 2 and "%" in each[1] for each in tags(page)))
    draft = steady(page, lambda: next(each for each in tags(page) if len(each) == 2))
    page.mouse.up()
    wait_until(page, lambda: len(rows(page)) == 3)
    assert rows(page)[2]["true"] == draft[0]
    wait_until(page, lambda: all(len(each) != 2 for each in tags(page)))


_ROWS = """
(mark) => {
  const all = root => [...root.querySelectorAll("*")].flatMap(
    each => each.shadowRoot ? [each.shadowRoot, ...all(each.shadowRoot)] : [])
  const rows = all(document).flatMap(root => [...root.querySelectorAll("table.values tbody tr")])
  if (mark) for (const row of rows) row.drawnBefore = true
  const frame = rows[0].closest(".scroll").getBoundingClientRect()
  const last = rows.at(-1).getBoundingClientRect()
  return [rows.map(row => Boolean(row.drawnBefore)), Math.abs(frame.bottom - last.bottom)]
}
"""


def test_rows_that_stay_are_not_made_anew_when_a_box_comes_or_goes(page: Page) -> None:
    page.evaluate(_ROWS, True)
    drag(page, "Private map", (0.2, 0.2), (0.3, 0.3))
    wait_until(page, lambda: len(rows(page)) == 3)
    kept, over = page.evaluate(_ROWS, False)
    assert kept == [True, True, False]
    # The table has grown by the row, no more and no less.
    assert over < 4
    assert [row["box"] for row in rows(page)] == ["Q1", "Q2", "Q3"]
    drawn = rows(page)[2]
    page.evaluate(_ROWS, True)
    page.get_by_role("button", name="Delete Q1").click()
    wait_until(page, lambda: names(page) == ["Q2", "Q3"])
    kept, over = page.evaluate(_ROWS, False)
    assert kept == [True, True]
    assert over < 4
    assert rows(page)[1] == drawn


@pytest.mark.journey
def test_a_box_is_selected_moved_resized_deleted_and_all_of_it_undone(page: Page) -> None:
    before = rows(page)
    drag(page, "Private map", (0.2, 0.2), (0.3, 0.3))
    wait_until(page, lambda: len(rows(page)) == 3)
    drawn = rows(page)[2]

    def shown(edges: dict[str, float]) -> bool:
        return moved_by(page, drawn, edges)

    page.mouse.click(*at(page, "True map", 0.25, 0.25))
    page.wait_for_function(
        f"() => {MODELS}.some("
        "each => each.type === 'BoxAnnotation' && each.editable && each.visible)"
    )
    # By its inside: a tenth of 20 km to the right.
    drag(page, "True map", (0.25, 0.25), (0.35, 0.25))
    wait_until(page, lambda: shown({"west km": 2, "east km": 2, "north km": 0}))
    # By its right side.
    drag(page, "Private map", (0.4, 0.25), (0.5, 0.25))
    wait_until(page, lambda: shown({"west km": 2, "east km": 4}))
    assert len(rows(page)) == 3
    page.keyboard.press("ArrowUp")
    wait_until(page, lambda: shown({"west km": 2, "north km": 0.1}))
    page.keyboard.press("Delete")
    wait_until(page, lambda: names(page) == ["Q1", "Q2"])
    for _ in range(2):
        page.keyboard.press("Control+z")
    wait_until(page, lambda: len(rows(page)) == 3 and shown({"west km": 2, "east km": 4}))
    for _ in range(3):
        page.keyboard.press("Control+z")
    wait_until(page, lambda: rows(page) == before)
    page.keyboard.press("Control+y")
    wait_until(page, lambda: len(rows(page)) == 3 and shown({"west km": 0, "east km": 0}))


def test_a_setting_is_undone_too_and_a_field_keeps_its_own_keys(page: Page) -> None:
    box = page.get_by_role("textbox", name="Exact epsilon")
    box.fill("0.5")
    box.press("Enter")
    wait_until(page, lambda: figure(page, "Epsilon") == "0.5")
    # In a field Delete is the field's.
    page.mouse.click(*at(page, "True map", 0.48, 0.48))
    box.press("Delete")
    assert names(page) == ["Q1", "Q2"]
    page.get_by_role("img", name="True map").click(position={"x": 5, "y": 5})
    box.evaluate("each => each.blur()")
    page.keyboard.press("Control+z")
    wait_until(page, lambda: figure(page, "Epsilon") == "1")
