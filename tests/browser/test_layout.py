"""What stands in one window: maps, answers, the header; two maps in one place; a presentation."""

from itertools import combinations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import open_page, resize, visiting
from tests.browser.visit import CELL, MODELS, TITLE, drag, inside, rows, steady, wait_until

#: Of the first element around a map that cuts it off.
_CLIP = """
map => {
  for (let each = map; each; each = each.parentNode ?? each.host)
    if (each instanceof Element && getComputedStyle(each).clipPath !== "none")
      return getComputedStyle(each).clipPath
  return ""
}
"""
TRUTH, PRIVATE = "True map", "Private map"


@pytest.fixture
def page(browser, server):
    yield from visiting(server, lambda: open_page(browser, server))


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def look_at_header(page: Page, width: int) -> None:
    """Every way out of the page can be pressed, and none lies on another."""
    found = [each.bounding_box() for each in page.locator("header a, header button").all()]
    boxes = [each for each in found if each is not None]
    assert len(boxes) >= 8
    assert all(0 <= each["x"] <= each["x"] + each["width"] <= width for each in boxes)
    for one, other in combinations(boxes, 2):
        beside = (
            one["x"] + one["width"] <= other["x"] + 1 or other["x"] + other["width"] <= one["x"] + 1
        )
        above = (
            one["y"] + one["height"] <= other["y"] + 1
            or other["y"] + other["height"] <= one["y"] + 1
        )
        assert beside or above


#: Counts how often anything on the page asks to be called again at once.
_ASKED = """
() => {
  window.asked = 0
  const post = MessagePort.prototype.postMessage
  MessagePort.prototype.postMessage = function (...given) {
    window.asked++
    return post.apply(this, given)
  }
}
"""


def test_a_table_at_rest_or_being_edited_leaves_the_processor_alone(page) -> None:
    page.evaluate(_ASKED)

    def quiet() -> bool:
        page.evaluate("window.asked = 0")
        page.wait_for_timeout(200)
        return page.evaluate("window.asked") < 100

    wait_until(page, quiet)
    page.get_by_role("switch", name="Edit places").click()
    page.get_by_role("spinbutton", name="south km of Q1").click()
    page.set_viewport_size({"width": 1300, "height": 768})
    wait_until(page, quiet)


@pytest.mark.journey
def test_maps_and_four_answers_stand_in_a_laptops_window(page) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    drag(page, PRIVATE, (0.1, 0.1), (0.3, 0.3))
    wait_until(page, lambda: len(rows(page)) == 3)
    drag(page, TRUTH, (0.7, 0.7), (0.9, 0.9))
    wait_until(page, lambda: len(rows(page)) == 4)
    maps = [page.get_by_role("img", name=name) for name in (TRUTH, PRIVATE)]
    parts = [*maps, page.get_by_role("button", name="Draw", exact=True)]
    parts += page.get_by_role("row").all()
    assert len(parts) == 8, "maps, tools, the header of the table, four rows"
    window = {"x": 0, "y": 48, "width": 1366, "height": 720}
    assert all(inside(part.bounding_box(), window) for part in parts)
    for one, bar in zip(maps, page.locator(".bar").all(), strict=True):
        frame, found = one.bounding_box(), bar.bounding_box()
        assert frame["width"] >= 452
        assert frame["height"] >= 452
        # At the lower right, low enough and narrow enough for the map and its scale bar.
        assert inside(found, frame)
        assert found["x"] > frame["x"] + 0.4 * frame["width"]
        assert found["height"] < 0.16 * frame["height"]
    # Every title and every answer is there in full.
    cut = """es => es.filter(e => e.innerText.trim() && e.offsetParent
        && e.scrollWidth > e.clientWidth + 1).length"""
    assert page.locator(TITLE).evaluate_all(cut) == 0
    assert page.locator(CELL).evaluate_all(cut) == 0
    for width, height in ((1920, 1080), (1024, 768)):
        resize(page, width, height)
        look_at_header(page, width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_maps_that_show_different_things_have_different_bars_in_their_frames(page) -> None:
    spoken = [page.get_by_role("img", name=name) for name in ("Points per", "Private − true")]
    expect(spoken[0]).to_have_count(1)  # two equal bars are spoken once
    press(page, "difference")
    expect(spoken[1]).to_be_visible()
    for bar, name in zip(spoken, (TRUTH, "Difference map"), strict=True):
        one = page.get_by_role("img", name=name)
        wait_until(page, lambda bar=bar, one=one: inside(bar.bounding_box(), one.bounding_box()))
    press(page, "Swipe")
    # In one place both can be read whole while each map has half of it.
    # While they move from one frame into the other, one of them is not there.

    def beside() -> bool:
        left, right = (bar.bounding_box() for bar in spoken)
        return left is not None and right is not None and left["x"] < right["x"]

    wait_until(page, beside)
    left, right = steady(page, lambda: [bar.bounding_box() for bar in spoken])
    assert left["x"] + left["width"] <= right["x"]
    middle = steady(page, page.get_by_role("img", name=TRUTH).bounding_box)
    half = middle["x"] + middle["width"] / 2
    assert left["x"] + left["width"] <= half <= right["x"]
    # A finger on a bar is one on its map: a box is drawn from there.
    before = len(rows(page))
    x, y = right["x"] + right["width"] / 2, right["y"] + right["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 40, y - 60)
    page.mouse.move(x - 80, y - 120)
    page.mouse.up()
    wait_until(page, lambda: len(rows(page)) == before + 1)


@pytest.mark.journey
def test_one_map_lies_over_the_other_as_far_as_a_slider(page) -> None:
    press(page, "Swipe")
    maps = [page.get_by_role("img", name=name) for name in (TRUTH, PRIVATE)]

    def places() -> list[dict]:
        return [each.bounding_box() for each in maps]

    wait_until(page, lambda: places()[0] == places()[1])
    assert "50%" in maps[1].evaluate(_CLIP)
    slider = page.get_by_role("slider", name="Swipe")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    wait_until(page, lambda: "49%" in maps[1].evaluate(_CLIP))
    press(page, "Both")
    wait_until(page, lambda: places()[1]["x"] > places()[0]["x"] + places()[0]["width"])
    assert maps[1].evaluate(_CLIP) == ""


#: The shown titles of the table, and by how many pixels the last column hangs over its edge.
_SHOWN = """
() => {
  const all = (root, name) => [...root.querySelectorAll("*")].flatMap(e => [
    ...(e.matches(name) ? [e] : []), ...(e.shadowRoot ? all(e.shadowRoot, name) : [])])
  const [table] = all(document, "table.values")
  const edge = table.parentElement.getBoundingClientRect().right
  const shown = [...table.tHead.rows[0].cells].filter(each => each.offsetWidth > 1)
  return [shown.map(each => each.innerText.trim()).filter(each => each !== "delete"),
          Math.max(...shown.map(each => each.getBoundingClientRect().right)) - edge]
}
"""


def test_the_table_beside_the_maps_shows_whole_columns_when_the_drawer_was_closed(page) -> None:
    """Its columns were as wide as below the maps, or only the true counts were there."""

    def shows(titles: list[str]) -> bool:
        shown, over = page.evaluate(_SHOWN)
        return over <= 1 and shown[: len(titles)] == titles and shown[-1] == titles[-1]

    resize(page, 1366, 768)
    every = ["box", "true", "private", "difference", "noise / uneven areas", "error %"]
    for _ in range(2):
        press(page, "Close drawer")
        wait_until(page, lambda: shows(["box", "true", "private", "difference"]))
        press(page, "Open drawer")
        wait_until(page, lambda: shows([*every, "range of the noise (95 %)", "leaves"]))


def test_an_open_panel_leaves_the_maps_as_large_as_they_are_and_cuts_no_column(page) -> None:
    resize(page, 1366, 768)
    maps = [page.get_by_role("img", name=name) for name in (TRUTH, PRIVATE)]

    def shows(every: bool) -> bool:
        """The leaves, in the first of the two tables: all of their columns or the first ones."""
        shown, over = page.evaluate(_SHOWN)
        whole = {"leaf", "private", "true", "error"} <= {*shown}
        return over <= 1 and whole and ("why it ended" in shown) == every

    for act, every in (("All areas", True), ("Close drawer", False)):
        press(page, act)
        wait_until(page, lambda every=every: shows(every))
        for each in maps:
            box = steady(page, each.bounding_box)
            assert min(box["width"], box["height"]) >= 452


#: Of each map its size in pixels, and of each name of a place on it x0, y0, x1, y1 from its lower
#: left corner.
_NAMES = f"""
() => {{
  const pen = document.createElement("canvas").getContext("2d")
  const found = []
  for (const fig of {MODELS}.filter(each => each.type === "Figure"))
    for (const {{glyph, data_source, visible}} of fig.renderers) {{
      const of = data_source?.get_column?.("text")
      if (glyph?.type !== "Text" || !data_source.get_column("kind") || !visible) continue
      pen.font = `${{glyph.text_font_size.value}} system-ui, sans-serif`
      const {{x_range, y_range, inner_width, inner_height}} = fig
      const at = (range, size, value) => (value - range.start) / (range.end - range.start) * size
      found.push([inner_width, [...of].map((text, i) => {{
        const x = at(x_range, inner_width, data_source.get_column("x")[i])
        const y = at(y_range, inner_height, data_source.get_column("y")[i])
        const half = pen.measureText(text).width / 2
        return [x - half, y - 6, x + half, y + 6]
      }})])
    }}
  return found
}}
"""


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (390, 844)])
def test_names_of_places_keep_clear_of_the_bars(browser, server, width, height) -> None:
    size = {"viewport": {"width": width, "height": height}}
    for page in visiting(server, lambda: open_page(browser, server, **size)):
        wait_until(page, lambda page=page: len(page.evaluate(_NAMES)) == 2)
        steady(page, lambda page=page: page.evaluate(_NAMES))
        frame = page.get_by_role("img", name=PRIVATE).bounding_box()
        (bar,) = (
            found
            for each in page.locator(".bar:visible").all()
            if inside(found := each.bounding_box(), frame)
        )
        left, right = bar["x"] - frame["x"], bar["x"] + bar["width"] - frame["x"]
        top = frame["y"] + frame["height"] - bar["y"]
        wide, names = page.evaluate(_NAMES)[1]
        assert abs(wide - frame["width"]) <= 2
        assert len(names) > 4
        assert not [each for each in names if each[0] < right and each[2] > left and each[1] < top]
