"""Every page opens in an environment as a user has it, served by the command of README.

``EXPLORER_NEWEST`` names the folder of the environment: `tests/run` makes one with the newest
Python and versions that are not locked (`tests.newest`). Without it the command beside this Python
serves.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from explorer.app.pages import PAGES
from tests.browser.conftest import Started, Watch, leave, new_page, troubles, unexpected
from tests.browser.visit import DRAWN, PATIENCE

pytestmark = pytest.mark.browser

#: The root shows the first page.
ADDRESSES = ["", *(page.address for page in PAGES)]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """``dp-explorer serve``, from a folder in which no module of the checkout lies."""
    named = os.environ.get("EXPLORER_NEWEST")
    programs = Path(named) / "bin" if named else Path(sys.executable).parent
    command = [str(programs / "dp-explorer"), "serve", "--no-open", "--port", "0"]
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    running = Started(
        command,
        r"explorer is at (http://\S+)",
        # It compiles first, beside the other tests.
        8 * PATIENCE,
        cwd=tmp_path_factory.mktemp("elsewhere"),
        env={**plain, "PYTHONUNBUFFERED": "1"},
    )
    yield running
    running.stop()
    # Warnings of libraries that are newer than those of the lock are theirs.
    assert not [line for line in unexpected(running.log) if "Warning" not in line]


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_page_opens_and_nothing_is_an_error(browser, served, address) -> None:
    noted, logged = len(Watch.all), len(served.log)
    page = new_page(browser)
    try:
        answer = page.goto(f"{served.url}/{address}")
        assert answer is not None
        assert answer.status == 200
        expect(page.locator(DRAWN[address or ADDRESSES[1]]).first).to_be_visible()
        expect(page.get_by_role("heading", level=1)).to_be_visible()
    finally:
        leave(page)
    assert not Watch.all[noted:]
    assert not troubles("".join(served.log[logged:]))
