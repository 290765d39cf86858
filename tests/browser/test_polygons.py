"""Polygons by hand in a browser: corners by clicks, seen while drawn, ended, given up, dragged."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.test_boxes import at, tags
from tests.browser.visit import (
    MODELS,
    SELECTED,
    drag,
    moved_by,
    names,
    number,
    rows,
    stays,
    unfold,
    wait_until,
)

# Corners of what is drawn now on any map: those that were clicked, and the line to the pointer.
_SKETCH = (
    f"() => {{ const models = {MODELS}"
    + """
  const of = type => models.filter(each => each.type === "GlyphRenderer"
    && each.glyph.type === type && !each.data_source.syncable).map(each => each.data_source)
  const most = sources => Math.max(...sources.map(each => each.data.x.length))
  return [most(of("Scatter")), most(of("Line"))]
}
"""
)
# Whether the maps say what clicks do.
_DRAWS = f"() => {MODELS}.some(each => each.type === 'Label' && each.visible)"
_EDITED = (
    f"() => {MODELS}.some(each => each.type === 'PolyAnnotation' && each.editable && each.visible)"
)

# Texts of the tags as they stand on the first map: pairs that cover each other.
_OVERLAP = (
    f"() => {{ const models = {MODELS}"
    + """
  const pairs = [], ctx = document.createElement("canvas").getContext("2d")
  ctx.font = "bold 12px Inter, system-ui, sans-serif"
  const drawn = models.find(each => each.type === "GlyphRenderer" && each.glyph.type === "Text"
    && each.data_source.columns().includes("lift") && each.data_source.get_length() > 20)
  const map = models.find(each => each.type === "Figure" && each.renderers.includes(drawn))
  const {x_range, y_range, inner_width, inner_height} = map
  const data = Object.fromEntries(
    drawn.data_source.columns().map(name => [name, [...drawn.data_source.get_column(name)]]))
  const places = data.x.map((x, i) => {
    const width = ctx.measureText(data.text[i]).width + 8
    const part = {left: 0, center: 0.5, right: 1}[data.align[i]]
    return [(x - x_range.start) / (x_range.end - x_range.start) * inner_width + data.shift[i]
              - part * width,
            (y_range.end - data.y[i]) / (y_range.end - y_range.start) * inner_height
              + data.lift[i], width]
  }).filter(each => Number.isFinite(each[0]))
  places.forEach((a, i) => places.slice(i + 1).forEach(b => {
    if (a[0] < b[0] + b[2] && b[0] < a[0] + a[2] && Math.abs(a[1] - b[1]) < 18) pairs.push([a, b])
  }))
  return {shown: places.length, covered: pairs}
}
"""
)


def click(page: Page, x: float, y: float, name: str = "Private map") -> None:
    """Click a corner, as slowly as a person does: two quick clicks are a double click."""
    page.mouse.move(*at(page, name, x, y), steps=2)
    page.wait_for_timeout(320)
    page.mouse.click(*at(page, name, x, y))


def sketch(page: Page) -> list[int]:
    found: list[int] = page.evaluate(_SKETCH)
    return found


def mode(page: Page, label: str) -> None:
    page.get_by_role("button", name=label, exact=True).click()
    # The button is pressed at once; what clicks do is other once the server has answered.
    wait_until(page, lambda: page.evaluate(_DRAWS) == (label == "Polygon"))


def test_a_polygon_is_drawn_by_clicks_ended_in_three_ways_and_given_up_in_two(page: Page) -> None:
    mode(page, "Polygon")
    for x, y in ((0.2, 0.2), (0.4, 0.2)):
        click(page, x, y)
    page.mouse.move(*at(page, "Private map", 0.4, 0.4), steps=4)
    wait_until(page, lambda: sketch(page) == [2, 3])
    # Two corners and the pointer make a triangle, which says what it would hold.
    wait_until(page, lambda: any(len(each) == 2 and "%" in each[1] for each in tags(page)))
    # A double click is the last corner and the end.
    page.mouse.dblclick(*at(page, "Private map", 0.4, 0.4))
    wait_until(page, lambda: names(page) == ["Q1", "Q2", "Q3"])
    triangle = rows(page)[2]
    assert [number(triangle[f"{edge} km"]) for edge in ("west", "south", "east", "north")] == (
        pytest.approx([-6, 2, -2, 6], abs=0.1)
    )
    assert sketch(page) == [0, 0]
    # Clicks made corners: no box was selected by them, and the map shows what it showed.
    assert page.locator(SELECTED).count() == 0
    # By a click on the first corner, on the other map.
    for x, y in ((0.7, 0.7), (0.8, 0.7), (0.8, 0.8), (0.7, 0.8), (0.702, 0.7)):
        click(page, x, y, "True map")
    wait_until(page, lambda: len(rows(page)) == 4)
    # By Enter; Backspace takes a corner back before.
    for x, y in ((0.1, 0.7), (0.2, 0.7), (0.2, 0.9), (0.5, 0.95)):
        click(page, x, y)
    page.keyboard.press("Backspace")
    wait_until(page, lambda: sketch(page)[0] == 3)
    page.keyboard.press("Enter")
    wait_until(page, lambda: len(rows(page)) == 5)
    assert number(rows(page)[4]["east km"]) == pytest.approx(-6, abs=0.1)

    # Escape gives it up, and so does another mode.
    before = rows(page)
    for label in ("Escape", "Draw"):
        for x, y in ((0.2, 0.2), (0.4, 0.2), (0.4, 0.4)):
            click(page, x, y)
        wait_until(page, lambda: sketch(page)[0] == 3)
        if label == "Escape":
            page.keyboard.press(label)
        else:
            mode(page, label)
        wait_until(page, lambda: sketch(page) == [0, 0])
        wait_until(page, lambda: all(len(each) != 2 for each in tags(page)))
    assert stays(page, lambda: rows(page))
    assert rows(page) == before


def test_a_double_click_soon_after_a_corner_ends_a_polygon(page: Page) -> None:
    mode(page, "Polygon")
    for x, y in ((0.2, 0.2), (0.4, 0.2)):
        click(page, x, y)
    # Within 300 ms: a corner and a double click are a double click and a click to Bokeh.
    page.mouse.dblclick(*at(page, "Private map", 0.4, 0.4))
    wait_until(page, lambda: names(page) == ["Q1", "Q2", "Q3"])
    assert sketch(page) == [0, 0]


def test_a_polygon_is_selected_moved_reshaped_undone_and_sixty_boxes_join_it(page: Page) -> None:
    mode(page, "Polygon")
    for x, y in ((0.2, 0.2), (0.4, 0.2), (0.4, 0.4), (0.201, 0.2)):
        click(page, x, y)
    wait_until(page, lambda: len(rows(page)) == 3)
    mode(page, "Draw")
    drawn = rows(page)[2]

    def shown(edges: dict[str, float]) -> bool:
        return moved_by(page, drawn, edges)

    # Beside the triangle, within the box around it, there is nothing to select.
    page.mouse.click(*at(page, "True map", 0.22, 0.38))
    page.wait_for_timeout(400)
    page.mouse.click(*at(page, "True map", 0.35, 0.25))
    page.wait_for_function(_EDITED)
    drag(page, "True map", (0.35, 0.25), (0.45, 0.25))
    wait_until(page, lambda: shown({"west km": 2, "east km": 2, "north km": 0, "south km": 0}))
    # By its lower right corner, taken from within, on the other map.
    drag(page, "Private map", (0.497, 0.394), (0.597, 0.494))
    wait_until(page, lambda: shown({"west km": 2, "east km": 4, "south km": -2, "north km": 0}))
    assert len(rows(page)) == 3
    page.keyboard.press("ArrowUp")
    wait_until(page, lambda: shown({"south km": -1.9}))
    page.keyboard.press("Delete")
    wait_until(page, lambda: names(page) == ["Q1", "Q2"])
    for _ in range(3):
        page.keyboard.press("Control+z")
    wait_until(page, lambda: len(rows(page)) == 3 and shown({"west km": 2, "east km": 2}))
    page.keyboard.press("Control+y")
    wait_until(page, lambda: shown({"east km": 4, "south km": -2}))

    # Defects 29 and 30 of the walk: what was read is said, and no tag covers another.
    start = len(rows(page))
    lines = [f"B{n},{200 * n - 6000},{90 * n - 3000},{200 * n - 5000},{90 * n}" for n in range(60)]
    text = "\n".join(["name,x0,y0,x1,y1", "Q1,0,0,90,90", *lines])
    file = {"name": "boxes.csv", "mimeType": "text/csv", "buffer": text.encode()}
    unfold(page, "Save and load")
    page.locator("input[type=file][accept*='.gpkg']").first.set_input_files([file])
    # In one look: the sentence goes after a while.
    said = "61 boxes read from boxes.csv. Q1 is called Q"
    page.get_by_role("status").filter(has_text=said).wait_for()
    wait_until(page, lambda: any(len(each) == 2 * (start + 61) for each in tags(page)))
    overlap = page.evaluate(_OVERLAP)
    assert overlap["shown"] >= 4
    assert overlap["covered"] == []
