"""How many visitors the audience's server answers. A script, not a test:

    .venv/bin/python -m tests.load.audience --visitors 60 --seconds 10

Each visitor has a connection that is kept and an address of its own (as a proxy would report it),
moves the map, asks about a box, opens the page with its scripts or downloads a file. "Shared": all
look at the same 200 views; "own": each at others. "Tornado" is the reference: a handler that sends
30 kB for each request. "CPU ms" is of the server per request; "server" and "client" are processors.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psutil

from explorer.audience.statics import STATICS
from explorer.cities.catalogue import cities
from explorer.mechanisms import mechanism
from tests.audience.running import key_of
from tests.audience.serving import ROOT, Served, Started
from tests.publish.folders import folder_of

PARTS = [path.name for path in (ROOT / "explorer" / "audience" / "static").iterdir()]
WIDTH, HEIGHT, RASTER = 864, 576, 32  # pixels of a picture, and the raster on which pages ask
HEADINGS = ("requests/s", "median ms", "p99 ms", "errors", "CPU ms", "server", "client", "load")
STOCK = """
from tornado import httpserver, ioloop, netutil, web
class Zeros(web.RequestHandler):
    def prepare(self):
        self.finish(bytes(30_000))
sockets = netutil.bind_sockets(0, "127.0.0.1")
print(f"explorer is at http://localhost:{sockets[0].getsockname()[1]}")  # Started waits for it
httpserver.HTTPServer(web.Application([("/.*", Zeros)])).add_sockets(sockets)
ioloop.IOLoop.current().start()
"""


def action(key: str, bounds: tuple[float, ...], shared: bool) -> list[tuple[str, bytes]]:
    """Paths, and what is posted to them, of one thing that a visitor does."""
    kind, (west, south, east, north) = random.random(), bounds
    width, height = east - west, north - south
    if kind < 0.6:
        view = random.Random(random.randrange(200) if shared else None)
        pixel = max(width / WIDTH, height / HEIGHT) / 2 ** (view.randrange(9) / 2)
        x = west + view.uniform(0, 0.6) * width // (pixel * RASTER) * pixel * RASTER
        y = south + view.uniform(0, 0.6) * height // (pixel * RASTER) * pixel * RASTER
        at = f"{x:.2f},{y:.2f},{x + WIDTH * pixel:.2f},{y + HEIGHT * pixel:.2f}"
        return [(f"/picture/{key}.png?at={at}&size={WIDTH},{HEIGHT}&look=paper&lines=1", b"")]
    if kind < 0.85:
        x, y = west + random.uniform(0, 0.9) * width, south + random.uniform(0, 0.9) * height
        area = {"box": [x, y, x + width / 10, y + height / 10]}
        return [("/answers", json.dumps({"maps": [key], "areas": [area]}).encode())]
    opening = [f"/map/{key}", *map(STATICS.address, PARTS)]
    return [(path, b"") for path in (opening if kind < 0.95 else [f"/files/{key}/leaves.csv"])]


async def visit(port: int, choose: Callable, pause: float, until: float, number: int) -> list:
    """Milliseconds and status of each request."""
    answers: list[tuple[float, int]] = []
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"Host: localhost:{port}\r\nAccept-Encoding: gzip\r\nX-Forwarded-For: 10.0.0.{number}"
    begin = time.monotonic() + random.uniform(0, pause)
    while begin < until:
        await asyncio.sleep(max(0.0, begin - time.monotonic()))
        for path, body in choose():
            sent, status = time.perf_counter(), 0
            start = f"{'POST' if body else 'GET'} {path} HTTP/1.1\r\n{head}\r\nContent-Length: "
            try:
                async with asyncio.timeout(10):
                    writer.write(f"{start}{len(body)}\r\n\r\n".encode() + body)
                    answer = await reader.readuntil(b"\r\n\r\n")
                    size = re.findall(rb"(?i)content-length: (\d+)", answer)
                    status = int(answer[9:12]) if await reader.readexactly(int(size[0])) else 0
            except (OSError, EOFError):  # a timeout is an OSError
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            answers.append((1000 * (time.perf_counter() - sent), status))
        begin = max(begin + pause, time.monotonic())
    writer.close()
    return answers


async def measure(server: psutil.Process, visits: Callable, visitors: int, seconds: float) -> list:
    for lasting in (2.0, seconds):  # the first to warm up
        used, own, begun = sum(server.cpu_times()[:2]), time.process_time(), time.monotonic()
        crowd = (visits(begun + lasting, number + 1) for number in range(visitors))
        answers = sorted(answer for one in await asyncio.gather(*crowd) for answer in one)
        passed, used = time.monotonic() - begun, sum(server.cpu_times()[:2]) - used
    count, own = len(answers), time.process_time() - own
    row = [count / passed, *(answers[count * part // 100][0] for part in (50, 99))]
    row += [sum(status != 200 for _, status in answers), 1000 * used / count]
    return [*row, used / passed, own / passed, psutil.getloadavg()[0]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visitors", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=10.0)
    given = parser.parse_args()
    release = mechanism("htf")(epsilon=1.0).release(cities()["madeup"].count(1024)[0])
    with tempfile.TemporaryDirectory() as space:
        folder = folder_of(Path(space, "release"), release)
        choose = partial(action, key_of(folder), release.grid.bounds)
        served, stock = Served(folder, "--behind-proxy"), Started([sys.executable, "-uc", STOCK])
        reference, ours = (stock.port, stock.process.pid), (served.port, served.worker.pid)
        rows = ("Tornado", *reference, True), ("shared", *ours, True), ("own", *ours, False)
        try:
            print(" " * 22 + "".join(f"{heading:>12}" for heading in HEADINGS))
            for pause, pace in enumerate(("without pause", "once a second")):
                for name, port, pid, shared in rows:
                    visits = partial(visit, port, partial(choose, shared), pause)
                    row = asyncio.run(measure(psutil.Process(pid), visits, *vars(given).values()))
                    print(f"{pace}, {name:7}" + "".join(f"{figure:12.2f}" for figure in row))
        finally:
            stock.stop()
            served.stop()


if __name__ == "__main__":
    main()
