"""What a curator must refuse, tried: plans that ask for more than they may.

Each attempt must be refused, and nothing may be drawn for it: a refusal that comes after the draw
protects nobody.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from explorer.errors import InputError
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.audit.replay import Chosen, Recorder
from explorer.privacy.curator import BudgetExceeded, Curator
from explorer.privacy.noise import noise_source
from explorer.testing.counts import counted

_REFUSED = (BudgetExceeded, ValueError, InputError)
_UNITS = 1_000
Attempt = Callable[[Curator, Any], Any]


def _spent_first(ask: Attempt) -> Attempt:
    """An attempt after all of the budget has gone."""

    def attempt(curator: Curator, root: Any) -> Any:
        curator.count(root, _UNITS, "all of it")
        return ask(curator, root)

    return attempt


def _finer(curator: Curator, root: Any, bound: int) -> Any:
    return curator.within(root, FrequencyMatrix.from_array(np.ones((2, 2)), None, bound))


_ASKED: dict[str, Attempt] = {
    "a count": lambda c, r: c.count(r, 1, "once more"),
    "a cut": lambda c, r: c.cut(r, 0, 7),
    "a cut among all": lambda c, r: c.cut(r, 0, 7, "all cuts"),
    "a median": lambda c, r: c.median(r, 0, 1),
    "cuts into slabs": lambda c, r: c.partition(r, 0, 3, 10),
    "PrivTree's tests": lambda c, r: c.privtree(r, 1),
    "coefficients": lambda c, r: c.coefficients(r),
    "another pass": lambda c, r: c.count(c.open(1), 1, "again"),
}
_OTHERS: dict[str, Attempt] = {
    "a count for nothing": lambda c, r: c.count(r, 0, "free"),
    "a count for less than nothing": lambda c, r: c.count(r, -5, "earning"),
    "a split region's count": lambda c, r: (r.split(0, [3]), c.count(r, 1, "again")),
    "another curator's region": lambda c, r: c.count(_desk()[0].open(), 1, "elsewhere"),
    "half a round": lambda c, r: c.cut(r, 0, 7, rounds=0.5),  # type: ignore[arg-type]
    "no slab": lambda c, r: c.partition(r, 0, 0, 10),
    "more slabs than cells": lambda c, r: c.partition(r, 0, 9, 10),
    "no candidate": lambda c, r: c.partition(r, 0, 2, 10, candidates=0),
    "coefficients of a part": lambda c, r: c.coefficients(r.split(0, [3])),
    "an inner curator of two regions": lambda c, r: _finer(c, r.split(0, [3]), 1),
    "an inner curator with another bound": lambda c, r: _finer(c, r, 2),
    "an inner curator of what was handed on": lambda c, r: (_finer(c, r, 1), _finer(c, r, 1)),
    "a closed curator's count": lambda c, r: (c.close(), c.count(r, 1, "late")),
    "the clock as a seed": lambda c, r: noise_source(0.5),  # type: ignore[arg-type]
    "coefficients of four axes": lambda c, r: _four_axes(),
}
ATTEMPTS: dict[str, Attempt] = {
    **{f"{name}, all being spent": _spent_first(ask) for name, ask in _ASKED.items()},
    **_OTHERS,
}
"""What is tried, by its name: called with a curator of 1,000 units and its whole domain."""


def _desk() -> tuple[Curator, Recorder]:
    recorder = Recorder(Chosen(1, "still"))
    matrix = FrequencyMatrix.from_array(np.arange(64).reshape(8, 8))
    return Curator(matrix, _UNITS, recorder), recorder


def _four_axes() -> Any:
    curator = Curator(counted(np.ones((2, 2, 2, 2), dtype=np.int64)), _UNITS, Chosen(1, "still"))
    return curator.coefficients(curator.open())


def check_refusals() -> list[str]:
    """Attempts that were not refused, or for which something was drawn all the same."""
    found = []
    for name, attempt in ATTEMPTS.items():
        curator, recorder = _desk()
        allowed = 1 if name.endswith("all being spent") else 0
        try:
            attempt(curator, curator.open())
            found.append(f"{name} is not refused")
        except _REFUSED:
            pass
        if len(recorder.draws) > allowed:
            found.append(f"{name} is refused, but after the draw")
    return found
