"""How many participants a class bears. A script, not a test:

    .venv/bin/python tests/benchmarks/classroom.py --participants 30

A teacher in a Chromium creates a class and asks; bare websocket clients and a few Chromium pages
join and draw an answer about once a second. Own: from the press of the button to the arrival of
the histogram that holds the answer (in Chromium: to the text on the page). Teacher: from the press
to the teacher's page showing at least as many answers as that histogram had.
"""

from __future__ import annotations

import argparse
import asyncio
import bisect
import contextlib
import random
import re
import shutil
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import psutil
from playwright.async_api import Browser, Page, async_playwright

# Run as a script, beside its sibling and without a package around them.
sys.path.insert(0, str(Path(__file__).parent))
from browser_latency import FLAGS, start
from websocket_client import Client, component_with_label

# Notes when the number of answers on the page changed; ms as Date.now() says.
NOTE = """
() => {
  const strip = root => root.querySelectorAll("dl.figures").length ? root : [...
    root.querySelectorAll("*")].map(e => e.shadowRoot && strip(e.shadowRoot)).find(Boolean)
  let root = null
  window.noted = []
  setInterval(() => {
    root ??= strip(document)
    const shown = root && [...root.querySelectorAll("dl.figures div")].find(
      each => each.querySelector("dt").textContent === "Answers")
    const count = shown ? Number(shown.querySelector("dd").textContent.replaceAll(",", "")) : 0
    const last = window.noted.at(-1)
    if (!last || last[1] !== count) window.noted.push([Date.now(), count])
  }, 10)
}
"""
# Presses the button about once a second and notes the ms until one's own answer has changed.
PRESS = """
([button, own, pause, seconds]) => new Promise(done => {
  const root = own.getRootNode()
  const text = () => root.querySelector(".verdict + .finding")?.textContent ?? ""
  const drawn = () => Number((/drawn (\\d+)/.exec(text()) ?? [0, text() ? 1 : 0])[1])
  const took = [], until = performance.now() + 1000 * seconds
  const once = () => {
    if (performance.now() > until) return done(took)
    const before = drawn(), pressed = performance.now()
    button.click()
    const look = setInterval(() => {
      const ms = performance.now() - pressed
      if (drawn() <= before && ms < 10000) return
      clearInterval(look)
      took.push(ms)
      setTimeout(once, Math.max(0, 1000 * pause * (0.7 + 0.6 * Math.random()) - ms))
    }, 10)
  }
  setTimeout(once, 1000 * pause * Math.random())
})
"""


class Participant(Client):
    """One participant without a browser."""

    def __init__(self, port: int, code: str) -> None:
        super().__init__(port, f"class?class={code}")
        self._button = ""
        self._drawn = self._wanted = 0
        self.joined, self._shown = asyncio.Event(), asyncio.Event()
        self._total = 0
        #: (ms, when pressed, answers in the histogram that came back)
        self.took: list[tuple[float, float, int]] = []
        self.received = 0

    async def listen(self) -> None:
        """Note the button, and each histogram with a new answer of one's own."""
        async for part in self.parts():
            self.received += len(part)
            if isinstance(part, bytes):
                continue
            if not self._button and "Draw my answer" in part:
                self._button = component_with_label(part, "Draw my answer") or ""
                self.joined.set()
            found = re.search(r"You have drawn (\d+)", part)
            drawn = int(found[1]) if found else int("Your answer: " in part)
            total = re.search(r"([\d,]+) answers? of", part)
            if total:
                self._total = int(total[1].replace(",", ""))
            if drawn >= self._wanted > self._drawn:
                self._drawn = drawn
                self._shown.set()

    async def take_part(self, seconds: float, pause: float) -> None:
        """Draw again and again; an answer that does not come within 10 s counts as 10 s."""
        until = time.monotonic() + seconds
        await asyncio.sleep(random.uniform(0, pause))
        while time.monotonic() < until:
            self._shown.clear()
            self._wanted = self._drawn + 1
            pressed, sent = time.time(), time.monotonic()
            self.click(self._button)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._shown.wait(), 10)
            ms = (time.monotonic() - sent) * 1000
            self.took.append((ms, pressed, self._total))
            await asyncio.sleep(max(0.0, random.uniform(0.7, 1.3) * pause - ms / 1000))


async def teach(browser: Browser, url: str, mechanism: str) -> tuple[Page, str]:
    """Create a class and ask its first question; returns the teacher's page and the code."""
    page = await (await browser.new_context(viewport={"width": 1366, "height": 768})).new_page()
    await page.goto(f"{url}class")
    await page.get_by_role("button", name="Create a class").click()
    code = (await page.locator(".code").inner_text()).replace(" ", "")
    await page.get_by_role("img", name="True map").wait_for()
    if mechanism != "HTF":
        await page.get_by_role("combobox", name="Mechanism").click()
        await page.get_by_role("option", name=mechanism, exact=True).click()
    await page.get_by_role("button", name="Ask the class").click()
    await page.get_by_text("Nobody has answered yet").wait_for()
    return page, code


async def press(page: Page, seconds: float, pause: float) -> list[float]:
    """Draw answers in a page with a browser."""
    button = await page.get_by_role("button", name="Draw my answer").element_handle()
    own = await page.get_by_text("You have not drawn an answer yet").element_handle()
    return list(await page.evaluate(PRESS, [button, own, pause, seconds]))


async def run(given: argparse.Namespace, port: int, server: psutil.Process) -> None:
    """One class from the first to the last answer."""
    url = f"http://localhost:{port}/"
    async with async_playwright() as play:
        browser = await play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        teacher, code = await teach(browser, url, given.mechanism)
        everyone = [Participant(port, code) for _ in range(given.participants)]
        listening, begun, cpu = [], time.monotonic(), _cpu(server)
        for one in everyone:
            await one.open()
            listening.append(asyncio.create_task(one.listen()))
            await asyncio.wait_for(one.joined.wait(), 30)
        opened = (time.monotonic() - begun) * 1000 / max(len(everyone), 1)
        opened_cpu = (_cpu(server) - cpu) * 1000 / max(len(everyone), 1)
        pages = []
        for _ in range(given.pages):
            pages.append(await (await browser.new_context()).new_page())
            await pages[-1].goto(f"{url}class?class={code}")
            await pages[-1].get_by_role("button", name="Draw my answer").wait_for()
        await teacher.evaluate(NOTE)
        await asyncio.sleep(2)
        cpu, begun = _cpu(server), time.monotonic()
        received = sum(one.received for one in everyone)
        raw = [one.take_part(given.seconds, given.pause) for one in everyone]
        real = [press(page, given.seconds, given.pause) for page in pages]
        found = await asyncio.gather(*real, *raw)
        lasted = time.monotonic() - begun
        cores = (_cpu(server) - cpu) / lasted
        received = sum(one.received for one in everyone) - received
        await asyncio.sleep(1.5)
        noted = await teacher.evaluate("window.noted")
        took = [each for one in everyone for each in one.took]
        own = [ms for ms, _, _ in took]
        print(
            f"{given.participants} participants and {given.pages} pages, {given.mechanism}, ",
            end="",
        )
        print(f"each about every {given.pause:g} s for {given.seconds:g} s")
        print(f"own histogram      {_said(own)}")
        print(f"teacher's screen   {_said(_until_shown(took, noted))}")
        print(f"own, in Chromium   {_said([ms for each in found[: given.pages] for ms in each])}")
        print(
            f"server {cores:.2f} cores, {server.memory_info().rss / 1e6:.0f} MB; to open one "
            f"{opened:.0f} ms, {opened_cpu:.0f} ms CPU; "
            f"{received / 1000 / lasted / max(len(everyone), 1):.1f} kB/s to each"
        )
        for task in listening:
            task.cancel()
        await browser.close()


def _until_shown(
    took: Sequence[tuple[float, float, int]], noted: Sequence[tuple[float, int]]
) -> list[float]:
    """ms from each press until the teacher's page had as many answers as came back."""
    counts = [count for _, count in noted]
    waited = []
    for _, pressed, total in took:
        at = bisect.bisect_left(counts, total)
        waited.append(noted[at][0] - pressed * 1000 if at < len(noted) else 10_000.0)
    return waited


def _said(values: Sequence[float]) -> str:
    if not values:
        return "-"
    ordered = sorted(values)
    late = ordered[int(0.95 * (len(ordered) - 1))]
    return f"{len(ordered)} events: median {statistics.median(ordered):.0f} ms, 95 % {late:.0f} ms"


def _cpu(server: psutil.Process) -> float:
    return float(sum(server.cpu_times()[:2]))


def main() -> None:
    """Measure and print."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--city", default="madeup")
    ask.add_argument("--mechanism", default="HTF")
    ask.add_argument("--participants", type=int, default=30)
    ask.add_argument("--pages", type=int, default=3)
    ask.add_argument("--seconds", type=float, default=20.0)
    ask.add_argument("--pause", type=float, default=1.0)
    given = ask.parse_args()
    server, port = start(given.city, "side=256")
    try:
        asyncio.run(run(given, port, psutil.Process(server.pid)))
    finally:
        server.terminate()
        server.wait(10)


if __name__ == "__main__":
    main()
