"""Allowances that fill up again: how much one visitor, or all of them, may ask for."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable


class Bucket:
    """An allowance that fills up again: ``rate`` a second, at most ``size``.

    >>> bucket = Bucket(rate=2, size=1, clock=lambda: 0.0)
    >>> bucket.has(), bucket.has(), bucket.take()
    (True, False, 0.5)
    """

    def __init__(self, rate: float, size: float, clock: Callable[[], float] | None = None) -> None:
        self.rate, self.size = rate, size
        self._clock = clock or time.monotonic
        self._left, self._at = size, self._clock()

    def take(self, amount: float = 1.0) -> float:
        """Take so much; returns the seconds until there was enough, 0 where there is."""
        now = self._clock()
        self._left = min(self.size, self._left + (now - self._at) * self.rate)
        self._at = now
        self._left -= amount
        return max(0.0, -self._left / self.rate)

    def has(self, amount: float = 1.0) -> bool:
        """Whether there is so much, which is taken; else nothing is."""
        return self.wait(amount) == 0

    def wait(self, amount: float = 1.0) -> float:
        """Take so much where it is there: 0; else take nothing, and say in how many seconds."""
        seconds = self.take(amount)
        if seconds > 0:
            self._left += amount
        return seconds


class Buckets:
    """A bucket for each of the last ``max_keys`` keys."""

    def __init__(
        self,
        rate: float,
        size: float,
        max_keys: int = 10_000,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._rate, self._size, self._max_keys, self._clock = rate, size, max_keys, clock
        self._of: OrderedDict[Hashable, Bucket] = OrderedDict()

    def __getitem__(self, key: Hashable) -> Bucket:
        bucket = self._of.get(key)
        if bucket is None:
            bucket = self._of[key] = Bucket(self._rate, self._size, self._clock)
            if len(self._of) > self._max_keys:
                self._of.popitem(last=False)
        self._of.move_to_end(key)
        return bucket
