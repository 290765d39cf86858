"""What a curator must refuse, tried: plans that ask for more than they may.

Each attempt must be refused, and nothing may be drawn for it: a refusal that comes after the draw
protects no one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from explorer.errors import InputError
from explorer.grid.domain import Axes
from explorer.mechanisms import UG
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.audit.branches import watched
from explorer.privacy.audit.budgets import check_budgets
from explorer.privacy.audit.loss import budget
from explorer.privacy.audit.replay import Chosen, Recorder
from explorer.privacy.audit.sources import NoiseFinding
from explorer.privacy.audit.ways import stands_for_opendp
from explorer.privacy.curator import BudgetExceeded, Curator
from explorer.privacy.ledger import Ledger
from explorer.privacy.noise import Ints, Keys, noise_source
from explorer.testing.corners import check_cuts
from explorer.testing.counts import counted

_REFUSED = (BudgetExceeded, ValueError, InputError)
_UNITS = 1_000
_HALF: Any = 1.5
_ROWS = np.zeros(1, dtype=np.int64)
_FIRST = np.array([True, False])
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
    "a cut": lambda c, r: c.cut(r, _ROWS, 7),
    "a cut among all": lambda c, r: c.cut(r, _ROWS, 7, "all cuts"),
    "a median": lambda c, r: c.median(r, _ROWS, 1),
    "cuts into slabs": lambda c, r: c.partition(r, 0, _ROWS + 3, 10),
    "PrivTree's tests": lambda c, r: c.privtree(r, 1),
    "coefficients": lambda c, r: c.coefficients(r),
    "another pass": lambda c, _r: c.count(c.open(1), 1, "again"),
}
_OTHERS: dict[str, Attempt] = {
    "a count for nothing": lambda c, r: c.count(r, 0, "free"),
    "a count for less than nothing": lambda c, r: c.count(r, -5, "earning"),
    "a split region's count": lambda c, r: (r.split(0, [3]), c.count(r, 1, "again")),
    "another curator's region": lambda c, _r: c.count(_desk()[0].open(), 1, "elsewhere"),
    "half a round": lambda c, r: c.cut(r, _ROWS, 7, rounds=0.5),  # type: ignore[arg-type]
    "no slab": lambda c, r: c.partition(r, 0, _ROWS + 0, 10),
    "more slabs than cells": lambda c, r: c.partition(r, 0, _ROWS + 9, 10),
    "no candidate": lambda c, r: c.partition(r, 0, _ROWS + 2, 10, candidates=0),
    "coefficients of a part": lambda c, r: c.coefficients(r.split(0, [3])),
    "an inner curator of two regions": lambda c, r: _finer(c, r.split(0, [3]), 1),
    "an inner curator with another bound": lambda c, r: _finer(c, r, 2),
    "an inner curator of what was handed on": lambda c, r: (_finer(c, r, 1), _finer(c, r, 1)),
    "a closed curator's count": lambda c, r: (c.close(), c.count(r, 1, "late")),
    "a fraction as a seed": lambda _c, _r: noise_source(0.5),  # type: ignore[arg-type]
    "a truth value as a seed": lambda _c, _r: noise_source(True),
    "two budgets": lambda _c, _r: UG(0.5, epsilon=0.5),
    "a fractional number of candidates": lambda c, r: c.partition(r, 0, _ROWS + 2, 10, _HALF),
    "fewer rounds than none": lambda c, r: c.cut(r, _ROWS, 7, rounds=-1),
    "coefficients of the first half": lambda c, r: c.coefficients(r.split(0, [3]).select(_FIRST)),
    "coefficients of four axes": lambda _c, _r: _coefficients_of(
        counted(np.ones((2, 2, 2, 2), dtype=np.int64))
    ),
    "coefficients of three axes": lambda _c, _r: _coefficients_of(_Wide()),
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


class _Wide:
    """Every cell of three axes can be told."""

    domain, contribution_bound, unit = Axes((2, 2, 2)), 1, "point"

    def dense(self) -> Ints:
        return np.ones(self.domain.shape, dtype=np.int64)


def _coefficients_of(counts: Any) -> Any:
    curator = Curator(counts, _UNITS, Chosen(1, "still"))
    return curator.coefficients(curator.open())


def check_refusals() -> list[str]:
    """Attempts that were not refused, or for which something was drawn all the same."""
    with watched():
        result = [*_booked_first()]
    for name, attempt in ATTEMPTS.items():
        curator, recorder = _desk()
        allowed = 1 if name.endswith("all being spent") else 0
        try:
            with watched():
                attempt(curator, curator.open())
            result.append(f"{name} is not refused")
        except _REFUSED:
            pass
        if len(recorder.draws) > allowed:
            result.append(f"{name} is refused, but after the draw")
    return result


class _Asks(Chosen):
    """Looks into the ledger whenever it is asked for noise."""

    def __init__(self, ledger: Ledger, key: str) -> None:
        super().__init__(1, "still")
        self.ledger, self.key = ledger, key
        self.booked: list[int] = []

    def laplace(self, values: Ints, sensitivity: int, units: Ints, keys: Keys, stage: str) -> Ints:
        """As it is drawn; what warms the source up is no draw of anybody's data."""
        if stage != "warm-up":
            self.booked.append(self.ledger.spent(self.key))
        return super().laplace(values, sensitivity, units, keys, stage)


def _booked_first() -> Iterator[str]:
    """A release is booked before its first draw, at its price, and refused where it cannot be."""
    matrix, mechanism = FrequencyMatrix.from_array(np.arange(64).reshape(8, 8)), UG(0.5)
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "ledger.sqlite", cap=0.9)
        source = _Asks(ledger, matrix.key)
        with stands_for_opendp(source):
            mechanism.release(matrix, rng=None, ledger=ledger)
            if not source.booked or min(source.booked) < budget(0.5):
                yield "a release is drawn before it is booked"
            if ledger.spent(matrix.key) != budget(0.5):
                yield "a release of epsilon 0.5 is booked at another price"
            source.booked.clear()
            try:
                mechanism.release(matrix, rng=None, ledger=ledger)
                yield "a release over the ledger's cap is not refused"
            except InputError:
                if source.booked:
                    yield "a release over the ledger's cap is refused, but after a draw"
        mechanism.release(matrix, rng=np.random.default_rng(1), ledger=ledger)
        if ledger.spent(matrix.key) != budget(0.5):
            yield "a preview is booked"


def check_curator() -> list[NoiseFinding]:
    """Refusals, budgets and cuts: one finding each; what is wrong is certain."""
    kinds = {
        "refusals": (len(ATTEMPTS), check_refusals()),
        "budgets": (2_000, check_budgets()),
        "cuts": (1, check_cuts()),
    }
    return [
        NoiseFinding("curator", kind, number, 1.0, 0.0, "; ".join(faults) or None)
        for kind, (number, faults) in kinds.items()
    ]
