"""One visitor of the server for others, without a browser: asks what its pages ask, on one line."""

from __future__ import annotations

import asyncio
import gzip
import html
import json
import random
import re
import time
from dataclasses import dataclass, field
from urllib.parse import urlencode

#: The raster on which pages ask for pictures, and the window of a visitor, in pixels.
RASTER, WINDOW = 32, (832, 544)


class Line:
    """A connection that is kept, as a browser keeps it.

    Parameters
    ----------
    port : of a server on this computer
    host : the address to come from; each of 127.0.0.0/8 is one of this computer's on Linux
    """

    def __init__(self, port: int, host: str = "") -> None:
        self.port, self._from = port, host
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        """Status and content of an answer; a line that was cut is opened again once."""
        for again in (True, False):
            try:
                return await self._ask(path, body)
            except (OSError, asyncio.IncompleteReadError, ValueError):
                self.close()
                if not again:
                    raise
        raise AssertionError

    async def _ask(self, path: str, body: bytes | None) -> tuple[int, bytes]:
        if self._writer is None:
            source = (self._from, 0) if self._from else None
            self._reader, self._writer = await asyncio.open_connection(
                "127.0.0.1", self.port, local_addr=source
            )
        assert self._reader is not None
        head = f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\n"
        head += f"Host: localhost:{self.port}\r\nAccept-Encoding: gzip\r\n"
        if body is not None:
            head += f"Content-Length: {len(body)}\r\n"
        self._writer.write(f"{head}\r\n".encode() + (body or b""))
        await self._writer.drain()
        said = await self._reader.readuntil(b"\r\n\r\n")
        size = re.search(rb"(?i)content-length: (\d+)", said)
        content = await self._reader.readexactly(int(size[1])) if size else b""
        return int(said.split(b" ", 2)[1]), content

    def close(self) -> None:
        """End it."""
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None


@dataclass
class Map:
    """A map that is visited."""

    key: str
    bounds: tuple[float, float, float, float]


@dataclass
class Visitor:
    """Opens a page and does something about every second.

    Parameters
    ----------
    line : to the server
    shown : the map
    rng : what it does
    alone : whether it looks where nobody else does, so that nothing is shared
    """

    line: Line
    shown: Map
    rng: random.Random
    alone: bool = False
    took: list[float] = field(default_factory=list)
    lost: int = 0
    zoom: int = 0
    place: tuple[float, float] = (0.5, 0.5)

    async def open(self) -> None:
        """A page with all that it loads, as a browser that has nothing yet."""
        status, page = await self.line.ask(f"/map/{self.shown.key}")
        assert status == 200, status
        text = gzip.decompress(page).decode()
        for asset in sorted(set(re.findall(r'"(/static/[^"]+)"', text))):
            await self.line.ask(asset)
        folder = re.search(r'"(/static/[0-9a-f]+/)', text)
        assert folder is not None
        for name in ("areas", "ask", "link", "numbers", "stage", "view"):
            await self.line.ask(f"{folder[1]}{name}.js")
        await self.line.ask(self.picture())
        await self.ask_area((0.4, 0.4, 0.6, 0.6))

    def picture(self) -> str:
        """The address of the picture of where it is, as `view.js` makes it."""
        west, south, east, north = self.shown.bounds
        width, height = WINDOW
        metres = max((east - west) / width, (north - south) / height) / 2 ** (self.zoom / 2)
        step = metres * RASTER
        x = west + self.place[0] * (east - west) - width * metres / 2
        y = south + self.place[1] * (north - south) - height * metres / 2
        if not self.alone:
            x = west + (x - west) // step * step
            y = south + (y - south) // step * step
        across, up = width + RASTER, height + RASTER
        at = [x, y, x + across * metres, y + up * metres]
        asked = {"at": ",".join(f"{each:.2f}" for each in at), "size": f"{across},{up}"}
        look = "cividis" if self.rng.random() < 0.3 else "paper"
        return f"/picture/{self.shown.key}.png?" + urlencode({**asked, "look": look, "lines": "1"})

    async def ask_area(self, parts: tuple[float, ...]) -> int:
        """What the map says of a box, in parts of its sides."""
        west, south, east, north = self.shown.bounds
        x0, y0, x1, y1 = parts
        box = [west + x0 * (east - west), south + y0 * (north - south)]
        box += [west + x1 * (east - west), south + y1 * (north - south)]
        body = json.dumps({"maps": [self.shown.key], "areas": [{"box": box}]}).encode()
        return (await self.line.ask("/answers", body))[0]

    async def act(self) -> int:
        """One event: move, zoom, ask about an area, look at a leaf; returns the status."""
        kind = self.rng.random()
        if self.alone or kind < 0.6:
            self.zoom = min(max(self.zoom + self.rng.choice((-1, 0, 1, 1)), 0), 8)
            self.place = self.rng.uniform(0.3, 0.7), self.rng.uniform(0.3, 0.7)
            return (await self.line.ask(self.picture()))[0]
        x, y = self.rng.uniform(0, 0.8), self.rng.uniform(0, 0.8)
        if kind < 0.9:
            return await self.ask_area((x, y, x + 0.1, y + 0.1))
        west, south, east, north = self.shown.bounds
        at = f"{west + x * (east - west):.2f},{south + y * (north - south):.2f}"
        return (await self.line.ask(f"/leaf/{self.shown.key}?at={at}"))[0]

    async def visit(self, seconds: float, pause: float = 1.0) -> None:
        """Do something about every ``pause`` seconds; what takes 10 s counts as lost."""
        until = time.monotonic() + seconds
        await asyncio.sleep(self.rng.uniform(0, pause))
        while time.monotonic() < until:
            begun = time.monotonic()
            try:
                status = await asyncio.wait_for(self.act(), 10)
            except (OSError, TimeoutError, asyncio.IncompleteReadError):
                status = 0
            self.took.append(1000 * (time.monotonic() - begun))
            self.lost += status != 200
            await asyncio.sleep(max(0.0, self.rng.uniform(0.7, 1.3) * pause))


async def maps_of(port: int) -> list[Map]:
    """The maps of a server."""
    line = Line(port)
    found = []
    listing = gzip.decompress((await line.ask("/"))[1]).decode()
    for key in dict.fromkeys(re.findall(r"/map/([0-9a-f]{10})", listing)):
        page = gzip.decompress((await line.ask(f"/map/{key}"))[1]).decode()
        said = re.search(r'data-setting="([^"]+)"', page)
        assert said is not None
        bounds = json.loads(html.unescape(said[1]))["maps"][0]["bounds"]
        found.append(Map(key, tuple(bounds)))
    line.close()
    return found
