"""How long the app takes to start and to open, beside stock Panel pages of the same size.

    .venv/bin/python -m tests.benchmarks.start            (--rounds 3, --cold)

Each round starts all three pages one after the other, and the medians are printed. "Answers" is
from the command to the first page (HTTP 200 with the page in it), wall and CPU seconds of the
server and of its children. "Rows" is from navigation in Chromium to three visible rows of the
table: in the page of the first visitor, and of a second one with an empty cache; "kept" is to the
rows of the made-up city that stand there before the live ones. "Live" is from the command to the
rows of the first visitor. "Slider" is from a key on our epsilon slider to the last
paint after it, with the CPU of the server.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from playwright.sync_api import Browser, Page, Response, sync_playwright

ROOT = Path(__file__).resolve().parents[3]
STOCK = Path(__file__).with_name("stock_page.py")
PATIENCE = 300
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
#: Columns of the table: what is measured, and its unit.
FIGURES = (
    ("answers", "s"),
    ("answers cpu", "s"),
    ("live", "s"),
    ("live cpu", "s"),
    ("rows 1st", "s"),
    ("rows 2nd", "s"),
    ("kept", "s"),
    ("models", ""),
    ("requests", ""),
    ("scripts", "MB"),
    ("slider", "ms"),
    ("slider cpu", "ms"),
)
#: Notes when a key was pressed and when a canvas was painted last.
WATCH = """
window.seen = {input: 0, paint: 0}
addEventListener("keydown", () => { window.seen.input = performance.now() }, true)
for (const name of ["drawImage", "stroke", "fill", "fillRect", "strokeRect", "fillText"]) {
  const plain = CanvasRenderingContext2D.prototype[name]
  CanvasRenderingContext2D.prototype[name] = function (...args) {
    window.seen.paint = performance.now()
    return plain.apply(this, args)
  }
}
"""
PAINTED = "seen.paint > seen.input && performance.now() - seen.paint > 400"


def command(kind: str, port: int) -> list[str]:
    """What is typed to serve a page."""
    if kind == "ours":
        return ["-m", "explorer", "serve", "--no-open", "--port", str(port)]
    return ["-m", "panel", "serve", str(STOCK), "--port", str(port), "--args", kind]


def cpu_seconds(process: psutil.Process) -> float:
    """CPU seconds of a process and its children, those that have ended too."""
    total = 0.0
    for member in [process, *process.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            times = member.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


@contextmanager
def served(kind: str, environment: dict[str, str]) -> Iterator[tuple[psutil.Process, int]]:
    """A server of a page in a process of its own, ended with its children."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = psutil.Popen(
        [sys.executable, *command(kind, port)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process, port
    finally:
        family = [process, *process.children(recursive=True)]
        for member in family:
            with suppress(psutil.NoSuchProcess):
                member.kill()
        psutil.wait_procs(family, timeout=10)


def wait_until_it_answers(process: psutil.Process, address: str) -> None:
    """Ask for the page until it comes."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.is_running():
        with (
            suppress(urllib.error.URLError, ConnectionError, TimeoutError),
            urllib.request.urlopen(address, timeout=PATIENCE) as answer,
        ):
            if answer.status == 200 and b"docs_json" in answer.read():
                return
        time.sleep(0.05)
    raise SystemExit(f"{address} did not answer.")


def visit(
    browser: Browser, address: str, process: psutil.Process, with_slider: bool
) -> dict[str, float]:
    """Open the page with an empty cache until three rows of its table are visible."""
    scripts: list[tuple[str, Response]] = []
    requests: list[str] = []
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    try:
        page = context.new_page()
        page.add_init_script(WATCH)
        page.on("request", lambda request: requests.append(request.url))
        page.on("response", lambda each: scripts.append((each.request.resource_type, each)))
        start = time.monotonic()
        page.goto(address, timeout=PATIENCE * 1000, wait_until="commit")
        # Stock pages have three rows; ours begins with two boxes below its header.
        rows = page.locator(".tabulator-row, table.values tr")
        rows.nth(2).wait_for(state="visible", timeout=PATIENCE * 1000)
        kept = time.monotonic() - start
        page.locator("#first-screen").wait_for(state="detached", timeout=PATIENCE * 1000)
        rows.nth(2).wait_for(state="visible", timeout=PATIENCE * 1000)
        taken, cpu = time.monotonic() - start, cpu_seconds(process)
        page.wait_for_timeout(1500)
        slider = move_slider(page, process) if with_slider else {}
        return {
            **slider,
            "rows": taken,
            "kept": kept,
            "cpu": cpu,
            "models": page.evaluate("Bokeh.documents.reduce((n, d) => n + d._all_models.size, 0)"),
            "requests": len(requests),
            "scripts": sum(len(each.body()) for kind, each in scripts if kind == "script") / 1e6,
        }
    finally:
        context.close()


def move_slider(page: Page, process: psutil.Process, times: int = 10) -> dict[str, float]:
    """Medians of arrow keys on the slider, to and fro."""
    page.get_by_role("slider", name="Epsilon", exact=True).focus(timeout=PATIENCE * 1000)
    painted, cpu = [], []
    for index in range(times):
        before = cpu_seconds(process)
        page.keyboard.press("ArrowLeft" if index % 2 else "ArrowRight")
        page.wait_for_function(PAINTED, timeout=PATIENCE * 1000)
        painted.append(page.evaluate("seen.paint - seen.input"))
        cpu.append(1000 * (cpu_seconds(process) - before))
    return {"slider": statistics.median(painted), "slider cpu": statistics.median(cpu)}


def measure(kind: str, browser: Browser, environment: dict[str, str]) -> dict[str, float]:
    """All figures of one start of one page."""
    start = time.monotonic()
    with served(kind, environment) as (process, port):
        address = f"http://localhost:{port}/" + ("" if kind == "ours" else STOCK.stem)
        wait_until_it_answers(process, address)
        answers, cpu = time.monotonic() - start, cpu_seconds(process)
        first = visit(browser, address, process, with_slider=False)
        live = time.monotonic() - start
        second = visit(browser, address, process, with_slider=kind == "ours")
    return {
        "answers": answers,
        "answers cpu": cpu,
        # Without what the browser is given to settle.
        "live": live - 1.5,
        "live cpu": first["cpu"],
        "rows 1st": first["rows"],
        "rows 2nd": second["rows"],
        **{name: second.get(name, math.nan) for name, _ in FIGURES[6:]},
    }


def print_table(found: dict[str, list[dict[str, float]]]) -> None:
    """Medians, and ours as a multiple of the stock page with the same widgets."""
    kinds = list(found)
    print(f"{'':14}" + "".join(f"{kind:>12}" for kind in kinds) + f"{'ours/material':>16}")
    for name, unit in FIGURES:
        middle = {kind: statistics.median(each[name] for each in found[kind]) for kind in kinds}
        ratio = ""
        if middle.get("material") and "ours" in middle:
            ratio = f"{middle['ours'] / middle['material']:16.2f}"
        print(f"{name + ' ' + unit:14}" + "".join(f"{middle[k]:12.2f}" for k in kinds) + ratio)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kinds", nargs="+", default=["native", "material", "ours"])
    parser.add_argument("--cold", action="store_true", help="ours without compiled code")
    options = parser.parse_args()
    chromium = os.environ.get("EXPLORER_CHROMIUM") or shutil.which("chromium")
    found: dict[str, list[dict[str, float]]] = {kind: [] for kind in options.kinds}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        environment = {**os.environ, "EXPLORER_LEDGER": f"{folder}/spends.sqlite3"}
        environment["EXPLORER_STATE"] = f"{folder}/state"
        # As people have it: modules are compiled once.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for index in range(options.rounds):
            if options.cold:
                environment["NUMBA_CACHE_DIR"] = f"{folder}/numba{index}"
            for kind in options.kinds:
                found[kind].append(measure(kind, browser, environment))
                print(f"{kind}: {found[kind][-1]}", file=sys.stderr, flush=True)
        browser.close()
    print_table(found)


if __name__ == "__main__":
    main()
