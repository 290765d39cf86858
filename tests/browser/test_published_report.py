"""The report of a published folder, opened as a file: all is there, nothing is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.visit import serious
from tests.publish.folders import folder_of

LAPTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(tmp_path_factory.mktemp("out") / "amber") / "report.html"


def opened(browser: Browser, report: Path, said: list[str], **window: object) -> Page:
    """The report in a browser that has no net; what it asks for and complains of goes to `said`."""
    context = browser.new_context(offline=True, **window)
    page = context.new_page()
    page.on("request", lambda asked: said.append(asked.url) if asked.url[:5] != "data:" else None)
    page.on("console", lambda line: said.append(line.text))
    page.goto(report.as_uri())
    return page


@pytest.mark.parametrize("window", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_a_report_shows_all_without_a_net_and_without_scripts(browser, report, window) -> None:
    said: list[str] = []
    page = opened(browser, report, said, viewport=window, java_script_enabled=True)
    try:
        assert said == [report.as_uri()]
        assert page.locator("h1").inner_text() == "Rides of Amber"
        # Styles are applied, and the map is painted: its picture has colours of its own.
        assert page.locator("main").evaluate("e => getComputedStyle(e).maxWidth") == "760px"
        box = page.locator("svg image").first.bounding_box()
        assert box["width"] > 200
        shot = page.locator("svg").screenshot()
        assert len(shot) > 5_000
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= window["width"]
        assert not serious(page)
    finally:
        page.context.close()


def test_a_script_that_somebody_adds_does_not_run(browser, report, tmp_path) -> None:
    evil = tmp_path / "evil.html"
    script = "<script>document.title = 'run'</script><img src=x onerror=\"document.title = 'run'\">"
    evil.write_text(report.read_text("utf8").replace("</main>", f"{script}</main>"), "utf8")
    said: list[str] = []
    page = opened(browser, evil, said)
    try:
        page.wait_for_timeout(200)
        assert page.title() == "Rides of Amber"
        assert any("Content Security Policy" in line for line in said)
    finally:
        page.context.close()


def test_a_report_prints_on_paper(browser, report) -> None:
    page = opened(browser, report, [])
    try:
        printed = page.pdf(format="A4")
        assert printed.startswith(b"%PDF")
        # The report, its page on SP 800-226, and no more than both need.
        assert 2 <= printed.count(b"/Type /Page\n") + printed.count(b"/Type /Page ") <= 6
    finally:
        page.context.close()
