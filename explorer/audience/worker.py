"""The process that visitors talk to: begun by `explorer.audience.watching` with open sockets.

It knows the folders that were verified, and nothing of commands, points or budgets; an import
guard keeps it so (`wall`).
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

from explorer.audience.wall import build


def run(settings: dict[str, Any], sockets: list[socket.socket]) -> None:
    """Serve until told to stop, or until anyone who began this process has gone."""
    build()
    # Inside: imported under the import guard.
    from explorer.audience.exhibits import Exhibition
    from explorer.audience.house import House
    from explorer.audience.listening import Listening
    from explorer.serving.ending import run_until_told

    exhibition = Exhibition(
        [(setting["folder"], setting["manifest"]) for setting in settings["folders"]]
    )
    for exhibit in exhibition:
        exhibit.prepare()
    house = House(exhibition, tuple(settings["origins"]))
    warm(house)
    more_files()
    # Who listens does not wait for who paints.
    sys.setswitchinterval(0.0005)
    asyncio.set_event_loop(asyncio.new_event_loop())
    listening = Listening(house, sockets, settings["hosts"], bool(settings["proxied"]))
    if settings.get("watched"):
        _end_with_the_other(listening)
        listening.io_loop.add_callback(lambda: print("ready", flush=True))
    run_until_told(listening, lambda _said: None)


def warm(house: Any) -> None:
    """Load and compile what the first visitor would wait for."""
    from explorer.audience import pages
    from explorer.audience.pictures import Wanted, painted
    from explorer.views.viewport import Viewport

    for exhibit in house.exhibition:
        view = Viewport.whole(exhibit.release.grid, 64)
        painted(exhibit, Wanted(view, "paper", True), house.exhibition.scale([exhibit]))
        pages.map_page(exhibit, house.exhibition)


def more_files() -> None:
    """Let this process have as many connections as the system lets it."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        _, limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))


def _end_with_the_other(listening: Any) -> None:
    """End when standard input does: anyone who holds the other end is not there any more."""

    def wait() -> None:
        # Not by its file, which Python locks when it ends.
        while os.read(0, 1):
            pass
        listening.io_loop.add_callback(listening.io_loop.stop)

    threading.Thread(target=wait, daemon=True).start()


def main() -> None:
    """Serve on the sockets whose numbers the first argument names, as JSON."""
    settings = json.loads(sys.argv[1])
    sockets = [socket.socket(fileno=setting) for setting in settings["sockets"]]
    for listener in sockets:
        listener.setblocking(False)
    run(settings, sockets)


if __name__ == "__main__":
    main()
