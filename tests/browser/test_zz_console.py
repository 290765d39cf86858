"""After all other tests in a browser: no page and no server has said anything that it should not.

The name puts it last. It looks at the errors of every page that was opened, at requests that failed
or went to another computer, and at each line of the server's log.
"""

from __future__ import annotations

import pytest

from tests.browser.conftest import Watch, open_page, unexpected, visiting
from tests.browser.visit import names, pick, still, wait_until

pytestmark = pytest.mark.browser


@pytest.fixture
def fresh(browser, server):
    """A visit of its own."""
    yield from visiting(server, lambda: open_page(browser, server))


def test_a_city_that_was_read_before_comes_back_with_its_boxes(fresh) -> None:
    """Boxes vanished, and the console said that a reference is not known."""
    before, page = len(Watch.all), fresh
    maps = ("True map", "Private map")
    seen = [still(page, each) for each in maps]
    summary = page.locator(".summary").first
    for city in ("Amber Isles", "Port Amber", "Amber Isles", "Port Amber"):
        pick(page, "City", city)
        wait_until(page, lambda city=city: summary.inner_text().startswith(city))
        wait_until(page, lambda: names(page) == ["Q1", "Q2"])
    # The same city, noise and boxes: the same pixels, boxes and their tags among them.
    assert [still(page, each) for each in maps] == seen
    assert not Watch.all[before:]


def test_neither_console_nor_log_has_anything_to_say(server) -> None:
    assert not Watch.all, "\n".join(Watch.all)
    assert not unexpected(server.log), "\n".join(unexpected(server.log))
