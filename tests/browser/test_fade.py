"""The old picture of a map fades out over the new one, unless somebody is in a hurry."""

import pytest
from playwright.sync_api import Locator, Page, expect

from explorer.app.kit.maps import HURRY, LASTS
from tests.browser.conftest import open_page, visiting
from tests.browser.visit import drag, rows, still, wait_until

PRIVATE = "Private map"
# Fades as they begin; while ``window.holding`` one never ends.
_NOTE = """
window.faded = []
const animate = Element.prototype.animate
Element.prototype.animate = function (frames, options) {
  if (!this.matches(".explorer-fading")) return animate.call(this, frames, options)
  window.faded.push(options.duration)
  return window.holding ? {} : animate.call(this, frames, options)
}
null
"""


@pytest.fixture
def page(browser, server):
    for page in visiting(server, lambda: open_page(browser, server)):
        page.evaluate(_NOTE)
        yield page


def faded(page: Page) -> list[float]:
    """How long each fade since the last question was to take."""
    return page.evaluate("window.faded.splice(0)")


def copies(page: Page) -> Locator:
    return page.locator(".explorer-fading")


def draw(page: Page) -> list[float]:
    """Another picture by other noise, once nothing is going on; the fades of it."""
    before = still(page, PRIVATE)
    page.wait_for_timeout(2 * HURRY)
    faded(page)
    page.get_by_role("button", name="New draw").click()
    wait_until(page, lambda: still(page, PRIVATE) != before)
    return faded(page)


def test_the_old_picture_fades_out_once_over_the_new_one_and_is_gone(page) -> None:
    assert draw(page) == [LASTS]
    wait_until(page, lambda: copies(page).count() == 0)


def test_a_picture_that_fades_is_in_nobodys_way(page) -> None:
    page.evaluate("window.holding = true")
    draw(page)
    assert copies(page).count() == 1
    drag(page, PRIVATE, (0.1, 0.1), (0.3, 0.3))
    wait_until(page, lambda: len(rows(page)) == 3)


def test_no_picture_fades_for_whoever_wants_less_motion_nor_when_a_slider_moves(page) -> None:
    slider = page.get_by_role("slider", name="Epsilon", exact=True)
    before = still(page, PRIVATE)
    page.wait_for_timeout(2 * HURRY)
    slider.press("ArrowLeft")
    wait_until(page, lambda: still(page, PRIVATE) != before)
    before = still(page, PRIVATE)
    box = slider.locator("..").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 9, y)
    wait_until(page, lambda: still(page, PRIVATE) != before)
    before = still(page, PRIVATE)
    page.mouse.move(x - 30, y)
    wait_until(page, lambda: still(page, PRIVATE) != before)
    assert faded(page) == []
    page.mouse.up()
    assert draw(page), "it fades again for a button"
    page.emulate_media(reduced_motion="reduce")
    assert draw(page) == []


def test_no_truth_is_seen_to_fade_after_it_was_hidden(page) -> None:
    page.evaluate("window.holding = true")
    assert draw(page)
    expect(copies(page)).to_have_count(1)
    page.evaluate(
        "document.explorer_hides = true; document.dispatchEvent(new Event('explorer-hides'))"
    )
    # What fades is gone at once, and what was painted before is not copied.
    expect(copies(page)).to_have_count(0)
    assert draw(page) == []
    # What was painted since holds nothing exact.
    assert draw(page) == [LASTS]
    expect(copies(page)).to_have_count(1)
