"""axe-core finds nothing serious on any page, on a laptop and on a phone."""

from __future__ import annotations

import pytest

from tests.browser.conftest import leave, new_page
from tests.browser.visit import serious

LAPTOP: dict[str, object] = {}
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "user_agent": "Mozilla/5.0 (Linux; Android 14) Mobile",
    "has_touch": True,
}
#: Pages, each with what stands on it once it has been drawn.
PAGES = {
    "explore": ".tabulator-row",
    "trips": ".tabulator-row",
    "country": ".tabulator-row",
    "federated": ".tabulator-row",
    "compare": ".tabulator-row",
    "publish": "h2:has-text('Ledger')",
    "learn": "h2.lesson",
    "class": "button:has-text('Create a class')",
}


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("screen", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_axe_finds_nothing_serious(browser, server, path, screen) -> None:
    page = new_page(browser, **screen)
    try:
        page.goto(f"{server.url}/{path}")
        page.locator(PAGES[path]).first.wait_for(state="attached")
        assert not serious(page)
    finally:
        leave(page)
