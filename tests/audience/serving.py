"""A server for others in a process of its own, as the command begins it."""

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
    """

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "explorer", "serve", "--audience", str(folder)]
        self.process = subprocess.Popen(
            [*command, "--port", "0", "--no-open"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines: list[str] = []
        self.port = 0
        self._ready = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()
        assert self._ready.wait(600), "it does not begin"
        assert self.port, "".join(self.lines)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            found = re.search(r"explorer is at http://localhost:(\d+)", line)
            if found:
                self.port = int(found[1])
                self._ready.set()
        self._ready.set()

    @property
    def worker(self) -> psutil.Process:
        """The process that answers."""
        found: psutil.Process = psutil.Process(self.process.pid).children()[0]
        return found
