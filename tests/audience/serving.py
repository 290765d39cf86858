"""Servers in processes of their own, as commands begin them."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
ADDRESS = re.compile(r"(?:explorer|curator) is at http://localhost:(\d+)")


class Started:
    """A process that prints where it listens; all that it prints is kept."""

    def __init__(self, command: Sequence[str], folder: Path = ROOT, **environment: str) -> None:
        paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": paths, **environment},
        )
        self.said = bytearray()
        self.port = 0
        self._ready = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()
        assert self._ready.wait(600), "it does not begin"
        assert self.port, self.said.decode()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said += line
            found = ADDRESS.search(line.decode(errors="replace"))
            if found and not self.port:
                self.port = int(found[1])
                self._ready.set()
        self._ready.set()

    def stop(self) -> None:
        """End it."""
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(30)
        self.process.kill()


class Served(Started):
    """`dp-explorer serve --audience` of a folder of releases on a free port."""

    def __init__(self, folder: Path, *flags: str) -> None:
        command = [sys.executable, "-m", "explorer", "serve", "--audience", str(folder)]
        super().__init__([*command, "--port", "0", "--no-open", *flags])

    @property
    def worker(self) -> psutil.Process:
        """The process that answers."""
        return psutil.Process(self.process.pid).children()[0]
