"""The first start on a computer: nothing is compiled; the page says so and goes on by itself."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import ROOT, Started

pytestmark = pytest.mark.slow
#: Compiling takes most of it.
PATIENCE = 300


@pytest.fixture
def cold(tmp_path: Path):
    code = "from explorer.app import serve; serve(port=0, open=False)"
    running = Started(
        [sys.executable, "-u", "-c", code],
        r"explorer is at (http://\S+)",
        cwd=ROOT,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "numba")},
    )
    yield running
    running.stop()


def test_a_kept_picture_stands_there_until_the_page_is_compiled(cold, browser: Browser) -> None:
    page = browser.new_page()
    page.goto(cold.url)
    picture = page.get_by_alt_text("Private map of a made-up city")
    expect(picture).to_be_visible(timeout=PATIENCE * 1000)
    expect(page.get_by_text("A kept picture, not live")).to_be_visible()
    expect(page.get_by_text("245,256")).to_be_visible()
    expect(page.get_by_text("Compiling what this page computes with")).to_be_visible()
    expect(page.get_by_role("img", name="Private map").first).to_be_visible(timeout=PATIENCE * 1000)
    expect(picture).to_have_count(0, timeout=PATIENCE * 1000)
    expect(page.locator("table.values tbody tr")).to_have_count(2)
    page.close()
