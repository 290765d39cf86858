"""axe-core finds nothing serious on any page, on a laptop and on a phone."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

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


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("screen", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_axe_finds_nothing_serious(browser, server, path, screen) -> None:
    page = browser.new_context(**screen).new_page()
    try:
        page.goto(f"{server.url}/{path}")
        page.locator(PAGES[path]).first.wait_for(state="attached")
        # The roles of tables are mended after they have been drawn.
        page.wait_for_timeout(3000)
        found = Axe().run(page).response["violations"]
        serious = [
            f"{each['impact']}: {each['id']} ({each['help']}) at {each['nodes'][0]['target']}"
            for each in found
            if each["impact"] in ("serious", "critical")
        ]
        assert not serious, "\n".join(serious)
    finally:
        page.context.close()
