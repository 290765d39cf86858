"""How many visitors the server for others bears, with raw clients. A script, not a test:

    .venv/bin/python -m tests.load.audience --visitors 60 --seconds 30 --rounds 5

Visitors open a page and do something about once a second: move, zoom, ask, look at a leaf. CPU is
of the process that answers, per opening and per event; latency is from asking to the last byte.
``--folder`` takes published releases of one's own in place of the made-up city's.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.load.serving import Served, made
from tests.load.visitor import Line, Map, Visitor, maps_of

#: What the server is to keep: milliseconds of an opening and of an event, MB a visitor, median
#: and 95 % of the answers in milliseconds, growth of memory over the rounds.
TARGETS = {"opening": 100, "event": 20, "memory": 3, "median": 300, "most": 1000, "growth": 1.1}


async def crowd(
    served: Served, maps: Sequence[Map], visitors: int, seconds: float, seed: int, alone: bool
) -> dict[str, float]:
    """Let so many open a page, be there for a while, and leave; what it took."""
    rng = random.Random(seed)
    everyone = [
        Visitor(Line(served.port), maps[i % len(maps)], random.Random(rng.random()), alone)
        for i in range(visitors)
    ]
    cpu, memory = served.cpu, served.memory
    for each in everyone:
        await each.open()
    opening = 1000 * (served.cpu - cpu) / visitors
    held = (served.memory - memory) / visitors
    cpu, begun = served.cpu, time.monotonic()
    await asyncio.gather(*(each.visit(seconds) for each in everyone))
    passed = time.monotonic() - begun
    took = sorted(each for one in everyone for each in one.took)
    found = {
        "visitors": visitors,
        "opening": opening,
        "event": 1000 * (served.cpu - cpu) / len(took),
        "rate": len(took) / passed,
        "median": statistics.median(took),
        "most": took[int(0.95 * (len(took) - 1))],
        "lost": sum(each.lost for each in everyone),
        "memory": held,
        "total": served.memory,
        "cores": (served.cpu - cpu) / passed,
    }
    for each in everyone:
        each.line.close()
    return found


HEAD = (
    "visitors  CPU opening ms  CPU event ms  events/s  cores  median ms  95 % ms  lost  "
    "MB a visitor  MB in all"
)


def row(found: dict[str, float]) -> str:
    """A line of the table."""
    return (
        f"{found['visitors']:>8.0f}{found['opening']:>16.1f}{found['event']:>14.1f}"
        f"{found['rate']:>10.1f}{found['cores']:>7.2f}{found['median']:>11.1f}"
        f"{found['most']:>9.1f}{found['lost']:>6.0f}{found['memory']:>14.2f}{found['total']:>11.0f}"
    )


async def rounds(
    served: Served, visitors: int, seconds: float, many: int, alone: bool
) -> list[dict[str, float]]:
    """The first visitor, who takes what all share, and then rounds of so many."""
    maps = await maps_of(served.port)
    print(HEAD)
    await crowd(served, maps, 1, min(seconds, 5.0), 0, alone)
    found = []
    for number in range(many):
        found.append(await crowd(served, maps, visitors, seconds, number + 1, alone))
        print(row(found[-1]), flush=True)
    return found


def main() -> None:
    """Measure and print."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--visitors", type=int, default=60)
    ask.add_argument("--seconds", type=float, default=20.0)
    ask.add_argument("--rounds", type=int, default=5)
    ask.add_argument("--folder", type=Path, help="published releases to show")
    ask.add_argument("--alone", action="store_true", help="all events are pictures nobody shares")
    given = ask.parse_args()
    with tempfile.TemporaryDirectory() as space:
        served = Served(given.folder or made(Path(space), 1024))
        try:
            asyncio.run(rounds(served, given.visitors, given.seconds, given.rounds, given.alone))
        finally:
            served.stop()


if __name__ == "__main__":
    main()
