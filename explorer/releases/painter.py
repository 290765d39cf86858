"""What draws releases. It is in a later package, so the package's root lends it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from explorer.errors import InputError


class Painter(Protocol):
    """What draws; it is in a later package, and the package's root lends it."""

    def plot(self, release: Any, ax: Any, column: str, scale: str, partition: bool) -> Any:
        """See `Shown.plot`."""

    def explore(self, release: Any, tiles: Any, **options: Any) -> Any:
        """See `Shown.explore`."""

    def poster(self, release: Any) -> bytes:
        """The private map as a small PNG."""


_lent: list[Callable[[], Any]] = []


def lend(painter: Callable[[], Any]) -> None:
    """Let this load what draws, once someone wants to see something."""
    _lent[:] = [painter]


def painter() -> Painter:
    """What draws, loaded by now."""
    if not _lent:
        raise InputError("Nothing draws here: import explorer first.")
    drawing: Painter = _lent[0]()
    return drawing
