"""A server for others in this process, and folders that it shows."""

from __future__ import annotations

import asyncio
import json
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

from tornado.httpclient import AsyncHTTPClient, HTTPError, HTTPRequest, HTTPResponse

from explorer.audience.app_state import AppState
from explorer.audience.folders import digest
from explorer.audience.releases import ServedReleases
from explorer.audience.server import ListeningServer
from explorer.publish.directory import write_directory
from explorer.publish.names import MANIFEST
from tests.publish.folders import ABOUT, drawn, published


def two_folders(root: Path) -> Path:
    """A folder with two releases of one extent: before, and after with another mechanism."""
    root.mkdir(exist_ok=True)
    write_directory(published(), root / "before")
    later = replace(published().booking, time="2026-11-26T09:00:00.000+00:00", mechanism="htf")
    after = drawn("htf")
    more = {"booking": replace(later, units=after.units), "boxes": None}
    about = replace(ABOUT, title="Rides of Amber, after")
    write_directory(published(after, about=about, **more), root / "after")
    return root


def key_of(folder: Path) -> str:
    """The name of a release in addresses."""
    return digest(folder / MANIFEST)[:10]


class Running:
    """A server on a free port, used from its own event loop.

    Parameters
    ----------
    *folders : of releases, taken as they are
    """

    def __init__(self, *folders: Path, origins: tuple[str, ...] = (), proxied: bool = False):
        self.loop = asyncio.new_event_loop()
        self.do(self._begin(folders, origins, proxied))

    async def _begin(self, folders: Any, origins: tuple[str, ...], proxied: bool) -> None:
        listening = socket.create_server(("127.0.0.1", 0))
        listening.setblocking(False)
        self.port = listening.getsockname()[1]
        exhibition = ServedReleases([(str(each), digest(each / MANIFEST)) for each in folders])
        self.state = AppState(exhibition, origins)
        hosts = [f"localhost:{self.port}", f"127.0.0.1:{self.port}"]
        self.server = ListeningServer(self.state, [listening], hosts, proxied)
        self.server.start()

    def do(self, work: Any) -> Any:
        """Run a coroutine."""
        return self.loop.run_until_complete(work)

    def stop(self) -> None:
        """End it."""

        async def end() -> None:
            self.server.stop()
            await self.server.server.close_all_connections()

        self.do(end())
        self.loop.close()

    async def fetch(self, path: str, **how: Any) -> HTTPResponse:
        """An answer, whatever it is."""
        client = AsyncHTTPClient(force_instance=True)
        try:
            return await client.fetch(
                f"http://127.0.0.1:{self.port}{path}", raise_error=False, **how
            )
        except (OSError, HTTPError):
            # The connection was closed in place of an answer.
            return HTTPResponse(HTTPRequest(path), 599)
        finally:
            client.close()

    def get(self, path: str, **how: Any) -> HTTPResponse:
        """An answer, whatever it is."""
        found: HTTPResponse = self.do(self.fetch(path, **how))
        return found

    def ask(self, maps: list[str], areas: list[Any]) -> HTTPResponse:
        """What maps say of areas."""
        return self.get("/answers", method="POST", body=json.dumps({"maps": maps, "areas": areas}))


def picture(key: str, at: str = "-10000,-10000,10000,10000", more: str = "") -> str:
    """The address of a picture."""
    return f"/picture/{key}.png?at={at}&size=96,128&look=paper&lines=1{more}"
