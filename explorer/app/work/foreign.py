"""What visitors send, read apart (`grid.apart`): one file a visit, two in all, others wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import panel as pn

from explorer.app.work.job import Superseded, give_up_unwanted, not_wanted, patient
from explorer.errors import InputError
from explorer.grid.apart import GivenUp
from explorer.grid.apart.reading import LOOK, MOST_READERS

Result = TypeVar("Result")

WAITING = "Other files are being read: yours waits for its turn …"
ONE = "Another file of yours is being read: wait until it is there, then give this one."
#: Seconds in which a reader that no one waits for is gone.
_GONE = 2.0

_visits: WeakKeyDictionary[Any, Foreign[Any]] = WeakKeyDictionary()
_lock = threading.Lock()


@cache
def readers() -> ThreadPoolExecutor:
    """The threads that wait for readers: as many as there may be, and none of the pages' own."""
    return patient(MOST_READERS, "foreign-files")


class Foreign(Generic[Result]):
    """A file that is to be read, as the question of a `Job`.

    Parameters
    ----------
    read : called in a thread with ``given_up=``, as `read_apart` has it
    """

    def __init__(self, read: Callable[..., Result]) -> None:
        self._read = read
        # A page without a visitor, in a script or a notebook, is a visit of its own.
        self._visit = pn.state.curdoc

    @property
    def pool(self) -> ThreadPoolExecutor:
        """Where a `Job` waits for the answer."""
        return readers()

    def __call__(self) -> Result:
        """What is in the file.

        Raises
        ------
        InputError
            For a second file of one visit, and as ``read`` does.
        Superseded
            Once no one waits any more; no process is left then.
        """
        self._begin()
        try:
            return self._read(given_up=not_wanted)
        except GivenUp:
            raise Superseded from None
        finally:
            self._end()

    def _begin(self) -> None:
        if self._visit is None:
            return
        end = time.monotonic() + _GONE
        while True:
            give_up_unwanted()
            with _lock:
                if _visits.setdefault(self._visit, self) is self:
                    return
            # One that was given up goes within a moment.
            if time.monotonic() > end:
                raise InputError(ONE)
            time.sleep(LOOK)

    def _end(self) -> None:
        with _lock:
            if self._visit is not None and _visits.get(self._visit) is self:
                del _visits[self._visit]
