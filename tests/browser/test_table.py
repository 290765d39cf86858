"""The script of tables (``table.js``) by itself: texts, fields, selection, sorting, many rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from explorer.app.kit import table as kit
from explorer.app.kit.theme import TABLE_CSS
from tests.browser.visit import CELL, ROW, SELECTED, TABLE, TITLE, serious

SCRIPT = Path(kit.__file__).with_name("table.js").read_text("utf8")
NAMES = ["Q1", "<img src=x onerror=window.ran=1>", "Q3"]
COLUMNS = [
    {"name": "box", "title": "box", "kind": "text", "width": 74, "align": "left", "edit": True},
    {"name": "west", "title": "west", "kind": "number", "decimals": 2, "width": 60, "edit": True},
    {"name": "true", "title": "true", "kind": "number", "width": 60, "sortable": True},
    {"name": "off", "title": "off", "kind": "number", "decimals": 1, "sign": True, "width": 60,
     "rank": 1},
    {"name": "range", "title": "range", "kind": "text", "width": 160, "rank": 2},
]  # fmt: skip
VALUES = [
    NAMES,
    [-1.25, 2, 3],
    [1234567.0, 5, 300],
    [-0.04, 7.25, float("nan")],
    ["1 to 2", "<b>3</b>", "5"],
]
STATE = {
    "label": "Boxes",
    "empty": "No boxes yet.",
    "columns": COLUMNS,
    "rows": VALUES,
    "selected": [],
    "selectable": True,
    "clickable": False,
    "deletable": True,
    "scrolls": False,
    "revision": 0,
}

# The part of a component's model that the script uses.
_BEGIN = """
async ([script, state]) => {
  const module = await import(URL.createObjectURL(new Blob([script], {type: "text/javascript"})))
  const watching = {}
  window.sent = []
  window.model = {...state,
    on: (name, act) => (watching[name] ??= []).push(act),
    send_msg: message => window.sent.push(message),
    set: async changes => {
      Object.assign(window.model, changes)
      for (const name in changes) for (const act of watching[name] ?? []) act()
      await new Promise(requestAnimationFrame)
    }}
  document.querySelector("main").replaceChildren(module.render({model: window.model}))
  window.script = module
}
"""


def begin(page: Page, **state: Any) -> None:
    page.evaluate(_BEGIN, [SCRIPT, {**STATE, **state}])


def change(page: Page, **state: Any) -> None:
    page.evaluate("changes => model.set(changes)", state)


def sent(page: Page) -> list[dict[str, Any]]:
    """What the script has sent since the last look."""
    messages: list[dict[str, Any]] = page.evaluate("window.sent.splice(0)")
    return messages


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 800, "height": 400})
    style = TABLE_CSS.replace(":host", "main")
    page.set_content(f"<html lang=en><title>t</title><style>{style}</style><main></main></html>")
    begin(page)
    yield page
    page.close()


def test_values_are_written_as_everywhere_on_the_page_and_texts_stay_texts(page: Page) -> None:
    shown = page.locator(ROW).evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => cell.querySelector('input')?.value"
        " ?? cell.textContent))"
    )
    assert shown == [
        ["Q1", "-1.25", "1,234,567", "0.0", "1 to 2", ""],
        [NAMES[1], "2.00", "5", "+7.3", "<b>3</b>", ""],
        ["Q3", "3.00", "300", "–", "5", ""],
    ]
    assert page.locator("main img, main b").count() == 0
    assert page.evaluate("window.ran") is None


def test_it_is_a_table_with_headers_for_a_screen_reader(page: Page) -> None:
    expect(page.get_by_role("table", name="Boxes")).to_have_attribute("aria-rowcount", "4")
    assert page.get_by_role("columnheader").count() == 6
    assert page.get_by_role("rowheader").count() == 3
    expect(page.get_by_role("spinbutton", name="west of Q3")).to_have_value("3.00")
    expect(page.get_by_role("button", name="Delete Q3")).to_be_visible()
    assert not serious(page)


def test_an_entry_is_sent_and_goes_back_where_it_does_not_count(page: Page) -> None:
    west, name = (page.get_by_role(role, name=f"{column} of Q1") for role, column in
                  (("spinbutton", "west"), ("textbox", "box")))  # fmt: skip
    west.fill("-9")
    west.press("Enter")
    assert sent(page) == [{"kind": "edit", "row": 0, "column": "west", "value": -9}]
    # The answer is that nothing has changed.
    change(page, revision=1)
    expect(west).to_have_value("-1.25")
    west.fill("")
    west.press("Tab")
    assert sent(page)[-1]["value"] is None
    name.fill("Centre")
    name.press("Escape")
    expect(name).to_have_value("Q1")
    # Numbers that arrive while a person types leave the entry alone, and change the rest.
    name.fill("Cen")
    change(page, rows=[["R1", "R2", "R3"], *VALUES[1:]])
    expect(name.or_(page.locator("input:focus"))).to_have_value("Cen")
    expect(page.locator(ROW).nth(1).locator("input").first).to_have_value("R2")


def test_rows_are_selected_with_the_pointer_and_with_keys(page: Page) -> None:
    def click(row: int, *keys: Any) -> Any:
        page.locator(ROW).nth(row).locator("td[data-column=true]").click(modifiers=list(keys))
        return sent(page)[-1]["rows"]

    assert click(0) == [0]
    expect(page.locator(SELECTED)).to_have_count(1)
    assert click(2, "Shift") == [0, 1, 2]
    assert click(1, "Control") == [0, 2]
    assert click(1) == [1]
    assert click(1) == []
    page.get_by_role("button", name="Select Q3").press("Enter")
    assert sent(page) == [{"kind": "select", "rows": [2]}]
    expect(page.get_by_role("button", name="Select Q3")).to_have_attribute("aria-pressed", "true")
    change(page, selected=[0, 1])
    expect(page.locator(SELECTED)).to_have_count(2)


def test_a_row_that_is_deleted_is_not_deleted_twice_and_keeps_the_focus(page: Page) -> None:
    button = page.get_by_role("button", name="Delete Q3")
    button.press("Enter")
    page.evaluate("document.activeElement.click()")
    assert sent(page) == [{"kind": "delete", "row": 2}]
    button.evaluate("e => { e.disabled = false; e.focus() }")
    change(page, rows=[values[:2] for values in VALUES])
    expect(page.locator(ROW)).to_have_count(2)
    assert page.evaluate("document.activeElement.dataset.act") == "delete"
    change(page, rows=[[] for _ in VALUES])
    expect(page.get_by_text("No boxes yet.")).to_be_visible()


def test_rows_are_sorted_and_named_by_their_numbers(page: Page) -> None:
    begin(page, selectable=False, clickable=True)
    title = page.get_by_role("button", name="true")
    order = page.locator(f"{ROW} td[data-column=true]")
    title.click()
    expect(page.locator(f"{TITLE}[data-column=true]")).to_have_attribute("aria-sort", "ascending")
    assert order.all_inner_texts() == ["5", "300", "1,234,567"]
    title.press("Enter")
    assert order.all_inner_texts() == ["1,234,567", "300", "5"]
    order.nth(1).click()
    assert sent(page) == [{"kind": "click", "row": 2}]
    nan = float("nan")
    for down, wanted in ((False, [2, 0, 1, 3]), (True, [0, 2, 1, 3])):
        found = page.evaluate("([v, down]) => script.sorted(v, down)", [[7, nan, -1, nan], down])
        assert found == wanted


def test_columns_leave_in_their_order_where_there_is_no_room_or_the_table_scrolls(
    page: Page,
) -> None:
    def shown() -> list[str]:
        return page.locator(TITLE).evaluate_all(
            "cells => cells.filter(cell => cell.offsetWidth).map(cell => cell.innerText)"
        )

    assert shown() == ["box", "west", "true", "off", "range", "delete"]
    for width, last in ((420, "off"), (270, "true"), (200, "true")):
        page.set_viewport_size({"width": width, "height": 400})
        page.wait_for_function(
            "last => [...document.querySelectorAll('th[scope=col]')].filter(e => e.offsetWidth)"
            ".at(-2).innerText === last",
            arg=last,
        )
    begin(page, scrolls=True)
    assert shown()[-2] == "range"
    assert page.evaluate("document.querySelector('.scroll').scrollWidth") > 400


def test_many_rows_are_drawn_as_they_are_scrolled_to(page: Page) -> None:
    n = 1000
    page.add_style_tag(content=".scroll { max-height: 300px !important }")
    change(page, rows=[[f"B{i}" for i in range(n)], *([i] * n for i in range(4))])
    expect(page.locator(TABLE)).to_have_attribute("aria-rowcount", str(n + 1))
    drawn = page.locator(ROW).count()
    assert 20 < drawn < n
    page.locator(ROW).last.scroll_into_view_if_needed()
    page.wait_for_function(f"document.querySelectorAll({json.dumps(ROW)}).length > {drawn}")
    assert page.locator(ROW).last.locator(CELL.rpartition(" ")[2]).count() > 0
