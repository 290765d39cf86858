"""What a refusal is about: it ends with the next attempt of the same control, form or file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_now: ContextVar[Attempts | None] = ContextVar("attempts", default=None)


class Attempts:
    """The attempts of one control: what was said of the last ends when the next begins."""

    def __init__(self) -> None:
        self._ends: list[Callable[[], None]] = []

    def begin(self) -> None:
        """Another attempt begins."""
        ends, self._ends = self._ends, []
        for end in ends:
            end()

    @contextmanager
    def during(self) -> Iterator[None]:
        """What is refused in here is about the present attempt."""
        token = _now.set(self)
        try:
            yield
        finally:
            _now.reset(token)

    @contextmanager
    def another(self) -> Iterator[None]:
        """A whole attempt."""
        self.begin()
        with self.during():
            yield

    def at_next(self, end: Callable[[], None]) -> None:
        """Do ``end`` when another attempt begins."""
        self._ends.append(end)


def at_next_attempt(end: Callable[[], None]) -> None:
    """Do ``end`` when what is attempted now is attempted again; nothing outside an attempt."""
    attempts = _now.get()
    if attempts is not None:
        attempts.at_next(end)
