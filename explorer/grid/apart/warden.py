"""The process that forks a reader for each file and ends it: on cancel, leave and at its limits.

It sees no file itself: a request names a function of this package, and brings two sockets along,
one for the reader and one to say how the reader ended. When the far end of that one is shut,
no one waits any more and the reader is killed; when the server has gone, everything is.
"""

from __future__ import annotations

import gc
import json
import os
import pickle
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from explorer.errors import InputError
from explorer.grid.apart.limits import Limits, held_bytes, impose, own_bytes
from explorer.grid.apart.plain import frames

#: Seconds between two looks at the memory and the time that readers take.
LOOK = 0.05
#: Bytes of a request; it holds names and limits only.
MOST = 4096
#: Bytes of what a server may send to be read.
_MOST_SENT = 2**30


@dataclass(eq=False)
class _Reader:
    """A reader under way."""

    pid: int
    report: socket.socket
    limits: Limits
    started: float
    before: int
    why: str = ""


def serve(control: socket.socket) -> None:
    """Take requests until the server has gone."""
    readers: list[_Reader] = []
    while True:
        awaited = select.poll()
        awaited.register(control, select.POLLIN)
        for reader in readers:
            # Nothing is read there: only that its far end says no more counts.
            awaited.register(reader.report, select.POLLRDHUP)
        for number, event in awaited.poll(LOOK * 1000 if readers else None):
            if number == control.fileno():
                if not _take(control, readers):
                    for reader in readers:
                        _kill(reader, "left")
                    return
            elif event & (select.POLLRDHUP | select.POLLHUP | select.POLLERR):
                for reader in readers:
                    if reader.report.fileno() == number:
                        _kill(reader, "left")
        for reader in readers:
            _hold(reader)
        readers = [reader for reader in readers if not _over(reader)]


def _take(control: socket.socket, readers: list[_Reader]) -> bool:
    """Fork a reader for the next request; False once the server has gone."""
    try:
        message, descriptors, _flags, _from = socket.recv_fds(control, MOST, 2)
    except OSError:
        return False
    if not message:
        return False
    wire, report = (socket.socket(fileno=descriptor) for descriptor in descriptors)
    request = json.loads(message)
    limits = Limits(**request["limits"])
    work = _loaded(request["module"], request["name"])
    pid = os.fork()
    if pid == 0:
        try:
            control.close()
            report.close()
            for reader in readers:
                reader.report.close()
            _read(wire, work, limits)
        finally:
            os._exit(70)
    wire.close()
    readers.append(_Reader(pid, report, limits, time.monotonic(), own_bytes(os.getpid())))
    return True


@cache
def _loaded(module: str, name: str) -> Any:
    """A function, loaded here for every reader: no untrusted byte has been read yet."""
    imported = import_module(module)
    if hasattr(imported, "prepare"):
        imported.prepare()
    gc.collect()
    # What readers share with this process stays shared.
    gc.freeze()
    return getattr(imported, name)


def _read(wire: socket.socket, work: Any, limits: Limits) -> NoReturn:
    """Be the reader: take the file, read it, answer, end."""
    # Whatever a library prints about a file is no line of the server's log.
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with suppress(OSError):
        # The most memory that is remembered is that of this process from now on.
        Path("/proc/self/clear_refs").write_text("5")
    before = held_bytes("VmRSS")
    impose(limits)
    stream = wire.makefile("rb")
    size = int.from_bytes(stream.read(8), "little")
    if size > _MOST_SENT:
        os._exit(70)
    content = stream.read(size)
    further = pickle.loads(stream.read(int.from_bytes(stream.read(8), "little")))
    try:
        answer = _answered(work, content, further)
        answer["peak"] = held_bytes("VmHWM") - before
        message = frames(answer)
    except MemoryError:
        message = frames({"failed": "memory"})
    for part in message:
        wire.sendall(part)
    wire.close()
    # No destructor of a library runs: the file is read.
    os._exit(0)


def _answered(work: Any, content: bytes, further: Any) -> dict[str, Any]:
    try:
        return {"found": work(content, *further)}
    except InputError as error:
        if _of_memory(error):
            return {"failed": "memory"}
        return {"refused": str(error)}
    except MemoryError:
        return {"failed": "memory"}
    except Exception as error:
        # Its text may hold values of records.
        return {"failed": type(error).__name__}


def _of_memory(error: BaseException | None) -> bool:
    """Whether a refusal comes from memory that was not to be had."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = error.__cause__
    return False


def _hold(reader: _Reader) -> None:
    """End a reader that has taken more than it may."""
    if time.monotonic() - reader.started > reader.limits.wall:
        _kill(reader, "wall")
    elif own_bytes(reader.pid) - reader.before > reader.limits.memory:
        _kill(reader, "memory")


def _kill(reader: _Reader, why: str) -> None:
    reader.why = reader.why or why
    with suppress(ProcessLookupError):
        os.kill(reader.pid, signal.SIGKILL)


def _over(reader: _Reader) -> bool:
    """Whether a reader has ended; anyone who waits is told how."""
    pid, status, used = os.wait4(reader.pid, os.WNOHANG)
    if pid == 0:
        return False
    code = os.waitstatus_to_exitcode(status)
    seconds = used.ru_utime + used.ru_stime
    # Someone else kills only where the whole computer has no memory left.
    killed = {-signal.SIGXCPU: "cpu", -signal.SIGKILL: "memory"}.get(code, "")
    why = reader.why or ("cpu" if seconds >= reader.limits.cpu else killed)
    outcome = {"code": code, "why": why, "cpu": seconds}
    with suppress(OSError):
        reader.report.sendall(json.dumps(outcome).encode())
    reader.report.close()
    return True


def main() -> None:
    """Serve on the socket whose number is the last argument."""
    # Pages go before files; readers inherit it.
    os.nice(10)
    # Ctrl-C in a terminal reaches every process of it: the server says when this one ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(socket.socket(fileno=int(sys.argv[-1])))


if __name__ == "__main__":
    main()
