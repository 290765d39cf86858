"""The side of the server: a file goes to a reader, and what it holds comes back as plain values."""

from __future__ import annotations

import atexit
import json
import logging
import os
import pickle
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from explorer.errors import InputError
from explorer.grid.apart.limits import LIMITS, SUPPORTED, Limits
from explorer.grid.apart.plain import NotPlain, received
from explorer.grid.gdal import DRIVERS_SKIPPED

logger = logging.getLogger(__name__)

#: Readers at a time, anyone who asks.
MOST_READERS = 2
#: Seconds between two looks at whether the answer is still wanted.
LOOK = 0.05
#: Seconds beyond its limit after which a fork server that does nothing is given up.
_GRACE = 5.0
_WARDEN = "explorer.grid.apart.warden"
#: What the libraries of readers go by: few threads, one allocator, no net, no format but ours.
_SETTINGS = {
    **DRIVERS_SKIPPED,
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    # The other allocator that Arrow brings along would begin a thread, before any reader is forked.
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "PROJ_NETWORK": "OFF",
}

UNLIMITED = (
    "On this system files that visitors send are read without limits on time and memory: let only "
    "people whom you trust send some, or serve on Linux."
)
_OVER = {
    "cpu": "Reading this file takes more than {cpu} seconds of work, so it was given up; give a "
    "smaller or a simpler one.",
    "wall": "Reading this file takes more than {wall:.0f} seconds, so it was given up; give a "
    "smaller or a simpler one.",
    "memory": "Reading this file takes more than {gigabytes:.1f} GB of memory, so it was given up; "
    "give a smaller one, or one that unpacks to less.",
}
_BROKEN = "This file could not be read; it may be damaged: export or download it again."


class GivenUp(Exception):
    """Raised where no one wants the answer any more."""


@dataclass(frozen=True)
class Ended:
    """How a reader ended.

    Attributes
    ----------
    code : 0, or what it ended with, a signal as a negative number
    why : "cpu", "wall", "memory" or "left" where it was ended for that
    cpu : seconds of work
    peak : bytes of memory that it took beyond what it had before, where it could still say so
    """

    code: int
    why: str
    cpu: float
    peak: int = 0


class _Warden:
    """The process that forks readers, started when the first is needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    @property
    def pid(self) -> int | None:
        """Of the process, None while there is none."""
        return None if self._process is None else self._process.pid

    def ask(self, request: bytes) -> tuple[socket.socket, socket.socket]:
        """Have a reader made; returns the socket to talk to it and the one that tells its end."""
        wire, far = socket.socketpair()
        report, reporter = socket.socketpair()
        with far, reporter, self._lock:
            for again in (True, False):
                control = self._running()
                try:
                    socket.send_fds(control, [request], [far.fileno(), reporter.fileno()])
                    break
                except OSError:
                    # Someone has ended it: another one takes its place.
                    self._stop()
                    if not again:
                        raise
        return wire, report

    def _running(self) -> socket.socket:
        if self._process is not None and self._process.poll() is not None:
            self._stop()
        if self._control is None:
            self._control, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with far:
                # -P: nothing next to a data file is taken for a library.
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-m", _WARDEN, str(far.fileno())],
                    pass_fds=[far.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    env={**os.environ, **_SETTINGS, "PYTHONPATH": _path()},
                )
        return self._control

    def stop(self) -> None:
        """End it and every reader."""
        with self._lock:
            self._stop()

    def _stop(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            try:
                self._process.wait(2)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._control = self._process = None


_warden = _Warden()
_turns = threading.BoundedSemaphore(MOST_READERS)
atexit.register(_warden.stop)


def _path() -> str:
    """Where modules are found here, for a process that looks nowhere else."""
    return os.pathsep.join(folder for folder in sys.path if folder)


def _never() -> bool:
    return False


def read_apart(
    work: Callable[..., Any],
    content: bytes,
    *further: Any,
    limits: Limits = LIMITS,
    given_up: Callable[[], bool] = _never,
    ended: Callable[[Ended], None] | None = None,
) -> Any:
    """What ``work(content, *further)`` returns, done in a process of its own with limits.

    At most `MOST_READERS` are at work; anyone who comes then waits for a turn. Elsewhere than on
    Linux the work is done here, without limits (`UNLIMITED` says so).

    Parameters
    ----------
    work : a function of a module that returns plain values, see `plain.frames`
    content : the untrusted file
    further : what else it takes, of our own making
    limits : what it may take
    given_up : whether no one waits any more; looked at every `LOOK` seconds
    ended : told how the reader ended

    Raises
    ------
    InputError
        As ``work`` does, and for a file that takes more than the limits or breaks its reader.
    GivenUp
        Once ``given_up()``; the reader is gone then.
    """
    if not SUPPORTED:
        return work(content, *further)
    while not _turns.acquire(timeout=LOOK):
        if given_up():
            raise GivenUp
    try:
        if given_up():
            raise GivenUp
        return _read(work, content, further, limits, given_up, ended)
    finally:
        _turns.release()


def _read(
    work: Callable[..., Any],
    content: bytes,
    further: tuple[Any, ...],
    limits: Limits,
    given_up: Callable[[], bool],
    ended: Callable[[Ended], None] | None,
) -> Any:
    request = {"module": work.__module__, "name": work.__name__, "limits": limits.facts()}
    wire, report = _warden.ask(json.dumps(request).encode())
    with wire, report:
        line = _Line(wire, given_up, limits.wall + _GRACE)
        answer: Any = None
        try:
            more = pickle.dumps(further)
            for part in (_size(content), content, _size(more), more):
                line.send(part)
            answer = received(line.fill, limits.memory)
        except (NotPlain, OSError, EOFError):
            answer = None
        except GivenUp:
            # The fork server ends it then; its turn is over when it is gone, no sooner.
            report.shutdown(socket.SHUT_WR)
            _how(report)
            raise
        if answer is None or ended is not None:
            how = _how(report)
            if ended is not None and isinstance(answer, dict):
                how = Ended(how.code, how.why, how.cpu, int(answer.get("peak", 0)))
            if ended is not None:
                ended(how)
            if answer is None:
                answer = {"failed": how.why or f"code {how.code}"}
    return _found(answer, limits)


def _size(part: bytes) -> bytes:
    return len(part).to_bytes(8, "little")


def _how(report: socket.socket) -> Ended:
    """How a reader ended, from the fork server."""
    report.settimeout(_GRACE)
    try:
        return Ended(**json.loads(report.recv(4096)))
    except (OSError, ValueError):
        # The fork server itself has been ended.
        return Ended(1, "", 0.0)


def _found(answer: Any, limits: Limits) -> Any:
    """What a reader found, or its refusal."""
    if isinstance(answer, dict) and "found" in answer:
        return answer["found"]
    if isinstance(answer, dict) and isinstance(answer.get("refused"), str):
        raise InputError(answer["refused"][:2000])
    failed = str(answer.get("failed") if isinstance(answer, dict) else "")[:60]
    if failed in _OVER:
        facts = {**limits.facts(), "gigabytes": limits.memory / 1e9}
        raise InputError(_OVER[failed].format(**facts))
    # Not what it was about: that may hold a value of a record.
    logger.warning("A reader of foreign files failed (%s)", failed)
    raise InputError(_BROKEN)


class _Line:
    """A socket to a reader that is let go as soon as no one waits."""

    def __init__(self, wire: socket.socket, given_up: Callable[[], bool], seconds: float) -> None:
        self._wire, self._given_up = wire, given_up
        self._end = time.monotonic() + seconds
        wire.setblocking(False)

    def send(self, part: bytes) -> None:
        """Send all of it."""
        left = memoryview(part)
        while left:
            self._wait(select.POLLOUT)
            with suppress(BlockingIOError):
                left = left[self._wire.send(left) :]

    def fill(self, buffer: Any) -> None:
        """Fill a buffer; raises EOFError where the reader has ended before."""
        left = memoryview(buffer)
        while left:
            self._wait(select.POLLIN)
            with suppress(BlockingIOError):
                number = self._wire.recv_into(left)
                if number == 0:
                    raise EOFError
                left = left[number:]

    def _wait(self, event: int) -> None:
        awaited = select.poll()
        awaited.register(self._wire, event)
        while not awaited.poll(LOOK * 1000):
            if self._given_up():
                raise GivenUp
            if time.monotonic() > self._end:
                raise EOFError


def stop() -> None:
    """End the fork server and all readers; the next file starts another."""
    _warden.stop()


def warden() -> int | None:
    """The number of the fork server's process, None while there is none."""
    return _warden.pid


def prepare(*works: Callable[..., Any]) -> None:
    """Start the fork server with the modules of these readers, so that no visitor waits for it."""
    for work in works if SUPPORTED else ():
        with suppress(InputError):
            read_apart(work, b"")
