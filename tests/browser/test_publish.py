"""From Explore to a folder: draw once, say what one knows, save what holds."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from explorer.publish.about import QUESTIONS
from explorer.publish.checks import checked
from tests.browser.conftest import leave, new_page
from tests.browser.visit import ROW
from tests.publish.folders import ABOUT


@pytest.mark.journey
def test_a_release_drawn_on_explore_is_published(browser, server, tmp_path: Path) -> None:
    page = new_page(browser)
    try:
        page.goto(f"{server.url}/explore")
        page.locator(ROW).first.wait_for()
        draw = page.get_by_role("button", name="Draw a release")
        if not draw.is_visible():
            page.get_by_role("button", name="Release").first.click()
        draw.click()
        page.get_by_role("button", name="Spend").click()
        page.get_by_text("Private release: may be published").first.wait_for()

        page.get_by_role("link", name="Publish").click()
        page.get_by_role("heading", name="What you say of it").wait_for()
        for each in QUESTIONS:
            field = page.get_by_label(each.label, exact=True)
            if each.among:
                field.click()
                page.get_by_role("option", name=getattr(ABOUT, each.name), exact=True).click()
            else:
                field.fill(getattr(ABOUT, each.name))
        page.get_by_role("button", name="Make the folder").click()
        page.get_by_text("checks of it hold").wait_for()
        with page.expect_download() as saved:
            page.get_by_role("button", name="Save the folder").click()
        saved.value.save_as(tmp_path / "release.zip")
    finally:
        leave(page)
    with zipfile.ZipFile(tmp_path / "release.zip") as archive:
        archive.extractall(tmp_path / "out")
    (folder,) = (tmp_path / "out").iterdir()
    assert folder.name.startswith("rides_of_amber_")
    assert checked(folder).holds
