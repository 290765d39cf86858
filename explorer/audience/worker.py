"""The process that visitors talk to: begun by `explorer.audience.supervisor` with open sockets.

It knows the folders that were verified, and nothing of commands, points or budgets; an import
guard keeps it so (`import_guard`).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
import threading
from typing import Any

from explorer.audience.import_guard import install


def run(settings: dict[str, Any], sockets: list[socket.socket]) -> None:
    """Serve until told to stop, or until anyone who began this process has gone."""
    install()
    # Inside: imported under the import guard.
    from explorer.audience.app_state import AppState
    from explorer.audience.releases import ServedReleases
    from explorer.audience.server import ListeningServer
    from explorer.serving.ending import run_until_stopped

    releases = ServedReleases(
        [(folder["folder"], folder["manifest"]) for folder in settings["folders"]]
    )
    for served in releases:
        served.prepare()
    warm(releases)
    allow_more_files()
    # Who listens does not wait for who paints.
    sys.setswitchinterval(0.0005)
    asyncio.set_event_loop(asyncio.new_event_loop())
    state = AppState(releases, tuple(settings["origins"]))
    server = ListeningServer(state, sockets, settings["hosts"], bool(settings["proxied"]))
    if settings.get("watched"):
        _end_with_supervisor(server)
        server.io_loop.add_callback(lambda: print("ready", flush=True))
    run_until_stopped(server, lambda _sentence: None)


def warm(releases: Any) -> None:
    """Load and compile what the first visitor would wait for."""
    from explorer.audience import pages
    from explorer.audience.pictures import PictureRequest, draw_png
    from explorer.views.viewport import Viewport

    for served in releases:
        view = Viewport.whole(served.release.grid, 64)
        draw_png(served, PictureRequest(view, "paper", True), releases.scale([served]))
        pages.map_page(served, releases)


def allow_more_files() -> None:
    """Let this process have as many connections as the system lets it."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        _, limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))


def _end_with_supervisor(server: Any) -> None:
    """End when standard input does: anyone who holds the other end is not there any more."""

    def wait() -> None:
        # Not by its file, which Python locks when it ends.
        while os.read(0, 1):
            pass
        server.io_loop.add_callback(server.io_loop.stop)

    threading.Thread(target=wait, daemon=True).start()


def main() -> None:
    """Serve on the sockets whose numbers the first argument names, as JSON."""
    settings = json.loads(sys.argv[1])
    sockets = [socket.socket(fileno=number) for number in settings["sockets"]]
    for listener in sockets:
        listener.setblocking(False)
    run(settings, sockets)


if __name__ == "__main__":
    main()
