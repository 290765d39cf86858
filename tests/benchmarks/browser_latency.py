"""How fast the page follows its sliders, measured in a real Chromium. A script, not a test:

    .venv/bin/python -m tests.benchmarks.browser_latency --city san-francisco

It starts a warm server of its own, opens one page of 1366 x 768 and prints a table. Painted: from
the key or mouse event in the page to the last canvas operation after it. Compute: the mechanism
alone, as the page says it. CPU: of the server process, compute included. Sent: bytes of all frames.
Milliseconds are of this machine at this moment: a unit stands beside them, 11 ms where it is quick.
"""

from __future__ import annotations

import argparse
import itertools
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Page, sync_playwright

from tests.benchmarks.conftest import median_seconds, unit

ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Notes when each kind of input happened and when the last canvas operation did.
WATCH = """
window.seen = {input: 0, paint: 0, paints: []}
for (const kind of ["keydown", "mouseup", "click"])
  addEventListener(kind, () => { window.seen.input = performance.now() }, true)
for (const name of ["drawImage", "stroke", "fill", "fillRect", "strokeRect", "fillText"]) {
  const plain = CanvasRenderingContext2D.prototype[name]
  CanvasRenderingContext2D.prototype[name] = function (...args) {
    const result = plain.apply(this, args)
    const now = performance.now()
    if (now - window.seen.paint > 4) window.seen.paints.push(now)
    window.seen.paint = now
    return result
  }
}
"""


def start(city: str, settings: str) -> tuple[subprocess.Popen[str], int]:
    """Start a server on a free port; returns it and the port once it answers."""
    how = f"{city!r}, port=0, open=False, warm=True, {settings}"
    code = f"from explorer.app import serve; serve({how})"
    server = subprocess.Popen(
        [sys.executable, "-u", "-c", code],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert server.stdout is not None
    for line in server.stdout:
        found = re.search(r"explorer is at http://localhost:(\d+)", line)
        if found:
            return server, int(found[1])
    raise SystemExit("The server did not start.")


def beside() -> str:
    """What a unit takes just now: a machine's speed drifts."""
    return f"unit {median_seconds(unit(), 15) * 1000:.1f} ms"


def settle(page: Page, quiet: float = 350) -> float:
    """Wait until nothing was painted for ``quiet`` ms; returns ms from input to last paint."""
    while True:
        page.wait_for_timeout(60)
        idle, took = page.evaluate(
            "[performance.now() - Math.max(seen.paint, seen.input), seen.paint - seen.input]"
        )
        if idle > quiet and took > 0:
            return float(took)
        if idle > 5000:
            return float("nan")


def figure(page: Page, label: str) -> str:
    """The value under a label of the strip above the maps."""
    return page.locator("dl.figures div", has_text=label).locator("dd").inner_text()


class Row:
    """One line of the table: the same action many times."""

    def __init__(self, name: str, server: psutil.Process, received: list[int]) -> None:
        self.name, self.server, self.received = name, server, received
        self.painted: list[float] = []
        self.overhead: list[float] = []
        self.cpu: list[float] = []
        self.sent: list[float] = []

    def measure(self, page: Page, act: Any, computed: bool) -> None:
        """Do ``act()`` once and note what it took."""
        before, cpu = sum(self.received), sum(self.server.cpu_times()[:2])
        act()
        painted = settle(page)
        self.painted.append(painted)
        if computed:
            text = figure(page, "Computed in")
            number = float(text.split()[0]) * (1 if text.endswith("ms") else 1000)
            self.overhead.append(painted - number)
        self.cpu.append((sum(self.server.cpu_times()[:2]) - cpu) * 1000)
        self.sent.append((sum(self.received) - before) / 1000)

    def __str__(self) -> str:
        def middle(values: list[float]) -> str:
            return f"{statistics.median(values):6.0f}" if values else "     –"

        high = sorted(self.painted)[int(0.95 * (len(self.painted) - 1))]
        return (
            f"{self.name:<34}{middle(self.painted)} {high:6.0f} {middle(self.overhead)}"
            f" {middle(self.cpu)} {middle(self.sent)}  ({len(self.painted)})"
        )


def keys(page: Page, row: Row, name: str, times: int) -> None:
    """Press arrow keys on a slider, to and fro."""
    slider = page.get_by_role("slider", name=name, exact=True)
    slider.focus()
    for i in range(times):
        key = "ArrowLeft" if i % 2 else "ArrowRight"
        row.measure(page, lambda key=key: page.keyboard.press(key), computed=True)


def continuous(page: Page, seconds: float = 4.0) -> str:
    """Drag the epsilon slider to and fro; returns frames a second and the largest gap."""
    place = page.get_by_role("slider", name="Epsilon", exact=True).locator("..").bounding_box()
    assert place is not None
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate("seen.paints = []")
    started = time.time()
    i = 0
    while time.time() - started < seconds:
        i += 1
        page.mouse.move(x + 40 * ((i % 20) / 10 - 1) * (1 if i // 20 % 2 else -1), y)
        page.wait_for_timeout(30)
    page.mouse.up()
    frames = page.evaluate("seen.paints")
    distinct = [b for a, b in itertools.pairwise(frames) if b - a > 25]
    gaps = [b - a for a, b in itertools.pairwise(distinct)]
    return f"{len(distinct) / seconds:.1f} frames/s, median gap {statistics.median(gaps):.0f} ms"


def main() -> None:
    """Measure and print."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--city", default="madeup")
    ask.add_argument("--settings", default="epsilon=1.0, height=15, stop_count=50")
    ask.add_argument("--times", type=int, default=20)
    given = ask.parse_args()
    server, port = start(given.city, given.settings)
    received: list[int] = []
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
            page = browser.new_page(viewport={"width": 1366, "height": 768})
            page.add_init_script(WATCH)
            page.on(
                "websocket",
                lambda ws: ws.on("framereceived", lambda frame: received.append(len(frame))),
            )
            begun = time.time()
            page.goto(f"http://localhost:{port}/")
            page.wait_for_function("seen.paint > 0", timeout=60_000)
            first = time.time() - begun
            page.wait_for_timeout(2500)
            leaves = figure(page, "Leaves")
            print(f"{given.city}, {given.settings}: {leaves} leaves; first picture {first:.2f} s")
            process = psutil.Process(server.pid)

            def make(name: str) -> Row:
                return Row(name, process, received)

            head = f"{'':<34}{'paint':>6} {'p95':>6} {'over':>6} {'CPU':>6} {'kB':>6}  (n)"
            print(head + "   [ms, medians; over = painted minus compute]")
            page.get_by_role("button", name=re.compile("^Settings of")).click()
            for name in ("Epsilon", "Stop count"):
                row = make(f"slider key: {name}")
                keys(page, row, name, given.times)
                print(row, "", beside())
            print("continuous drag:", continuous(page), "", beside())
            browser.close()
    finally:
        server.terminate()
        server.wait(10)


if __name__ == "__main__":
    main()
