"""What a curator writes down: charges, noisy figures, and the ledger that people read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from explorer.privacy.regions import Boxes
from explorer.releases.nodes import Ints
from explorer.releases.transcript import (
    Booked,
    Candidates,
    Charge,
    LedgerRow,
    Measurement,
    Transcript,
)
from explorer.releases.units import to_epsilon

INSIDE = "inside"
"""Begins the stages under which a region pays what an inner curator spends in it."""


class Notes:
    """The notes of one curator.

    Attributes
    ----------
    charges : (book, stage, ids (m,), units (m,)) of everything that was paid
    measured, candidates : what was drawn, with the book that it belongs to
    ledger : rows as people read them
    outer : the notes of the curator that this one works inside, if any
    outer_pass : number of the pass of that curator that the region is in
    """

    def __init__(self) -> None:
        self.charges: list[tuple[Boxes, str, Ints, Ints]] = []
        self.measured: list[tuple[Boxes, Measurement]] = []
        self.candidates: list[tuple[Boxes, Candidates]] = []
        self.ledger: list[LedgerRow] = []
        self.outer: Notes | None = None
        self.outer_pass = 0
        self._turns: Counter[tuple[str, float, str]] = Counter()
        self._inside: dict[tuple[str, float, str, tuple[int, ...]], int] = {}

    def enter(self, row: LedgerRow) -> None:
        """Add a row to the ledger, and to those of all curators around this one."""
        kind = row.stage, row.sensitivity, row.composition
        turn = self._turns[kind]
        self._turns[kind] += 1
        self.ledger.append(row)
        inner = self
        place: tuple[int, ...] = (turn,)
        while inner.outer is not None:
            row = replace(row, stage=f"{INSIDE}: {row.stage}")
            place = (*place, inner.outer_pass)
            inner = inner.outer
            inner._enter_inside(row, place)

    def _enter_inside(self, row: LedgerRow, turn: tuple[int, ...]) -> None:
        """Share rows: the n-th measurements of a kind in the disjoint regions of one pass.

        They cost as much as the most expensive one. Regions of two passes may overlap, so `turn`
        holds the passes on the way out in addition to n.
        """
        name = row.stage, row.sensitivity, row.composition, turn
        place = self._inside.setdefault(name, len(self.ledger))
        if place == len(self.ledger):
            self.ledger.append(row)
            return
        before = self.ledger[place]
        epsilon, draws = max(before.epsilon, row.epsilon), before.draws + row.draws
        self.ledger[place] = replace(before, epsilon=epsilon, draws=draws)

    def transcript(self, book: Boxes, books: Sequence[Boxes]) -> Transcript:
        """All that was learnt in one pass; `books` are those of all passes."""
        lower, upper, parent = book.nodes()
        return Booked.of(
            self._charged(book),
            lower=lower,
            upper=upper,
            parent=parent,
            is_leaf=~book.is_split,
            measurements=tuple(measured for owner, measured in self.measured if owner is book),
            elsewhere=tuple(
                spent for other in books if other is not book for spent in self._dearest(other)
            ),
            candidates=tuple(looked_at for owner, looked_at in self.candidates if owner is book),
        )

    def _charged(self, book: Boxes) -> list[Charge]:
        return [
            Charge(stage, ids, units) for owner, stage, ids, units in self.charges if owner is book
        ]

    def _dearest(self, book: Boxes) -> list[tuple[str, float]]:
        """What the stages of a pass cost, each its most expensive node."""
        paid = Booked.of(self._charged(book), parent=book.parent)
        return [
            (stage, to_epsilon(int(column.max())))
            for stage, column in zip(paid.stages, paid.spent.T, strict=True)
        ]
