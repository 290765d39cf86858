"""A draw that has been confirmed: how far it is, and how it is given up before it is booked."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from explorer.app.work.job import Superseded
from explorer.privacy.ledger import Counted, Ledger


@dataclass(frozen=True)
class Underway:
    """How far a draw is.

    Attributes
    ----------
    booked : whether it is paid for: from then on it is drawn to its end
    part : how much of it is drawn, from 0 to 1
    left : seconds that are left, as it looks; None before there is an estimate
    """

    booked: bool
    part: float = 0.0
    left: float | None = None

    @property
    def sentence(self) -> str:
        """What is said of it."""
        if not self.booked:
            return "About to be drawn; nothing is booked yet."
        rest = "" if self.left is None else f", about {max(1.0, self.left):.0f} s left"
        return f"{self.part:.0%} drawn{rest}. It is booked, so it is drawn to its end."


class Booking(Ledger):
    """A ledger for one draw, which can be given up until it is booked.

    Parameters
    ----------
    population, token : as of a `Ledger`
    """

    def __init__(self, population: str | None, token: str) -> None:
        super().__init__(population=population, token=token)
        self._lock = threading.Lock()
        self._given_up = False
        self.booked = False

    def give_up(self) -> bool:
        """Book nothing from now on; False where it is too late for that."""
        with self._lock:
            self._given_up = not self.booked
            return self._given_up

    def book(self, counts: Counted | str, units: int, mechanism: str, what: str = "") -> int:
        """See `Ledger.book`; raises `Superseded` where the draw was given up before."""
        with self._lock:
            if self._given_up:
                raise Superseded
            number = super().book(counts, units, mechanism, what)
            self.booked = True
        return number
