"""Passes over a domain: the accounts that measurements are charged to, and what was written down.

All of a curator but the counts and the noise. Passes compose sequentially, the regions of one pass
in parallel; the sum of the passes' most expensive paths is what everything has cost.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.accounts import shown
from explorer.privacy.exceeded import BudgetExceeded
from explorer.privacy.regions import Boxes, Regions
from explorer.releases.nodes import MANY, Ints, one_or_each, span
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


class Passes:
    """The books of a curator: a domain of `shape` cells, `units` of 10^-12 epsilon in all."""

    def __init__(self, shape: tuple[int, ...], units: int) -> None:
        self._shape, self._units = shape, int(units)
        self._books: list[Boxes] = []
        self._notes = Notes()
        self._closed = False
        # The curator that this one works inside, and the region that is its own.
        self._around: tuple[Passes, Regions] | None = None
        #: Units spent on a cell's path in the mean over all cells; None while no one asks.
        self._mean_spent: float | None = None
        self._tell: Callable[[float], None] | None = None

    @property
    def units(self) -> int:
        """The whole budget, in units of 10^-12 epsilon."""
        return self._units

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells along every axis of the domain, (d,)."""
        return self._shape

    @property
    def ledger(self) -> tuple[LedgerRow, ...]:
        """Every measurement as the books show it."""
        return tuple(self._notes.ledger)

    def open(self, units: int | None = None) -> Regions:
        """Begin a pass over the whole domain; returns it as one region.

        Passes compose sequentially: each has a limit of its own (by default all that no pass has
        claimed yet), and the limits together stay within the budget.
        """
        unclaimed = self.units - sum(book.limit for book in self._books)
        # An exact whole number: what is compared is what is kept.
        limit = unclaimed if units is None else int(units)
        if limit < 0 or limit > unclaimed:
            raise BudgetExceeded(f"a pass asks for {limit} units, {unclaimed} are unclaimed")
        under = None if self._around is None else self._around[1].keys[0]
        self._books.append(Boxes(self.shape, len(self._books), limit, under))
        return self._books[-1].root()

    def remaining(self, regions: Regions) -> Ints:
        """What each region's path may still spend, (n,), in units of 10^-12 epsilon; read-only."""
        spent = regions.book.spent[span(regions.ids)]
        if len(spent) > MANY and spent.min() == spent.max():
            # All of a level of a complete tree have the same.
            return np.broadcast_to(regions.book.limit - spent[0], len(spent))
        return shown(regions.book.limit - spent)

    def close(self) -> int:
        """Measure nothing from now on, here or inside; returns what all has cost in the end."""
        self._closed = True
        return self.spent

    def transcript(self, regions: Regions | None = None) -> Transcript:
        """All that was learnt in one pass (the one of `regions`, else the last)."""
        book = regions.book if regions is not None else self._books[-1]
        return self._notes.transcript(book, self._books)

    @property
    def spent(self) -> int:
        """The cost of everything so far: the most expensive path of every pass, added up."""
        return sum(book.most for book in self._books)

    def _own(self, regions: Regions) -> Regions:
        """These regions as the curator's own book has them, whatever the plan's arrays say."""
        book, ids = regions.book, regions.ids
        if not any(book is own_book for own_book in self._books):
            raise ValueError("these regions belong to another curator")
        return book.regions(ids)

    def _charge(self, regions: Regions, units: ArrayLike, stage: str) -> Ints:
        """Book a share on every region's account, or refuse all of them."""
        number, requested, book = len(regions), np.asarray(units), regions.book
        # One number for many is held once.
        alike = number > MANY and (
            requested.ndim == 0 or requested.shape + requested.strides == (number, 0)
        )
        paid = np.empty(1 if alike else number, dtype=np.int64)
        paid[:] = requested[:1] if alike and requested.ndim else units
        if paid.min(initial=1) <= 0:
            raise BudgetExceeded(f"{stage}: a measurement needs a budget above 0")

        def agree(largest: int) -> None:
            if largest > book.limit:
                would, limit = to_epsilon(largest), to_epsilon(book.limit)
                raise BudgetExceeded(f"{stage}: would spend {would} of {limit}; nothing was drawn")

        if alike:
            paid = np.broadcast_to(paid, number)
        before = book.most
        book.pay(regions.ids, paid, agree)
        self._notes.charges.append((book, stage, regions.ids, paid))
        self._pay_around(book.most - before, stage)
        # Asked after paying: what is paid while another thread closes is in its sum, or refused.
        if self._is_closed:
            raise BudgetExceeded(f"{stage}: this curator is closed; nothing was drawn")
        self._come_further(regions, paid)
        return paid

    def _come_further(self, regions: Regions, paid: Ints) -> None:
        """Tell anyone who asks for the progress what was paid, weighed by the cells it is for.

        The most expensive path would be at its end while others have hardly begun.
        """
        outermost: Passes = self
        around = []
        while outermost._around is not None:
            outermost, region = outermost._around
            around.append((outermost, region))
        if outermost._mean_spent is None:
            return
        part = float(paid.astype(np.float64) @ regions.cells) / math.prod(self.shape)
        for outer, region in around:
            part *= float(region.cells[0]) / math.prod(outer.shape)
        outermost._mean_spent += part
        if part and outermost._tell is not None:
            outermost._tell(min(1.0, outermost._share_spent()))

    def _share_spent(self) -> float:
        return (self._mean_spent or 0.0) / self.units

    @property
    def _is_closed(self) -> bool:
        """Whether this curator, or one that it works inside, measures nothing any more."""
        return self._closed or (self._around is not None and self._around[0]._is_closed)

    def _settle_in(self, outer: Passes, region: Regions) -> None:
        """Become an inner curator's books: of one region, which is closed for the outer's plan."""
        region.book.hand_on(region.ids)
        self._around = outer, region
        self._notes.outer = outer._notes
        self._notes.outer_pass = next(i for i, b in enumerate(outer._books) if b is region.book)

    def _pay_around(self, units: int, stage: str) -> None:
        """Charge what everything here costs more than before to the region that it is in."""
        if self._around is None or units == 0:
            return
        outer, region = self._around
        stage = f"{INSIDE}: {stage}"
        before = region.book.most
        region.book.pay_inside(int(region.ids[0]), units)
        paid = np.array([units], dtype=np.int64)
        outer._notes.charges.append((region.book, stage, region.ids, paid))
        outer._pay_around(region.book.most - before, stage)

    def _enter(self, stage: str, paid: Ints, draws: int, sensitivity: float) -> None:
        if draws:
            epsilon = to_epsilon(int(one_or_each(paid).max()))
            row = LedgerRow(stage, epsilon, draws, float(sensitivity), "parallel")
            self._notes.enter(row)
