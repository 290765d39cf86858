"""How many visitors one server bears, with bare websocket clients. A script, not a test:

    .venv/bin/python tests/benchmarks/visitors.py --city san-francisco --visitors 12

Each visitor opens the page and moves the epsilon slider about every ``--pause`` seconds. With
``--rounds`` as many leave and as many others come: memory after each round is what stays of them.
Latency is from sending the change to the arrival of the picture (a message above 5 kB); no browser
takes part.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import statistics
import sys
import time
from pathlib import Path

import psutil

# Run as a script, beside its sibling and without a package around them.
sys.path.insert(0, str(Path(__file__).parent))
from browser_latency import start
from websocket_client import Client

PICTURE = 5_000
#: Seconds after which nothing is kept of who has left.
GONE = 60.0


class Visitor(Client):
    """A visit of the Explore page."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self._slider = ""
        self.picture = asyncio.Event()
        self.took: list[float] = []
        self.pictures = 0

    async def begin(self) -> None:
        """Open the page and find its slider."""
        slider = await self.open_until("Epsilon")
        self._slider = slider

    async def listen(self) -> None:
        """Note each picture that arrives."""
        noted = True
        async for part in self.parts():
            if isinstance(part, str) and part.startswith('{"msgid"'):
                noted = False
            if isinstance(part, bytes) and len(part) > PICTURE:
                # A message counts once, however many buffers it has.
                self.pictures += not noted
                noted = True
                self.picture.set()

    async def visit(self, seconds: float, pause: float) -> None:
        """Move the slider to and fro; a change that is not answered within 10 s counts as 10 s."""
        until = time.monotonic() + seconds
        place = 0.0
        await asyncio.sleep(random.uniform(0, pause))
        while time.monotonic() < until:
            place = -place if place else 0.05 * random.randint(1, 9)
            self.picture.clear()
            sent = time.monotonic()
            self.change(self._slider, "value", place)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.picture.wait(), 10)
            self.took.append((time.monotonic() - sent) * 1000)
            await asyncio.sleep(random.uniform(0.7, 1.3) * pause)


def loop_seconds(server: psutil.Process) -> float:
    """CPU of the server's event loop: of its first thread."""
    return sum(sum(one[1:]) for one in server.threads() if one.id == server.pid)


async def rounds(
    port: int, visitors: int, seconds: float, pause: float, rounds: int, server: psutil.Process
) -> None:
    """Let as many come, change settings and leave, several times."""
    # The first visitor of a server takes what all share.
    first = Visitor(port)
    await first.begin()
    await asyncio.sleep(2)
    for _ in range(rounds):
        await crowd(port, visitors, seconds, pause, server)
        # Sessions are looked for that nobody uses any more.
        await asyncio.sleep(GONE)
        print(f"  after they left: {server.memory_info().rss / 1e6:.0f} MB", flush=True)


async def crowd(
    port: int, visitors: int, seconds: float, pause: float, server: psutil.Process
) -> None:
    """Open all visits, let them change settings for a while, print what they saw."""
    everyone = [Visitor(port) for _ in range(visitors)]
    memory, begun = server.memory_info().rss, sum(server.cpu_times()[:2])
    for one in everyone:
        await one.begin()
    await asyncio.sleep(2)
    opened = (sum(server.cpu_times()[:2]) - begun) / visitors
    listening = [asyncio.create_task(one.listen()) for one in everyone]
    await asyncio.sleep(2)
    for one in everyone:
        one.pictures = 0
    loop, cpu, begun = loop_seconds(server), sum(server.cpu_times()[:2]), time.monotonic()
    await asyncio.gather(*(one.visit(seconds, pause) for one in everyone))
    cores = (sum(server.cpu_times()[:2]) - cpu) / (time.monotonic() - begun)
    loop = (loop_seconds(server) - loop) * 1000
    took = sorted(value for one in everyone for value in one.took)
    print(
        f"{visitors} visitors, {len(took)} changes: median {statistics.median(took):.0f} ms, "
        f"95 % {took[int(0.95 * (len(took) - 1))]:.0f} ms, server {cores:.2f} cores, "
        f"event loop {loop / len(took):.0f} ms of CPU a change, "
        f"{sum(one.pictures for one in everyone) / len(took):.2f} messages with a picture, "
        f"{opened * 1000:.0f} ms of CPU to open one, {server.memory_info().rss / 1e6:.0f} MB, "
        f"{(server.memory_info().rss - memory) / 1e6 / visitors:.1f} MB a visitor"
    )
    for task, one in zip(listening, everyone, strict=True):
        task.cancel()
        one.close()


def main() -> None:
    """Measure and print."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--city", default="madeup")
    ask.add_argument("--settings", default="epsilon=1.0, height=15, stop_count=50")
    ask.add_argument("--visitors", type=int, default=12)
    ask.add_argument("--seconds", type=float, default=20.0)
    ask.add_argument("--pause", type=float, default=4.0)
    ask.add_argument("--rounds", type=int, default=1)
    given = ask.parse_args()
    server, port = start(given.city, given.settings)
    try:
        each = given.visitors, given.seconds, given.pause, given.rounds
        asyncio.run(rounds(port, *each, psutil.Process(server.pid)))
    finally:
        server.terminate()
        server.wait(10)


if __name__ == "__main__":
    main()
