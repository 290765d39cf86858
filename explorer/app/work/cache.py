"""What is dear to make and shared by all visitors: made once, the least used goes first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

Thing = TypeVar("Thing")


class Shelf(Generic[Thing]):
    """Keeps the things used last, at most ``most``; anyone who holds an older one keeps it alive.

    Visitors who ask for the same thing at the same time wait for one making of it.

    Examples
    --------
    >>> shelf = Shelf(2)
    >>> [shelf.get(name, lambda: name.upper()) for name in ("a", "b", "a", "c")]
    ['A', 'B', 'A', 'C']
    >>> "a" in shelf, "b" in shelf
    (True, False)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._things: OrderedDict[Hashable, Thing] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._things

    def get(self, key: Hashable, make: Callable[[], Thing]) -> Thing:
        """The thing called ``key``, or ``make()`` if it is not here; what that raises is raised."""
        with self._making.setdefault(key, threading.Lock()):
            thing: Any = self._things.get(key, self)
            if thing is self:
                thing = make()
            with self._lock:
                self._things[key] = thing
                self._things.move_to_end(key)
                while len(self._things) > self._most:
                    self._things.popitem(last=False)
            return thing
