"""What one client's flood costs four others. A script, not a test:

    .venv/bin/python tests/benchmarks/floods.py

Four visitors move the epsilon slider about once a second: before, during and after each flood. The
table has the median of their answers as factors of before, memory after as a factor, and how much
the server wrote. Everything stays on this computer, and each flood lasts a few seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import psutil
from tornado.httpclient import AsyncHTTPClient

# Run as a script, beside its sibling and without a package around them.
sys.path.insert(0, str(Path(__file__).parent))
from browser_latency import start
from silent_client import Silent
from visitors import Visitor
from websocket_client import Client, component_with_label

Flood = Callable[[int, float], Awaitable[None]]


async def _messages(port: int, seconds: float, attribute: str) -> None:
    client = Client(port)
    slider = await client.open_until("Epsilon")
    for i in range(int(seconds * 10)):
        for j in range(50):
            client.change(slider, attribute, 0.01 * ((i + j) % 9) if attribute == "value" else {})
        await asyncio.sleep(0.1)
    client.close()


async def valid(port: int, seconds: float) -> None:
    """500 right messages a second."""
    await _messages(port, seconds, "value")


async def invalid(port: int, seconds: float) -> None:
    """500 wrong messages a second."""
    await _messages(port, seconds, "nothing")


async def texts(port: int, seconds: float) -> None:
    """Texts of 10 MB, as fast as they are taken."""
    client = Client(port)
    slider = await client.open_until("Epsilon")
    with contextlib.suppress(Exception):
        for _ in range(5):
            client.change(slider, "value", "x" * 10_000_000)
            await asyncio.sleep(seconds / 5)
    client.close()


async def pages(port: int, seconds: float) -> None:
    """100 pages that are asked for and not shown."""
    asked = AsyncHTTPClient(force_instance=True)
    for _ in range(100):
        with contextlib.suppress(OSError):
            await asked.fetch(f"http://localhost:{port}/", raise_error=False)
        await asyncio.sleep(seconds / 100)
    asked.close()


async def presses(port: int, seconds: float) -> None:
    """50 presses of one button at once."""
    client = Client(port)
    button = await client.open_until("New draw", component_with_label)
    for _ in range(50):
        client.click(button)
    await asyncio.sleep(seconds)
    client.close()


async def unread(port: int, seconds: float) -> None:
    """Changes by a client that never reads."""
    client = Silent(port)

    def flood() -> None:
        with contextlib.suppress(OSError):
            slider = client.open("Epsilon")
            until = time.monotonic() + seconds
            for i in itertools.count():
                if time.monotonic() > until:
                    return
                client.change(slider, 0.05 * (i % 9))
                time.sleep(0.2)

    await asyncio.to_thread(flood)
    # It stays, as one that has lost its line would: the server ends it.
    _STAYING.append(client)


#: Connections that nobody ends.
_STAYING: list[Silent] = []
FLOODS: tuple[Flood, ...] = (valid, invalid, texts, pages, presses, unread)


async def _median(others: list[Visitor], seconds: float) -> float:
    for one in others:
        one.took.clear()
    await asyncio.gather(*(one.visit(seconds, 1.0) for one in others))
    # A change that nobody answered counts as 10 s.
    return statistics.median(value for one in others for value in one.took)


async def table(
    port: int, seconds: float, forgotten: float, server: psutil.Process, log: list[str]
) -> None:
    """Print a line for each flood."""
    others = [Visitor(port) for _ in range(4)]
    for one in others:
        await one.begin()
    listening = [asyncio.create_task(one.listen()) for one in others]
    print(f"before: {await _median(others, seconds):.0f} ms; factors of what is before each flood")
    print(f"{'flood':<58}{'during':>8}{'after':>8}{'memory':>8}{'log kB':>8}")
    for flood in FLOODS:
        before, memory = await _median(others, seconds), server.memory_info().rss
        written = sum(map(len, log))
        running = asyncio.create_task(flood(port, seconds))
        during = await _median(others, seconds)
        await running
        # Who has left is forgotten after half a minute.
        await asyncio.sleep(forgotten)
        after = await _median(others, seconds)
        grown = server.memory_info().rss / memory
        said = (sum(map(len, log)) - written) / 1000
        name = (flood.__doc__ or "").rstrip(".")
        print(
            f"{name:<58}{during / before:8.2f}{after / before:8.2f}{grown:8.2f}{said:8.1f}",
            flush=True,
        )
    for task in listening:
        task.cancel()


def _gather(server: subprocess.Popen[str], log: list[str]) -> None:
    assert server.stdout is not None
    log.extend(server.stdout)


def main() -> None:
    """Measure and print."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--seconds", type=float, default=8.0)
    ask.add_argument("--settings", default="epsilon=1.0, side=256")
    ask.add_argument(
        "--forgotten", type=float, default=35.0, help="seconds between flood and after"
    )
    given = ask.parse_args()
    server, port = start("madeup", given.settings)
    log: list[str] = []
    threading.Thread(target=_gather, args=(server, log), daemon=True).start()
    try:
        asyncio.run(table(port, given.seconds, given.forgotten, psutil.Process(server.pid), log))
    finally:
        server.terminate()
        server.wait(60)
    print(json.dumps({"lines written": len(log)}))


if __name__ == "__main__":
    main()
