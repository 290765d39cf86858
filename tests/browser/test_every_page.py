"""Every page opens, and Explore does the main job, in environments as users have them.

They are served by the command of README, in the environment that `tests/run` names
(``EXPLORER_SERVED_FROM``): that of the tests, or one with the newest or with the oldest allowed
versions (`tests.environments`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from explorer.app.pages import PAGES
from tests.browser.conftest import (
    ENVIRONMENT,
    Started,
    Watch,
    leave,
    new_page,
    open_page,
    troubles,
    unexpected,
)
from tests.browser.visit import (
    DRAWN,
    PATIENCE,
    cell,
    drag,
    figure,
    names,
    number,
    pick,
    rows,
    wait_until,
)

#: The root shows the first page.
ADDRESSES = ["", *(page.address for page in PAGES)]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """``dp-explorer serve``, from a folder in which no module of the checkout lies."""
    command = [str(ENVIRONMENT / "bin" / "dp-explorer"), "serve", "--no-open", "--port", "0"]
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    if ENVIRONMENT.name == ".venv-oldest":
        # The same Python with an older numba would take away the compiled code of the tests.
        plain.setdefault("NUMBA_CACHE_DIR", str(tmp_path_factory.mktemp("compiled")))
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
        # Other versions compile what the page needs first.
        drawn = page.locator(DRAWN[address or ADDRESSES[1]]).first
        expect(drawn).to_be_visible(timeout=8 * PATIENCE * 1000)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
    finally:
        leave(page)
    assert not Watch.all[noted:]
    assert not troubles("".join(served.log[logged:]))


@pytest.mark.journey
def test_the_main_job(browser, served) -> None:
    """Pick a mechanism, move epsilon, draw a rectangle, read true and private answers beside it."""
    noted, logged = len(Watch.all), len(served.log)
    page, _ = open_page(browser, served)
    try:
        before = rows(page)[0]
        pick(page, "Mechanism", "Mosaic")
        wait_until(page, lambda: "by Mosaic" in page.locator(".summary").inner_text())
        epsilon = float(figure(page, "Epsilon"))
        page.get_by_role("slider", name="Epsilon", exact=True).press("ArrowRight")
        wait_until(page, lambda: float(figure(page, "Epsilon")) > epsilon)
        wait_until(page, lambda: rows(page)[0]["private"] != before["private"])
        assert rows(page)[0]["true"] == before["true"]
        drag(page, "Private map", (0.30, 0.35), (0.55, 0.60))
        wait_until(page, lambda: names(page) == ["Q1", "Q2", "Q3"])
        wait_until(page, lambda: rows(page)[2]["private"])
        for row in range(3):
            true, private = (cell(page, row, title) for title in ("true", "private"))
            expect(true).to_be_visible()
            expect(private).to_be_visible()
            assert number(true.inner_text()) > 0
            assert abs(number(private.inner_text()) / number(true.inner_text()) - 1) < 1
    finally:
        leave(page)
    assert not Watch.all[noted:]
    assert not troubles("".join(served.log[logged:]))
