"""Interrupts that wait while a compiler runs, and are one after a kernel."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event


class _Deferral(event.Listener):
    """Holds an interrupt back while the main thread compiles or loads compiled code.

    LLVM calls back into Python meanwhile. An exception inside such a call cannot travel through
    it: the process ends with a fault of memory (seen as exit code -11).
    """

    #: One is enough, and two would restore each other's handlers.
    installed = False

    def __init__(self) -> None:
        self._depth = 0
        self._came = False
        self._usual: Any = None

    def on_start(self, event: Any) -> None:
        """The outermost compilation begins: note interrupts instead of raising them."""
        if threading.current_thread() is not threading.main_thread():
            return
        if self._depth == 0:
            self._came = False
            self._usual = signal.signal(signal.SIGINT, self._note)
        self._depth += 1

    def on_end(self, event: Any) -> None:
        """The outermost compilation has ended: what came meanwhile comes now."""
        if threading.current_thread() is not threading.main_thread() or self._depth == 0:
            return
        self._depth -= 1
        if self._depth == 0:
            signal.signal(signal.SIGINT, self._usual)
            if self._came:
                signal.raise_signal(signal.SIGINT)

    def _note(self, _number: int, _frame: Any) -> None:
        self._came = True


@contextmanager
def interrupts_between_steps() -> Iterator[None]:
    """Take an interrupt (Ctrl-C) before or after a compilation, never inside one.

    Holds none back outside the main thread, where Python raises no interrupts, and where somebody
    else than Python handles them.

    Raises
    ------
    KeyboardInterrupt
        Also for one that came in a kernel which hands an array back that it was given: numba runs
        Python for that, and calls an interrupt there an error of the system.
    """
    try:
        with _held_back():
            yield
    except SystemError as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        raise


@contextmanager
def _held_back() -> Iterator[None]:
    ours = threading.current_thread() is threading.main_thread()
    if not ours or _Deferral.installed or signal.getsignal(signal.SIGINT) is None:
        yield
        return
    _Deferral.installed = True
    try:
        # The lock is held for every compilation and every load from the cache of compiled code.
        with event.install_listener("numba:compiler_lock", _Deferral()):
            yield
    finally:
        _Deferral.installed = False
