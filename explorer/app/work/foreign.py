"""Uploads, read in a sandbox (`grid.apart`): one file a visit, two in all, others wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import panel as pn

from explorer.app.work.job import Superseded, give_up_unwanted, not_wanted, patient
from explorer.errors import InputError
from explorer.grid.apart import GivenUp
from explorer.grid.apart.reading import MOST_READERS

Result = TypeVar("Result")

ONE = "Another file of yours is being read: wait until it is there, then give this one."
#: Seconds in which a reader that no one waits for is gone, and between two looks.
_GONE, _LOOK = 2.0, 0.05

#: A lock for each visit that has read a file.
_visits: WeakKeyDictionary[Any, threading.Lock] = WeakKeyDictionary()
#: The threads that wait for readers: as many as there may be, and none of the pages' own.
readers = cache(lambda: patient(MOST_READERS, "foreign-files"))


class Foreign(Generic[Result]):
    """A file that is to be read, as the question of a `Job`.

    Parameters
    ----------
    read : called in a thread with ``given_up=``, as `read_apart` has it
    """

    def __init__(self, read: Callable[..., Result]) -> None:
        self._read = read
        # A page without a visitor, in a script or a notebook, is a visit of its own.
        doc = pn.state.curdoc
        self._one = threading.Lock() if doc is None else _visits.setdefault(doc, threading.Lock())
        #: Where a `Job` waits for the answer.
        self.pool = readers()

    def __call__(self) -> Result:
        """What is in the file.

        Raises
        ------
        InputError
            For a second file of one visit, and as ``read`` does.
        Superseded
            Once no one waits any more; no process is left then.
        """
        # One that was given up goes within a moment.
        end = time.monotonic() + _GONE
        while not self._one.acquire(timeout=_LOOK):
            give_up_unwanted()
            if time.monotonic() > end:
                raise InputError(ONE)
        try:
            give_up_unwanted()
            return self._read(given_up=not_wanted)
        except GivenUp:
            raise Superseded from None
        finally:
            self._one.release()
