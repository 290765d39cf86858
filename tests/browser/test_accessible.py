"""axe-core finds nothing serious on any page, on a laptop and on a phone."""

from __future__ import annotations

import time

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.conftest import new_page
from tests.browser.visit import PATIENCE

LAPTOP = {"viewport": {"width": 1366, "height": 768}}
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "user_agent": "Mozilla/5.0 (Linux; Android 14) Mobile",
    "has_touch": True,
}
#: Pages, each with what stands on it once it has been drawn.
PAGES = {
    "explore": ".tabulator-row",
    "compare": ".tabulator-row",
    "learn": "h2.lesson",
    "class": "button:has-text('Create a class')",
}


def serious(page: Page) -> list[str]:
    """What axe-core finds on the page as it stands, except what is minor."""
    return [
        f"{each['impact']}: {each['id']} ({each['help']}) at {each['nodes'][0]['target']}"
        for each in Axe().run(page).response["violations"]
        if each["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("screen", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_axe_finds_nothing_serious(browser, server, path, screen) -> None:
    page = new_page(browser, **screen)
    try:
        page.goto(f"{server.url}/{path}")
        page.locator(PAGES[path]).first.wait_for(state="attached")
        end = time.monotonic() + PATIENCE
        # Tables are drawn last, in their own time.
        while found := serious(page):
            assert time.monotonic() < end, "\n".join(found)
            page.wait_for_timeout(500)
    finally:
        page.context.close()
