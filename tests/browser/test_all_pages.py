"""Every page can be read by all, fits into its window, and names its controls."""

from __future__ import annotations

import pytest

from tests.browser.conftest import LAPTOP_AND_SCREEN, PHONE, leave, new_page
from tests.browser.visit import DRAWN, serious, steady

#: Windows, width and height, through which a page of a visitor goes.
WINDOWS = {"laptop": [(820, 1180), *LAPTOP_AND_SCREEN], "phone": [(390, 844)]}

# What of the page hangs over the right edge, but for rows that a finger pushes aside.
_OVER = """
() => {
  const all = root => [...root.querySelectorAll("*")].flatMap(
    e => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
  const up = e => e.parentElement ?? e.getRootNode().host
  const scrolls = e => {
    for (let at = e; at; at = up(at))
      if (["auto", "scroll"].includes(getComputedStyle(at).overflowX) && at !== document.body
          && at.scrollWidth > at.clientWidth) return true
    return false
  }
  const kinds = "button, a[href], h1, h2, table, .summary, [role=img], [role=combobox], "
    + "[role=slider]"
  return all(document)
    .filter(e => e.matches(kinds) && e.checkVisibility({visibilityProperty: true}))
    .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !scrolls(e))
    .map(e => e.innerText || e.getAttribute("aria-label"))
}
"""
# Buttons without a text and without a name; a file field is named by the button around it.
_NAMELESS = """
all => all.filter(e => !e.innerText.trim() && !e.getAttribute("aria-label") && e.type !== "file")
  .map(e => e.outerHTML)
"""


@pytest.mark.parametrize("path", DRAWN)
@pytest.mark.parametrize("screen", WINDOWS)
def test_a_page_is_accessible_and_fits(browser, server, path, screen) -> None:
    page = new_page(browser, **({**PHONE, "has_touch": True} if screen == "phone" else {}))
    try:
        page.goto(f"{server.url}/{path}")
        page.locator(DRAWN[path]).first.wait_for(state="attached")
        assert not serious(page)
        for width, height in WINDOWS[screen]:
            page.set_viewport_size({"width": width, "height": height})
            assert steady(page, lambda: page.evaluate(_OVER)) == [], width
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.get_by_role("button").evaluate_all(_NAMELESS) == []
        if screen == "laptop":
            # Its contrasts, in the other theme.
            page.get_by_role("button", name="Toggle theme").click()
            assert not serious(page)
    finally:
        leave(page)
