"""The way a release is drawn where people draw it: with progress, in parts, by OpenDP's own source.

A mechanism decides by the type of its source whether it draws a release; what listens in represents
OpenDP's source under that type, so no other way is taken because someone listens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from explorer.privacy import reports
from explorer.privacy.noise import NoiseSource, ReleaseNoise

_CHUNK: dict[str, Any] = {"_DRAWS": 499, "_CHOICES": 7}
"""Draws and choices between two reports: what is long is cut many times, with a rest at the end.

What is as long as people's longest is left to be cut as theirs is.
"""
_WARM_UP = "warm-up"


@contextmanager
def stands_for_opendp(listener: NoiseSource) -> Iterator[None]:
    """Every `ReleaseNoise` asks this source; one behind it still reaches OpenDP."""
    names = "laplace", "lowest", "above"
    originals = {name: getattr(ReleaseNoise, name) for name in names}

    class Inner(ReleaseNoise):
        """OpenDP's source as it was."""

        laplace, lowest, above = originals["laplace"], originals["lowest"], originals["above"]

    source: Any = getattr(listener, "source", None)
    if type(source) is ReleaseNoise:
        listener.source = Inner()  # type: ignore[attr-defined]
    with ExitStack() as stack:
        for name in names:
            ask = getattr(listener, name)
            stack.enter_context(patch.object(ReleaseNoise, name, _method(ask)))
        yield
    if source is not None:
        listener.source = source  # type: ignore[attr-defined]


def _method(ask: Callable[..., Any]) -> Callable[..., Any]:
    def asks(_self: Any, values: Any, *arguments: Any) -> Any:
        if arguments[-1] == _WARM_UP and not values.any():
            # Code that is made ready before anything is booked asks for noise on no one.
            return values.copy()
        return ask(values, *arguments)

    return asks


def _ready(_self: Any, _counts: Any = None) -> None:
    pass


class Told:
    """A mechanism whose `release` is called as an app does it; all else is its own.

    `grade`: whether a source represents OpenDP's, or is handed over as it is; `parts`: whether
    calls are cut into many small parts, or as for people. `told` are the finished parts that the
    last release told, `booked` the units and words that it booked before it drew, `draws` how often
    something was released (a plan that is run by itself books nothing).
    """

    def __init__(self, mechanism: Any, grade: bool, parts: bool = True) -> None:
        self._mechanism, self._grade, self._parts = mechanism, grade, parts
        self.told: list[float] = []
        self.booked: list[tuple[int, str, str]] = []
        self.draws = 0

    def book(self, _key: str, units: int, mechanism: str, what: str = "") -> int:
        """Write down what a ledger would book; but for the key, all of it is public."""
        self.booked.append((units, mechanism, what))
        return len(self.booked)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mechanism, name)

    def release(self, matrix: Any, rng: Any = None) -> Any:
        """Draw with a progress callback, in small parts."""
        self.told.clear()
        self.booked.clear()
        self.draws += 1
        ledger: Any = self if self._grade else None
        with ExitStack() as stack:
            if self._parts:
                stack.enter_context(patch.multiple(reports, **_CHUNK))
            if self._grade:
                stack.enter_context(stands_for_opendp(rng))
            if hasattr(type(self._mechanism), "warm_up"):
                # What it would make ready is run anyway.
                stack.enter_context(patch.object(type(self._mechanism), "warm_up", _ready))
            source = None if self._grade else rng
            tell = self.told.append
            return self._mechanism.release(matrix, rng=source, progress=tell, ledger=ledger)
