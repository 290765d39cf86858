"""A cache of values shared by all visitors: made once, the least recently used goes first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class Shelf(Generic[Value]):
    """Keeps the values used last, at most ``capacity``; a reference to an older one keeps it alive.

    Visitors who ask for the same value at the same time wait while it is made once.

    Examples
    --------
    >>> shelf = Shelf(2)
    >>> [shelf.get(name, lambda: name.upper()) for name in ("a", "b", "a", "c")]
    ['A', 'B', 'A', 'C']
    >>> "a" in shelf, "b" in shelf
    (True, False)
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._values

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of ``key``, or ``make()`` if it is not here; what that raises is raised."""
        with self._making.setdefault(key, threading.Lock()):
            value: Any = self._values.get(key, self)
            if value is self:
                value = make()
            with self._lock:
                self._values[key] = value
                self._values.move_to_end(key)
                while len(self._values) > self._capacity:
                    self._values.popitem(last=False)
            return value
