"""What one client's flood costs four visitors of the server for others. A script, not a test:

    .venv/bin/python -m tests.load.floods --seconds 6

Four visitors do something once a second, each from an address of its own: before and during each
flood, which comes from a fifth one. The table has their median and their slowest in twenty as
factors of before, memory as a factor, and what the server wrote. Everything stays on this computer
(all of 127.0.0.0/8 is one of its addresses on Linux).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from multiprocessing import get_context
from pathlib import Path

from tests.load.serving import Served, made
from tests.load.visitor import Line, Map, Visitor, maps_of

#: Where the flood comes from.
FLOOD = "127.0.0.9"
Flood = Callable[[int, Map, float], Awaitable[None]]


async def _many(
    port: int,
    seconds: float,
    lines: int,
    ask: Callable[[Line, random.Random], Awaitable[object]],
    pause: float = 0.0,
) -> None:
    """On so many lines at once, again and again."""
    until = time.monotonic() + seconds

    async def one(number: int) -> None:
        line, rng = Line(port, FLOOD), random.Random(number)
        while time.monotonic() < until:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, AssertionError):
                await ask(line, rng)
            await asyncio.sleep(pause)
        line.close()

    await asyncio.gather(*(one(number) for number in range(lines)))


async def same(port: int, shown: Map, seconds: float) -> None:
    """500 requests a second for what is there already."""
    await _many(port, seconds, 50, lambda line, _: line.ask(f"/map/{shown.key}"), 0.1)


async def pictures(port: int, shown: Map, seconds: float) -> None:
    """Pictures that nobody has asked for, on 50 lines."""

    async def ask(line: Line, rng: random.Random) -> None:
        await Visitor(line, shown, rng, alone=True).act()

    await _many(port, seconds, 50, ask)


async def shapes(port: int, shown: Map, seconds: float) -> None:
    """Shapes of 400 corners over the whole map, on 20 lines."""
    west, south, east, north = shown.bounds

    async def ask(line: Line, rng: random.Random) -> None:
        corners = [[rng.uniform(west, east), rng.uniform(south, north)] for _ in range(400)]
        body = json.dumps({"maps": [shown.key], "areas": [{"shape": corners}]}).encode()
        await line.ask("/answers", body)

    await _many(port, seconds, 20, ask)


async def nonsense(port: int, shown: Map, seconds: float) -> None:
    """500 requests a second that no page makes."""
    await _many(
        port, seconds, 50, lambda line, rng: line.ask(f"/leaf/{shown.key}?at={rng.random()}"), 0.1
    )


async def bodies(port: int, _shown: Map, seconds: float) -> None:
    """Questions of 10 MB, as fast as they are taken."""
    await _many(port, seconds, 10, lambda line, _: line.ask("/answers", bytes(10_000_000)), 0.05)


async def silent(port: int, _shown: Map, seconds: float) -> None:
    """800 connections that say nothing, or a letter a second."""
    writers = []
    for _ in range(800):
        with contextlib.suppress(OSError):
            _reader, writer = await asyncio.open_connection(
                "127.0.0.1", port, local_addr=(FLOOD, 0)
            )
            writers.append(writer)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for writer in writers[::2]:
            with contextlib.suppress(OSError):
                writer.write(b"G")
        await asyncio.sleep(1)
    for writer in writers:
        writer.close()


async def unread(port: int, shown: Map, seconds: float) -> None:
    """Files that are asked for on 50 lines and never read."""
    writers = []
    for _ in range(50):
        with contextlib.suppress(OSError):
            _reader, writer = await asyncio.open_connection(
                "127.0.0.1", port, local_addr=(FLOOD, 0), limit=1
            )
            ask = f"GET /files/{shown.key}/leaves.geojson HTTP/1.1\r\n"
            writer.write(f"{ask}Host: localhost:{port}\r\n\r\n".encode())
            writers.append(writer)
    await asyncio.sleep(seconds)
    for writer in writers:
        writer.close()


FLOODS: tuple[Flood, ...] = (same, pictures, shapes, nonsense, bodies, silent, unread)


def _run(number: int, port: int, shown: Map, seconds: float) -> None:
    asyncio.run(FLOODS[number](port, shown, seconds))


async def _others(served: Served, shown: Map, seconds: float, seed: int) -> list[float]:
    everyone = [
        Visitor(Line(served.port, f"127.0.0.{at + 2}"), shown, random.Random(100 * seed + at))
        for at in range(4)
    ]
    await asyncio.gather(*(each.visit(seconds) for each in everyone))
    for each in everyone:
        each.line.close()
    # What was lost took for ever.
    return sorted(took for each in everyone for took in each.took) + [
        10_000.0 for each in everyone for _ in range(each.lost)
    ]


def _figures(took: list[float]) -> tuple[float, float]:
    return statistics.median(took), sorted(took)[int(0.95 * (len(took) - 1))]


async def table(served: Served, seconds: float) -> None:
    """Print a line for each flood."""
    shown = (await maps_of(served.port))[0]
    await _others(served, shown, seconds, 0)
    print(f"{'flood':<56}{'median':>8}{'95 %':>8}{'ms':>8}{'memory':>8}{'log kB':>8}")
    for number, flood in enumerate(FLOODS, 1):
        before, memory = _figures(await _others(served, shown, seconds, number)), served.memory
        written = sum(map(len, served.said))
        # A process of its own: it must not slow down who measures.
        running = get_context("spawn").Process(
            target=_run, args=(number - 1, served.port, shown, seconds + 1)
        )
        running.start()
        await asyncio.sleep(1.5)
        during = _figures(await _others(served, shown, seconds - 1, 50 + number))
        await asyncio.to_thread(running.join)
        grown, said = served.memory / memory, (sum(map(len, served.said)) - written) / 1000
        name = (flood.__doc__ or "").rstrip(".")
        print(
            f"{name:<56}{during[0] / before[0]:8.2f}{during[1] / before[1]:8.2f}"
            f"{during[0]:8.1f}{grown:8.2f}{said:8.1f}",
            flush=True,
        )


def main() -> None:
    """Measure and print."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--seconds", type=float, default=6.0)
    ask.add_argument("--folder", type=Path, help="published releases to show")
    given = ask.parse_args()
    with tempfile.TemporaryDirectory() as space:
        served = Served(given.folder or made(Path(space), 1024))
        try:
            asyncio.run(table(served, given.seconds))
        finally:
            served.stop()


if __name__ == "__main__":
    main()
