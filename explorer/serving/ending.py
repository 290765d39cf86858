"""How a server ends: no one new, what has been paid for is finished, and then at once.

Python waits for its threads before a process ends, and a read or a picture may take minutes: a
server that is told to stop would stay. Here only a release that has been booked is waited for.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

#: Seconds that a drawing may still take.
PATIENCE = 10.0
#: Seconds between two looks.
_LOOK = 0.05


class Ending:
    """Whether the server ends, and what must not be cut off.

    Attributes
    ----------
    begun : whether it has been told to stop
    """

    def __init__(self) -> None:
        self.begun = False
        self._under_way = 0
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def finishing(self) -> Iterator[None]:
        """Let what is done inside come to its end, for `PATIENCE` seconds; for any thread."""
        with self._lock:
            self._under_way += 1
        try:
            yield
        finally:
            with self._lock:
                self._under_way -= 1

    @property
    def busy(self) -> bool:
        """Whether something must not be cut off."""
        return self._under_way > 0

    async def quiet(self, patience: float = PATIENCE) -> bool:
        """Wait until nothing must be finished; False where it takes too long."""
        loop = asyncio.get_running_loop()
        end = loop.time() + patience
        while self.busy and loop.time() < end:
            await asyncio.sleep(_LOOK)
        return not self.busy


#: Of this process, which serves once.
ENDING = Ending()


def run_until_stopped(server: Any, say: Callable[[str], None]) -> None:
    """Serve until INT or TERM comes; a second one ends at once."""
    loop: asyncio.AbstractEventLoop = server.io_loop.asyncio_loop
    ends: list[asyncio.Task[None]] = []
    started = False

    async def end() -> None:
        if ENDING.busy:
            say("The explorer stops when the release that is being drawn is there.")
        await ENDING.quiet()
        loop.stop()

    def stop() -> None:
        if ENDING.begun:
            loop.stop()
            return
        ENDING.begun = True
        ends.append(loop.create_task(end()))

    try:
        # Elsewhere than on Unix, and next to the main thread, Python's own interrupt comes below.
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, stop)
        server.start()
        started = True
        server.io_loop.start()
    except KeyboardInterrupt:
        ENDING.begun = True
        # A second one ends at once, here too.
        with contextlib.suppress(KeyboardInterrupt):
            loop.run_until_complete(end())
    if started:
        server.stop(wait=False)
    say("The explorer has stopped.")


def leave() -> None:
    """End this process now, its children first, whatever its threads still do.

    Does nothing in a process whose server has not been told to stop.
    """
    if not ENDING.begun:
        return
    for child in multiprocessing.active_children():
        child.terminate()
    for child in multiprocessing.active_children():
        child.join(1)
        if child.is_alive():
            child.kill()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)
