"""What a visitor does and reads, in words."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from explorer.scenario import Scenario


def number(text: str) -> float:
    """A number as the page writes it: ``1,861,586``, ``+0.43``, ``−12``."""
    return float(re.sub(r"[^\d.eE-]", "", text.replace("−", "-")))


def addressed(page: Page) -> Scenario:
    """The scenario of the address, which follows the screen after a moment."""
    found = re.search(r"[?&]s=([\w-]+)", page.url)
    return Scenario.from_link(found[1]) if found else Scenario()


def figure(page: Page, label: str) -> str:
    """The value below a label of the strip above the maps."""
    return page.locator("dl.figures div", has_text=label).locator("dd").inner_text()


#: Seconds. Machines that run tests are busy; a passing test never waits this long.
PATIENCE = 120


def wait_until(page: Page, true: Callable[[], Any]) -> None:
    """Wait until ``true()`` is; the last state is in the error."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if true():
            return
        page.wait_for_timeout(50)
    said = page.locator(".summary").first.inner_text()
    raise AssertionError(f"not within {PATIENCE} s: {said}")


def steady(page: Page, read: Callable[[], Any], turns: int = 5) -> Any:
    """What ``read()`` gives once it has been the same in so many looks in a row.

    For what comes in steps without a sign of its end, as a layout does.
    """
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if stays(page, read, turns):
            return read()
    raise AssertionError(f"it kept changing for {PATIENCE} s: {read()}")


def stays(page: Page, read: Callable[[], Any], turns: int = 10) -> bool:
    """Whether ``read()`` gives the same in so many looks, each after the page had a turn."""
    first = read()
    for _ in range(turns):
        page.wait_for_timeout(100)
        if read() != first:
            return False
    return True


#: Every model of the pages that are open, for a script in the browser.
MODELS = "Bokeh.documents.flatMap(page => [...page._all_models.values()])"

#: Rows, titles and cells of the tables of boxes, areas and leaves; a row is `SELECTED` or not.
TABLE = "table.values"
ROW, TITLE = f"{TABLE} tbody tr", f"{TABLE} thead th"
CELL, SELECTED = f"{ROW} > *", f"{ROW}.selected"

#: What stands on each page of the app, by its address, once it has been drawn.
DRAWN = {
    "explore": ROW,
    "trips": ROW,
    "country": ROW,
    "federated": ROW,
    "compare": ROW,
    "publish": "h2:has-text('Ledger')",
    "learn": "h2.lesson",
    "class": "button:has-text('Create a class')",
}

# All of the table in one question: what waits for a row asks many times a second. A field is read
# as the text that it holds.
_TABLE = """
() => {
  const find = root => [...root.querySelectorAll("*")].flatMap(e => [
    ...(e.matches("table.values") ? [e] : []), ...(e.shadowRoot ? find(e.shadowRoot) : [])])
  const tables = find(document)
  const text = cell => cell.querySelector("input")?.value ?? cell.innerText
  return [tables.flatMap(table => [...table.tHead.rows[0].cells].map(text)),
          tables.flatMap(table => [...table.tBodies[0].rows].map(row => [...row.cells].map(text)))]
}
"""


def rows(page: Page) -> list[dict[str, str]]:
    """The table as text, a dict from column title to cell."""
    titles, cells = page.evaluate(_TABLE)
    return [dict(zip(titles, each, strict=False)) for each in cells]


def names(page: Page) -> list[str]:
    """The names of the boxes in the table."""
    return [row.get("box", "") for row in rows(page)]


def moved_by(page: Page, before: dict[str, str], edges: dict[str, float]) -> bool:
    """Whether the third row's edges are so many kilometres from where they were."""
    now = rows(page)[2]
    return all(
        abs(number(now[each]) - number(before[each]) - by) <= 0.12 for each, by in edges.items()
    )


def cell(page: Page, row: int, title: str) -> Locator:
    """One cell of the table."""
    titles = page.locator(TITLE).all_inner_texts()
    return page.locator(ROW).nth(row).locator("> *").nth(titles.index(title))


def inside(one: dict[str, float] | None, other: dict[str, float] | None) -> bool:
    """Whether a bounding box lies wholly in another."""
    return (
        one is not None
        and other is not None
        and other["x"] <= one["x"]
        and other["y"] <= one["y"]
        and one["x"] + one["width"] <= other["x"] + other["width"]
        and one["y"] + one["height"] <= other["y"] + other["height"]
    )


def pick(page: Page, menu: str, option: str) -> None:
    """Choose from a menu."""
    page.get_by_role("combobox", name=menu, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


def unfold(page: Page, *titles: str) -> None:
    """Open sections of the drawer; a heading goes on with what is chosen inside."""
    for title in titles:
        heading = page.get_by_role("button", name=re.compile(f"^{re.escape(title)}"))
        if heading.get_attribute("aria-expanded") != "true":
            # What the section before holds comes when it is open, and moves this one.
            steady(page, heading.bounding_box, 3)
            heading.click()
        expect(heading).to_have_attribute("aria-expanded", "true")


def draw_release(page: Page) -> str:
    """Press "Draw a release" and confirm its price, which another button says and this returns."""
    unfold(page, "Release")
    page.get_by_role("button", name="Draw a release").click()
    priced = page.get_by_role("button", name=re.compile("^Spend "))
    said = priced.inner_text()
    priced.click()
    return said


def drag(
    page: Page,
    name: str,
    start: tuple[float, float],
    end: tuple[float, float],
    aim: float = 0,
) -> None:
    """Drag on a map, from and to parts of its width and height (0, 0 is the upper left).

    ``aim`` is for how many seconds the pressed pointer rests before it moves.
    """
    box = page.get_by_role("img", name=name).bounding_box()
    assert box is not None
    places = [(box["x"] + box["width"] * x, box["y"] + box["height"] * y) for x, y in (start, end)]
    page.mouse.move(*places[0])
    page.mouse.down()
    page.wait_for_timeout(1000 * aim)
    page.mouse.move(*[(a + b) / 2 for a, b in zip(*places, strict=True)])
    page.mouse.move(*places[1])
    page.mouse.up()


_CANVASES = """
const find = root => [...root.querySelectorAll("*")].flatMap(e => [
  ...(e.tagName === "CANVAS" ? [e] : []), ...(e.shadowRoot ? find(e.shadowRoot) : [])])
const part = c => c.getContext("2d").getImageData(2, 2, c.width - 4, c.height / 2).data
const pixels = map => find(map.shadowRoot ?? map).filter(c => c.width).map(
  c => new Uint32Array(part(c).buffer))
"""


def colours(page: Page, name: str) -> int:
    """How many different colours the upper half of a map shows."""
    count = f"map => {{ {_CANVASES} return new Set(pixels(map).flatMap(p => [...p])).size }}"
    return int(page.get_by_role("img", name=name).evaluate(count))


def picture(page: Page, name: str) -> int:
    """A number that is equal for equal upper halves of a map: no edge pixels, no scale bar."""
    total = (
        f"map => {{ {_CANVASES} return pixels(map).reduce("
        "(all, p) => p.reduce((sum, v, i) => (sum * 31 + v + i) % 2147483647, all), 7) }"
    )
    return int(page.get_by_role("img", name=name).evaluate(total))


def still(page: Page, name: str) -> int:
    """`picture` of a map once it has stopped changing, as after a change of size."""
    return int(steady(page, lambda: picture(page, name), 8))


def serious(page: Page) -> list[str]:
    """What axe-core finds once everything is drawn: tables come last, in their own time."""
    end = time.monotonic() + PATIENCE
    while True:
        found = [
            f"{each['impact']}: {each['id']} ({each['help']}) at {each['nodes'][0]['target']}"
            for each in Axe().run(page).response["violations"]
            if each["impact"] in ("serious", "critical")
        ]
        if not found or time.monotonic() > end:
            return found
        page.wait_for_timeout(500)
