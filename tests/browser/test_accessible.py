"""axe-core finds nothing serious on any page, on a laptop and on a phone."""

from __future__ import annotations

import pytest

from tests.browser.conftest import leave, new_page
from tests.browser.visit import DRAWN, serious

LAPTOP: dict[str, object] = {}
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "user_agent": "Mozilla/5.0 (Linux; Android 14) Mobile",
    "has_touch": True,
}


@pytest.mark.parametrize("path", DRAWN)
@pytest.mark.parametrize("screen", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_axe_finds_nothing_serious(browser, server, path, screen) -> None:
    page = new_page(browser, **screen)
    try:
        page.goto(f"{server.url}/{path}")
        page.locator(DRAWN[path]).first.wait_for(state="attached")
        assert not serious(page)
    finally:
        leave(page)
