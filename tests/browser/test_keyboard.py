"""The main job without a mouse: a box on a map, its answers, another epsilon, and no trap."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.visit import SELECTED, figure, names, number, rows, wait_until

#: Of the part that has the focus, through all shadow roots: what it is called, and whether
#: something shows that it has it (a line around it, a halo, or another look than without it).
_FOCUS = """
() => {
  let part = document.activeElement
  while (part?.shadowRoot?.activeElement) part = part.shadowRoot.activeElement
  if (!part || part === document.body) return null
  const label = part.id && part.getRootNode().querySelector?.(`label[for="${part.id}"]`)
  const called = part.getAttribute("aria-label") || part.innerText || label?.innerText
    || part.closest("label")?.innerText || part.placeholder
    || part.getAttribute("aria-labelledby") || ""
  const marked = style => (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1)
    || /px/.test(style.boxShadow)
  // Fields, switches and sliders show it on what stands around them.
  let seen = false
  for (let each = part, steps = 0; each instanceof Element && steps < 4; steps++) {
    seen ||= marked(getComputedStyle(each)) || each.matches(".Mui-focused, .Mui-focusVisible")
    each = each.parentElement
  }
  return {called: called.trim().split("\\n")[0].slice(0, 60), seen,
    main: part.matches("main"), map: part.matches(".bk-events")}
}
"""


def focus(page: Page) -> dict | None:
    """What has the focus, None where nothing has."""
    found: dict | None = page.evaluate(_FOCUS)
    return found


def tab(page: Page, called: str, most: int = 80, key: str = "Tab") -> None:
    """Go on with Tab, or back, to what is called so."""
    passed = []
    for _ in range(most):
        page.keyboard.press(key)
        at = focus(page) or {"called": "(nothing)"}
        if at["called"].startswith(called):
            return
        passed.append(at["called"])
    raise AssertionError(f"{called!r} is not among {passed}")


@pytest.mark.journey
def test_the_main_job_is_done_without_a_mouse(page) -> None:
    tab(page, "Skip to the content", 1)
    page.keyboard.press("Enter")
    wait_until(page, lambda: (focus(page) or {}).get("main"))
    tab(page, "Map. Enter adds a box", 12)
    tab(page, "Map. Enter adds a box", 1)
    page.keyboard.press("Enter")
    wait_until(page, lambda: names(page) == ["Q1", "Q2", "Q3"])
    wait_until(page, lambda: "%" in rows(page)[2].get("error %", "") or rows(page)[2]["private"])
    before = number(rows(page)[2]["true"])
    page.keyboard.press("Shift+ArrowLeft")
    wait_until(page, lambda: number(rows(page)[2]["true"]) != before)
    moved = number(rows(page)[2]["true"])
    page.keyboard.press("Control+Shift+ArrowUp")
    wait_until(page, lambda: number(rows(page)[2]["true"]) > moved)
    # A field of the table takes an entry and lets go of the focus; a row is selected by a button.
    tab(page, "Select Q1", 6)
    page.keyboard.press("Enter")
    expect(page.locator(SELECTED)).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator(SELECTED)).to_have_count(0)
    tab(page, "box of Q1", 1)
    tab(page, "Delete Q1", 1)
    tab(page, "Add box", 8)
    private = rows(page)[2]["private"]
    slider = page.get_by_role("slider", name="Epsilon", exact=True)
    tab(page, "Epsilon", key="Shift+Tab")
    expect(slider).to_be_focused()
    epsilon = figure(page, "Epsilon")
    page.keyboard.press("ArrowLeft")
    wait_until(page, lambda: figure(page, "Epsilon") != epsilon)
    wait_until(page, lambda: rows(page)[2]["private"] != private)


def test_every_stop_has_a_name_and_shows_the_focus_and_none_is_a_trap(page) -> None:
    stops: list[dict] = []
    for _ in range(90):
        page.keyboard.press("Tab")
        at = focus(page)
        if at is None:
            break
        stops.append(at)
    else:
        raise AssertionError(f"no end after {[each['called'] for each in stops][-20:]}")
    assert len(stops) > 30
    assert not [place for place, each in enumerate(stops) if not each["called"]], stops
    assert not [each["called"] for each in stops if not each["seen"]]


def test_letters_that_mean_nothing_on_a_page_do_nothing(page) -> None:
    page.get_by_role("button", name="Add box").press("Enter")
    wait_until(page, lambda: len(rows(page)) == 3)
    page.locator("main").press("c")
    page.get_by_role("button", name="Undo").press("Enter")
    wait_until(page, lambda: names(page) == ["Q1", "Q2"])
