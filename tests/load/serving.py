"""A server for others of its own process, as the command begins it, and what it has used."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]


class Served:
    """`dp-explorer serve --audience` on a free port.

    Parameters
    ----------
    folder : of releases
    *more : further flags
    """

    def __init__(self, folder: Path, *more: str) -> None:
        command = [sys.executable, "-m", "explorer", "serve", "--audience", str(folder)]
        self.process = subprocess.Popen(
            [*command, "--port", "0", "--no-open", *more],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.said: list[str] = []
        self.port = 0
        self._there = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()
        assert self._there.wait(600), "it does not begin"
        assert self.port, "".join(self.said)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line)
            found = re.search(r"explorer is at http://localhost:(\d+)", line)
            if found:
                self.port = int(found[1])
                self._there.set()
        self._there.set()

    @property
    def worker(self) -> psutil.Process:
        """The process that answers."""
        found: psutil.Process = psutil.Process(self.process.pid).children()[0]
        return found

    @property
    def cpu(self) -> float:
        """Seconds that it has worked."""
        used = self.worker.cpu_times()
        return float(used.user + used.system)

    @property
    def memory(self) -> float:
        """MB that it holds."""
        return float(self.worker.memory_info().rss / 1e6)

    def stop(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait(30)


def made(folder: Path, side: int = 256) -> Path:
    """Two releases of the made-up city, drawn for this."""
    from dataclasses import replace

    from explorer.cities.city import City
    from explorer.mechanisms import mechanism
    from explorer.publish.directory import write_directory
    from tests.publish.folders import ABOUT, published

    city = City.load("madeup")
    for name, title in (("htf", "Port Amber"), ("mosaic", "Port Amber, after")):
        release = mechanism(name)(epsilon=1.0).release(city.count(side))
        about = replace(ABOUT, title=title)
        write_directory(published(release, about=about, boxes=None), folder / name)
    return folder
