"""What starts and supervises the server for others: it verifies, listens, and starts again.

The sockets are opened here. So anyone who comes while the process that answers is begun anew, after
someone or the system has killed it, waits a moment and is answered.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.audience.folders import Verified, release_folders, verified
from explorer.errors import InputError
from explorer.grid.apart import reading
from explorer.serving.hosts import allowed_origins, checked_host, checked_origin, own_names
from explorer.serving.ports import listening_sockets

#: Beginnings that may follow each other within a minute: what fails at once fails again.
_MOST_AGAIN, _MINUTE = 5, 60.0
#: Seconds in which the process that answers has ended when it is told to.
_PATIENCE = 8.0
_WORKER = "explorer.audience.worker"


@dataclass(frozen=True)
class Settings:
    """How to serve.

    Parameters
    ----------
    folders : of releases, or with releases in them
    port : 0 picks a free one
    address : where to listen
    hosts : further names of the server
    origins : of pages that may frame a map
    proxied : whether a proxy in front says where visitors are
    open : whether to open a browser
    """

    folders: tuple[str, ...]
    port: int = 5006
    address: str = "127.0.0.1"
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    proxied: bool = False
    open: bool = False


def serve(settings: Settings, say: Callable[[str], None] = print) -> None:
    """Verify, listen and serve until told to stop.

    Raises
    ------
    InputError
        For a folder that is not shown (see `release_folders` and `verified`), a host or an origin
        that is none, a port that is taken, and a process that does not stay.
    """
    hosts = [checked_host(host) for host in settings.hosts]
    origins = [checked_origin(origin) for origin in settings.origins]
    folders = release_folders(settings.folders)
    sockets = listening_sockets(settings.port, settings.address, backlog=1024)
    for one in sockets:
        one.set_inheritable(True)
    say(f"Verifying {len(folders)} {'release' if len(folders) == 1 else 'releases'} …")
    try:
        releases = _all_verified(folders)
    finally:
        # No process that can read every format stays next to the server.
        reading.stop()
    for verified_release in releases:
        name = "".join(filter(str.isprintable, Path(verified_release.folder).name))
        say(f"{name}: {verified_release.signature} {verified_release.warning}".rstrip())
    port = sockets[0].getsockname()[1]
    begin = {
        "folders": [release.facts() for release in releases],
        "hosts": allowed_origins(own_names(settings.address), hosts, port),
        "origins": origins,
        "proxied": settings.proxied,
        "watched": True,
        "sockets": [listener.fileno() for listener in sockets],
    }
    address = f"http://localhost:{port}"
    if os.name == "posix":
        _Supervisor(begin, sockets, say).run(address, settings.open)
    else:
        # Where sockets are not handed over, this process answers itself.
        from explorer.audience.worker import run

        say(f"The explorer is at {address} (stop it with Ctrl-C)")
        if settings.open:
            _show(address)
        run({**begin, "watched": False}, sockets)


def _all_verified(folders: Sequence[Path]) -> list[Verified]:
    with ThreadPoolExecutor(reading.MOST_READERS) as pool:
        return list(pool.map(verified, folders))


class _Supervisor:
    """The process that answers, begun again when it ends unasked."""

    def __init__(
        self, begin: dict[str, Any], sockets: Sequence[socket.socket], say: Callable[[str], None]
    ) -> None:
        self._begin, self._sockets, self._say = begin, sockets, say
        self._ends = False
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, address: str, open_browser: bool) -> None:
        """Serve until told to stop."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)
        begun: list[float] = []
        while not self._ends:
            now = time.monotonic()
            begun = [moment for moment in begun if now - moment < _MINUTE] + [now]
            if len(begun) > _MOST_AGAIN:
                raise InputError("The server does not stay: see above what it says, and ask again.")
            ready = self._start()
            if ready and len(begun) == 1:
                self._say(f"The explorer is at {address} (stop it with Ctrl-C)")
                if open_browser:
                    _show(address)
            self._wait()
            if not self._ends:
                self._say("The process that answers has ended; another one takes its place.")
        self._say("The explorer has stopped.")

    def _start(self) -> bool:
        """Begin the process; whether it has said that it is ready."""
        path = os.pathsep.join(folder for folder in sys.path if folder)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", _WORKER, json.dumps(self._begin)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=self._begin["sockets"],
            env={**os.environ, "PYTHONPATH": path},
            # Ctrl-C in a terminal reaches every process of it: this one says when the other ends.
            start_new_session=True,
        )
        if self._ends:
            self._process.terminate()
        assert self._process.stdout is not None
        return self._process.stdout.readline() == b"ready\n"

    def _wait(self) -> None:
        assert self._process is not None
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(None if not self._ends else _PATIENCE)
                return
            self._process.kill()

    def _stop(self, _signal: int, _frame: Any) -> None:
        """Told to stop; the second time at once."""
        process = self._process
        if process is not None and process.poll() is None:
            if self._ends:
                process.kill()
            else:
                process.terminate()
        self._ends = True


def _show(address: str) -> None:
    import webbrowser

    webbrowser.open(address)
