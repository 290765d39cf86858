"""How long real pages of the server for others take beside a crowd. A script, not a test:

    .venv/bin/python -m tests.load.browsers --pages 4 --visitors 60

Each page of a Chromium is opened, zoomed and asked while raw visitors do something once a second.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import statistics
import tempfile
import threading
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.load.audience import HEAD, crowd, row
from tests.load.serving import Served, made
from tests.load.visitor import maps_of


def painted(page: Page, many: int) -> None:
    """Wait for so many pictures; no script of a text runs on these pages."""
    page.wait_for_selector(f'#map[data-painted="{many}"]', timeout=30_000)


def visit(page: Page, address: str) -> tuple[float, list[float]]:
    """Open, zoom five times, ask; milliseconds of the opening and of each of the others."""
    begun = time.monotonic()
    page.goto(address)
    painted(page, 1)
    opening, took = 1000 * (time.monotonic() - begun), []
    for number in range(2, 7):
        begun = time.monotonic()
        page.get_by_role("button", name="Zoom in").click()
        painted(page, number)
        took.append(1000 * (time.monotonic() - begun))
    begun = time.monotonic()
    page.get_by_role("button", name="Ask about what is shown").click()
    page.get_by_text("Area 1: About").wait_for()
    took.append(1000 * (time.monotonic() - begun))
    return opening, took


def main() -> None:
    """Measure and print."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--pages", type=int, default=4)
    ask.add_argument("--visitors", type=int, default=60)
    ask.add_argument("--folder", type=Path, help="published releases to show")
    given = ask.parse_args()
    with tempfile.TemporaryDirectory() as space:
        served = Served(given.folder or made(Path(space), 1024))
        maps = asyncio.run(maps_of(served.port))

        def beside() -> None:
            print(HEAD)
            print(row(asyncio.run(crowd(served, maps, given.visitors, 20.0, 1, False))))

        raw = threading.Thread(target=beside)
        raw.start()
        try:
            with sync_playwright() as play:
                path = shutil.which("chromium") or play.chromium.executable_path
                browser = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
                opened, took = [], []
                for _ in range(given.pages):
                    page = browser.new_context().new_page()
                    address = f"http://localhost:{served.port}/map/{maps[0].key}"
                    one, others = visit(page, address)
                    opened.append(one)
                    took += others
                browser.close()
            raw.join()
            print(
                f"{given.pages} pages: open and painted in {statistics.median(opened):.0f} ms, "
                f"zoomed or asked in {statistics.median(took):.0f} ms (at most {max(took):.0f})"
            )
        finally:
            served.stop()


if __name__ == "__main__":
    main()
