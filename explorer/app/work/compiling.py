"""Kernels of a page are compiled in a process of lowest priority, while the page says so."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from typing import Any

from explorer.app.work.job import patient
from explorer.compiled_code import PACKAGE, is_prepared

COMPILING = (
    "Compiling what this page computes with: once after each installation or update, about half a "
    "minute. The page goes on by itself …"
)
#: Pages that are known to be compiled, by their keys.
COMPILED: set[str] = set()
_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
_waiting = cache(lambda: patient(4, "compiling"))


class AfterCompiling:
    """Work that is done once the kernels of a page are compiled, as the question of a `Job`.

    Parameters
    ----------
    page : its key in the registry of pages
    work : what is done then
    """

    def __init__(self, page: str, work: Callable[[], Any]) -> None:
        self._page, self._work = page, work
        #: Threads that wait: no other work waits for them.
        self.pool = _waiting()

    def __call__(self) -> Any:
        """Compile and do the work; where the process fails, the work compiles."""
        prepare_page(self._page)
        return self._work()


def is_compiled(page: str) -> bool:
    """Whether the kernels of a page have been compiled by the present code."""
    if page not in COMPILED and is_prepared(PACKAGE, page):
        COMPILED.add(page)
    return page in COMPILED


def prepare_page(page: str) -> None:
    """Compile the kernels of a page in a process of its own, once; returns when it has ended.

    It goes on where this process ends before: the next start has the compiled code.
    """
    with _locks[page]:
        if is_compiled(page):
            return
        path = os.pathsep.join(folder for folder in sys.path if folder)
        subprocess.run(
            [sys.executable, "-P", "-m", "explorer.app.pages", page],
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # An interrupt in the terminal is not for it.
            start_new_session=True,
            check=False,
        )
